// SPDX-License-Identifier: Apache-2.0
#include "kubelet/soft_verbs.h"

#include <algorithm>
#include <set>

#include "base/format.h"

namespace railbed::kubelet {

constexpr int kMostVerbsDevices = 1024;  // RDMA_MAX_PORTS of the kernel's include/rdma/ib_verbs.h

Result<std::string> SoftVerbs::reserve(const os::FileTree& files, PciAddress vf, Time now) {
  std::set<std::string> taken;
  if (Result<std::vector<std::string>> there = files.list("/sys/class/infiniband_verbs"); there.has_value())
    taken.insert(there->begin(), there->end());
  const std::scoped_lock lock(mutex_);
  // A number whose device is there is the kernel's again.
  std::erase_if(reserved_, [&](const auto& one) {
    return one.second.until <= now || taken.contains(fmt::format("uverbs{}", one.second.number));
  });
  auto kept = reserved_.find(vf);
  for (const auto& [other, reservation] : reserved_)
    if (other != vf) taken.insert(fmt::format("uverbs{}", reservation.number));
  int number = kept != reserved_.end() ? kept->second.number : 0;
  while (number < kMostVerbsDevices && taken.contains(fmt::format("uverbs{}", number))) ++number;
  if (number == kMostVerbsDevices) return fail(Code::kExhausted, "all {} verbs devices are taken", kMostVerbsDevices);
  reserved_[vf] = {number, now + kKept};
  return fmt::format("/dev/infiniband/uverbs{}", number);
}

}  // namespace railbed::kubelet
