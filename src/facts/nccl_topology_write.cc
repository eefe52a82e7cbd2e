// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>

#include "base/format.h"
#include "doc/markup.h"
#include "facts/nccl_topology.h"
#include "facts/rails.h"

namespace railbed::facts {
namespace {

constexpr size_t kMostSwitches = 32;  // above one device; more is no PCIe
constexpr int kMostCpus = 28 * 32;    // of a mask that NCCL reads: values have 254 bytes at most
constexpr std::string_view kSwitchClass = "0604";

// A PCI function with those below it.
struct Function {
  const PciDevice* device = nullptr;  // null: a switch, of which only the address is known
  const Nic* nic = nullptr;
  bool is_gpu = false;
  std::map<PciAddress, Function> below;
};

// NCCL's parser knows no entities, so a name with such characters is none that it will look for; it must only do no
// harm.
std::string attribute(std::string_view key, std::string_view value) {
  return fmt::format(" {}=\"{}\"", key, doc::markup_text(value));
}

// "32.0 GT/s PCIe", as kernels since 5.7 write it; NCCL compares the text.
std::string pcie_speed_text(double speed_gts) {
  return fmt::format("{:.1f} GT/s PCIe", speed_gts);
}

// "00ffffff,ffffffff" of "0-55"; empty where the list is none or too long.
std::string cpu_mask(std::string_view list) {
  std::vector<uint32_t> words;
  while (!list.empty()) {
    const std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    int first = 0;
    const char* const end = range.data() + range.size();
    auto read = std::from_chars(range.data(), end, first);
    int last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first || last >= kMostCpus) return {};
    words.resize(std::max(words.size(), static_cast<size_t>(last / 32 + 1)));
    for (int cpu = first; cpu <= last; ++cpu) words[cpu / 32] |= uint32_t{1} << (cpu % 32);
  }
  std::string mask;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    mask += fmt::format("{}{:08x}", mask.empty() ? "" : ",", *word);
  return mask;
}

class TopologyWriter {
 public:
  explicit TopologyWriter(const NodeFacts& facts) : facts_(facts) {
    for (const Gpu& gpu : facts.gpus)
      if (Function* function = place(gpu.pci)) function->is_gpu = true;
    for (const Nic& nic : facts.nics) {
      const bool speaks = std::ranges::any_of(
          nic.rdma, [](const RdmaDevice& device) { return !device.soft && device.transport.empty(); });
      if (!speaks) continue;
      if (Function* function = place(nic.pci)) function->nic = &nic;
    }
  }

  std::string text() {
    out_ = "<system version=\"1\">\n";
    for (const auto& [numa, functions] : cpus_) {
      out_ += fmt::format("  <cpu numaid=\"{}\"", numa);
      for (const NumaNode& node : facts_.numa_nodes)
        if (node.number == numa)
          if (const std::string mask = cpu_mask(node.cpus); !mask.empty()) out_ += attribute("affinity", mask);
      out_ += ">\n";
      for (const auto& [address, function] : functions) write(address, function, 2);
      out_ += "  </cpu>\n";
    }
    return out_ + "</system>\n";
  }

 private:
  // Of each switch NCCL takes the upstream port: from the device upwards every second bridge, without the root port.
  Function* place(const PciDevice& device) {
    if (device.bridges.size() > 2 * kMostSwitches) return nullptr;
    std::map<PciAddress, Function>* level = &cpus_[device.numa_node.value_or(-1)];
    const size_t count = device.bridges.size();
    for (size_t i = count % 2; i + 2 <= count; i += 2) level = &(*level)[device.bridges[i]].below;
    Function& own = (*level)[device.address];
    own.device = &device;
    return &own;
  }

  void line(size_t depth, std::string_view text) { out_ += fmt::format("{:{}}{}\n", "", depth * 2, text); }

  void write(const PciAddress& address, const Function& function, size_t depth) {
    std::string opening = "<pci" + attribute("busid", address.to_string());
    if (function.device == nullptr)
      opening += attribute("class", fmt::format("0x{}00", kSwitchClass));
    else
      opening += attributes_of(*function.device);
    line(depth, opening + ">");
    if (function.is_gpu) line(depth + 1, "<gpu/>");
    if (function.nic != nullptr) write_nets(*function.nic, depth + 1);
    for (const auto& [below, child] : function.below) write(below, child, depth + 1);
    line(depth, "</pci>");
  }

  static std::string attributes_of(const PciDevice& device) {
    std::string text;
    const auto add = [&](std::string_view key, const std::string& id, std::string_view end = "") {
      if (!id.empty()) text += attribute(key, fmt::format("0x{}{}", id, end));
    };
    add("class", device.class_code, "00");
    add("vendor", device.vendor);
    add("device", device.device);
    add("subsystem_vendor", device.subsystem_vendor);
    add("subsystem_device", device.subsystem_device);
    if (device.link && device.link->max_speed_gts > 0 && device.link->max_width > 0) {
      const PcieLink& link = *device.link;
      text += attribute("link_speed", pcie_speed_text(std::min(link.max_speed_gts,
                                                               link.peer_max_speed_gts.value_or(link.max_speed_gts))));
      text += attribute("link_width",
                        fmt::format("{}", std::min(link.max_width, link.peer_max_width.value_or(link.max_width))));
    }
    return text;
  }

  // All ports of a card are one <nic>, as they share its PCIe link.
  void write_nets(const Nic& nic, size_t depth) {
    line(depth, "<nic>");
    for (const RdmaDevice& device : nic.rdma) {
      if (device.soft) continue;
      for (const RdmaPort& port : device.ports) {
        std::string net = "<net" + attribute("name", device.name) + attribute("port", fmt::format("{}", port.number));
        if (port.rate_gbps && port.state == "ACTIVE")
          net += attribute("speed", fmt::format("{:.0f}", *port.rate_gbps * 1000));
        // NCCL reads the bytes of the verbs library as a number of this machine, which is little-endian.
        if (device.system_image_guid)
          net += attribute("guid", fmt::format("0x{:x}", __builtin_bswap64(device.system_image_guid->value)));
        line(depth + 1, net + "/>");
      }
    }
    line(depth, "</nic>");
  }

  const NodeFacts& facts_;
  std::map<int, std::map<PciAddress, Function>> cpus_;  // by NUMA node; -1: unknown
  std::string out_;
};

}  // namespace

std::string print_nccl_topology(const NodeFacts& facts) {
  return TopologyWriter(facts).text();
}

}  // namespace railbed::facts
