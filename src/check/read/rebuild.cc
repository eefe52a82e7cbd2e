// SPDX-License-Identifier: Apache-2.0
#include "check/read/rebuild.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "doc/scalar.h"
#include "doc/yaml.h"
#include "schema/schema.h"

namespace railbed::check {

using doc::Value;
using schema::FieldType;
using schema::Schema;

namespace {

bool is_margin(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}
bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_key_byte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '/' || c == '-' || c == '_';
}
bool is_object(const Schema* schema) {
  return schema == nullptr || schema->type == FieldType::kObject || schema->type == FieldType::kMap ||
         schema->type == FieldType::kAny;
}
bool is_list(const Schema* schema) {
  return schema == nullptr || schema->type == FieldType::kList || schema->type == FieldType::kAny;
}
// Whether any key fits: the schema is a map, or an object whose fields are unknown.
bool takes_any(const Schema* schema) {
  return schema == nullptr || schema->type == FieldType::kMap || schema->type == FieldType::kAny ||
         (schema->type == FieldType::kObject && (schema->fields.empty() || schema->items != nullptr));
}
const Schema* field_of(const Schema* schema, std::string_view key) {
  if (schema == nullptr || schema->type != FieldType::kObject) return nullptr;
  const auto found = schema->fields.find(key);
  return found == schema->fields.end() ? nullptr : found->second;
}
bool is_field(const Schema* schema, std::string_view key) {
  return field_of(schema, key) != nullptr;
}
const Schema* schema_inside(const Schema* schema, std::string_view key) {
  if (const Schema* field = field_of(schema, key)) return field;
  return schema != nullptr && is_object(schema) ? schema->items : nullptr;
}

// Reads the text from `at` on, word by word.
class Words {
 public:
  size_t at;

  Words(std::string_view text, size_t begin, size_t end, bool one_line)
      : at(begin), text_(text.substr(0, end)), one_line_(one_line) {}

  bool done() const { return at >= text_.size(); }
  char here() const { return at < text_.size() ? text_[at] : '\0'; }
  bool one_line() const { return one_line_; }
  // Skips blanks, and line ends where they have no meaning. False at the end of the line.
  bool skip_blanks_in_line() {
    while (!done() && is_margin(here())) ++at;
    return !done() && here() != '\n';
  }
  void skip_blanks() {
    while (!done() && (is_margin(here()) || here() == '\n')) ++at;
  }
  size_t line_end() const { return std::min(text_.find('\n', at), text_.size()); }

  // The length of the key at `from` without the ':'; nullopt when there is none.
  std::optional<size_t> key_at(size_t from) const {
    size_t i = from;
    const char quote = i < text_.size() && (text_[i] == '"' || text_[i] == '\'') ? text_[i] : '\0';
    if (quote != '\0') {
      i = text_.substr(0, std::min(text_.size(), from + 256)).find(quote, i + 1);
      if (i == std::string_view::npos) return std::nullopt;
      ++i;
    } else {
      while (i < text_.size() && is_key_byte(text_[i])) ++i;
    }
    if (i == from || i >= text_.size() || text_[i] != ':') return std::nullopt;
    if (i + 1 < text_.size() && !is_margin(text_[i + 1]) && text_[i + 1] != '\n') return std::nullopt;
    return i - from;
  }
  bool dash_here() const {
    return here() == '-' && (at + 1 >= text_.size() || is_margin(text_[at + 1]) || text_[at + 1] == '\n');
  }
  // The offset after the quote that closes the one at `from`; nullopt without one.
  std::optional<size_t> quoted_end(size_t from) const {
    const char quote = text_[from];
    for (size_t i = from + 1; i < text_.size(); ++i) {
      if (quote == '"' && text_[i] == '\\')
        ++i;
      else if (text_[i] == quote && quote == '\'' && i + 1 < text_.size() && text_[i + 1] == quote)
        ++i;
      else if (text_[i] == quote)
        return i + 1;
    }
    return std::nullopt;
  }
  // The offset after the bracket that closes the one at `from`.
  std::optional<size_t> bracket_end(size_t from) const {
    int depth = 0;
    for (size_t i = from; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '"') {
        const auto end = quoted_end(i);
        if (!end) return std::nullopt;
        i = *end - 1;
      }
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return i + 1;
    }
    return std::nullopt;
  }
  size_t word_end(size_t from) const { return std::min(text_.find_first_of(" \t\r\n", from), text_.size()); }
  // Whether something follows the value without a blank: the text after it was joined to it.
  bool glued(size_t end) const {
    return end < text_.size() && !is_margin(text_[end]) && text_[end] != '\n' && text_[end] != ',';
  }
  std::string_view slice(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

 private:
  std::string_view text_;
  bool one_line_;
};

class Rebuilder {
 public:
  Rebuilder(const doc::SourcePtr& source, const doc::LineIndex& index, Words words, const Schema& root, Value& value)
      : source_(source), index_(index), words_(words) {
    value = Value::object();
    value.span = index_.at(words_.at, 1);
    frames_.push_back({&value, &root, false});
  }

