// SPDX-License-Identifier: Apache-2.0
// Any bytes as a topology of NCCL: no crash, messages that a terminal can show, and a node with the same functions at
// the same places is written and read again.
#include <cstdint>
#include <cstdlib>

#include "doc/text.h"
#include "facts/nccl_topology.h"

namespace {

using namespace railbed;
using namespace railbed::facts;

PciDevice device_of(const NcclFunction& function, std::string_view class_code) {
  PciDevice device{.address = function.address, .class_code = std::string(class_code), .numa_node = function.numa_node};
  for (auto above = function.switches.rbegin(); above != function.switches.rend(); ++above)
    if (const auto address = PciAddress::parse(*above)) {
      device.bridges.push_back(*address);
      device.bridges.push_back(*address);
    }
  return device;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = parse_nccl_topology({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!read) {
    if (doc::printable(read.error().message) != read.error().message) std::abort();
    return 0;
  }
  NodeFacts facts;
  for (const NcclFunction& gpu : read->gpus) facts.gpus.push_back({.pci = device_of(gpu, "0302")});
  for (const NcclFunction& nic : read->nics) {
    Nic made;
    made.pci = device_of(nic, "0207");
    made.rdma.push_back({.name = nic.switches.empty() ? "mlx5_0" : nic.switches.front(), .ports = {{}}});
    for (const Gpu& gpu : facts.gpus) made.gpus.push_back({.gpu = gpu.pci.address, .kind = ""});
    facts.nics.push_back(std::move(made));
  }
  const auto again = parse_nccl_topology(print_nccl_topology(facts), "again");
  if (!again || again->gpus.size() != read->gpus.size() || again->nics.size() != read->nics.size()) std::abort();
  if (take_nccl_paths(*read, facts).has_value() != (!read->gpus.empty() && !read->nics.empty())) std::abort();
  return 0;
}
