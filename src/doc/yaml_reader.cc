// SPDX-License-Identifier: Apache-2.0
// YAML by libyaml's events.
//
// The stream is cut at the "---" lines first and each piece is read on its own, so that an error in one
// document loses nothing else (libyaml cannot go on after an error). libyaml counts characters; spans count
// bytes: Positions translates.
#include <cmath>
#include <map>
#include <set>

#include <yaml.h>

#include "doc/json.h"
#include "doc/json_reader.h"
#include "doc/scalar.h"
#include "doc/text.h"
#include "doc/yaml.h"
#include "doc/yaml_events.h"
#include "doc/yaml_problem.h"

namespace railbed::doc {

namespace {

// Aliases can make a small file huge. The values that they and their anchors copy are counted in units of one value or
// 64 bytes of text; one stream may copy this many. The largest known manifests stay below 1,000.
constexpr size_t kMaxCopied = 1'000'000;

struct Measure {
  size_t units = 0;
  int height = 0;
};

Measure measure(const Value& value) {
  Measure m{1, 0};
  const auto add = [&](const Value& inner, size_t text_bytes) {
    const Measure its = measure(inner);
    m.units += its.units + text_bytes / 64;
    m.height = std::max(m.height, its.height + 1);
  };
  if (const std::string* text = value.as_string()) m.units += text->size() / 64;
  if (const auto* array = value.as_array())
    for (const Value& item : *array) add(item, 0);
  if (const auto* object = value.as_object())
    for (const Value::Member& member : *object) add(member.value, member.key.size());
  return m;
}

struct Piece {
  size_t begin = 0;
  size_t end = 0;
};

// Reads the documents of one piece.
class PieceReader {
 public:
  PieceReader(const SourcePtr& source, const LineIndex& index, Piece piece, size_t& copied, Diagnostics& diagnostics)
      : source_(source),
        index_(index),
        piece_(piece),
        text_(std::string_view(source->text).substr(piece.begin, piece.end - piece.begin)),
        parser_(text_),
        positions_(text_, piece.begin),
        copied_(copied),
        diagnostics_(diagnostics) {}

  void read(std::vector<Value>& documents) {
    Event event;
    while (next(event) && event->type != YAML_STREAM_END_EVENT) {
      if (event->type != YAML_DOCUMENT_START_EVENT) continue;
      anchors_.clear();
      open_anchors_.clear();
      Value value;
      if (!next(event) || !build(event, value, 0) || !next(event)) return;
      const bool without_content = value.is_null() && value.span.length == 0;
      if (!without_content) documents.push_back(std::move(value));
    }
  }

 private:
  struct Anchor {
    Value value;
    Measure measure;
  };

  bool next(Event& event) {
    if (event.next(parser_)) return true;
    const yaml_parser_t& p = *parser_.get();
    if (p.error == YAML_READER_ERROR) return refuse_character(p);
    YamlProblem problem{.problem = p.problem ? p.problem : "not enough memory",
                        .context = p.context ? p.context : "",
                        .offset = positions_.offset(p.problem_mark),
                        .document_offset = piece_.begin};
    if (p.context) problem.context_offset = positions_.offset(p.context_mark);
    explain(problem, source_, index_, diagnostics_);
    return false;
  }

  bool refuse_character(const yaml_parser_t& p) {
    return fail("RB-YAML-004", index_.at(piece_.begin + p.problem_offset, 1),
                fmt::format("character U+{:04X} is not allowed in YAML", p.problem_value),
                "remove it, or write it as an escape in double quotes");
  }

  bool fail(std::string_view id, Span span, std::string message, std::string fix = "") {
    diagnostics_.error(id, std::move(span), std::move(message)).with_fix(std::move(fix)).of(Layer::kText);
    return false;
  }

  Span span_of(const Event& event, bool one_byte) const {
    const size_t start = positions_.offset(event->start_mark);
    return index_.at(start, one_byte ? 1 : positions_.offset(event->end_mark) - start);
  }

  static std::string text_of(const yaml_char_t* text) { return text ? reinterpret_cast<const char*>(text) : ""; }

  bool build(Event& event, Value& out, int depth) {
    switch (event->type) {
      case YAML_SCALAR_EVENT:
        return build_scalar(event, out);
      case YAML_ALIAS_EVENT:
        return build_alias(event, out, depth);
      case YAML_SEQUENCE_START_EVENT:
        return build_sequence(event, out, depth);
      case YAML_MAPPING_START_EVENT:
        return build_mapping(event, out, depth);
      default:
        return fail("RB-YAML-001", span_of(event, true), "expected a value");
    }
  }

