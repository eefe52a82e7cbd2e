// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cmath>

#include "doc/json.h"
#include "doc/scalar.h"
#include "doc/text.h"

namespace railbed::doc {

namespace {

// The second byte of a control character behind 0xC2.
bool is_c1(char c) {
  return static_cast<unsigned char>(c) >= 0x80 && static_cast<unsigned char>(c) < 0xA0;
}

// Whether the character stands for itself, whatever comes behind it.
bool needs_no_escape(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '"' && c != '\\' && c != '\xC2';
}

void write_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t begin = i;
    while (i < text.size() && needs_no_escape(text[i])) ++i;
    out.append(text, begin, i - begin);
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        // U+0080 to U+009F as well, which JSON allows and terminals obey.
        if (c == '\xC2' && i + 1 < text.size() && is_c1(text[i + 1]))
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
        else if (c == '\xC2')
          out += c;
        else
          out += fmt::format("\\u{:04x}", c);
    }
  }
  out += '"';
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out;
  write_quoted(out, text);
  return out;
}

std::string double_text(double number) {
  if (!std::isfinite(number)) return "null";
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, number);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string number_or_word(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return *value.as_bool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(*value.as_int());
    case Kind::kDouble:
      return double_text(*value.as_double_exact());
    case Kind::kString:
    case Kind::kArray:
    case Kind::kObject:
      break;
  }
  return {};
}

namespace {
void write(std::string& out, const Value& value, int indent, int depth) {
  const auto new_line = [&](int at) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent * at), ' ');
  };
  switch (value.kind()) {
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDouble:
      out += number_or_word(value);
      break;
    case Kind::kString:
      write_quoted(out, *value.as_string());
      break;
    case Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : *value.as_array()) {
        if (!std::exchange(first, false)) out += ',';
        new_line(depth + 1);
        write(out, item, indent, depth + 1);
      }
      if (!first) new_line(depth);
      out += ']';
      break;
    }
    case Kind::kObject: {
      out += '{';
      bool first = true;
      for (const Value::Member& member : *value.as_object()) {
        if (!std::exchange(first, false)) out += ',';
        new_line(depth + 1);
        write_quoted(out, member.key);
        out += indent == 0 ? ":" : ": ";
        write(out, member.value, indent, depth + 1);
      }
      if (!first) new_line(depth);
      out += '}';
      break;
    }
  }
}
}  // namespace

std::string to_json(const Value& value, int indent) {
  std::string out;
  write(out, value, indent, 0);
  return out;
}

}  // namespace railbed::doc
