// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/generic_family.h"

#include <cerrno>

#include <linux/genetlink.h>

namespace railbed::os {

Result<uint16_t> find_family(NetlinkSocket& socket, const std::string& name) {
  NetlinkRequest request = encode_find_family(name);
  auto messages = socket.ask(request);
  if (messages)
    for (const NetlinkMessage& message : *messages)
      if (auto family = decode_family(message)) return *family;
  const NetlinkFailure failure = messages ? NetlinkFailure{ENOENT, {}} : messages.error();
  Error error = netlink_error(failure, "CTRL_CMD_GETFAMILY " + name);
  if (failure.sys_errno == ENOENT) error.code = Code::kUnsupported;
  return fail(std::move(error));
}

NetlinkRequest encode_find_family(const std::string& name) {
  NetlinkRequest request(GENL_ID_CTRL, 0);
  request.put_header(genlmsghdr{.cmd = CTRL_CMD_GETFAMILY, .version = 1, .reserved = 0});
  request.put_text(CTRL_ATTR_FAMILY_NAME, name);
  return request;
}

std::optional<uint16_t> decode_family(const NetlinkMessage& message) {
  for (const Attribute& attribute : message.attributes_after(sizeof(genlmsghdr)))
    if (attribute.type == CTRL_ATTR_FAMILY_ID) return attribute.u16();
  return std::nullopt;
}

}  // namespace railbed::os
