// SPDX-License-Identifier: Apache-2.0
#include "agent/context/status_memory.h"

#include <system_error>

namespace railbed::agent {
namespace {

constexpr std::chrono::seconds kAge{10};
constexpr std::chrono::seconds kAgeOfNo{1};    // what is fixed is to be reported soon
constexpr std::chrono::minutes kForgotten{5};  // no request any more
// A node has a handful of networks. When there are more than this, all answers are dropped and looked up again.
constexpr size_t kMost = 64;

std::chrono::seconds age_of(const Result<void>& answer) {
  return answer.has_value() ? kAge : kAgeOfNo;
}

}  // namespace

StatusMemory::~StatusMemory() {
  if (refresher_.joinable()) refresher_.join();
}

Result<void> StatusMemory::look(os::Clock& clock, const std::string& of, const LookUp& look_up) {
  Result<void> answer = look_up();
  // Any other failure means that no ADD can succeed.
  if (!answer.has_value() && cni::code_of(answer.error()) != cni::kUnavailableLimited)
    answer.error().wire_code = cni::kUnavailable;
  std::lock_guard lock(mutex_);
  if (known_.size() >= kMost && !known_.contains(of)) known_.clear();
  known_.insert_or_assign(of, Known{answer, clock.now()});
  return answer;
}

Result<void> StatusMemory::answer(os::Clock& clock, const std::string& of, const LookUp& look_up) {
  {
    std::lock_guard lock(mutex_);
    if (auto known = known_.find(of); known != known_.end()) {
      if (clock.now() - known->second.looked_up > age_of(known->second.answer) && !refreshing_.exchange(true)) {
        if (refresher_.joinable()) refresher_.join();  // does not block: refreshing_ was false, so it has ended
        try {
          refresher_ = std::thread([this, &clock, of, look_up] {
            [[maybe_unused]] auto ignored = look(clock, of, look_up);
            refreshing_ = false;
          });
        } catch (const std::system_error&) {
          refreshing_ = false;  // no thread is left: the next question tries again
        }
      }
      return known->second.answer;
    }
  }
  return look(clock, of, look_up);
}

std::vector<std::string> StatusMemory::failures(const os::Clock& clock) const {
  std::vector<std::string> all;
  std::lock_guard lock(mutex_);
  for (const auto& [of, known] : known_)
    if (!known.answer.has_value() && clock.now() - known.looked_up < kForgotten)
      all.push_back(known.answer.error().story());
  return all;
}

}  // namespace railbed::agent
