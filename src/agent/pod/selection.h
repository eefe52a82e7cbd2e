// SPDX-License-Identifier: Apache-2.0
// What a runtime requests for one attachment in addition to the configuration: MAC, GUID, device, hints.
//
// Three places may set the same; runtimeConfig takes precedence over args.cni, and args.cni over CNI_ARGS.
// Threading: pure.
// Failure: code 7 (4 for CNI_ARGS) with the key.
// Source: CNI conventions, "Dynamic Plugin specific fields".
#pragma once

#include "api/objects.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

Result<api::NetworkSelection> selection_of(const cni::Request& request, const cni::PluginConfig& config);

}  // namespace railbed::agent
