// SPDX-License-Identifier: Apache-2.0
// What a network definition uses of the node besides a resource: its interfaces, devices and files, and programs that
// are executed as root.
//
// Why: a definition can attach the host's own NIC to a pod, read a file of the host, and execute a CNI plugin with the
// agent's rights. If users other than administrators may write definitions, `railbed agent --tenant-definitions
// restrict` refuses such definitions in namespaces that administrators have not allowed (kHostDevicesLabel). The table
// of types (schema/cni_table.h, `of_host`) marks the keys that name something of the host.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <optional>
#include <string>

#include "cni/config.h"

namespace railbed::agent {

// A namespace with this label and value may have definitions that name what is the node's.
inline constexpr const char* kHostDevicesLabel = "railbed.dev/host-devices";
inline constexpr const char* kHostDevicesAllowed = "allowed";

// The first thing of the node that the list takes, as half a sentence: "its plugin bridge is executed as root of the
// node", "its key master (macvlan) names something on the host: eth0". nullopt: it works with a resource alone.
std::optional<std::string> use_of_node(const cni::ListConfig& list);

}  // namespace railbed::agent
