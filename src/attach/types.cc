// SPDX-License-Identifier: Apache-2.0
#include "attach/types.h"

#include <algorithm>

namespace railbed::attach {
namespace {

constexpr PluginType kTypes[] = {
    {"sriov", false, read_sriov},
    {"ib-sriov", false, read_ib_sriov},
    {"host-device", false, read_host_device},
    {"macvlan", false, read_macvlan},
    {"ipvlan", false, read_ipvlan},
    {"tuning", true, read_tuning},
    {"rdma", true, read_rdma},
    {"sbr", true, read_sbr},
    {"vrf", true, read_vrf},
};

}  // namespace

std::span<const PluginType> plugin_types() {
  return kTypes;
}

std::vector<std::string> supported_types() {
  std::vector<std::string> names;
  for (const PluginType& type : kTypes) names.emplace_back(type.name);
  return names;
}

Result<const PluginType*> plugin_type(const std::string& name, const std::string& network) {
  const auto* found = std::ranges::find(kTypes, name, &PluginType::name);
  if (found != std::end(kTypes)) return found;
  return fail(Error{.code = Code::kUnsupported,
                    .message = fmt::format("network {}: plugin type \"{}\" is not supported", network, name),
                    .hint = fmt::format("supported are {}", fmt::join(supported_types(), ", "))});
}

}  // namespace railbed::attach
