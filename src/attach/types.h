// SPDX-License-Identifier: Apache-2.0
// The plugin types that are known: one file each, one row each in types.cc.
#pragma once

#include <span>
#include <string_view>

#include "attach/keys.h"
#include "attach/wish.h"

namespace railbed::attach {

struct PluginType {
  std::string_view name;
  bool chained;  // stands after a main plugin and changes what that one made
  // Adds to `wish` what the plugin's configuration says.
  Result<void> (*read)(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
};

std::span<const PluginType> plugin_types();
// Unsupported, with the names of those that are known.
Result<const PluginType*> plugin_type(const std::string& name, const std::string& network);

Result<void> read_sriov(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_ib_sriov(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_host_device(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_macvlan(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_ipvlan(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_tuning(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_sbr(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_vrf(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
Result<void> read_rdma(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);

// For sriov and ib-sriov: the VF that the pool gave, or that the configuration names.
Result<void> read_vf(const Keys& keys, const InterfaceWanted& wanted, Wish& wish);
// A PCI address, or a device of the auxiliary bus ("mlx5_core.sf.4").
Result<void> read_device_id(const Keys& keys, const std::string& id, Wish& wish);
Result<std::optional<os::VfLinkState>> read_link_state(const Keys& keys);

}  // namespace railbed::attach
