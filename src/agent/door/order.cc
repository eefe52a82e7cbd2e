// SPDX-License-Identifier: Apache-2.0
#include "agent/door/order.h"

#include "api/ipam_parse.h"

namespace railbed::agent {

Lane lane_of(const cni::Request& request) {
  if (request.command == cni::Command::kStatus || request.command == cni::Command::kVersion) return Lane::kQuestions;
  return api::ipam_type(request.type).has_value() ? Lane::kAddresses : Lane::kPods;
}

std::string order_of(const cni::Request& request) {
  switch (lane_of(request)) {
    case Lane::kQuestions:
      // A network whose plugin hangs is asked again and again: one question a time is enough for it.
      return request.command == cni::Command::kStatus ? "status " + request.type + " " + request.config : "";
    case Lane::kAddresses:
      return "";
    case Lane::kPods:
      break;
  }
  if (request.container_id.empty()) return "";
  // A plugin that the meta plugin executes may call one of ours for the same container.
  return (request.type == "railbed" ? "pod " : "plugin ") + request.container_id;
}

}  // namespace railbed::agent
