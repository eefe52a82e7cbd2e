// SPDX-License-Identifier: Apache-2.0
// Which verbs device a VF's soft RDMA device will be: reserved when the kubelet allocates the VF.
//
// Why: the kubelet needs a container's device files before CNI's ADD, and a soft device is created in ADD. The kernel
// assigns verbs devices the lowest free number (ib_uverbs_add_one), so that number is reserved; VFs of one pod may get
// each other's numbers, since the pod has all their files. Limit: if the ADDs of two pods overtake each other, each pod
// gets the other's file and cannot open its device. Where that matters, use VFs with their own RDMA device: soft RDMA
// is for development.
// Threading: any thread.
// Failure: Exhausted if all numbers are in use.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/types.h"
#include "os/ports/file_tree.h"

namespace railbed::kubelet {

class SoftVerbs {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A pod that was admitted makes its devices within this time, or it has been given up.
  static constexpr std::chrono::minutes kKept{2};

  // The path "/dev/infiniband/uverbs3". A VF that is asked for again keeps its number while that is still free.
  Result<std::string> reserve(const os::FileTree& files, PciAddress vf, Time now);
  // Numbers whose devices are there are the kernel's again. To be called when an ADD has ended: a pod may have come and
  // gone before the next VF is allocated, and what was reserved for it would keep the next pod from the number that its
  // device gets.
  void look(const os::FileTree& files);

 private:
  struct Reservation {
    int number = 0;
    Time until{};
  };
  std::set<std::string> look_locked(const os::FileTree& files);

  std::mutex mutex_;
  std::map<PciAddress, Reservation> reserved_;
};

}  // namespace railbed::kubelet
