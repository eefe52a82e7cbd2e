// SPDX-License-Identifier: Apache-2.0
#include "schema/cni_types.h"

#include <algorithm>
#include <vector>

#include "base/ip.h"
#include "base/types.h"
#include "schema/cni_table.h"

namespace railbed::schema {

namespace table {
namespace {

template <typename T>
std::optional<std::string> unless_it_is(const std::string& text) {
  const Result<T> parsed = T::parse(text);
  return parsed.has_value() ? std::nullopt : std::optional(parsed.error().message);
}

}  // namespace

std::optional<std::string> no_mac(const std::string& text) {
  return unless_it_is<MacAddress>(text);
}
std::optional<std::string> no_guid(const std::string& text) {
  return unless_it_is<Guid>(text);
}
std::optional<std::string> no_address(const std::string& text) {
  return unless_it_is<IpAddress>(text);
}
std::optional<std::string> no_interface_name(const std::string& text) {
  return unless_it_is<IfName>(text);
}
std::optional<std::string> not_below_sys_devices(const std::string& text) {
  if (text.starts_with("/sys/devices/") && text.find("..") == std::string::npos) return std::nullopt;
  return fmt::format("\"{}\" is not below /sys/devices/", text);
}

}  // namespace table

namespace {

const std::vector<CniType>& all_types() {
  using enum CniRole;
  static const std::vector<CniType> kAll = [] {
    std::vector<CniType> all;
#define RAILBED_ROW(identifier, type_name, its_role, what_it_does, second_name, own_files) \
  all.push_back({.name = type_name,                                                        \
                 .role = its_role,                                                         \
                 .ours = true,                                                             \
                 .does = what_it_does,                                                     \
                 .keys = table::keys_##identifier,                                         \
                 .also_called = second_name,                                               \
                 .needs_own_files = own_files});
    RAILBED_ATTACHED_TYPES(RAILBED_ROW)
#undef RAILBED_ROW
    all.insert(all.end(), std::begin(table::kOtherTypes), std::end(table::kOtherTypes));
    return all;
  }();
  return kAll;
}

}  // namespace

std::span<const CniType> cni_types() {
  return all_types();
}

const CniType* find_cni_type(std::string_view name) {
  const auto found = std::ranges::find_if(all_types(), [&](const CniType& type) {
    return type.name == name || (!type.also_called.empty() && type.also_called == name);
  });
  return found == all_types().end() ? nullptr : &*found;
}

std::span<const CniKey> cni_common_keys() {
  return table::keys_common;
}

const CniKey* find_cni_key(const CniType& type, std::string_view key) {
  for (const std::span<const CniKey> keys : {type.keys, cni_common_keys()})
    if (const auto found = std::ranges::find(keys, key, &CniKey::name); found != keys.end()) return &*found;
  return nullptr;
}

bool is_often_copied(std::string_view type, std::string_view key) {
  return std::ranges::any_of(table::kOftenCopied,
                             [&](const auto& pair) { return pair.first == type && pair.second == key; });
}

}  // namespace railbed::schema
