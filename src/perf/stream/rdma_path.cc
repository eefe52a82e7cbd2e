// SPDX-License-Identifier: Apache-2.0
#include "perf/stream/rdma_path.h"

#include <algorithm>

namespace railbed::perf {
namespace {

Error does_not_match(uint16_t own, uint16_t remote) {
  return {
      .code = Code::kInvalid,
      .message = fmt::format(
          "pkey-index: the partition keys of the two ends do not match: 0x{:04x} here, 0x{:04x} there", own, remote),
      .hint = "both must have the same lower 15 bits, and one of them the highest bit (full membership)"};
}

}  // namespace

Result<void> agree_on_path(const Device& device, const RdmaAddress& remote, QueuePairPath& path) {
  const RdmaPlace& place = device.place();
  const uint16_t pkey = device.pkey();
  const auto remote_pkey = static_cast<uint16_t>(remote.pkey);
  const bool both_known = pkey != 0 && remote_pkey != 0;
  if (both_known && (((pkey ^ remote_pkey) & 0x7fff) != 0 || ((pkey | remote_pkey) & 0x8000) == 0))
    return fail(does_not_match(pkey, remote_pkey));
  path.mtu_bytes = std::min(place.port.mtu_bytes, static_cast<int>(remote.mtu_bytes));
  // Within an InfiniBand subnet the LID is enough to reach the peer.
  path.is_global = !(place.port.is_infiniband && place.gid.entry.gid.subnet_prefix() == remote.gid.subnet_prefix() &&
                     remote.lid != 0);
  path.remote_gid = remote.gid;
  path.gid_index = place.gid.entry.index;
  path.port = place.port.number;
  path.remote_lid = remote.lid;
  return {};
}

}  // namespace railbed::perf
