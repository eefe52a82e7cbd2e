// SPDX-License-Identifier: Apache-2.0
#include "doc/scalar.h"
#include "doc/text.h"
#include "doc/yaml.h"

namespace railbed::doc {

namespace {

bool has_control_character(std::string_view text) {
  for (char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F) return true;
  // Also characters that YAML treats as line ends or rejects: U+0080 to U+009F, U+2028, U+2029, U+FEFF, U+FFFE.
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto at = [&](size_t k) { return static_cast<unsigned char>(text[i + k]); };
    if (at(0) == 0xC2 && at(1) < 0xA0) return true;
    if (i + 2 >= text.size()) continue;
    if (at(0) == 0xE2 && at(1) == 0x80 && (at(2) == 0xA8 || at(2) == 0xA9)) return true;
    if (at(0) == 0xEF && ((at(1) == 0xBB && at(2) == 0xBF) || (at(1) == 0xBF && at(2) >= 0xBE))) return true;
  }
  return false;
}

// "0000:31:00.0" is a number in base 60 to readers that follow YAML 1.1 to the letter.
bool is_base_60(std::string_view text) {
  return text.find(':') != std::string_view::npos &&
         text.find_first_not_of("0123456789:._+-") == std::string_view::npos;
}

// Whether a reader takes the text without quotes for this same text.
bool is_plain_scalar(std::string_view text) {
  if (is_base_60(text)) return false;
  if (text.empty() || text == "<<" || !resolve_plain(text).is_string()) return false;
  if (has_control_character(text) || text.find('\n') != std::string_view::npos) return false;
  if (text.front() == ' ' || text.back() == ' ') return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`").find(text.front()) != std::string_view::npos) {
    const bool dash = text.front() == '-' && text.size() > 1 && text[1] != ' ' && text[1] != '-';
    if (!dash) return false;
  }
  if (text.starts_with("...") || text == "=") return false;
  return text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos && text.back() != ':';
}

// Escapes also what JSON allows and YAML does not in double quotes.
std::string double_quoted(std::string_view text) {
  std::string out;
  const std::string json = json_quoted(text);
  for (size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = std::string_view(json).substr(i);
    if (rest.size() > 1 && rest[0] == '\xC2' && static_cast<unsigned char>(rest[1]) < 0xA0) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(rest[1]));
      i += 1;
    } else if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) {
      out += rest[2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (rest.starts_with("\xEF\xBB\xBF")) {
      out += "\\ufeff";
      i += 2;
    } else if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += rest[2] == '\xBE' ? "\\ufffe" : "\\uffff";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

std::string scalar_text(std::string_view text) {
  return is_plain_scalar(text) ? std::string(text) : double_quoted(text);
}

// Whether a literal block of this text reads back exactly.
bool fits_literal(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || has_control_character(text)) return false;
  if (text.front() == ' ' || text.front() == '\n') return false;
  return !text.ends_with("\n\n") && text.find_first_not_of(" \n") != std::string_view::npos &&
         text.find(" \n") == std::string_view::npos && text.back() != ' ';
}

class Writer {
 public:
  std::string out;

  // The value after "key:" or "-", whose line is still open; `indent` is the column of its own members.
  void write_after_key(const Value& value, int indent) {
    if (const auto* object = value.as_object(); object && !object->empty()) {
      out += '\n';
      write_members(*object, indent, true);
    } else if (const auto* array = value.as_array(); array && !array->empty()) {
      out += '\n';
      write_items(*array, indent - 2, true);
    } else {
      out += ' ';
      write_scalar(value, indent);
    }
  }

  void write_members(const Value::Object& object, int indent, bool new_line) {
    for (const Value::Member& member : object) {
      if (new_line) blanks(indent);
      new_line = true;
      const std::string key = scalar_text(member.key);
      // YAML readers look for the ':' within 1,024 characters only, unless "?" announces the key.
      const bool announced = key.size() > 1000;
      if (announced) {
        out += "? " + key + "\n";
        blanks(indent);
        out += ':';
      } else {
        out += key + ":";
      }
      write_after_key(member.value, indent + 2);
    }
  }

  void write_items(const Value::Array& array, int indent, bool new_line) {
    for (const Value& item : array) {
      if (new_line) blanks(indent);
      new_line = true;
      out += '-';
      if (const auto* object = item.as_object(); object && !object->empty()) {
        out += ' ';
        write_members(*object, indent + 2, false);
      } else if (const auto* inner = item.as_array(); inner && !inner->empty()) {
        out += ' ';
        write_items(*inner, indent + 2, false);
      } else {
        out += ' ';
        write_scalar(item, indent + 2);
      }
    }
  }

  // Ends the line.
  void write_scalar(const Value& value, int indent) {
    switch (value.kind()) {
      case Kind::kNull:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kDouble:
        out += number_or_word(value);
        break;
      case Kind::kArray:
        out += "[]";
        break;
      case Kind::kObject:
        out += "{}";
        break;
      case Kind::kString: {
        const std::string& text = *value.as_string();
        if (fits_literal(text)) return write_literal(text, indent);
        out += scalar_text(text);
        break;
      }
    }
    out += '\n';
  }

 private:
  void blanks(int count) { out.append(static_cast<size_t>(count), ' '); }

  void write_literal(std::string_view text, int indent) {
    out += text.ends_with('\n') ? "|\n" : "|-\n";
    if (text.ends_with('\n')) text.remove_suffix(1);
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      if (end > at) {
        blanks(indent);
        out += text.substr(at, end - at);
      }
      out += '\n';
      at = end + 1;
    }
  }
};

}  // namespace

std::string to_yaml(const Value& value) {
  Writer writer;
  if (const auto* object = value.as_object(); object && !object->empty())
    writer.write_members(*object, 0, true);
  else if (const auto* array = value.as_array(); array && !array->empty())
    writer.write_items(*array, 0, true);
  else
    writer.write_scalar(value, 2);
  return writer.out;
}

}  // namespace railbed::doc