  // Stores a finished value under its anchor.
  bool close_anchor(const std::string& name, const Value& value) {
    if (name.empty()) return true;
    open_anchors_.erase(name);
    const Measure m = measure(value);
    if (!may_copy(m.units, value.span)) return false;
    anchors_[name] = {value, m};
    return true;
  }
  bool may_copy(size_t units, const Span& span) {
    copied_ += units;
    if (copied_ <= kMaxCopied) return true;
    return fail("RB-YAML-008", span, "anchors and aliases make this document too large");
  }
  bool too_deep(int depth, const Span& span) {
    if (depth < kMaxDepth) return false;
    fail("RB-YAML-007", span, fmt::format("nested deeper than {} levels", kMaxDepth));
    return true;
  }

  bool build_alias(const Event& event, Value& out, int depth) {
    const std::string name = text_of(event->data.alias.anchor);
    const Span span = span_of(event, false);
    if (open_anchors_.contains(name))
      return fail("RB-YAML-008", span, fmt::format("alias '*{}' refers to a node that contains it", name));
    const auto found = anchors_.find(name);
    if (found == anchors_.end())
      return fail("RB-YAML-008", span, fmt::format("alias '*{}' refers to an unknown anchor", name),
                  fmt::format("mark the value it means with '&{}', or put the text in quotes", name));
    if (too_deep(depth + found->second.measure.height, span)) return false;
    if (!may_copy(found->second.measure.units, span)) return false;
    out = found->second.value;
    return true;
  }

  bool build_scalar(const Event& event, Value& out) {
    const auto& scalar = event->data.scalar;
    std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    const std::string tag = text_of(scalar.tag);
    const bool block = scalar.style == YAML_LITERAL_SCALAR_STYLE || scalar.style == YAML_FOLDED_SCALAR_STYLE;
    const Span span = span_of(event, block);
    if (!resolve(out, std::move(text), tag, scalar.style == YAML_PLAIN_SCALAR_STYLE, span)) return false;
    out.span = span;
    out.style = style_of(scalar.style);
    return close_anchor(text_of(scalar.anchor), out);
  }

  static Style style_of(yaml_scalar_style_t style) {
    switch (style) {
      case YAML_SINGLE_QUOTED_SCALAR_STYLE:
        return Style::kSingleQuoted;
      case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
        return Style::kDoubleQuoted;
      case YAML_LITERAL_SCALAR_STYLE:
        return Style::kLiteral;
      case YAML_FOLDED_SCALAR_STYLE:
        return Style::kFolded;
      default:
        return Style::kPlain;
    }
  }

  bool resolve(Value& out, std::string text, const std::string& tag, bool plain, const Span& span) {
    const auto standard = [&](std::string_view name) { return tag == fmt::format("tag:yaml.org,2002:{}", name); };
    if (tag.empty() ? !plain : tag == "!" || standard("str")) {
      out = Value(std::move(text));
      return true;
    }
    out = resolve_plain(text);
    if (standard("float") && out.as_int()) out = Value(static_cast<double>(*out.as_int()));
    const bool as_tagged = tag.empty() || (standard("int") && out.as_int()) ||
                           (standard("float") && out.as_double_exact()) || (standard("bool") && out.as_bool()) ||
                           (standard("null") && out.is_null());
    if (!as_tagged)
      return fail("RB-YAML-011", span, fmt::format("tag '{}' does not fit this value or is not known", tag));
    if (const double* number = out.as_double_exact(); number && !std::isfinite(*number))
      return fail("RB-YAML-012", span, "infinite and undefined numbers cannot be used",
                  "put it in double quotes if a text is meant");
    return true;
  }

  bool build_sequence(Event& event, Value& out, int depth) {
    const Span span = span_of(event, true);
    if (too_deep(depth, span) || !known_tag(text_of(event->data.sequence_start.tag), "seq", span)) return false;
    const std::string anchor = text_of(event->data.sequence_start.anchor);
    if (!anchor.empty()) open_anchors_.insert(anchor);
    Value::Array array;
    while (next(event)) {
      if (event->type == YAML_SEQUENCE_END_EVENT) {
        out = Value(std::move(array));
        out.span = span;
        return close_anchor(anchor, out);
      }
      if (!build(event, array.emplace_back(), depth + 1)) return false;
    }
    return false;
  }

  bool known_tag(const std::string& tag, std::string_view name, const Span& span) {
    if (tag.empty() || tag == "!" || tag == fmt::format("tag:yaml.org,2002:{}", name)) return true;
    return fail("RB-YAML-011", span, fmt::format("tag '{}' does not fit this value or is not known", tag));
  }

