// SPDX-License-Identifier: Apache-2.0
#include "perf/link_rate.h"

#include <algorithm>
#include <charconv>

#include "facts/pci.h"

namespace railbed::perf {
namespace {

// What a packet has besides its payload, with what Ethernet puts between packets (preamble, header, FCS, gap: 38
// bytes).
constexpr double kRoceV4Headers_bytes = 38 + 20 + 8 + 12 + 4;  // IPv4, UDP, BTH, ICRC
constexpr double kRoceV6Headers_bytes = kRoceV4Headers_bytes + 20;
constexpr double kInfiniBandHeaders_bytes = 8 + 12 + 4 + 2;  // LRH, BTH, ICRC, VCRC
constexpr double kTransaction_bytes = 256;
constexpr double kTransactionHeaders_bytes = 24;

double header_bytes(const Endpoint& end) {
  if (end.link_layer == "InfiniBand") return kInfiniBandHeaders_bytes;
  return end.address.find(':') == std::string::npos ? kRoceV4Headers_bytes : kRoceV6Headers_bytes;
}

double carries_gbps(const Endpoint& end, double mtu_bytes) {
  const double link = end.link_gbps * mtu_bytes / (mtu_bytes + header_bytes(end));
  return end.pcie_gbps > 0 ? std::min(link, end.pcie_gbps) : link;
}

}  // namespace

double data_rate_gbps(std::string_view rate, LinkLayer layer) {
  double gbps = 0;
  const auto [end, error] = std::from_chars(rate.data(), rate.data() + rate.size(), gbps);
  if (error != std::errc() || !std::string_view(end, rate.data() + rate.size()).starts_with(" Gb/sec")) return 0;
  if (gbps <= 0 || gbps > 100'000) return 0;
  if (layer == LinkLayer::kEthernet) return gbps;
  for (std::string_view coded : {" SDR)", " DDR)", " QDR)"})
    if (rate.ends_with(coded)) return gbps * 8 / 10;
  return rate.ends_with(" FDR)") ? gbps / 56 * 4 * 14.0625 * 64 / 66 : gbps;
}

double pcie_payload_gbps(double speed_gts, int width) {
  if (speed_gts <= 0 || width <= 0) return 0;
  // 8b/10b up to 5 GT/s, 128b/130b up to 32, flits of 242 bytes in 256 above.
  const double coding = speed_gts <= 5 ? 8.0 / 10 : speed_gts <= 32 ? 128.0 / 130 : 242.0 / 256;
  return speed_gts * width * coding * kTransaction_bytes / (kTransaction_bytes + kTransactionHeaders_bytes);
}

void read_link(const os::FileTree& files, LinkLayer layer, Endpoint& end) {
  const std::string device = "/sys/class/infiniband/" + end.device;
  end.link = os::read_line(files, fmt::format("{}/ports/{}/rate", device, end.port)).value_or("").substr(0, 64);
  end.link_gbps = data_rate_gbps(end.link, layer);
  for (const std::string& folder : {device + "/device", device + "/device/physfn"}) {
    const double speed_gts = facts::pcie_speed_gts(os::read_line(files, folder + "/current_link_speed").value_or(""));
    const std::string text = os::read_line(files, folder + "/current_link_width").value_or("");
    int width = 0;
    std::from_chars(text.data(), text.data() + text.size(), width);
    if (speed_gts <= 0 || width <= 0 || width > 32) continue;
    end.pcie = fmt::format("{:g} GT/s x{}", speed_gts, width);
    end.pcie_gbps = pcie_payload_gbps(speed_gts, width);
    return;
  }
}

double yardstick_gbps(const Endpoint& client, const Endpoint& server) {
  if (client.link_gbps <= 0 || server.link_gbps <= 0) return 0;
  // Before the path's MTU is agreed, each end tells its port's.
  const int64_t mtu_bytes = std::min(client.path_mtu_bytes, server.path_mtu_bytes);
  if (mtu_bytes <= 0) return 0;
  return std::min(carries_gbps(client, static_cast<double>(mtu_bytes)),
                  carries_gbps(server, static_cast<double>(mtu_bytes)));
}

}  // namespace railbed::perf
