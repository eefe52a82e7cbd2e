// SPDX-License-Identifier: Apache-2.0
#include "schema/home.h"

#include <algorithm>
#include <cctype>
#include <ranges>

#include <fmt/format.h>

namespace railbed::schema {

namespace {

bool is_embedded(FieldType type) {
  return type == FieldType::kJson || type == FieldType::kJsonList || type == FieldType::kYaml;
}

// The path from `schema` to `key`: "containers[]", "metadata.annotations"; empty where no field within `depth` objects
// has it. Ignores the field `but`.
std::string way_to(const Schema& schema, std::string_view key, int depth, std::string_view but = "") {
  for (const auto& [name, field] : schema.fields) {
    const Schema* inner = object_in(field);
    if (inner == nullptr || is_embedded(field->type) || name == but) continue;
    const std::string here = field->type == FieldType::kList ? name + "[]" : name;
    const auto has_key = [&](const auto& variant) { return variant.second->fields.contains(key); };
    if (inner->fields.contains(key) || std::ranges::any_of(inner->variants, has_key)) return here;
    if (depth == 1) continue;
    if (const std::string rest = way_to(*inner, key, depth - 1); !rest.empty()) return fmt::format("{}.{}", here, rest);
  }
  return "";
}

std::string into(const Frame& frame, const std::string& name) {
  return frame.json ? fmt::format("move it into '{}'", name) : fmt::format("indent it below '{}:'", name);
}

std::string last_of(std::string_view way) {
  const size_t dot = way.rfind('.');
  std::string_view last = dot == std::string_view::npos ? way : way.substr(dot + 1);
  if (last.ends_with("[]")) last.remove_suffix(2);
  return std::string(last);
}

std::optional<Home> inside(const Frame& frame, const std::string& way) {
  const std::string path = frame.path();
  const std::string home = path.empty() ? way : fmt::format("{}.{}", path, way);
  return Home{fmt::format("is a field of {}, not of {}", home, name_of(frame)), into(frame, last_of(way))};
}

// Whether the field would be right if the object had another type.
std::optional<Home> home_in_another_type(std::string_view key, const Frame& frame, const Schema* variants) {
  if (variants == nullptr) return std::nullopt;
  const Schema* only = nullptr;
  int count = 0;
  for (const auto& [type, variant] : variants->variants)
    if (variant->fields.contains(key)) {
      // Two names of one program have the same fields.
      if (only == nullptr || !std::ranges::equal(std::views::keys(variant->fields), std::views::keys(only->fields)))
        ++count;
      only = only == nullptr ? variant : only;
    }
  if (only == nullptr) return std::nullopt;
  // Which of several was meant is unknown.
  const std::string owner =
      count == 1 || variants->what.empty() ? only->name : fmt::format("other {}s", variants->what);
  return Home{fmt::format("is a field of {}, not of {}", owner, frame.schema->name), ""};
}

// "isRdma", "nicSelector": a name of two words belongs to one project; "mtu" and "vlan" may come anywhere.
bool is_long_name(std::string_view key) {
  return std::ranges::any_of(key, [](unsigned char c) { return std::isupper(c) != 0; });
}

std::optional<Home> home_in_another_kind(std::string_view key, const Frame& frame) {
  const std::string here = frame.schema->name.empty() ? root_name(frame) : frame.schema->name;
  for (const Schema::Other& other : frame.schema->also)
    if (other.schema->fields.contains(key) || !way_to(*other.schema, key, 1).empty())
      return Home{fmt::format("is a field of {}, not of {}", other.name, here), "", is_long_name(key)};
  return std::nullopt;
}

// A label in an object that has a map for labels ("matchLabels"): selectors of pods have one, those of nodes do not.
std::optional<Home> label_of(std::string_view key, const Frame& frame) {
  if (key.find('/') == std::string_view::npos) return std::nullopt;
  for (const auto& [name, field] : frame.schema->fields)
    if (field->type == FieldType::kMap)
      return Home{fmt::format("is a key of {}.{}, not of {}", name_of(frame), name, name_of(frame)), into(frame, name)};
  return std::nullopt;
}

}  // namespace

std::optional<Home> home_of(std::string_view key, const Frame& frame, const Schema* variants, bool look_far) {
  for (const Frame* around = frame.around; around != nullptr; around = around->around)
    if (around->schema != nullptr && around->schema->fields.contains(key) && key != child_below(*around, frame))
      return Home{
          fmt::format("is a field of {}, not of {}", name_of(*around), name_of(frame)),
          frame.json ? fmt::format("move it out of '{}'", child_below(*around, frame)) : as_far_as_others_of(*around)};
  if (!look_far) return std::nullopt;
  if (const std::string way = way_to(*frame.schema, key, 1); !way.empty()) return inside(frame, way);
  if (auto home = home_in_another_type(key, frame, variants)) return home;
  for (const Frame* around = frame.around; around != nullptr; around = around->around)
    if (around->schema != nullptr)
      if (const std::string way = way_to(*around->schema, key, 1, child_below(*around, frame)); !way.empty()) {
        const std::string home = around->path().empty() ? way : fmt::format("{}.{}", around->path(), way);
        return Home{fmt::format("is a field of {}, not of {}", home, name_of(frame)), into(frame, last_of(way))};
      }
  if (const std::string way = way_to(*frame.schema, key, 2); !way.empty()) return inside(frame, way);
  if (auto home = home_in_another_kind(key, frame)) return home;
  return label_of(key, frame);
}

std::string as_far_as_others_of(const Frame& frame) {
  return fmt::format("indent it as far as the other fields of {}", name_of(frame));
}

}  // namespace railbed::schema
