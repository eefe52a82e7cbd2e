// SPDX-License-Identifier: Apache-2.0
// The programs that railbed becomes for verbs that serve until they are stopped, or that use an API server; their
// options name the program (`program()`). Threading, failure: constants.
#pragma once

namespace railbed {

inline constexpr const char* kAloneProgram = "railbedd";  // the agent of a machine of its own
inline constexpr const char* kClusterProgram =
    "railbed-cluster";  // the agent of a cluster's node, the operator, preflight, addresses, reports of a cluster

}  // namespace railbed
