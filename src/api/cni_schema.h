// SPDX-License-Identifier: Apache-2.0
// Which keys the configuration of each CNI plugin has, and which values they take.
//
// Why: a plugin ignores a key that it does not know; "isRdma": true in a host-device network does nothing and nobody is
// told. Keys are data here (one row each). Threading: pure functions. Failure: diagnostics RB-CNI-….
#pragma once

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// `path` names the plugin in messages ("plugins[1]").
void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out);

}  // namespace railbed::api
