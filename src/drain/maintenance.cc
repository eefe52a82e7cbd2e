// SPDX-License-Identifier: Apache-2.0
#include "drain/maintenance.h"

#include <algorithm>
#include <array>

#include "base/format.h"

namespace railbed::drain {
namespace {

struct Sign {
  std::string_view who;
  std::string_view key;  // of a label or an annotation; one that ends in '_' is a prefix
  // It is in progress if its value is none of `idle` and, where there are some, one of `busy`.
  std::array<std::string_view, 3> idle = {};
  std::array<std::string_view, 5> busy = {};
};

constexpr Sign kSigns[] = {
    {.who = "kured", .key = "weave.works/kured-reboot-in-progress"},
    {.who = "MachineConfigPool",
     .key = "machineconfiguration.openshift.io/state",
     .idle = {"Done", "Degraded", "Unreconcilable"}},
    {.who = "nodewright", .key = "skyhook.nvidia.com/status_", .busy = {"in_progress"}},
    {.who = "the driver upgrade of the NVIDIA network operator",
     .key = "nvidia.com/ofed-driver-upgrade-state",
     .busy = {"cordon-required", "wait-for-jobs-required", "drain-required", "pod-restart-required",
              "uncordon-required"}},
    {.who = "the driver upgrade of the NVIDIA GPU operator",
     .key = "nvidia.com/gpu-driver-upgrade-state",
     .busy = {"cordon-required", "wait-for-jobs-required", "drain-required", "pod-restart-required",
              "uncordon-required"}},
};

bool is_of(const Sign& sign, std::string_view key) {
  return sign.key.ends_with('_') ? key.starts_with(sign.key) : key == sign.key;
}

bool shows(const Sign& sign, const Labels& texts) {
  return std::ranges::any_of(texts, [&](const auto& text) {
    const auto& [key, value] = text;
    if (!is_of(sign, key)) return false;
    if (value.empty() || std::ranges::count(sign.idle, value) > 0) return false;
    return sign.busy.front().empty() || std::ranges::count(sign.busy, value) > 0;
  });
}

}  // namespace

bool is_sign_of_maintenance(std::string_view key) {
  return std::ranges::any_of(kSigns, [&](const Sign& sign) { return is_of(sign, key); });
}

std::vector<std::string> other_maintenance(const Labels& labels, const Labels& annotations,
                                           const std::vector<std::string>& node_maintenances) {
  std::vector<std::string> out;
  for (const Sign& sign : kSigns)
    if (shows(sign, labels) || shows(sign, annotations)) out.emplace_back(sign.who);
  for (const std::string& name : node_maintenances) out.push_back(fmt::format("NodeMaintenance {}", name));
  return out;
}

}  // namespace railbed::drain
