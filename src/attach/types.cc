// SPDX-License-Identifier: Apache-2.0
#include "attach/types.h"

#include <algorithm>

namespace railbed::attach {

std::span<const PluginType> plugin_types() {
#define RAILBED_TYPE(identifier, name, ...) \
  {*schema::find_cni_type(name), read_##identifier, detach_original_##identifier},
  static const PluginType kTypes[] = {RAILBED_ATTACHED_TYPES(RAILBED_TYPE)};
#undef RAILBED_TYPE
  return kTypes;
}

const PluginType* find_plugin_type(std::string_view name) {
  const schema::CniType* row = schema::find_cni_type(name);
  const auto types = plugin_types();
  const auto found = std::ranges::find(types, row, [](const PluginType& type) { return &type.row; });
  return found == types.end() ? nullptr : &*found;
}

std::vector<std::string> supported_types() {
  std::vector<std::string> names;
  for (const PluginType& type : plugin_types()) names.emplace_back(type.row.name);
  return names;
}

Result<const PluginType*> plugin_type(const std::string& name, const std::string& network) {
  if (const PluginType* found = find_plugin_type(name)) return found;
  return fail(Error{.code = Code::kUnsupported,
                    .message = fmt::format("network {}: plugin type \"{}\" is not supported", network, name),
                    .hint = fmt::format("supported are {}", fmt::join(supported_types(), ", "))});
}

}  // namespace railbed::attach
