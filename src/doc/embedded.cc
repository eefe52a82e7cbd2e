// SPDX-License-Identifier: Apache-2.0
// JSON inside a string of a manifest, with places in the manifest.
//
// The string's value and the way in which it stands in the file differ only in white space (indentation of a
// block, folded lines) and in escapes. So the n-th byte of the value that is no white space is the n-th such
// byte of the file after the string's beginning; this is walked once, byte by byte, and every byte is
// compared. Where the two disagree (an escape that is not decoded here) nothing is claimed.
#include <algorithm>

#include "doc/json.h"
#include "doc/json_reader.h"
#include "doc/text.h"
#include "doc/text_places.h"
#include "doc/yaml.h"

namespace railbed::doc {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The bytes of a scalar as written in the file.
class WrittenScalar {
 public:
  WrittenScalar(std::string_view file, size_t offset, Style style) : file_(file), at_(offset), style_(style) {
    if (style == Style::kLiteral || style == Style::kFolded)
      at_ = std::min(file_.find('\n', at_), file_.size());
    else if (style != Style::kPlain)
      ++at_;  // the opening quote
  }

  struct Byte {
    char value = 0;
    size_t offset = 0;
  };
  // The next byte of the value that is not white space; nullopt at an unknown escape.
  std::optional<Byte> next() {
    while (true) {
      while (at_ < file_.size() && is_blank(file_[at_])) ++at_;
      if (at_ >= file_.size()) return std::nullopt;
      const size_t start = at_;
      const char c = file_[at_++];
      const char after = at_ < file_.size() ? file_[at_] : '\0';
      if (style_ == Style::kSingleQuoted && c == '\'') {
        if (after != '\'') return std::nullopt;
        ++at_;
      } else if (c == '\\' && (style_ == Style::kDoubleQuoted || style_ == Style::kJson)) {
        ++at_;
        if (is_blank(after) || after == 'n' || after == 't' || after == 'r') continue;
        if (after != '"' && after != '\\' && after != '/') return std::nullopt;
        return Byte{after, start};
      }
      return Byte{c, start};
    }
  }

 private:
  std::string_view file_;
  size_t at_ = 0;
  Style style_;
};

}  // namespace

TextPlaces::TextPlaces(const Value& text) : span_(text.span) {
  const std::string* value = text.as_string();
  const bool has_offset = span_.offset > 0 || (span_.line == 1 && span_.column == 1);
  if (value == nullptr || !span_.known() || !has_offset) return;
  WrittenScalar written(span_.source->text, span_.offset, text.style);
  std::vector<uint32_t> offsets(value->size() + 1);
  size_t after = span_.offset;
  for (size_t i = 0; i < value->size(); ++i) {
    offsets[i] = static_cast<uint32_t>(after);
    if (is_blank((*value)[i])) continue;
    const auto byte = written.next();
    if (!byte || byte->value != (*value)[i]) return;
    offsets[i] = static_cast<uint32_t>(byte->offset);
    after = byte->offset + 1;
  }
  offsets[value->size()] = static_cast<uint32_t>(after);
  offsets_ = std::move(offsets);
  const std::string_view file = span_.source->text;
  for (size_t at = span_.offset; at <= after;) {
    const size_t end = std::min(file.find('\n', at), file.size());
    line_ends_.push_back(static_cast<uint32_t>(end));
    at = end + 1;
  }
}

Span TextPlaces::at(size_t offset, size_t length) const {
  if (!exact() || offset >= offsets_.size()) return span_;
  const size_t first = offsets_[offset];
  const size_t last = length == 0 ? first : offsets_[std::min(offset + length, offsets_.size()) - 1] + 1;
  const auto line = std::ranges::lower_bound(line_ends_, first);
  if (line == line_ends_.end()) return span_;
  const auto number = static_cast<int>(line - line_ends_.begin());
  const size_t line_start = number == 0 ? span_.offset + 1 - static_cast<size_t>(span_.column) : line[-1] + 1U;
  return {span_.source, span_.line + number, static_cast<int>(first - line_start + 1),
          static_cast<int>(std::max(std::min<size_t>(last, *line), first) - first), static_cast<uint32_t>(first)};
}

