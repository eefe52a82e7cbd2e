// SPDX-License-Identifier: Apache-2.0
#include "check/moves.h"

#include <algorithm>
#include <optional>

#include "check/schema.h"

namespace railbed::check {
namespace {

using doc::Value;

// An object on the way down to the field, with its schema.
struct Level {
  const Value* object;
  const Schema* schema;
};

bool knows(const Schema* schema, std::string_view key) {
  return schema != nullptr && schema->type == FieldType::kObject && schema->fields.contains(key);
}

// The objects around the member whose key stands at `offset`, outermost first; empty: it is not below
// `value`.
std::vector<Level> levels_to(const Value& value, const Schema* schema, size_t offset) {
  if (const auto* members = value.as_object()) {
    for (const Value::Member& member : *members) {
      if (member.key_span.known() && member.key_span.offset == offset) return {{&value, schema}};
      const Schema* below = nullptr;
      if (schema != nullptr && schema->type == FieldType::kMap) below = schema->items;
      if (schema != nullptr)
        if (const auto field = schema->fields.find(member.key); field != schema->fields.end())
          below = field->second;
      if (auto found = levels_to(member.value, below, offset); !found.empty()) {
        found.insert(found.begin(), {&value, schema});
        return found;
      }
    }
  }
  if (const auto* items = value.as_array())
    for (const Value& item : *items)
      if (auto found = levels_to(item, schema ? schema->items : nullptr, offset); !found.empty())
        return found;
  return {};
}

// The object that has a place for `key`: the nearest one around, else the only one right below.
const Value* target_of(const std::vector<Level>& levels, std::string_view key) {
  for (size_t i = levels.size() - 1; i-- > 0;)
    if (knows(levels[i].schema, key)) return levels[i].object->find(key) ? nullptr : levels[i].object;
  const Level& here = levels.back();
  const Value* only = nullptr;
  if (here.schema != nullptr)
    for (const Value::Member& member : *here.object->as_object()) {
      const auto field = here.schema->fields.find(member.key);
      if (field == here.schema->fields.end() || !knows(field->second, key) || !member.value.is_object())
        continue;
      if (only != nullptr) return nullptr;
      only = &member.value;
    }
  return only != nullptr && only->find(key) == nullptr ? only : nullptr;
}

size_t line_end(std::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

size_t line_start(std::string_view text, size_t at) {
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return before == std::string_view::npos ? 0 : before + 1;
}

// The indentation of the line at `at`; nothing for one without content or with a comment only.
std::optional<size_t> indent_at(std::string_view text, size_t at) {
  const std::string_view line = text.substr(at, line_end(text, at) - at);
  const size_t first = line.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || line[first] == '#') return std::nullopt;
  return first;
}

// Where the lines end that are indented by at least `indent`, from the line at `at` on.
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

// The member's own lines: its key's, and those below that are deeper (or items of its list).
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

void move(doc::Diagnostic& finding, const Value& value, const Value& target) {
  const doc::SourcePtr& source = finding.span.source;
  const std::string_view text = source->text;
  const size_t key = finding.span.offset;
  const size_t from = line_start(text, key);
  const size_t indent = key - from;
  if (target.as_object()->empty() || target.style == doc::Style::kJson) return;
  const doc::Span& first = target.as_object()->front().key_span;
  if (!first.known() || first.source != source) return;
  const size_t first_line = line_start(text, first.offset);
  const size_t target_indent = first.offset - first_line;
  // Both stand in block style, each at the beginning of its line (behind "- " at most).
  const bool own_line = text.substr(from, indent).find_first_not_of(' ') == std::string_view::npos;
  const bool target_line =
      text.substr(first_line, target_indent).find_first_not_of(" -") == std::string_view::npos;
  if (!own_line || !target_line) return;
  const size_t to = member_end(text, from, indent, value.is_array());
  const size_t place = block_end(text, first_line, target_indent);
  if (place > from && place < to) return;
  finding.edits.push_back({source, from, to - from, "", {}});
  if (place > 0 && place != to && text[place - 1] != '\n')
    finding.edits.push_back({source, place, 0, "\n", {}});
  for (size_t at = from; at < to; at = line_end(text, at)) {
    std::string_view line = text.substr(at, line_end(text, at) - at);
    const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
    const size_t deeper = blanks > indent ? blanks - indent : 0;
    const bool empty = line.find_first_not_of(" \t\r\n") == std::string_view::npos;
    line.remove_prefix(std::min(blanks, line.size()));
    if (!empty) finding.edits.push_back({source, place, 0, std::string(target_indent + deeper, ' '), {}});
    finding.edits.push_back(
        {source, place, 0, std::string(line) + (line.ends_with('\n') ? "" : "\n"), at + blanks});
  }
}

}  // namespace

void add_moves(std::span<const Document> documents, doc::Diagnostics& findings) {
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    if (finding.id != "RB-API-003" || !finding.edits.empty() || !finding.span.known()) continue;
    for (const Document& document : documents) {
      if (document.rebuilt || document.value.span.source != finding.span.source) continue;
      const auto levels =
          levels_to(document.value, find_schema(document.api_version, document.kind), finding.span.offset);
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
