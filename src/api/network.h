// SPDX-License-Identifier: Apache-2.0
// SriovNetwork and SriovIBNetwork.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// Nothing when the network has errors.
std::optional<SriovNetwork> parse_sriov_network(const doc::Value& object, doc::Diagnostics& diagnostics);
std::optional<SriovNetwork> parse_sriov_ib_network(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
