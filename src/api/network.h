// SPDX-License-Identifier: Apache-2.0
// SriovNetwork and SriovIBNetwork.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// Of an object that was compared with its schema (compare.h).
SriovNetwork read_sriov_network(const doc::Value& object, doc::Diagnostics& out);
SriovNetwork read_sriov_ib_network(const doc::Value& object, doc::Diagnostics& out);
// Compared and read; nothing when the network has errors.
std::optional<SriovNetwork> parse_sriov_network(const doc::Value& object, doc::Diagnostics& diagnostics);
std::optional<SriovNetwork> parse_sriov_ib_network(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
