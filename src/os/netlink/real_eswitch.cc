// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/real_eswitch.h"

#include <cerrno>
#include <optional>

#include <linux/devlink.h>
#include <linux/netlink.h>

#include "os/netlink/devlink_codec.h"
#include "os/netlink/netlink_socket.h"

namespace railbed::os {
namespace {

class RealEswitch : public EswitchPort {
 public:
  RealEswitch(NetlinkSocket socket, uint16_t family) : socket_(std::move(socket)), family_(family) {}

  Result<EswitchMode> mode(PciAddress pf) override {
    auto request = encode_get_eswitch(family_, pf);
    for (const NetlinkMessage& message : TRY(ask(request, fmt::format("DEVLINK_CMD_ESWITCH_GET pci/{}", pf))))
      if (auto mode = decode_eswitch(message)) return *mode;
    return fail(Code::kUnsupported, "DEVLINK_CMD_ESWITCH_GET pci/{}: the driver reports no mode", pf);
  }

  Result<void> set_mode(PciAddress pf, EswitchMode mode) override {
    auto request = encode_set_eswitch(family_, pf, mode);
    TRY(ask(request, fmt::format("DEVLINK_CMD_ESWITCH_SET pci/{} mode {}", pf, eswitch_mode_name(mode))));
    return {};
  }

  Result<std::string> firmware(PciAddress pf) override {
    auto request = encode_get_device_info(family_, pf);
    for (const NetlinkMessage& message : TRY(ask(request, fmt::format("DEVLINK_CMD_INFO_GET pci/{}", pf))))
      if (auto version = decode_firmware(message)) return *version;
    return fail(Code::kNotFound, "DEVLINK_CMD_INFO_GET pci/{}: the driver reports no firmware version", pf);
  }

 private:
  Result<std::vector<NetlinkMessage>> ask(NetlinkRequest& request, const std::string& what) {
    auto messages = socket_.ask(request);
    if (messages) return std::move(*messages);
    Error error = netlink_error(messages.error(), what);
    // A driver without devlink has no devlink device at all.
    if (error.sys_errno == ENODEV) error.code = Code::kUnsupported;
    return fail(std::move(error));
  }

  NetlinkSocket socket_;
  uint16_t family_;
};

}  // namespace

Result<std::unique_ptr<EswitchPort>> real_eswitch() {
  NetlinkSocket socket = TRY(NetlinkSocket::open(NETLINK_GENERIC));
  auto request = encode_find_family(DEVLINK_GENL_NAME);
  auto messages = socket.ask(request);
  std::optional<uint16_t> family;
  if (messages)
    for (const NetlinkMessage& message : *messages)
      if (!family) family = decode_family(message);
  if (!family) {
    auto failure = messages ? NetlinkFailure{ENOENT, {}} : messages.error();
    Error error = netlink_error(failure, "CTRL_CMD_GETFAMILY devlink");
    if (failure.sys_errno == ENOENT) error.code = Code::kUnsupported;
    return fail(std::move(error));
  }
  return std::make_unique<RealEswitch>(std::move(socket), *family);
}

}  // namespace railbed::os
