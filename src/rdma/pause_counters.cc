// SPDX-License-Identifier: Apache-2.0
#include "rdma/pause_counters.h"

#include <algorithm>
#include <array>
#include <span>

namespace railbed::rdma {
namespace {

// Counters that add up to all pause frames of one kind. "$x" is "rx" or "tx", '#' a priority.
struct Source {
  std::string_view first;
  std::string_view second = {};
};
constexpr Source kSources[] = {
    {"$x_pause_ctrl_phy"},                                  // mlx5: all
    {"$x_global_pause"},                                    // mlx5: of the whole link
    {"$x_prio#_pause"},                                     // mlx5
    {"$x_pause"},                                           // mlx4
    {"$x_pause_prio_#"},                                    // mlx4
    {"$x_pause_frames"},                                    // bnxt_en, qede, cxgb4
    {"$x_pfc_frames"},                                      // bnxt_en, qede
    {"$x_pfc_ena_frames_pri#"},                             // bnxt_en
    {"link_xon_$x.nic", "link_xoff_$x.nic"},                // ice
    {"$x_priority_#_xon.nic", "$x_priority_#_xoff.nic"},    // ice
    {"port.link_xon_$x", "port.link_xoff_$x"},              // i40e
    {"port.$x_priority_#_xon", "port.$x_priority_#_xoff"},  // i40e; the names before Linux 5.2
    {"port.$x_priority_#_xon_$x", "port.$x_priority_#_xoff_$x"},
    {"$x_flow_control_xon", "$x_flow_control_xoff"},  // igb, ixgbe
    {"$x_pb_#_pxon", "$x_pb_#_pxoff"},                // ixgbe
    {"$x_ppp#_frames"},                               // cxgb4
    {"mac_$x_mac_pause_num"},                         // hns3
    {"mac_$x_pfc_pri#_pkt_num"},                      // hns3
};

std::string_view letters_of(PauseDirection direction) {
  return direction == PauseDirection::kSent ? "tx" : "rx";
}

bool matches(std::string_view name, std::string_view pattern, std::string_view letters) {
  size_t at = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 2) == "$x") {
      if (name.substr(at, letters.size()) != letters) return false;
      at += letters.size();
      ++i;
    } else if (at >= name.size() || (pattern[i] == '#' ? name[at] < '0' || name[at] > '7' : name[at] != pattern[i])) {
      return false;
    } else {
      ++at;
    }
  }
  return at == name.size() && !pattern.empty();
}

bool is_of(std::string_view name, const Source& source, std::string_view letters) {
  return matches(name, source.first, letters) || matches(name, source.second, letters);
}

bool is_counted(std::string_view name) {
  return std::ranges::any_of(kSources, [&](const Source& source) {
    return is_of(name, source, letters_of(PauseDirection::kSent)) ||
           is_of(name, source, letters_of(PauseDirection::kReceived));
  });
}

}  // namespace

bool is_about_pauses(std::string_view name) {
  constexpr std::string_view kWords[] = {"pause", "pfc", "xon", "xoff", "_ppp"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return name.contains(word); });
}

PortCounters read_pause_counters(os::LinkStatistics* interfaces, const std::string& interface) {
  constexpr size_t kMost = 128;
  PortCounters counters;
  if (interfaces == nullptr || interface.empty()) return counters;
  const auto statistics = interfaces->read(interface);
  if (!statistics) return counters;
  // Those that figures are made of come first, should there be too many.
  for (const bool counted : {true, false})
    for (const auto& [name, value] : *statistics)
      if (is_about_pauses(name) && is_counted(name) == counted && value <= INT64_MAX && counters.size() < kMost)
        counters.emplace(name, static_cast<int64_t>(value));
  return counters;
}

bool counts_pauses(const PortCounters& counters) {
  return std::ranges::any_of(counters, [](const auto& counter) { return is_counted(counter.first); });
}

std::optional<int64_t> pause_frames(const PortCounters& before, const PortCounters& after, PauseDirection direction) {
  std::optional<int64_t> most;
  for (const Source& source : kSources) {
    std::optional<int64_t> sum;
    for (const auto& [name, now] : after) {
      if (!is_of(name, source, letters_of(direction))) continue;
      const auto old = before.find(name);
      if (old == before.end() || now < old->second) return std::nullopt;
      sum = sum.value_or(0) + (now - old->second);
    }
    if (sum) most = std::max(most.value_or(0), *sum);
  }
  return most;
}

int64_t pause_frames(const PortCounters& moved, PauseDirection direction) {
  PortCounters before;
  for (const auto& [name, value] : moved) before[name] = 0;
  return pause_frames(before, moved, direction).value_or(0);
}

}  // namespace railbed::rdma
