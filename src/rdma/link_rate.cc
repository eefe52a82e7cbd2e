// SPDX-License-Identifier: Apache-2.0
#include "rdma/link_rate.h"

#include <charconv>

#include "facts/pci.h"

namespace railbed::rdma {
namespace {

constexpr double kTransaction_bytes = 256;
constexpr double kTransactionHeaders_bytes = 24;

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

LinkRates read_link(const os::FileTree& files, LinkLayer layer, const Port& port) {
  LinkRates rates;
  const std::string device = "/sys/class/infiniband/" + port.device;
  rates.link = os::read_line(files, fmt::format("{}/ports/{}/rate", device, port.port)).value_or("").substr(0, 64);
  rates.link_gbps = data_rate_gbps(rates.link, layer);
  for (const std::string& folder : {device + "/device", device + "/device/physfn"}) {
    const double speed_gts = facts::pcie_speed_gts(os::read_line(files, folder + "/current_link_speed").value_or(""));
    const std::string text = os::read_line(files, folder + "/current_link_width").value_or("");
    int width = 0;
    std::from_chars(text.data(), text.data() + text.size(), width);
    if (speed_gts <= 0 || width <= 0 || width > 32) continue;
    rates.pcie = fmt::format("{:g} GT/s x{}", speed_gts, width);
    rates.pcie_gbps = pcie_payload_gbps(speed_gts, width);
    break;
  }
  return rates;
}

}  // namespace railbed::rdma
