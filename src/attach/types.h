// SPDX-License-Identifier: Apache-2.0
// The code of each plugin type that attaching implements: rows of the table of types (schema/cni_table.h) with what the
// type's file, attach/<identifier>.cc, defines. A row without its file does not link, and the linker names what is
// missing.
//
// Threading: constants.
// Failure: the functions' own.
#pragma once

#include <span>
#include <string_view>

#include "attach/interface_spec.h"
#include "attach/keys.h"
#include "attach/original.h"
#include "schema/cni_table.h"

namespace railbed::attach {

// In a pod's cni-args: ib-kubernetes has configured the GUID beside it.
inline constexpr const char* kIbKubernetesWord = "mellanox.infiniband.app";

struct PluginType {
  const schema::CniType& row;
  // Adds the plugin's configuration to `spec`.
  Result<void> (*read)(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec);
  // DEL of what the original plugin of this type attached.
  Result<DetachReport> (*detach_original)(Original& original);

  // Stands after a main plugin and changes what that one made.
  bool chained() const { return row.role == schema::CniRole::kChained; }
};

std::span<const PluginType> plugin_types();
const PluginType* find_plugin_type(std::string_view name);  // null for one that attaching does not do
// Unsupported for an unknown name, with the known names.
Result<const PluginType*> plugin_type(const std::string& name, const std::string& network);

#define RAILBED_DECLARE(identifier, ...)                                                                  \
  Result<void> read_##identifier(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec); \
  Result<DetachReport> detach_original_##identifier(Original& original);
RAILBED_ATTACHED_TYPES(RAILBED_DECLARE)
#undef RAILBED_DECLARE

// For sriov and ib-sriov: the VF that the pool gave, or that the configuration names.
Result<void> read_vf(const Keys& keys, const InterfaceRequest& request, InterfaceSpec& spec);
// A PCI address, or a device of the auxiliary bus ("mlx5_core.sf.4").
Result<void> read_device_id(const Keys& keys, const std::string& id, InterfaceSpec& spec);
Result<std::optional<os::VfLinkState>> read_link_state(const Keys& keys);

}  // namespace railbed::attach