  bool build_mapping(Event& event, Value& out, int depth) {
    const Span span = span_of(event, true);
    if (too_deep(depth, span) || !known_tag(text_of(event->data.mapping_start.tag), "map", span)) return false;
    const std::string anchor = text_of(event->data.mapping_start.anchor);
    if (!anchor.empty()) open_anchors_.insert(anchor);
    Value::Object object;
    std::vector<Value> merges;
    KeyIndex keys;
    while (next(event)) {
      if (event->type == YAML_MAPPING_END_EVENT) {
        for (const Value& from : merges)
          if (!merge(object, keys, from)) return false;
        out = Value(std::move(object));
        out.span = span;
        return close_anchor(anchor, out);
      }
      Value::Member member;
      bool is_merge = false;
      if (!read_key(event, member, is_merge)) return false;
      if (!next(event) || !build(event, member.value, depth + 1)) return false;
      if (is_merge)
        merges.push_back(std::move(member.value));
      else if (auto first = keys.find(object, member.key))
        diagnostics_.error("RB-YAML-003", member.key_span, fmt::format("duplicate key '{}'", member.key))
            .note(object[*first].key_span, "first defined here")
            .of(Layer::kText)
            .that_says(Says::kDuplicateKey);
      else
        object.push_back(std::move(member));
    }
    return false;
  }

  bool read_key(const Event& event, Value::Member& member, bool& is_merge) {
    member.key_span = span_of(event, false);
    if (event->type == YAML_SCALAR_EVENT) {
      const auto& scalar = event->data.scalar;
      member.key.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
      is_merge = member.key == "<<" && scalar.style == YAML_PLAIN_SCALAR_STYLE;
      if (scalar.anchor == nullptr) return true;
      Value key(member.key);
      key.span = member.key_span;
      return close_anchor(text_of(scalar.anchor), key);
    }
    if (event->type == YAML_ALIAS_EVENT) {
      Value key;
      if (!build_alias(event, key, 0)) return false;
      if (const std::string* text = key.as_string()) {
        member.key = *text;
        return true;
      }
    }
    const bool braces = std::string_view(source_->text).substr(member.key_span.offset).starts_with("{") &&
                        member.key_span.offset > 0 && source_->text[member.key_span.offset - 1] == '{';
    return fail("RB-YAML-010", member.key_span, "a key must be a text, not a map or a list",
                braces ? "'{{' is a template: render it first (helm template, kustomize build), "
                         "or put the value in quotes"
                       : "put the key in double quotes");
  }

  // "<<": adds members that are not there yet; of several maps the first one has precedence.
  bool merge(Value::Object& object, KeyIndex& keys, const Value& from) {
    if (const auto* list = from.as_array()) {
      for (const Value& item : *list)
        if (item.is_array() || !merge(object, keys, item))
          return item.is_array() ? fail("RB-YAML-009", item.span, "'<<' takes maps, found a list") : false;
      return true;
    }
    const auto* members = from.as_object();
    if (members == nullptr)
      return fail("RB-YAML-009", from.span, fmt::format("'<<' takes maps, found {}", kind_name(from.kind())));
    for (const Value::Member& member : *members)
      if (!keys.find(object, member.key)) object.push_back(member);
    return true;
  }

