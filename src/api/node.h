// SPDX-License-Identifier: Apache-2.0
// Node: its labels, and railbed's own settings in its annotations.
#pragma once

#include <optional>

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

inline constexpr std::string_view kSoftRdmaAnnotation = "railbed.dev/soft-rdma";

// Nothing when the node has errors.
std::optional<Node> parse_node(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
