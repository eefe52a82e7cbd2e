// SPDX-License-Identifier: Apache-2.0
#include "agent/door/node_counts.h"

#include <chrono>
#include <set>

namespace railbed::agent {

namespace {
constexpr std::chrono::milliseconds kPagePatience{200};
const std::string kDevices = "/sys/bus/pci/devices";

std::set<std::string> vfs_of_machine(const os::FileTree& files) {
  std::set<std::string> vfs;
  auto devices = files.list(kDevices);
  if (!devices) return vfs;
  for (const std::string& device : *devices)
    if (files.exists(kDevices + "/" + device + "/physfn")) vfs.insert(device);
  return vfs;
}
}  // namespace

NodeCounts count_node(Engine& engine) {
  NodeCounts out;
  std::vector<state::Attachment> attachments;
  if (auto turn = engine.turn(kPagePatience)) {
    if (auto stored = turn->store().attachments()) attachments = std::move(*stored);
    for (const ipam::Allocator::Usage& pool : turn->addresses().usage())
      out.pools.push_back({pool.pool, static_cast<double>(pool.free), static_cast<double>(pool.taken)});
  }
  const std::set<std::string> vfs = vfs_of_machine(engine.kernel().files());
  std::set<std::string> attached;
  for (const state::Attachment& one : attachments) {
    // The record of a chained plugin is no further interface.
    if (one.interface.find('/') == std::string::npos) ++out.attachments;
    if (PciAddress::parse(one.device)) attached.insert(one.device);
  }
  for (const std::string& device : attached) ++(vfs.contains(device) ? out.vfs_attached : out.vfs_missing);
  out.vfs_free = vfs.size() - out.vfs_attached;
  return out;
}

}  // namespace railbed::agent
