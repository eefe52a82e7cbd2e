// SPDX-License-Identifier: Apache-2.0
// The paths of the netlink data in a recording.
// Threading: constants.
// Failure: none.
#pragma once

namespace railbed::os {

inline constexpr const char* kLinksFile = "/railbed/links.json";
inline constexpr const char* kRdmaFile = "/railbed/rdma.json";
inline constexpr const char* kHostFile = "/railbed/host.json";
inline constexpr const char* kAnswersFile = "/railbed/netlink.json";

}  // namespace railbed::os