  size_t run() {
    while (!ended_) {
      words_.skip_blanks();
      const size_t before = words_.at;
      if (words_.done() || !step()) break;
      if (words_.at == before) break;
      last_ = words_.at;
    }
    return std::max(last_, frames_[0].value->span.offset + size_t{1});
  }

 private:
  struct Frame {
    Value* value = nullptr;
    const Schema* schema = nullptr;
    bool list = false;
  };
  static constexpr size_t kMaxFrames = 64;  // far more than any kind nests
  struct Pending {                          // a key without a value so far
    Value* value = nullptr;
    const Schema* schema = nullptr;
  };

  bool step() {
    if (words_.here() == '#') return comment();
    if (words_.dash_here()) return item();
    const auto length = words_.key_at(words_.at);
    if (length && !is_glued_value(*length)) return key(*length);
    if (pending_ && words_.one_line()) return scalar();
    return false;
  }

  // "isRdma: truewhere:": no key, but a value and the text after it.
  bool is_glued_value(size_t length) const {
    if (!pending_ || !words_.one_line() || pending_->schema == nullptr) return false;
    const bool scalar = !is_object(pending_->schema) && !is_list(pending_->schema);
    return scalar && !is_known(words_.slice(words_.at, words_.at + length));
  }

  // Skips a comment. It ends with its line; if line ends were lost, before the next key that an open object knows.
  bool comment() {
    if (!words_.one_line()) {
      words_.at = words_.line_end();
      return true;
    }
    const size_t end = words_.line_end();
    for (size_t at = words_.word_end(words_.at); at < end; at = words_.word_end(at)) {
      while (at < end && is_margin(words_.slice(at, at + 1)[0])) ++at;
      const auto length = words_.key_at(at);
      if (!length || !is_known(words_.slice(at, at + *length))) continue;
      words_.at = at;
      return true;
    }
    ended_ = true;
    return true;
  }

  bool is_known(std::string_view name) const {
    if (pending_ && is_field(pending_->schema, name)) return true;
    return std::ranges::any_of(frames_, [&](const Frame& frame) {
      return !frame.list && is_field(frame.schema, name) && frame.value->find(name) == nullptr;
    });
  }

  static std::string_view unquoted(std::string_view key) {
    return key.size() > 1 && (key[0] == '"' || key[0] == '\'') ? key.substr(1, key.size() - 2) : key;
  }

  bool key(size_t length) {
    const size_t begin = words_.at;
    const std::string_view name = unquoted(words_.slice(begin, begin + length));
    if (name.empty() || !descend_or_climb(name, begin + length + 1)) return false;
    Frame& top = frames_.back();
    const Schema* schema = schema_inside(top.schema, name);
    Value::Object& members = *top.value->as_object();
    std::erase_if(members, [&](const Value::Member& member) { return member.key == name; });
    members.push_back({std::string(name), index_.at(begin, length), Value()});
    members.back().value.span = index_.at(begin, length);
    pending_ = Pending{&members.back().value, schema};
    words_.at = begin + length + 1;
    if (!words_.one_line() && words_.skip_blanks_in_line() && words_.here() != '#') return scalar();
    return true;
  }