  const SourcePtr& source_;
  const LineIndex& index_;
  Piece piece_;
  std::string_view text_;
  Parser parser_;
  Positions positions_;
  size_t& copied_;
  Diagnostics& diagnostics_;
  std::map<std::string, Anchor> anchors_;
  std::set<std::string> open_anchors_;
};

bool is_separator(std::string_view line) {
  return line.starts_with("---") && (line.size() == 3 || std::string_view(" \t\r\n").find(line[3]) < 4);
}

// Cuts before each "---" line, but not between directives or comments and the "---" they belong to. If all lines are
// indented, libyaml does not recognize "---", so the piece begins after it.
std::vector<Piece> pieces_of(std::string_view text, Region region) {
  std::vector<Piece> pieces;
  bool content = false;
  size_t start = region.begin;
  for (size_t at = region.begin; at < region.end;) {
    const size_t end = std::min(text.find('\n', at), region.end - 1) + 1;
    std::string_view line = text.substr(at, end - at);
    line.remove_prefix(std::min({region.indent, line.find_first_not_of(' '), line.size()}));
    if (is_separator(line)) {
      const bool indented = line.size() < end - at;
      if (content || indented) {
        if (content) pieces.push_back({start, at});
        start = indented ? end : at;
      }
      content = !indented;
    } else {
      const size_t first = line.find_first_not_of(" \t\r\n");
      content |= first != std::string_view::npos && line[first] != '#' && line[0] != '%';
    }
    at = end;
  }
  pieces.push_back({start, region.end});
  return pieces;
}

// JSON is nearly a subset of YAML, but its own reader gives better messages. nullopt if the text is no JSON.
std::optional<std::vector<Value>> try_json(const LineIndex& index, std::string_view text, size_t base,
                                           Diagnostics& why_not) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return std::nullopt;
  const auto place_of = [&](size_t offset, size_t length) { return index.at(base + offset, length); };
  auto value = read_json(text, place_of, why_not);
  if (!value) return std::nullopt;
  std::vector<Value> documents;
  documents.push_back(*std::move(value));
  return documents;
}

// Reads a document that is JSON (`discover -o json` of several nodes prints such streams) with the JSON reader, which
// is ten times as fast. For one with errors YAML's reader gives the messages.
std::optional<Value> json_piece(const LineIndex& index, std::string_view part, size_t offset) {
  const size_t line_end = part.starts_with("---") ? part.find('\n') : 0;
  if (line_end == std::string_view::npos) return std::nullopt;
  part.remove_prefix(line_end);
  Diagnostics why_not;
  auto documents = try_json(index, part, offset + line_end, why_not);
  if (!documents) return std::nullopt;
  return std::move(documents->front());
}

bool looks_like_json(std::string_view text) {
  const size_t open = text.find_first_not_of(" \t\r\n");
  if (open == std::string_view::npos) return false;
  const size_t next = text.find_first_not_of(" \t\r\n", open + 1);
  return next != std::string_view::npos && (text[next] == '"' || (text[open] == '[' && text[next] == '{'));
}

}  // namespace

std::vector<Value> parse_yaml(const SourcePtr& source, const LineIndex& index, Region region,
                              Diagnostics& diagnostics) {
  const std::string_view text = source->text;
  region.end = std::min(region.end, text.size());
  region.begin = std::min(region.begin, region.end);
  const std::string_view whole = text.substr(region.begin, region.end - region.begin);
  Diagnostics why_no_json;
  if (auto documents = try_json(index, whole, region.begin, why_no_json)) return *std::move(documents);

  std::vector<Value> documents;
  Diagnostics found;
  size_t copied = 0;
  if (whole.starts_with("\xEF\xBB\xBF")) region.begin += 3;
  for (const Piece piece : pieces_of(text, region)) {
    const std::string_view part = text.substr(piece.begin, piece.end - piece.begin);
    if (auto bad = first_invalid_utf8(part))
      found
          .error("RB-YAML-004", index.at(piece.begin + *bad, 1),
                 fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(part[*bad])))
          .with_fix("save the file as UTF-8")
          .of(Layer::kText);
    else if (auto value = json_piece(index, part, piece.begin))
      documents.push_back(*std::move(value));
    else
      PieceReader(source, index, piece, copied, found).read(documents);
  }
  const bool json_was_meant = why_no_json.has_errors() && looks_like_json(whole);
  diagnostics.append(json_was_meant && found.has_errors() ? std::move(why_no_json) : std::move(found));
  return documents;
}

std::optional<Region> block_region(const Value& value) {
  const bool block = value.style == Style::kLiteral || value.style == Style::kFolded;
  if (!block || !value.is_string() || !value.span.known()) return std::nullopt;
  const std::string_view text = value.span.source->text;
  const size_t header_end = text.find('\n', value.span.offset);
  if (header_end == std::string_view::npos) return std::nullopt;
  Region region{header_end + 1, header_end + 1, std::string_view::npos};
  for (size_t at = region.begin; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const size_t indent = line.find_first_not_of(' ');
    const bool blank = line.find_first_not_of(" \r\n") == std::string_view::npos;
    if (!blank && region.indent == std::string_view::npos) region.indent = indent;
    if (!blank && (indent == 0 || indent < region.indent)) break;
    at = region.end = end;
  }
  if (region.indent == std::string_view::npos) return std::nullopt;
  return region;
}

std::vector<Value> parse_yaml(SourcePtr source, Diagnostics& diagnostics) {
  const std::string& text = source->text;
  if (text.size() > kMaxSourceBytes) {
    diagnostics
        .error("RB-YAML-004", {source},
               fmt::format("{} bytes are too many; the limit is {}", text.size(), kMaxSourceBytes))
        .of(Layer::kText);
    return {};
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    diagnostics.error("RB-YAML-004", {source}, "the file is UTF-16").with_fix("save it as UTF-8").of(Layer::kText);
    return {};
  }
  const LineIndex index(source);
  return parse_yaml(source, index, {0, text.size()}, diagnostics);
}

}  // namespace railbed::doc
