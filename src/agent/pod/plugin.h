// SPDX-License-Identifier: Apache-2.0
// One plugin that creates or changes an interface, as a runtime calls it: sriov, macvlan, tuning, …
//
// Why in addition to the meta plugin: runtimes, and Multus on a node where it stays, name each plugin in a chain and
// call it separately. Both do the same work, in interfaces.h; here is the input and output of such a call. The meta
// plugin also calls it, for a railbed plugin between third-party ones.
// Threading: any thread, not inside a Turn.
// Failure: the specification's codes; a failed ADD leaves nothing, a failed DEL may be repeated and continues where it
// ended.
// Source: CNI specification 1.1.0, section 2.
#pragma once

#include <string>

#include "agent/addresses/backends.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

// What goes to standard output on success.
Result<std::string> plugin_request(Backends& backends, const cni::Request& request, const cni::PluginConfig& config);

}  // namespace railbed::agent