namespace {

// Every place is that of the whole string; messages name the line and column within it.
std::optional<Value> read_without_places(const Value& text, std::string content, size_t prefix,
                                         Diagnostics& diagnostics) {
  auto inner = std::make_shared<const Source>(Source{"", std::move(content)});
  const LineIndex index(inner);
  Diagnostics found;
  const auto place_in_text = [&](size_t offset, size_t length) { return index.at(offset, length); };
  if (read_json(inner->text, place_in_text, found)) {
    Diagnostics none;  // reading it again with the string's place is simpler than changing a tree
    return read_json(inner->text, [&](size_t, size_t) { return text.span; }, none);
  }
  const auto named = [&](const std::string& message, const Span& span) {
    const int column = span.column - (span.line == 1 ? static_cast<int>(prefix) : 0);
    return fmt::format("{} (line {}, column {} of the embedded text)", message, span.line, column);
  };
  for (const Diagnostic& d : found.all()) {
    Diagnostic& reported =
        diagnostics.error(d.id, text.span, named(d.message, d.span)).with_fix(d.fix).of(d.layer).that_says(d.says);
    for (const Diagnostic::Note& n : d.notes) reported.note(text.span, named(n.text, n.span));
  }
  return std::nullopt;
}

// `content` is the text after a prefix of `prefix` bytes that the file does not have.
std::optional<Value> read_embedded(const Value& text, std::string content, size_t prefix, Diagnostics& diagnostics) {
  const TextPlaces places(text);
  if (!places.exact()) return read_without_places(text, std::move(content), prefix, diagnostics);
  const auto place_in_file = [&](size_t offset, size_t length) {
    return places.at(offset < prefix ? 0 : offset - prefix, length);
  };
  return read_json(content, place_in_file, diagnostics);
}

const std::string* content_of(const Value& text, Diagnostics& diagnostics) {
  const std::string* content = text.as_string();
  if (content == nullptr)
    diagnostics
        .error("RB-JSON-006", text.span,
               fmt::format("expected a text that holds JSON, found {}", kind_name(text.kind())))
        .of(Layer::kText);
  return content;
}

}  // namespace

std::optional<Value> parse_embedded_json(const Value& text, Diagnostics& diagnostics) {
  const std::string* content = content_of(text, diagnostics);
  if (content == nullptr) return std::nullopt;
  return read_embedded(text, *content, 0, diagnostics);
}

std::optional<Value> parse_embedded_json_list(const Value& text, Diagnostics& diagnostics) {
  const std::string* content = content_of(text, diagnostics);
  if (content == nullptr) return std::nullopt;
  return read_embedded(text, "[" + *content + "]", 1, diagnostics);
}

namespace {
// Converts places in an extracted text to places in the file.
class Outward {
 public:
  Outward(const Value& text, const std::string& content) : places_(text), content_(content) {}

  Span span(const Span& inner) const {
    if (!inner.known()) return places_.at(0, 0);
    const size_t length = inner.length > 0 ? static_cast<size_t>(inner.length) : 0;
    return places_.at(std::min<size_t>(inner.offset, content_.size()), length);
  }
  void value(Value& inner) const {
    inner.span = span(inner.span);
    if (Value::Array* items = inner.as_array())
      for (Value& item : *items) value(item);
    if (Value::Object* members = inner.as_object())
      for (Value::Member& member : *members) {
        member.key_span = span(member.key_span);
        value(member.value);
      }
  }
  void finding(Diagnostic reported, Diagnostics& out) const {
    Diagnostic& moved = out.error(reported.id, span(reported.span), std::move(reported.message)).with_fix(reported.fix);
    moved.of(reported.layer).that_says(reported.says).severity = reported.severity;
    for (const Diagnostic::Note& note : reported.notes) moved.note(span(note.span), note.text);
  }

 private:
  TextPlaces places_;
  const std::string& content_;
};
}  // namespace

std::optional<Value> parse_embedded_yaml(const Value& text, Diagnostics& diagnostics) {
  const std::string* content = text.as_string();
  if (content == nullptr) {
    diagnostics
        .error("RB-YAML-013", text.span,
               fmt::format("expected a text that holds YAML, found {}", kind_name(text.kind())))
        .of(Layer::kText);
    return std::nullopt;
  }
  Diagnostics found;
  std::vector<Value> documents = parse_yaml(std::make_shared<const Source>(Source{"", *content}), found);
  const Outward outward(text, *content);
  for (const Diagnostic& reported : found.all()) outward.finding(reported, diagnostics);
  if (found.has_errors()) return std::nullopt;
  if (documents.empty()) return Value();
  outward.value(documents[0]);
  return std::move(documents[0]);
}

}  // namespace railbed::doc
