// SPDX-License-Identifier: Apache-2.0
// libyaml's parser, its events and its positions, with RAII ownership. Only yaml_reader.cc includes this.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <yaml.h>

#include "doc/text.h"

namespace railbed::doc {

class Parser {
 public:
  explicit Parser(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Parser() { yaml_parser_delete(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;
  yaml_parser_t* get() { return &parser_; }

 private:
  yaml_parser_t parser_;
};

class Event {
 public:
  Event() { event_.type = YAML_NO_EVENT; }
  ~Event() { clear(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  bool next(Parser& parser) {
    clear();
    return yaml_parser_parse(parser.get(), &event_) == 1;
  }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  void clear() {
    if (event_.type != YAML_NO_EVENT) yaml_event_delete(&event_);
    event_.type = YAML_NO_EVENT;
  }
  yaml_event_t event_;
};

// Converts libyaml's character positions within a piece to byte offsets in the source.
class Positions {
 public:
  Positions(std::string_view piece, size_t base) : base_(base), size_(piece.size()) {
    size_t characters = 0;
    for (size_t i = 0; i < piece.size(); ++i) {
      if (is_utf8_continuation(piece[i])) {
        ascii_ = false;
        continue;
      }
      if (characters++ % kStep == 0) marks_.push_back(static_cast<uint32_t>(i));
    }
    piece_ = piece;
    if (ascii_) marks_.clear();
  }

  size_t offset(const yaml_mark_t& mark) const {
    if (ascii_) return base_ + std::min(mark.index, size_);
    if (mark.index / kStep >= marks_.size()) return base_ + size_;
    size_t at = marks_[mark.index / kStep];
    for (size_t left = mark.index % kStep; left > 0 && at < size_; --left) do
        ++at;
      while (at < size_ && is_utf8_continuation(piece_[at]));
    return base_ + at;
  }

 private:
  static constexpr size_t kStep = 64;
  std::string_view piece_;
  size_t base_ = 0;
  size_t size_ = 0;
  bool ascii_ = true;
  std::vector<uint32_t> marks_;  // the byte offset of every kStep-th character
};

}  // namespace railbed::doc
