// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/rdma_codec.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

namespace railbed::os {
namespace {

constexpr uint16_t command_type(uint16_t command) {
  return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

NetlinkRequest device_request(uint16_t command, uint16_t flags, uint32_t device) {
  NetlinkRequest request(command_type(command), flags);
  request.put_u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  return request;
}

// IBTA's port states, in the spelling of sysfs.
std::string port_state_name(uint8_t state) {
  constexpr const char* kNames[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < std::size(kNames) ? kNames[state] : fmt::format("state {}", state);
}

std::string physical_state_name(uint8_t state) {
  constexpr const char* kNames[] = {
      "NOP", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  return state < std::size(kNames) ? kNames[state] : fmt::format("state {}", state);
}

std::optional<int> small_number(const Attribute& attribute) {
  auto value = attribute.u32();
  return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

}  // namespace

NetlinkRequest encode_list_rdma_devices() {
  return {command_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP};
}

NetlinkRequest encode_list_rdma_ports(uint32_t device) {
  return device_request(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, device);
}

NetlinkRequest encode_rdma_netns_mode() {
  return {command_type(RDMA_NLDEV_CMD_SYS_GET), 0};
}

NetlinkRequest encode_create_soft_rdma(const std::string& type, const std::string& name, const IfName& netdev) {
  NetlinkRequest request(command_type(RDMA_NLDEV_CMD_NEWLINK), 0);
  request.put_text(RDMA_NLDEV_ATTR_DEV_NAME, name);
  request.put_text(RDMA_NLDEV_ATTR_LINK_TYPE, type);
  request.put_text(RDMA_NLDEV_ATTR_NDEV_NAME, netdev.value);
  return request;
}

NetlinkRequest encode_remove_soft_rdma(uint32_t device) {
  return device_request(RDMA_NLDEV_CMD_DELLINK, 0, device);
}

NetlinkRequest encode_move_rdma(uint32_t device, int netns_fd) {
  NetlinkRequest request = device_request(RDMA_NLDEV_CMD_SET, 0, device);
  request.put_u32(RDMA_NLDEV_NET_NS_FD, static_cast<uint32_t>(netns_fd));
  return request;
}

std::optional<RdmaLink> decode_rdma_device(const NetlinkMessage& message) {
  RdmaLink link;
  bool has_index = false;
  for (const Attribute& attribute : message.attributes_after(0)) {
    switch (attribute.type) {
      case RDMA_NLDEV_ATTR_DEV_INDEX:
        has_index = attribute.u32().has_value();
        link.index = attribute.u32().value_or(0);
        break;
      case RDMA_NLDEV_ATTR_DEV_NAME:
        link.name = attribute.text();
        break;
      case RDMA_NLDEV_ATTR_FW_VERSION:
        link.firmware = attribute.text();
        break;
      case RDMA_NLDEV_ATTR_NODE_GUID:
        link.node_guid = Guid{attribute.u64().value_or(0)};
        break;
      case RDMA_NLDEV_ATTR_SYS_IMAGE_GUID:
        link.system_image_guid = Guid{attribute.u64().value_or(0)};
        break;
      case RDMA_NLDEV_ATTR_DEV_PROTOCOL:
        link.protocol = attribute.text();
        break;
      default:
        break;
    }
  }
  if (!has_index || link.name.empty()) return std::nullopt;
  return link;
}

std::optional<RdmaLinkPort> decode_rdma_port(const NetlinkMessage& message) {
  RdmaLinkPort port;
  port.number = 0;
  for (const Attribute& attribute : message.attributes_after(0)) {
    switch (attribute.type) {
      case RDMA_NLDEV_ATTR_PORT_INDEX:
        port.number = static_cast<int>(attribute.u32().value_or(0));
        break;
      case RDMA_NLDEV_ATTR_NDEV_INDEX:
        port.netdev = IfIndex{static_cast<int>(attribute.u32().value_or(0))};
        break;
      case RDMA_NLDEV_ATTR_NDEV_NAME:
        port.netdev_name = attribute.text();
        break;
      case RDMA_NLDEV_ATTR_PORT_STATE:
        if (auto state = attribute.u8()) port.state = port_state_name(*state);
        break;
      case RDMA_NLDEV_ATTR_PORT_PHYS_STATE:
        if (auto state = attribute.u8()) port.physical_state = physical_state_name(*state);
        break;
      case RDMA_NLDEV_ATTR_LID:
        port.lid = small_number(attribute);
        break;
      case RDMA_NLDEV_ATTR_SM_LID:
        port.sm_lid = small_number(attribute);
        break;
      case RDMA_NLDEV_ATTR_SUBNET_PREFIX:
        port.subnet_prefix = attribute.u64();
        break;
      default:
        break;
    }
  }
  return port.number > 0 ? std::optional(port) : std::nullopt;
}

std::optional<RdmaNetnsMode> decode_rdma_netns_mode(const NetlinkMessage& message) {
  for (const Attribute& attribute : message.attributes_after(0))
    if (attribute.type == RDMA_NLDEV_SYS_ATTR_NETNS_MODE && attribute.u8())
      return *attribute.u8() != 0 ? RdmaNetnsMode::kShared : RdmaNetnsMode::kExclusive;
  return std::nullopt;
}

}  // namespace railbed::os