  // Selects the object that gets the key `name`; false when the text has ended.
  bool descend_or_climb(std::string_view name, size_t behind) {
    if (pending_ && is_object(pending_->schema)) {
      const bool into = is_field(pending_->schema, name) ||
                        (takes_any(pending_->schema) && (pending_->schema != nullptr || !is_known(name)));
      if (into) return descend();
    }
    for (size_t i = frames_.size(); i-- > 0;) {
      const Frame& frame = frames_[i];
      const bool wants = !frame.list && (is_field(frame.schema, name) ? frame.value->find(name) == nullptr
                                                                      : takes_any(frame.schema) && !is_known(name));
      if (!wants) continue;
      frames_.resize(i + 1);
      pending_.reset();
      return true;
    }
    return unknown(name, behind);
  }

  bool descend() {
    if (frames_.size() > kMaxFrames) return false;
    const Pending pending = *pending_;
    pending_.reset();
    const doc::Span span = pending.value->span;
    *pending.value = Value::object();
    pending.value->span = span;
    frames_.push_back({pending.value, pending.schema, false});
    return true;
  }

  // Handles an unknown key: a typing error if something like a value follows, otherwise a sentence.
  bool unknown(std::string_view name, size_t behind) {
    if (name == "apiVersion" || !std::islower(static_cast<unsigned char>(name[0]))) return false;
    if (!words_.one_line()) {
      const size_t end = std::min(words_.slice(0, std::string_view::npos).find('\n', behind),
                                  words_.slice(0, std::string_view::npos).size());
      const std::string_view rest = words_.slice(behind, end);
      const size_t first = rest.find_first_not_of(" \t");
      const bool sentence = first != std::string_view::npos && rest[first] != '"' && rest[first] != '[' &&
                            std::ranges::count(rest.substr(first), ' ') > 1;
      if (sentence) return false;
    }
    if (pending_ && is_object(pending_->schema)) return descend();
    pending_.reset();
    while (frames_.size() > 1 && frames_.back().list) frames_.pop_back();
    return !frames_.back().list;
  }

  bool item() {
    words_.at += 1;
    words_.skip_blanks();
    const auto length = words_.key_at(words_.at);
    const std::string_view name = length ? unquoted(words_.slice(words_.at, words_.at + *length)) : std::string_view();
    if (frames_.size() > kMaxFrames || !open_list(name)) return false;
    const Frame list = frames_.back();
    const Schema* items = list.schema ? list.schema->items : nullptr;
    Value& value = list.value->push(Value());
    value.span = index_.at(words_.at, 1);
    pending_ = Pending{&value, items};
    return length ? descend() : scalar();
  }

  // Finds the list that a "- " continues: that of the key before it, or the nearest open one with items of this kind.
  bool open_list(std::string_view key) {
    if (pending_ && is_list(pending_->schema)) {
      const doc::Span span = pending_->value->span;
      *pending_->value = Value::array();
      pending_->value->span = span;
      frames_.push_back({pending_->value, pending_->schema, true});
      pending_.reset();
      return true;
    }
    for (size_t i = frames_.size(); i-- > 0;) {
      if (!frames_[i].list) continue;
      const Schema* items = frames_[i].schema ? frames_[i].schema->items : nullptr;
      if (key.empty() ? items != nullptr && items->type == FieldType::kObject
                      : items != nullptr && !is_field(items, key) && !takes_any(items))
        continue;
      frames_.resize(i + 1);
      pending_.reset();
      return true;
    }
    return false;
  }

