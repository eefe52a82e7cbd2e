// SPDX-License-Identifier: Apache-2.0
#include "check/repair/moves.h"

#include <algorithm>
#include <optional>

#include "schema/schema.h"

namespace railbed::check {
namespace {

using doc::Value;
using schema::FieldType;
using schema::Schema;

// An object on the path to the field, with its schema.
struct Level {
  const Value* object;
  const Schema* schema;
};

bool knows(const Schema* schema, std::string_view key) {
  return schema != nullptr && schema->type == FieldType::kObject && schema->fields.contains(key);
}

// The objects around the member whose key is at `offset`, outermost first; empty if it is not below `value`.
std::vector<Level> levels_to(const Value& value, const Schema* schema, size_t offset) {
  if (const auto* members = value.as_object()) {
    for (const Value::Member& member : *members) {
      if (member.key_span.known() && member.key_span.offset == offset) return {{&value, schema}};
      const Schema* below = nullptr;
      if (schema != nullptr && schema->type == FieldType::kMap) below = schema->items;
      if (schema != nullptr)
        if (const auto field = schema->fields.find(member.key); field != schema->fields.end()) below = field->second;
      if (auto found = levels_to(member.value, below, offset); !found.empty()) {
        found.insert(found.begin(), {&value, schema});
        return found;
      }
    }
  }
  if (const auto* items = value.as_array())
    for (const Value& item : *items)
      if (auto found = levels_to(item, schema ? schema->items : nullptr, offset); !found.empty()) return found;
  return {};
}

// The objects that can have a key. Items of lists only count: nothing is moved into them, because the schema does not
// show which item was meant.
struct Places {
  std::vector<const Value*> objects;
  size_t items = 0;
};

// Adds the fields of `level` (except the one at `without`) that are objects and can have `key`.
void add_places_below(const Level& level, std::string_view key, const Value* without, Places& places) {
  if (level.schema == nullptr || level.schema->type != FieldType::kObject) return;
  for (const Value::Member& member : *level.object->as_object()) {
    const auto field = level.schema->fields.find(member.key);
    if (field == level.schema->fields.end() || &member.value == without) continue;
    if (knows(field->second, key) && member.value.is_object() && member.value.find(key) == nullptr)
      places.objects.push_back(&member.value);
    const Value::Array* items = member.value.as_array();
    if (items != nullptr && knows(field->second->items, key))
      for (const Value& item : *items) places.items += item.is_object() && item.find(key) == nullptr;
  }
}

// The only object that can have `key`, among those around it, beside it and directly below; null if there are several
// or none.
const Value* target_of(const std::vector<Level>& levels, std::string_view key) {
  Places places;
  for (size_t i = levels.size(); i-- > 0;) {
    const bool here = i + 1 == levels.size();
    if (!here && knows(levels[i].schema, key) && levels[i].object->find(key) == nullptr)
      places.objects.push_back(levels[i].object);
    add_places_below(levels[i], key, here ? nullptr : levels[i + 1].object, places);
  }
  return places.objects.size() == 1 && places.items == 0 ? places.objects[0] : nullptr;
}

size_t line_end(std::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

size_t line_start(std::string_view text, size_t at) {
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

// The indentation of the line at `at`; nullopt for an empty line or a comment.
std::optional<size_t> indent_at(std::string_view text, size_t at) {
  const std::string_view line = text.substr(at, line_end(text, at) - at);
  const size_t first = line.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || line[first] == '#') return std::nullopt;
  return first;
}

// The end of the lines from `at` on that are indented by at least `indent`.
size_t block_end(std::string_view text, size_t at, size_t indent) {
  size_t end = at;
  for (; at < text.size(); at = line_end(text, at)) {
    const auto its = indent_at(text, at);
    if (!its) continue;
    const std::string_view rest = text.substr(at);
    if (*its < indent || rest.starts_with("---") || rest.starts_with("```") || rest.starts_with("~~~")) break;
    end = line_end(text, at);
  }
  return end;
}

// The end of the member's own lines: that of its key, and deeper lines below (or items of its list).
size_t member_end(std::string_view text, size_t key_line, size_t indent, bool list) {
  size_t end = line_end(text, key_line);
  for (size_t at = end; at < text.size(); at = line_end(text, at)) {
    const auto its = indent_at(text, at);
    if (!its) continue;
    const bool item = list && *its == indent && text[at + *its] == '-';
    if (*its <= indent && !item) break;
    end = line_end(text, at);
  }
  return end;
}

// The beginning of comments directly above the line at `at` in its column: they describe it and move with it.
size_t with_comments(std::string_view text, size_t at, size_t indent) {
  while (at > 0) {
    const size_t above = line_start(text, at - 1);
    if (text.substr(above, at - above).find_first_not_of(' ') != indent || text[above + indent] != '#') break;
    at = above;
  }
  return at;
}

void move(doc::Diagnostic& finding, const Value& value, const Value& target) {
  // A key without a value is not moved alone: its content has stayed behind or is in another place.
  if (value.is_null()) return;
  const doc::SourcePtr& source = finding.span.source;
  const std::string_view text = source->text;
  const size_t key = finding.span.offset;
  const size_t key_line = line_start(text, key);
  const size_t indent = key - key_line;
  const size_t from = with_comments(text, key_line, indent);
  if (target.as_object()->empty() || target.style == doc::Style::kJson) return;
  const doc::Span& first = target.as_object()->front().key_span;
  if (!first.known() || first.source != source) return;
  const size_t first_line = line_start(text, first.offset);
  const size_t target_indent = first.offset - first_line;
  // Both are in block style, each at the beginning of its line (after "- " at most).
  const bool own_line = text.substr(key_line, indent).find_first_not_of(' ') == std::string_view::npos;
  const bool target_line = text.substr(first_line, target_indent).find_first_not_of(" -") == std::string_view::npos;
  if (!own_line || !target_line) return;
  const size_t to = member_end(text, key_line, indent, value.is_array());
  const size_t place = block_end(text, first_line, target_indent);
  if (place > from && place < to) return;
  finding.edits.push_back({source, from, to - from, "", {}});
  if (place > 0 && place != to && place != from && text[place - 1] != '\n')
    finding.edits.push_back({source, place, 0, "\n", {}});
  for (size_t at = from; at < to; at = line_end(text, at)) {
    std::string_view line = text.substr(at, line_end(text, at) - at);
    const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const size_t deeper = blanks > indent ? blanks - indent : 0;
    const bool empty = line.find_first_not_of(" \t\r\n") == std::string_view::npos;
    line.remove_prefix(std::min(blanks, line.size()));
    if (!empty) finding.edits.push_back({source, place, 0, std::string(target_indent + deeper, ' '), {}});
    finding.edits.push_back({source, place, 0, std::string(line) + (line.ends_with('\n') ? "" : "\n"), at + blanks});
  }
}

}  // namespace

void add_moves(std::span<const Document> documents, doc::Diagnostics& findings) {
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    if (!finding.is(doc::Layer::kObject, doc::Says::kMisplacedField)) continue;
    if (!finding.edits.empty() || !finding.span.known()) continue;
    for (const Document& document : documents) {
      if (document.rebuilt || document.value.span.source != finding.span.source) continue;
      const auto levels =
          levels_to(document.value, schema::find_schema(document.api_version, document.kind), finding.span.offset);
      if (levels.empty()) continue;
      const auto& members = *levels.back().object->as_object();
      const auto member = std::ranges::find(members, finding.span.offset,
                                            [](const Value::Member& m) { return size_t{m.key_span.offset}; });
      if (const Value* target = target_of(levels, member->key)) move(finding, member->value, *target);
      break;
    }
  }
}

}  // namespace railbed::check
