// SPDX-License-Identifier: Apache-2.0
// What is wrong with a CNI plugin's configuration beyond what its schema says: texts that are no address, keys that do
// not go together, its addresses.
//
// Threading: pure functions.
// Failure: diagnostics RB-CNI-…, RB-IPAM-….
#pragma once

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// `path` names the plugin in messages ("plugins[1]").
void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out);

}  // namespace railbed::api