  bool scalar() {
    const Pending pending = *pending_;
    pending_.reset();
    if (words_.done()) return false;
    const char first = words_.here();
    const bool block = (first == '|' || first == '>') && words_.word_end(words_.at) - words_.at <= 2;
    if (block) return block_text(pending, first);
    size_t end = scalar_end(pending.schema);
    take(pending, words_.at, end);
    words_.at = end;
    return true;
  }

  // Parses [begin, end) as YAML; an unclosed quote or bracket makes it plain text.
  void take(const Pending& pending, size_t begin, size_t end) {
    const std::string_view text = words_.slice(begin, end);
    const bool closed = text.size() > 1 && std::string_view("\"'[{").find(text[0]) != std::string_view::npos &&
                        std::string_view("\"']}").find(text.back()) != std::string_view::npos;
    if (closed) {
      doc::Diagnostics problems;
      auto values = doc::parse_yaml(source_, index_, {begin, end}, problems);
      if (values.size() == 1) {
        *pending.value = std::move(values[0]);
        return;
      }
    }
    *pending.value = doc::resolve_plain(text);
    if (pending.value->as_double_exact() != nullptr) *pending.value = Value(text);
    pending.value->span = index_.at(begin, end - begin);
  }

  size_t scalar_end(const Schema* schema) {
    const size_t begin = words_.at;
    const char first = words_.here();
    std::optional<size_t> end;
    if (first == '"' || first == '\'') end = words_.quoted_end(begin);
    if (first == '[' || first == '{') end = words_.bracket_end(begin);
    if (end) {
      ended_ = words_.glued(*end);
      return *end;
    }
    size_t stop = words_.one_line() ? words_.word_end(begin) : words_.line_end();
    const size_t hash = words_.slice(begin, stop).find(" #");
    if (hash != std::string_view::npos) stop = begin + hash;
    while (stop > begin && is_margin(words_.slice(stop - 1, stop)[0])) --stop;
    return glue(schema, begin, stop);
  }

  // The end of the value of a flag, a number or a choice that is followed by a sentence without a blank.
  size_t glue(const Schema* schema, size_t begin, size_t stop) {
    const std::string_view word = words_.slice(begin, stop);
    const auto cut_behind = [&](std::string_view value) {
      if (!word.starts_with(value) || word.size() == value.size() || !is_letter(word[value.size()])) return false;
      ended_ = true;
      return true;
    };
    if (schema == nullptr) return stop;
    if (schema->type == FieldType::kFlag)
      for (std::string_view value : {"true", "false"})
        if (cut_behind(value)) return begin + value.size();
    if (schema->type == FieldType::kInteger) {
      const std::string_view digits = word.substr(0, word.find_first_not_of("0123456789"));
      if (!digits.empty() && cut_behind(digits)) return begin + digits.size();
    }
    for (const std::string& choice : schema->choices)
      if (!choice.empty() && cut_behind(choice)) return begin + choice.size();
    return stop;
  }

  // `key: |`: JSON ends at its last bracket, YAML by its own schema, any other text at the next known key.
  bool block_text(const Pending& pending, char) {
    words_.at = words_.word_end(words_.at);
    words_.skip_blanks();
    if (words_.done()) return false;
    const size_t begin = words_.at;
    const bool json = words_.here() == '{' || words_.here() == '[';
    if (json) {
      const auto end = words_.bracket_end(begin);
      if (!end) return false;
      set_text(pending, begin, *end);
      ended_ = words_.glued(*end);
      words_.at = *end;
      return true;
    }
    if (pending.schema != nullptr && pending.schema->type == FieldType::kYaml && pending.schema->items != nullptr)
      return block_yaml(pending, begin);
    words_.at = text_end(begin);
    size_t end = words_.at;
    while (end > begin && (is_margin(words_.slice(end - 1, end)[0]) || words_.slice(end - 1, end) == "\n")) --end;
    set_text(pending, begin, end);
    return true;
  }

