// SPDX-License-Identifier: Apache-2.0
#include "doc/json_reader.h"

#include <charconv>
#include <cmath>

#include "doc/json.h"
#include "doc/text.h"

namespace railbed::doc {

namespace {

// Stops at the first syntax error, because everything after it is guesswork; a duplicate key does not stop it.
class JsonReader {
 public:
  JsonReader(std::string_view text, const PlaceOf& place_of, Diagnostics& diagnostics)
      : text_(text), place_of_(place_of), diagnostics_(diagnostics) {}

  std::optional<Value> read() {
    if (auto bad = first_invalid_utf8(text_)) {
      fail("RB-JSON-004", *bad, 1, fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text_[*bad])));
      return std::nullopt;
    }
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    Value value;
    if (!read_value(value, 0)) return std::nullopt;
    skip_blanks();
    if (at_ < text_.size()) {
      fail("RB-JSON-001", at_, 1, "text after the end of the JSON value");
      return std::nullopt;
    }
    if (duplicates_) return std::nullopt;
    return value;
  }

 private:
  bool fail(std::string_view id, size_t offset, size_t length, std::string message, std::string fix = "") {
    diagnostics_.error(id, place_of_(offset, length), std::move(message)).with_fix(std::move(fix)).of(Layer::kText);
    return false;
  }
  bool syntax_error(std::string message, std::string fix = "") {
    return fail("RB-JSON-001", at_, 1, std::move(message), std::move(fix));
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }
  // A description of the text at this position, for "expected …, found …".
  std::string found() const {
    if (at_end()) return "the end of the text";
    size_t end = at_ + 1;
    while (end < text_.size() && is_utf8_continuation(text_[end])) ++end;
    return fmt::format("'{}'", text_.substr(at_, end - at_));
  }
  void skip_blanks() {
    const char* const bytes = text_.data();
    while (at_ < text_.size() && (bytes[at_] == ' ' || bytes[at_] == '\n' || bytes[at_] == '\r' || bytes[at_] == '\t'))
      ++at_;
  }
  bool refuse_comment() {
    if (peek() != '#' && !text_.substr(at_).starts_with("//") && !text_.substr(at_).starts_with("/*")) return false;
    syntax_error("JSON has no comments", "remove the comment");
    return true;
  }

  bool read_value(Value& out, int depth) {
    skip_blanks();
    const size_t start = at_;
    bool ok = false;
    switch (peek()) {
      case '{':
        ok = read_object(out, depth);
        break;
      case '[':
        ok = read_array(out, depth);
        break;
      case '"': {
        std::string text;
        ok = read_string(text);
        out = Value(std::move(text));
        break;
      }
      default:
        ok = read_bare(out);
    }
    if (!ok) return false;
    const bool container = out.is_object() || out.is_array();
    out.span = place_of_(start, container ? 1 : at_ - start);
    out.style = Style::kJson;
    return true;
  }

  bool read_bare(Value& out) {
    if (peek() == '-' || (peek() >= '0' && peek() <= '9')) return read_number(out);
    size_t end = at_;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_')) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "true" || word == "false")
      out = Value(word == "true");
    else if (word == "null")
      out = Value();
    else
      return refuse_bare(word);
    at_ = end;
    return true;
  }

  bool refuse_bare(std::string_view word) {
    if (peek() == '\'') return syntax_error("JSON strings must be in double quotes", "write \"…\"");
    if (refuse_comment()) return false;
    if (word.empty()) return syntax_error(fmt::format("expected a value, found {}", found()));
    std::string fix = fmt::format("write \"{}\" in double quotes", word);
    for (std::string_view known : {"true", "false", "null"})
      if (nearest(word, {known}) == known) fix = fmt::format("write {}", known);
    // A text of one bare word was probably meant as an object: quotes would only make it a string inside a string.
    const bool alone = text_.find_first_not_of(" \t\r\n") == at_ &&
                       text_.find_first_not_of(" \t\r\n", at_ + word.size()) == std::string_view::npos;
    if (alone) fix = "write a JSON object in braces: {\"key\": value}";
    if (word == "None" || word == "nil") fix = "write null";
    if (word == "NaN" || word == "Infinity") fix = "JSON has no such number";
    return fail("RB-JSON-001", at_, word.size(), fmt::format("'{}' is not a JSON value", word), std::move(fix));
  }

