// SPDX-License-Identifier: Apache-2.0
#include "agent/door/status_memory.h"

namespace railbed::agent {
namespace {

constexpr std::chrono::seconds kAge{10};
// A node has a handful of networks. When there are more than this, all answers are dropped and looked up anew.
constexpr size_t kMost = 64;

}  // namespace

StatusMemory::~StatusMemory() {
  if (refresher_.joinable()) refresher_.join();
}

cni::Outcome<void> StatusMemory::look(os::Clock& clock, const std::string& of, const LookUp& look_up) {
  cni::Outcome<void> answer = look_up();
  // Any other failure means that no ADD can succeed.
  if (!answer.has_value() && answer.error().code != cni::kUnavailableLimited) answer.error().code = cni::kUnavailable;
  std::lock_guard lock(mutex_);
  if (known_.size() >= kMost && !known_.contains(of)) known_.clear();
  known_.insert_or_assign(of, Known{answer, clock.now()});
  return answer;
}

cni::Outcome<void> StatusMemory::answer(os::Clock& clock, const std::string& of, const LookUp& look_up) {
  {
    std::lock_guard lock(mutex_);
    if (auto known = known_.find(of); known != known_.end()) {
      if (clock.now() - known->second.looked_up > kAge && !refreshing_.exchange(true)) {
        if (refresher_.joinable()) refresher_.join();  // does not block: refreshing_ was false, so it has ended
        refresher_ = std::thread([this, &clock, of, look_up] {
          [[maybe_unused]] auto ignored = look(clock, of, look_up);
          refreshing_ = false;
        });
      }
      return known->second.answer;
    }
  }
  return look(clock, of, look_up);
}

}  // namespace railbed::agent
