// SPDX-License-Identifier: Apache-2.0
#include "facts/labels.h"

#include <algorithm>

#include "base/well_known.h"

namespace railbed::facts {
namespace {

constexpr std::string_view kFeature = "feature.node.kubernetes.io/";

bool has_module(const NodeFacts& facts, std::string_view name) {
  return std::ranges::find(facts.modules, name) != facts.modules.end();
}

}  // namespace

std::map<std::string, std::string> implied_labels(const NodeFacts& facts) {
  std::map<std::string, std::string> labels;
  auto feature = [&](std::string_view name) { labels[fmt::format("{}{}", kFeature, name)] = "true"; };
  auto pci = [&](const PciDevice& device) {
    feature(fmt::format("pci-{}.present", device.vendor));
    feature(fmt::format("pci-{}_{}.present", device.class_code, device.vendor));
  };
  labels["kubernetes.io/os"] = "linux";
  if (!facts.node.empty()) labels[kHostnameLabel] = facts.node;
  for (const Nic& nic : facts.nics) {
    pci(nic.pci);
    if (nic.total_vfs.value_or(0) > 0) {
      feature("network-sriov.capable");
      feature(fmt::format("pci-{}_{}.sriov.capable", nic.pci.class_code, nic.pci.vendor));
    }
    if (nic.num_vfs > 0) feature("network-sriov.configured");
    if (nic.pci.vendor == "15b3") feature("custom-rdma.capable");
  }
  for (const Gpu& gpu : facts.gpus) pci(gpu.pci);
  if (has_module(facts, "ib_uverbs") && has_module(facts, "rdma_ucm")) feature("custom-rdma.available");
  return labels;
}

}  // namespace railbed::facts
