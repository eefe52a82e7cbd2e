// SPDX-License-Identifier: Apache-2.0
// What a runtime asks of one attachment beside the configuration: MAC, GUID, device, hints.
//
// Three places may say the same; runtimeConfig wins over args.cni, which wins over CNI_ARGS. Threading: pure.
// Failure: code 7 (4 for CNI_ARGS) with the key. Source: CNI conventions, "Dynamic Plugin specific fields".
#pragma once

#include "api/objects.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

cni::Outcome<api::NetworkSelection> selection_of(const cni::Request& request, const cni::PluginConfig& config);

}  // namespace railbed::agent
