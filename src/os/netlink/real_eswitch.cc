// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/real_eswitch.h"

#include <cerrno>

#include <linux/devlink.h>
#include <linux/netlink.h>

#include "os/netlink/devlink.h"
#include "os/netlink/generic_family.h"
#include "os/netlink/netlink_socket.h"

namespace railbed::os {
namespace {

class RealEswitch : public EswitchPort {
 public:
  RealEswitch(NetlinkSocket socket, uint16_t family) : socket_(std::move(socket)), family_(family) {}

  Result<void> set_mode(PciAddress pf, EswitchMode mode) override {
    NetlinkRequest request = encode_set_eswitch(family_, pf, mode);
    auto answer = socket_.ask(request);
    if (answer) return {};
    Error error = netlink_error(answer.error(),
                                fmt::format("DEVLINK_CMD_ESWITCH_SET pci/{} mode {}", pf, eswitch_mode_name(mode)));
    // A driver without devlink has no devlink device at all.
    if (error.sys_errno == ENODEV) error.code = Code::kUnsupported;
    return fail(std::move(error));
  }

 private:
  NetlinkSocket socket_;
  uint16_t family_;
};

}  // namespace

Result<std::unique_ptr<EswitchPort>> real_eswitch() {
  NetlinkSocket socket = TRY(NetlinkSocket::open(NETLINK_GENERIC));
  const uint16_t family = TRY(find_family(socket, DEVLINK_GENL_NAME));
  return std::make_unique<RealEswitch>(std::move(socket), family);
}

}  // namespace railbed::os