  void skip_digits() {
    while (peek() >= '0' && peek() <= '9') ++at_;
  }
  bool digit_here() { return peek() >= '0' && peek() <= '9'; }

  bool read_number(Value& out) {
    const size_t start = at_;
    bool integer = true;
    if (peek() == '-') ++at_;
    if (!digit_here()) return syntax_error(fmt::format("expected a digit, found {}", found()));
    if (peek() == '0') {
      ++at_;
      if (digit_here())
        return fail("RB-JSON-001", start, 1, "a number does not begin with 0",
                    "remove the leading zeros, or put it in double quotes");
    }
    skip_digits();
    if (peek() == '.') {
      integer = false;
      ++at_;
      if (!digit_here()) return syntax_error(fmt::format("expected a digit after '.', found {}", found()));
      skip_digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      integer = false;
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!digit_here()) return syntax_error(fmt::format("expected an exponent, found {}", found()));
      skip_digits();
    }
    return convert(out, start, integer);
  }

  bool convert(Value& out, size_t start, bool integer) {
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    int64_t whole = 0;
    if (integer && std::from_chars(first, last, whole).ec == std::errc{}) {
      out = Value(whole);
      return true;
    }
    double number = 0;
    const auto result = std::from_chars(first, last, number);
    if (result.ec == std::errc::result_out_of_range) {
      // A number too close to zero becomes 0, as in other readers; one that is too large has no value.
      number = std::strtod(std::string(first, last).c_str(), nullptr);
      if (std::isinf(number))
        return fail("RB-JSON-005", start, at_ - start, "the number is too large for a 64-bit float");
    }
    out = Value(number);
    return true;
  }

  bool read_hex4(uint32_t& out) {
    out = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      const bool digit = c >= '0' && c <= '9';
      const bool letter = (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      if (!digit && !letter) return syntax_error("\\u is followed by four hexadecimal digits");
      out = out * 16 + static_cast<uint32_t>(digit ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
  }

  bool read_unicode_escape(std::string& out) {
    const size_t start = at_ - 2;
    uint32_t c = 0;
    if (!read_hex4(c)) return false;
    const auto lonely = [&] {
      return fail("RB-JSON-001", start, at_ - start, "half of a surrogate pair without the other half");
    };
    if (c >= 0xDC00 && c <= 0xDFFF) return lonely();
    if (c >= 0xD800 && c <= 0xDBFF) {
      if (!text_.substr(at_).starts_with("\\u")) return lonely();
      at_ += 2;
      uint32_t low = 0;
      if (!read_hex4(low)) return false;
      if (low < 0xDC00 || low > 0xDFFF) return lonely();
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, c);
    return true;
  }

  bool read_string(std::string& out) {
    const size_t start = at_++;
    while (true) {
      // Copies a run of ordinary bytes at once. A loop finds its end, because most runs are short.
      const size_t begin = at_;
      const char* const bytes = text_.data();
      while (at_ < text_.size() && static_cast<unsigned char>(bytes[at_]) >= 0x20 && bytes[at_] != '"' &&
             bytes[at_] != '\\')
        ++at_;
      out.append(bytes + begin, at_ - begin);
      if (!at_end() && static_cast<unsigned char>(peek()) < 0x20 && peek() != '\n' && peek() != '\r')
        return syntax_error("a control character inside a text is written as an escape",
                            fmt::format("write \\u{:04x}", peek()));
      if (at_end() || peek() == '\n' || peek() == '\r')
        return fail("RB-JSON-001", start, at_ - start, "the text that begins here has no closing '\"'");
      if (text_[at_++] == '"') return true;
      if (!read_escape(out)) return false;
    }
  }

  bool read_escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (peek() == 'u') {
      ++at_;
      return read_unicode_escape(out);
    }
    const size_t which = at_end() ? std::string_view::npos : kLetters.find(peek());
    if (which == std::string_view::npos) {
      --at_;
      return fail("RB-JSON-001", at_, 2, "unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
    }
    out += kMeanings[which];
    ++at_;
    return true;
  }

  bool too_deep(int depth) {
    if (depth < kMaxDepth) return false;
    fail("RB-JSON-003", at_, 1, fmt::format("nested deeper than {} levels", kMaxDepth));
    return true;
  }

  bool read_array(Value& out, int depth) {
    if (too_deep(depth)) return false;
    Value::Array array;
    ++at_;
    skip_blanks();
    if (peek() == ']') {
      ++at_;
      out = Value(std::move(array));
      return true;
    }
    while (true) {
      if (!read_value(array.emplace_back(), depth + 1)) return false;
      bool more = false;
      if (!read_separator(']', more)) return false;
      if (!more) break;
    }
    out = Value(std::move(array));
    return true;
  }

  bool read_object(Value& out, int depth) {
    if (too_deep(depth)) return false;
    Value::Object object;
    KeyIndex keys;
    ++at_;
    skip_blanks();
    if (peek() == '}') {
      ++at_;
      out = Value(std::move(object));
      return true;
    }
    while (true) {
      if (!read_member(object, keys, depth)) return false;
      bool more = false;
      if (!read_separator('}', more)) return false;
      if (!more) break;
    }
    out = Value(std::move(object));
    return true;
  }

  bool read_member(Value::Object& object, KeyIndex& keys, int depth) {
    skip_blanks();
    if (peek() != '"') {
      if (refuse_comment()) return false;
      return syntax_error(fmt::format("expected a key in double quotes, found {}", found()));
    }
    const size_t start = at_;
    Value::Member member;
    if (!read_string(member.key)) return false;
    member.key_span = place_of_(start, at_ - start);
    skip_blanks();
    if (peek() != ':') return syntax_error(fmt::format("expected ':' after key \"{}\", found {}", member.key, found()));
    ++at_;
    if (!read_value(member.value, depth + 1)) return false;
    if (auto first = keys.find(object, member.key)) {
      duplicates_ = true;
      diagnostics_.error("RB-JSON-002", member.key_span, fmt::format("duplicate key \"{}\"", member.key))
          .note(object[*first].key_span, "first defined here")
          .of(Layer::kText);
      return true;
    }
    object.push_back(std::move(member));
    return true;
  }

  // After an element: a ',' with more to come, or `close`.
  bool read_separator(char close, bool& more) {
    skip_blanks();
    if (peek() == close && !at_end()) {
      ++at_;
      more = false;
      return true;
    }
    if (peek() != ',') {
      if (refuse_comment()) return false;
      return syntax_error(fmt::format("expected ',' or '{}', found {}", close, found()));
    }
    const size_t comma = at_++;
    skip_blanks();
    if (peek() == close && !at_end())
      return fail("RB-JSON-001", comma, 1, fmt::format("a ',' before '{}'", close), "remove the ','");
    more = true;
    return true;
  }

  std::string_view text_;
  const PlaceOf& place_of_;
  Diagnostics& diagnostics_;
  size_t at_ = 0;
  bool duplicates_ = false;
};

}  // namespace

std::optional<Value> read_json(std::string_view text, const PlaceOf& place_of, Diagnostics& diagnostics) {
  return JsonReader(text, place_of, diagnostics).read();
}

std::optional<Value> parse_json(SourcePtr source, Diagnostics& diagnostics) {
  const LineIndex index(source);
  return read_json(source->text, [&](size_t offset, size_t length) { return index.at(offset, length); }, diagnostics);
}

}  // namespace railbed::doc
