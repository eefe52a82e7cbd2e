// SPDX-License-Identifier: Apache-2.0
#include "check/read/engines.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/core.h>

#include "base/text.h"
#include "check/data_files.h"
#include "doc/members.h"

namespace railbed::check {
namespace {

using doc::Value;

constexpr size_t kMaxMark = 300;  // an expression is not longer

std::string text_in_row(const Value& row, std::string_view key) {
  const Value* value = row.find(key);
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? "" : *text;
}

Mark::Inside inside_of(const Value& row) {
  const std::string text = text_in_row(row, "inside");
  return text == "name" ? Mark::Inside::kName : text == "upper" ? Mark::Inside::kUpper : Mark::Inside::kAny;
}

Mark::Where where_of(const Value& row) {
  static constexpr std::pair<std::string_view, Mark::Where> kWords[] = {
      {"whole", Mark::Where::kWhole}, {"comment", Mark::Where::kComment}, {"line", Mark::Where::kLine},
      {"tag", Mark::Where::kTag},     {"file", Mark::Where::kFile},       {"key", Mark::Where::kKey}};
  const std::string text = text_in_row(row, "where");
  const auto* const found =
      std::ranges::find(kWords, std::string_view(text), [](const auto& one) { return one.first; });
  return found == std::end(kWords) ? Mark::Where::kText : found->second;
}

Engine read_engine(const Value& row) {
  Engine engine{.name = text_in_row(row, "name"),
                .marks = {},
                .signs = {},
                .command = text_in_row(row, "command"),
                .note = text_in_row(row, "note")};
  if (const Value* marks = row.find("marks"); marks != nullptr && marks->is_array())
    for (const Value& mark : *marks->as_array())
      engine.marks.push_back({.open = text_in_row(mark, "open"),
                              .close = text_in_row(mark, "close"),
                              .inside = inside_of(mark),
                              .where = where_of(mark)});
  if (const Value* signs = row.find("signs"); signs != nullptr && signs->is_array())
    for (const Value& sign : *signs->as_array())
      if (const std::string* text = sign.as_string()) engine.signs.push_back(*text);
  return engine;
}

bool is_in_text(const Mark& mark) {
  return mark.where == Mark::Where::kText || mark.where == Mark::Where::kWhole;
}

struct EngineTable {
  std::vector<Engine> engines;
  std::vector<OtherLanguage> languages;
  std::vector<std::string> holders;  // names and endings of files with here-documents
  // The marks in texts by the byte that they begin with, and those bytes.
  std::array<std::vector<const Mark*>, 256> by_first_byte;
  std::string first_bytes;

  void index() {
    for (const Engine& engine : engines)
      for (const Mark& mark : engine.marks) {
        if (!is_in_text(mark) || mark.open.empty()) continue;
        std::vector<const Mark*>& same = by_first_byte[static_cast<unsigned char>(mark.open[0])];
        if (same.empty()) first_bytes += mark.open[0];
        same.push_back(&mark);
      }
  }
};

const EngineTable& table() {
  static const EngineTable kTable = [] {
    const Value data = data_document("engines.yaml");
    EngineTable made;
    if (const Value* rows = data.find("engines"); rows != nullptr && rows->is_array())
      for (const Value& row : *rows->as_array()) made.engines.push_back(read_engine(row));
    if (const Value* rows = data.find("endings"); rows != nullptr && rows->is_array())
      for (const Value& row : *rows->as_array())
        made.languages.push_back({.ending = text_in_row(row, "ending"),
                                  .language = text_in_row(row, "language"),
                                  .command = text_in_row(row, "command"),
                                  .makes = row.find("makes") != nullptr});
    made.holders = doc::texts_in(data, "here_documents");
    made.index();  // the rows stay where they are when the table is moved
    return made;
  }();
  return kTable;
}

bool is_upper_byte(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

bool is_name_inside(std::string_view text) {
  text = trimmed(text, " ");
  return !text.empty() && is_name_start(text[0]) && std::ranges::all_of(text, is_name_part);
}

bool fits_inside(Mark::Inside inside, std::string_view text) {
  switch (inside) {
    case Mark::Inside::kAny:
      return text.find_first_not_of(' ') != std::string_view::npos;
    case Mark::Inside::kName:
      return is_name_inside(text);
    case Mark::Inside::kUpper:
      return text.size() >= 2 && text[0] >= 'A' && text[0] <= 'Z' && std::ranges::all_of(text, is_upper_byte);
  }
  return false;
}

// The length of the mark at the beginning of `text`; 0: it is not there.
size_t length_of(const Mark& mark, std::string_view text) {
  if (!text.starts_with(mark.open)) return 0;
  const std::string_view rest = text.substr(mark.open.size());
  if (mark.close.empty()) {
    if (rest.empty() || !is_name_start(rest[0])) return 0;
    size_t end = 1;
    while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 || rest[end] == '_')) ++end;
    return mark.open.size() + end;
  }
  const size_t end_of_line = std::min(rest.find('\n'), kMaxMark);
  const size_t close = rest.substr(0, end_of_line).find(mark.close);
  if (close == std::string_view::npos || !fits_inside(mark.inside, rest.substr(0, close))) return 0;
  return mark.open.size() + close + mark.close.size();
}

// The length of a mark at the beginning of `text`, which goes on for `left` bytes to the end of the value; 0: none.
size_t length_in_text(const Mark& mark, std::string_view text, size_t left) {
  const size_t length = length_of(mark, text);
  return mark.where == Mark::Where::kWhole && length != left ? 0 : length;
}

std::string_view without_quotes(std::string_view text) {
  return trimmed(text, " \t\r\"'");
}

bool has_sign(const Engine& engine, std::string_view file) {
  return engine.signs.empty() ||
         std::ranges::any_of(engine.signs, [&](const std::string& sign) { return file.find(sign) != file.npos; });
}

// Whether `text` has a mark of `engine`, in itself or as the comment that it is.
bool marks(const Engine& engine, std::string_view text) {
  if (tag_length(text) > 0)
    return std::ranges::any_of(
        engine.marks, [&](const Mark& mark) { return mark.where == Mark::Where::kTag && text.starts_with(mark.open); });
  const bool comment = text.starts_with("#");
  if (comment && std::ranges::any_of(engine.marks, [&](const Mark& mark) {
        return (mark.where == Mark::Where::kComment && length_of(mark, text) > 0) ||
               (mark.where == Mark::Where::kLine && text.starts_with(mark.open));
      }))
    return true;
  const std::string_view bare = without_quotes(text);
  for (const Mark& mark : engine.marks) {
    if (!is_in_text(mark)) continue;
    for (size_t at = bare.find(mark.open); at != std::string_view::npos; at = bare.find(mark.open, at + 1))
      if (length_in_text(mark, bare.substr(at), at == 0 ? bare.size() : 0) > 0) return true;
  }
  return false;
}

}  // namespace

