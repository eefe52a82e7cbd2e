// SPDX-License-Identifier: Apache-2.0
// Where a recording keeps what netlink told. Threading: constants. Failure: none.
#pragma once

namespace railbed::os {

inline constexpr const char* kLinksFile = "/railbed/links.json";
inline constexpr const char* kRdmaFile = "/railbed/rdma.json";
inline constexpr const char* kHostFile = "/railbed/host.json";

}  // namespace railbed::os
