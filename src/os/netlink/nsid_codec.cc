// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/nsid_codec.h"

#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace railbed::os {
namespace {

NetlinkRequest nsid_request(uint16_t type, uint16_t flags) {
  NetlinkRequest request(type, flags);
  rtgenmsg header{};
  header.rtgen_family = AF_UNSPEC;
  request.put_header(header);
  return request;
}

}  // namespace

NetlinkRequest encode_nsid_of(int netns_fd) {
  NetlinkRequest request = nsid_request(RTM_GETNSID, 0);
  request.put_u32(NETNSA_FD, static_cast<uint32_t>(netns_fd));
  return request;
}

NetlinkRequest encode_give_nsid(int netns_fd) {
  NetlinkRequest request = nsid_request(RTM_NEWNSID, 0);
  request.put_u32(NETNSA_FD, static_cast<uint32_t>(netns_fd));
  request.put_u32(NETNSA_NSID, static_cast<uint32_t>(NETNSA_NSID_NOT_ASSIGNED));  // the kernel chooses
  return request;
}

NetlinkRequest encode_list_nsids() {
  return nsid_request(RTM_GETNSID, NLM_F_DUMP);
}

std::optional<Nsid> decode_nsid(const NetlinkMessage& message) {
  if (message.type != RTM_NEWNSID) return std::nullopt;
  // The header is one byte, padded to four.
  for (const Attribute& attribute : message.attributes_after(sizeof(rtgenmsg)))
    if (attribute.type == NETNSA_NSID)
      if (const auto value = attribute.as<int32_t>(); value.has_value() && *value >= 0) return Nsid{*value};
  return std::nullopt;
}

}  // namespace railbed::os
