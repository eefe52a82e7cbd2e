// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/devlink_codec.h"

#include <linux/devlink.h>
#include <linux/genetlink.h>

namespace railbed::os {
namespace {

NetlinkRequest generic_request(uint16_t family, uint8_t command) {
  NetlinkRequest request(family, 0);
  request.put_header(genlmsghdr{.cmd = command, .version = 1, .reserved = 0});
  return request;
}

NetlinkRequest device_request(uint16_t family, uint8_t command, PciAddress device) {
  NetlinkRequest request = generic_request(family, command);
  request.put_text(DEVLINK_ATTR_BUS_NAME, "pci");
  request.put_text(DEVLINK_ATTR_DEV_NAME, device.to_string());
  return request;
}

}  // namespace

NetlinkRequest encode_find_family(const std::string& name) {
  NetlinkRequest request = generic_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
  request.put_text(CTRL_ATTR_FAMILY_NAME, name);
  return request;
}

NetlinkRequest encode_get_eswitch(uint16_t family, PciAddress device) {
  return device_request(family, DEVLINK_CMD_ESWITCH_GET, device);
}

NetlinkRequest encode_set_eswitch(uint16_t family, PciAddress device, EswitchMode mode) {
  NetlinkRequest request = device_request(family, DEVLINK_CMD_ESWITCH_SET, device);
  request.put_u16(DEVLINK_ATTR_ESWITCH_MODE,
                  mode == EswitchMode::kSwitchdev ? DEVLINK_ESWITCH_MODE_SWITCHDEV : DEVLINK_ESWITCH_MODE_LEGACY);
  return request;
}

NetlinkRequest encode_get_device_info(uint16_t family, PciAddress device) {
  return device_request(family, DEVLINK_CMD_INFO_GET, device);
}

std::optional<uint16_t> decode_family(const NetlinkMessage& message) {
  for (const Attribute& attribute : message.attributes_after(sizeof(genlmsghdr)))
    if (attribute.type == CTRL_ATTR_FAMILY_ID) return attribute.u16();
  return std::nullopt;
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
