// SPDX-License-Identifier: Apache-2.0
// One plugin that makes or changes an interface, as a runtime calls it: sriov, macvlan, tuning, …
//
// Why beside the meta plugin: runtimes, and Multus on a node where it stays, name each plugin in a chain and call it by
// itself. What is done is the same for both, and in interfaces.h; here is what such a call says. Also called by the
// meta plugin, for a plugin of ours between others. Threading: any thread, not in a turn. Failure: the specification's
// codes; an ADD that fails leaves nothing, a DEL that fails may be asked again and goes on where it ended. Source: CNI
// specification 1.1.0, section 2.
#pragma once

#include <string>

#include "agent/door/service.h"

namespace railbed::agent {

// What goes to standard output on success.
cni::Outcome<std::string> plugin_request(Backends& backends, const cni::Request& request,
                                         const cni::PluginConfig& config);

}  // namespace railbed::agent
