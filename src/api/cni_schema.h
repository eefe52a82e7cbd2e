// SPDX-License-Identifier: Apache-2.0
// Checks a CNI plugin's configuration against the table of types (cni_types.h).
//
// Why: a plugin ignores a key that it does not know; "isRdma": true in a host-device network has no effect and is not
// reported.
// Threading: pure functions.
// Failure: diagnostics RB-CNI-….
#pragma once

#include "api/objects.h"
#include "doc/diagnostic.h"
#include "schema/cni_types.h"

namespace railbed::api {

// `path` names the plugin in messages ("plugins[1]").
void check_plugin(const Plugin& plugin, const std::string& path, doc::Diagnostics& out);

// What does not go together in it, as check says it; empty where all is right.
std::string pair_problem(const Plugin& plugin);
// The value of one key of `config`.
void check_key(const doc::Value& config, const std::string& path, const CniKey& key, doc::Diagnostics& out);

}  // namespace railbed::api
