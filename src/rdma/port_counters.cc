// SPDX-License-Identifier: Apache-2.0
#include "rdma/port_counters.h"

#include <optional>
#include <vector>

#include "base/number.h"
#include "rdma/pause_counters.h"

namespace railbed::rdma {
namespace {

constexpr int64_t kWord_bytes = 4;

std::optional<int64_t> number_of(const std::string& text) {
  const std::optional<int64_t> number = whole_number<int64_t>(text);
  return number.value_or(-1) < 0 ? std::nullopt : number;
}

}  // namespace

PortCounters read_counters(const os::FileTree& files, os::LinkStatistics* interfaces, const Port& port) {
  PortCounters counters;
  if (port.device.empty()) return counters;
  for (const char* kind : {"counters", "hw_counters"}) {
    const std::string folder = fmt::format("/sys/class/infiniband/{}/ports/{}/{}", port.device, port.port, kind);
    for (const std::string& name : files.list(folder).value_or(std::vector<std::string>())) {
      const auto number = number_of(os::read_line(files, folder + "/" + name).value_or(""));
      // "lifespan" is how old a value of hw_counters may be.
      if (!number || name == "lifespan" || name.size() > 64 || counters.size() >= kMaxCounters) continue;
      const bool words = name == "port_xmit_data" || name == "port_rcv_data";
      if (words && *number <= INT64_MAX / kWord_bytes)
        counters[name + "_bytes"] = *number * kWord_bytes;
      else if (!words)
        counters[name] = *number;
    }
  }
  for (const auto& [name, value] : read_pause_counters(interfaces, port.netdev))
    if (counters.size() < kMaxCounters) counters.emplace(name, value);
  return counters;
}

PortCounters moved(const PortCounters& before, const PortCounters& after) {
  PortCounters out;
  for (const auto& [name, value] : after)
    if (const auto old = before.find(name); old != before.end() && value > old->second) out[name] = value - old->second;
  return out;
}

}  // namespace railbed::rdma
