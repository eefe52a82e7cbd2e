// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/devlink.h"

#include <cerrno>
#include <utility>

#include <linux/genetlink.h>

namespace railbed::os {
namespace {

template <typename Request>
void put_device(Request& request, PciAddress device) {
  request.put_text(DEVLINK_ATTR_BUS_NAME, "pci");
  request.put_text(DEVLINK_ATTR_DEV_NAME, device.to_string());
}

// `name` is that of the command.
NetlinkQuestion device_question(NetlinkRead read, std::string_view name, PciAddress device) {
  NetlinkQuestion question(read, fmt::format("{} pci/{}", name, device));
  put_device(question, device);
  return question;
}

// The value that `decode` finds in the answer. An answer without it fails with `code`: "… the driver reports no mode".
template <typename Value>
Result<Value> ask_device(NetlinkQuestions& kernel, const NetlinkQuestion& question,
                         std::optional<Value> (*decode)(const NetlinkMessage&), Code code, std::string_view value) {
  Result<std::vector<NetlinkMessage>> messages = kernel.ask(question);
  // A driver without devlink has no devlink device at all.
  if (!messages && messages.error().sys_errno == ENODEV) messages.error().code = Code::kUnsupported;
  for (const NetlinkMessage& message : TRY(std::move(messages)))
    if (std::optional<Value> found = decode(message)) return std::move(*found);
  return fail(code, "{}: the driver reports no {}", question.what(), value);
}

}  // namespace

Result<EswitchMode> eswitch_mode(NetlinkQuestions& kernel, PciAddress pf) {
  return ask_device(kernel, encode_get_eswitch(pf), decode_eswitch, Code::kUnsupported, "mode");
}

Result<std::string> firmware_version(NetlinkQuestions& kernel, PciAddress pf) {
  return ask_device(kernel, encode_get_device_info(pf), decode_firmware, Code::kNotFound, "firmware version");
}

NetlinkQuestion encode_get_eswitch(PciAddress device) {
  return device_question({NetlinkFamily::kDevlink, DEVLINK_CMD_ESWITCH_GET}, "DEVLINK_CMD_ESWITCH_GET", device);
}

NetlinkQuestion encode_get_device_info(PciAddress device) {
  return device_question({NetlinkFamily::kDevlink, DEVLINK_CMD_INFO_GET}, "DEVLINK_CMD_INFO_GET", device);
}

NetlinkRequest encode_set_eswitch(uint16_t family, PciAddress device, EswitchMode mode) {
  NetlinkRequest request(family, 0);
  request.put_header(genlmsghdr{.cmd = DEVLINK_CMD_ESWITCH_SET, .version = 1, .reserved = 0});
  put_device(request, device);
  request.put_u16(DEVLINK_ATTR_ESWITCH_MODE,
                  mode == EswitchMode::kSwitchdev ? DEVLINK_ESWITCH_MODE_SWITCHDEV : DEVLINK_ESWITCH_MODE_LEGACY);
  return request;
}

std::optional<EswitchMode> decode_eswitch(const NetlinkMessage& message) {
  for (const Attribute& attribute : message.attributes_after(sizeof(genlmsghdr))) {
    if (attribute.type != DEVLINK_ATTR_ESWITCH_MODE) continue;
    auto mode = attribute.u16();
    if (mode == DEVLINK_ESWITCH_MODE_LEGACY) return EswitchMode::kLegacy;
    if (mode == DEVLINK_ESWITCH_MODE_SWITCHDEV) return EswitchMode::kSwitchdev;
  }
  return std::nullopt;
}

std::optional<std::string> decode_firmware(const NetlinkMessage& message) {
  std::optional<std::string> plain;
  for (const Attribute& version : message.attributes_after(sizeof(genlmsghdr))) {
    if (version.type != DEVLINK_ATTR_INFO_VERSION_RUNNING) continue;
    std::string name;
    std::string value;
    for (const Attribute& part : attributes(version.payload)) {
      if (part.type == DEVLINK_ATTR_INFO_VERSION_NAME) name = part.text();
      if (part.type == DEVLINK_ATTR_INFO_VERSION_VALUE) value = part.text();
    }
    if (name == "fw.version") return value;
    if (name == "fw") plain = value;
  }
  return plain;
}

}  // namespace railbed::os