  void set_text(const Pending& pending, size_t begin, size_t end) {
    *pending.value = Value(words_.slice(begin, end));
    pending.value->span = index_.at(begin, end - begin);
    pending.value->style = doc::Style::kPlain;
  }

  bool block_yaml(const Pending& pending, size_t begin) {
    Value inner;
    Rebuilder rebuilder(source_, index_, words_, *pending.schema->items, inner);
    words_.at = rebuilder.run();
    ended_ = rebuilder.ended_;
    *pending.value = Value(doc::to_yaml(inner));
    pending.value->span = index_.at(begin, words_.at - begin);
    return words_.at > begin;
  }

  size_t text_end(size_t begin) {
    const size_t limit = words_.one_line() ? words_.line_end() : words_.slice(0, std::string_view::npos).size();
    for (size_t at = begin; at < limit;) {
      const size_t end = words_.word_end(at);
      const std::string_view word = words_.slice(at, end);
      const size_t quote = word.rfind('"');
      // `…="x"where:`: text that follows a closing quote directly.
      if (quote != std::string_view::npos && quote + 1 < word.size() && is_letter(word[quote + 1]) &&
          std::ranges::count(word, '"') % 2 == 0) {
        ended_ = true;
        return at + quote + 1;
      }
      size_t next = end;
      while (next < limit && (is_margin(words_.slice(next, next + 1)[0]) || words_.slice(next, next + 1) == "\n"))
        ++next;
      const auto length = words_.key_at(next);
      const bool at_line = words_.one_line() || (next > 0 && words_.slice(next - 1, next) == "\n");
      if (length && at_line && is_known(words_.slice(next, next + *length))) return end;
      if (!words_.one_line() && next > end && !is_assignment_like(words_.slice(next, words_.word_end(next))) &&
          words_.slice(end, end + 1) == "\n")
        return end;
      at = next;
    }
    return limit;
  }

  // Whether the line continues a block text (options of a module, settings) and is not the page's own text.
  static bool is_assignment_like(std::string_view word) {
    return word.find_first_of("=:{}[]") != std::string_view::npos;
  }

  const doc::SourcePtr& source_;
  const doc::LineIndex& index_;
  Words words_;
  std::vector<Frame> frames_;
  std::optional<Pending> pending_;
  size_t last_ = 0;
  bool ended_ = false;
};

// The value of `apiVersion:` or `kind:` at `at`, without quotes.
std::string_view plain_value(std::string_view text, size_t at) {
  at = std::min(text.find_first_not_of(" \t", at), text.size());
  const size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
  std::string_view value = text.substr(at, end - at);
  if (value.size() > 1 && (value[0] == '"' || value[0] == '\'')) value = value.substr(1, value.find(value[0], 1) - 1);
  return value;
}

}  // namespace

Rebuilt rebuild_object(const doc::SourcePtr& source, const doc::LineIndex& index, size_t begin, size_t end) {
  const std::string_view text = std::string_view(source->text).substr(0, end);
  const size_t line_end = std::min(text.find('\n', begin), text.size());
  const std::string_view head = text.substr(begin, std::min<size_t>(text.size() - begin, 512));
  const std::string_view version = plain_value(text, begin + 11);
  const size_t kind_at = head.find("kind:");
  Rebuilt out;
  out.end = line_end;
  if (kind_at == std::string_view::npos) return out;
  const std::string_view kind = plain_value(text, begin + kind_at + 5);
  out.one_line = begin + kind_at < line_end;
  const Schema* schema = schema::find_schema(version, kind);
  if (schema != nullptr) {
    Words words(text, begin, text.size(), out.one_line);
    out.end = Rebuilder(source, index, words, *schema, out.value).run();
    out.whole = true;
    return out;
  }
  out.value = Value::Object{{"apiVersion", index.at(begin, 10), Value(version)},
                            {"kind", index.at(begin + kind_at, 4), Value(kind)}};
  out.value.span = index.at(begin, 1);
  out.end = begin + kind_at + 5;
  return out;
}

}  // namespace railbed::check