std::string Engine::advice() const {
  return note.empty() ? command : fmt::format("{} ({})", command, note);
}

std::span<const Engine> engines() {
  return table().engines;
}

std::optional<MarkPlace> find_mark(std::string_view text) {
  const EngineTable& known = table();
  size_t at = text.find_first_of(known.first_bytes);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view bare = without_quotes(text);
  const auto begin = static_cast<size_t>(bare.data() - text.data());
  for (; at != std::string_view::npos; at = text.find_first_of(known.first_bytes, at + 1)) {
    size_t longest = 0;
    for (const Mark* mark : known.by_first_byte[static_cast<unsigned char>(text[at])])
      longest = std::max(longest, length_in_text(*mark, text.substr(at), at == begin ? bare.size() : 0));
    if (longest > 0) return MarkPlace{at, at + longest};
  }
  return std::nullopt;
}

bool is_marked_comment(std::string_view comment) {
  if (!comment.starts_with('#')) return false;
  return has_mark(comment) ||
         std::ranges::any_of(table().engines, [&](const Engine& one) { return marks(one, comment); });
}

size_t tag_length(std::string_view text) {
  if (!text.starts_with('!')) return 0;
  const size_t end = std::min(text.find_first_of(" \t\r\n,]}"), text.size());
  for (const Engine& engine : table().engines)
    for (const Mark& mark : engine.marks)
      if (mark.where == Mark::Where::kTag && text.substr(0, end) == mark.open) return end;
  return 0;
}

const Engine* engine_of_mark(std::string_view mark, std::string_view file) {
  for (const Engine& engine : table().engines)
    if (marks(engine, mark) && has_sign(engine, file)) return &engine;
  return nullptr;
}

const Engine* engine_of_lines(std::string_view file) {
  for (const Engine& engine : table().engines)
    for (const Mark& mark : engine.marks) {
      if (mark.where != Mark::Where::kLine && mark.where != Mark::Where::kFile) continue;
      for (size_t at = file.find(mark.open); at != std::string_view::npos; at = file.find(mark.open, at + 1)) {
        const size_t line = at == 0 ? 0 : file.rfind('\n', at - 1) + 1;  // npos + 1 is 0
        const std::string_view before = file.substr(line, at - line);
        const bool blank = before.find_first_not_of(" \t-") == std::string_view::npos;
        const bool behind = mark.where == Mark::Where::kLine && !before.empty() && before.back() == ' ';
        if (blank || behind) return &engine;
      }
    }
  return nullptr;
}

const Engine* engine_of_key(std::string_view key) {
  for (const Engine& engine : table().engines)
    for (const Mark& mark : engine.marks)
      if (mark.where == Mark::Where::kKey && mark.open == key) return &engine;
  return nullptr;
}

const OtherLanguage* other_language(std::string_view file_name) {
  const size_t dot = file_name.rfind('.');
  if (dot == std::string_view::npos || file_name.substr(dot).find('/') != std::string_view::npos) return nullptr;
  const std::string ending = lower(file_name.substr(dot));
  const auto found = std::ranges::find(table().languages, ending, &OtherLanguage::ending);
  return found == table().languages.end() ? nullptr : &*found;
}

bool has_here_documents(std::string_view file_name) {
  const std::string_view file = file_name.substr(file_name.rfind('/') + 1);  // npos + 1 is 0
  return std::ranges::any_of(table().holders, [&](const std::string& one) {
    if (one.starts_with('.')) return file.ends_with(one);
    return file == one || (file.starts_with(one) && (file[one.size()] == '.' || file[one.size()] == '-'));
  });
}

}  // namespace railbed::check
