// SPDX-License-Identifier: Apache-2.0
// Node: its labels, taints and provider, and railbed's own settings in its annotations.
//
// Threading: pure functions. Failure: diagnostics (compare.h).
#pragma once

#include "api/objects.h"
#include "doc/diagnostic.h"

namespace railbed::api {

inline constexpr std::string_view kSoftRdmaAnnotation = "railbed.dev/soft-rdma";

// Of an object that was compared with its schema.
Node read_node(const doc::Value& object, doc::Diagnostics& out);

}  // namespace railbed::api
