// SPDX-License-Identifier: Apache-2.0
#include "agent/running_plugins.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace railbed::agent {

std::string without_slash(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

RunningPlugins::Slot::~Slot() {
  if (plugins_ == nullptr) return;
  {
    const std::lock_guard lock(plugins_->mutex_);
    const auto found = plugins_->running_.find(type_);
    RAILBED_CHECK(plugins_->taken_ > 0 && found != plugins_->running_.end());
    --plugins_->taken_;
    if (--found->second == 0) plugins_->running_.erase(found);
  }
  plugins_->free_.notify_one();
}

// An administrator has to know which plugin hangs: the one of which most run.
Error RunningPlugins::refusal(const std::string& type) const {
  const auto most = std::ranges::max_element(running_, {}, &std::pair<const std::string, size_t>::second);
  const std::string which = most == running_.end() ? "" : fmt::format("{} of them are {}; ", most->second, most->first);
  return cni::error_with(cni::kTryAgainLater,
                         fmt::format("plugin {}: not executed, because {} plugins are already running", type, taken_),
                         which + "find out why they do not finish; the runtime will retry the pod");
}

Result<RunningPlugins::Slot> RunningPlugins::slot(const std::string& type) {
  std::unique_lock lock(mutex_);
  if (taken_ >= most_) {
    if (waiting_ >= std::max<size_t>(most_ / 2, 1)) return fail(refusal(type));
    ++waiting_;
    const bool is_free = free_.wait_for(lock, stopping_, wait_, [this] { return taken_ < most_; });
    --waiting_;
    if (!is_free && stopping_.stop_requested())
      return cni::fail_with(cni::kTryAgainLater, fmt::format("plugin {}: not executed, the agent is stopping", type),
                            "the next agent will execute it");
    if (!is_free) return fail(refusal(type));
  }
  ++taken_;
  ++running_[type];
  return Slot(*this, type);
}

}  // namespace railbed::agent
