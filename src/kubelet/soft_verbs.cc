// SPDX-License-Identifier: Apache-2.0
#include "kubelet/soft_verbs.h"

#include <algorithm>
#include <set>

#include "base/format.h"

namespace railbed::kubelet {

constexpr int kMostVerbsDevices = 1024;  // RDMA_MAX_PORTS of the kernel's include/rdma/ib_verbs.h

// Returns the names of all verbs devices.
std::set<std::string> SoftVerbs::look_locked(const os::FileTree& files) {
  std::set<std::string> there;
  if (Result<std::vector<std::string>> names = files.list("/sys/class/infiniband_verbs"); names.has_value())
    there.insert(names->begin(), names->end());
  std::erase_if(reserved_, [&](const auto& one) { return there.contains(fmt::format("uverbs{}", one.second.number)); });
  return there;
}

void SoftVerbs::look(const os::FileTree& files) {
  const std::scoped_lock lock(mutex_);
  if (!reserved_.empty()) look_locked(files);
}

Result<std::string> SoftVerbs::reserve(const os::FileTree& files, PciAddress vf, Time now) {
  const std::scoped_lock lock(mutex_);
  std::set<std::string> taken = look_locked(files);
  std::erase_if(reserved_, [&](const auto& one) { return one.second.until <= now; });
  auto kept = reserved_.find(vf);
  for (const auto& [other, reservation] : reserved_)
    if (other != vf) taken.insert(fmt::format("uverbs{}", reservation.number));
  int number = kept != reserved_.end() ? kept->second.number : 0;
  while (number < kMostVerbsDevices && taken.contains(fmt::format("uverbs{}", number))) ++number;
  if (number == kMostVerbsDevices) return fail(Code::kExhausted, "all {} verbs devices are in use", kMostVerbsDevices);
  reserved_[vf] = {number, now + kKept};
  return fmt::format("/dev/infiniband/uverbs{}", number);
}

}  // namespace railbed::kubelet
