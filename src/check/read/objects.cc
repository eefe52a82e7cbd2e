// SPDX-License-Identifier: Apache-2.0
#include "check/read/objects.h"

#include <fmt/core.h>

#include "base/kinds.h"

namespace railbed::check {

using doc::Value;

namespace {

// Numbers all fields from the outside in and from the first to the last: a key and its value are one place.
void give_places(Value& value, const doc::SourcePtr& source, uint32_t& next) {
  if (Value::Array* items = value.as_array())
    for (Value& item : *items) {
      item.span = {.source = source, .offset = next++};
      give_places(item, source, next);
    }
  if (Value::Object* members = value.as_object())
    for (Value::Member& member : *members) {
      member.key_span = member.value.span = {.source = source, .offset = next++};
      give_places(member.value, source, next);
    }
}

void add(Value value, Bundle& bundle) {
  const Value* kind = value.find("kind");
  const std::string* name = kind == nullptr ? nullptr : kind->as_string();
  if (name == nullptr || name->empty()) return;
  if (name->ends_with("List") && find_kind(*name) == nullptr)
    if (Value* items = value.find("items"); items != nullptr && items->is_array()) {
      for (Value& item : *items->as_array()) add(std::move(item), bundle);
      return;
    }
  Document document{.value = std::move(value)};
  describe(document);
  const auto source = std::make_shared<const doc::Source>(doc::Source{.name = document.label(), .text = ""});
  document.value.span = {.source = source};
  uint32_t next = 1;
  give_places(document.value, source, next);
  if (!is_known(document)) ++bundle.unknown_kinds[document.kind];
  bundle.documents.push_back(std::move(document));
}

// Looks for a place among the fields of an object.
class FieldFinder {
 public:
  explicit FieldFinder(const doc::Span& place) : place_(place) {}

  std::string find(const Value& object) {
    if (!begins_here(object.span)) look_into(object, "");
    return best_;
  }

 private:
  bool begins_here(const doc::Span& span) const {
    return span.source == place_.source && span.offset == place_.offset && span.length == place_.length;
  }

  // Whether the search has come to its end.
  bool look_at(const doc::Span& begin, const Value& value, const std::string& path) {
    if (begin.source == place_.source && begin.offset <= place_.offset) best_ = path;
    return begins_here(begin) || begins_here(value.span) || look_into(value, path);
  }

  bool look_into(const Value& value, const std::string& path) {
    if (const Value::Array* items = value.as_array())
      for (size_t i = 0; i < items->size(); ++i)
        if (look_at((*items)[i].span, (*items)[i], fmt::format("{}[{}]", path, i))) return true;
    if (const Value::Object* members = value.as_object())
      for (const Value::Member& member : *members) {
        const bool plain = member.key.find_first_of("./") == std::string::npos;
        const std::string name = plain ? member.key : fmt::format("[{}]", member.key);
        if (look_at(member.key_span, member.value, path + (path.empty() || !plain ? "" : ".") + name)) return true;
      }
    return false;
  }

  const doc::Span& place_;
  std::string best_;
};

}  // namespace

Bundle bundle_of(std::vector<Value> objects) {
  Bundle bundle;
  for (Value& object : objects) add(std::move(object), bundle);
  return bundle;
}

std::string field_at(const Value& object, const doc::Span& place) {
  return FieldFinder(place).find(object);
}

ObjectIndex::ObjectIndex(const Bundle& bundle) {
  for (const std::vector<Document>* documents : {&bundle.documents, &bundle.aside})
    for (const Document& document : *documents) {
      const doc::Span& begin = document.value.span;
      if (begin.known() || is_without_text(begin))
        by_begin_.emplace(std::pair(begin.source.get(), begin.offset), &document);
    }
}

const Document* ObjectIndex::at(const doc::Span& place) const {
  if (!place.known() && !is_without_text(place)) return nullptr;
  auto next = by_begin_.upper_bound({place.source.get(), place.offset});
  if (next == by_begin_.begin() || (--next)->first.first != place.source.get()) return nullptr;
  return next->second;
}

}  // namespace railbed::check
