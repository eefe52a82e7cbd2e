// SPDX-License-Identifier: Apache-2.0
#include "os/ports/netlink_questions.h"

#include <cstring>
#include <utility>

#include <linux/genetlink.h>

namespace railbed::os {

NetlinkQuestion::NetlinkQuestion(NetlinkRead read, std::string what, Of of)
    : NetlinkRequest(row_of(read.family).is_generic() ? uint16_t{0} : read.command,
                     of == Of::kAll ? uint16_t{NLM_F_DUMP} : uint16_t{0}),
      family_(read.family),
      what_(std::move(what)) {
  if (row_of(family_).is_generic())
    put_header(genlmsghdr{.cmd = static_cast<uint8_t>(read.command), .version = 1, .reserved = 0});
}

NetlinkRequest NetlinkQuestion::request(uint16_t number) const {
  NetlinkRequest request = *this;
  if (row_of(family_).is_generic()) request.set_type(number);
  return request;
}

void forget_asker(NetlinkFamily family, NetlinkMessage& message) {
  nlmsghdr header{};
  if (message.bytes.size() < sizeof header) return;
  std::memcpy(&header, message.bytes.data(), sizeof header);
  header.nlmsg_seq = 0;
  header.nlmsg_pid = 0;
  if (row_of(family).is_generic()) header.nlmsg_type = message.type = 0;
  std::memcpy(message.bytes.data(), &header, sizeof header);
}

}  // namespace railbed::os
