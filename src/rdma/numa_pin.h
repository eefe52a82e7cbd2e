// SPDX-License-Identifier: Apache-2.0
// Keeps the measuring thread on the NUMA node of the device.
//
// Why: a thread, or memory that it touches first, on the other socket costs a fast NIC a third of its rate, without any
// indication. Memory that is allocated while a pin lasts is on that node, too. The pin is to the node's processors, as
// far as the thread may use them, and ends with the object.
// Threading: belongs to the thread that created it.
// Failure: Unsupported if the node is unknown or has none of the thread's processors.
// Source: sched_setaffinity(2); Documentation/ABI/stable/sysfs-devices-node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/ports/file_tree.h"

namespace railbed::rdma {

// "0-3,8": 0, 1, 2, 3, 8. Nothing where it is no such list.
std::optional<std::vector<int>> cpus_of(std::string_view list);
std::string cpu_list(const std::vector<int>& cpus);  // sorted ones, and back

// The NUMA node of an RDMA device; absent where the machine has one node or does not say.
std::optional<int64_t> numa_node_of(const os::FileTree& files, const std::string& device);

// How many processors this thread may use.
int64_t usable_processors();

class NumaPin {
 public:
  static Result<NumaPin> to_node(const os::FileTree& files, int64_t node);
  const std::string& cpus() const { return cpus_; }

 private:
  struct Restore;
  struct Undo {
    void operator()(Restore* before) const;
  };
  std::unique_ptr<Restore, Undo> before_;
  std::string cpus_;
};

}  // namespace railbed::rdma
