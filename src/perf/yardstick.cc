// SPDX-License-Identifier: Apache-2.0
#include "perf/yardstick.h"

#include <algorithm>

namespace railbed::perf {
namespace {

// What a packet has besides its payload, with what Ethernet puts between packets (preamble, header, FCS, gap: 38
// bytes).
constexpr double kRoceV4Headers_bytes = 38 + 20 + 8 + 12 + 4;  // IPv4, UDP, BTH, ICRC
constexpr double kRoceV6Headers_bytes = kRoceV4Headers_bytes + 20;
constexpr double kInfiniBandHeaders_bytes = 8 + 12 + 4 + 2;  // LRH, BTH, ICRC, VCRC

double header_bytes(const Endpoint& end) {
  if (end.link_layer == "InfiniBand") return kInfiniBandHeaders_bytes;
  return end.address.find(':') == std::string::npos ? kRoceV4Headers_bytes : kRoceV6Headers_bytes;
}

double carries_gbps(const Endpoint& end, double mtu_bytes) {
  const double link = end.link_gbps * mtu_bytes / (mtu_bytes + header_bytes(end));
  return end.pcie_gbps > 0 ? std::min(link, end.pcie_gbps) : link;
}

}  // namespace

double yardstick_gbps(const Endpoint& client, const Endpoint& server) {
  if (client.link_gbps <= 0 || server.link_gbps <= 0) return 0;
  // Before the path's MTU is agreed, each end sends its port's.
  const int64_t mtu_bytes = std::min(client.path_mtu_bytes, server.path_mtu_bytes);
  if (mtu_bytes <= 0) return 0;
  return std::min(carries_gbps(client, static_cast<double>(mtu_bytes)),
                  carries_gbps(server, static_cast<double>(mtu_bytes)));
}

}  // namespace railbed::perf
