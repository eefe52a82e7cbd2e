// SPDX-License-Identifier: Apache-2.0
#include "check/read/copies.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "doc/json.h"

namespace railbed::check {

using doc::Value;

namespace {

std::string_view without_end(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

std::optional<Value> json_in(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return std::nullopt;
  doc::Diagnostics not_reported;
  return doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"", text}), not_reported);
}

bool same_text(const std::string& one, const std::string& other) {
  if (without_end(one) == without_end(other)) return true;
  const auto first = json_in(one);
  const auto second = first ? json_in(other) : std::nullopt;
  return first && second && same_content(*first, *second);
}

}  // namespace

Identity identity_of(const Document& document) {
  return {std::string(document.group()), document.kind, document.ns, document.name};
}

bool same_content(const Value& one, const Value& other) {
  if (one == other) return true;
  if (one.kind() != other.kind()) return false;
  if (const std::string* text = one.as_string()) return same_text(*text, *other.as_string());
  if (const Value::Array* items = one.as_array()) return std::ranges::equal(*items, *other.as_array(), same_content);
  const Value::Object* members = one.as_object();
  if (members == nullptr || members->size() != other.as_object()->size()) return false;
  return std::ranges::all_of(*members, [&](const Value::Member& member) {
    const Value* there = other.find(member.key);
    return there != nullptr && same_content(member.value, *there);
  });
}

void set_copies_aside(Bundle& bundle) {
  std::map<Identity, std::vector<const Document*>> seen;
  std::vector<bool> is_copy(bundle.documents.size());
  bool any = false;
  for (size_t i = 0; i < bundle.documents.size(); ++i) {
    const Document& document = bundle.documents[i];
    if (document.name.empty()) continue;
    std::vector<const Document*>& others = seen[identity_of(document)];
    const auto is_same = [&](const Document* other) {
      return other->value.span.source != document.value.span.source && same_content(other->value, document.value);
    };
    is_copy[i] = std::ranges::any_of(others, is_same);
    any |= is_copy[i];
    if (!is_copy[i]) others.push_back(&document);
  }
  if (!any) return;
  std::vector<Document> kept;
  for (size_t i = 0; i < bundle.documents.size(); ++i)
    (is_copy[i] ? bundle.aside : kept).push_back(std::move(bundle.documents[i]));
  bundle.documents = std::move(kept);
}

}  // namespace railbed::check
