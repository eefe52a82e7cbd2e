// SPDX-License-Identifier: Apache-2.0
#include "os/ports/waits.h"

#include <algorithm>

namespace railbed::os {

namespace {
// How soon a wait notices a request to stop. It does not poll the device at this interval.
constexpr std::chrono::milliseconds kStopNoticed{100};
}  // namespace

Result<bool> Waits::for_device(std::chrono::milliseconds limit, const Look& look) {
  Deadline deadline = kernel_.clock().now() + limit;
  if (TRY(look())) return true;
  if (!uevents_) uevents_ = TRY(kernel_.uevents().open().context("listening to the kernel's announcements"));
  return wait(deadline, look, [this](Deadline until) -> Result<void> {
    TRY(uevents_->next(until));
    return {};
  });
}

Result<bool> Waits::for_link(std::chrono::milliseconds limit, const Look& look) {
  Deadline deadline = kernel_.clock().now() + limit;
  if (TRY(look())) return true;
  if (!links_) links_ = TRY(kernel_.link_watch().context("listening to changes of interfaces"));
  return wait(deadline, look, [this](Deadline until) { return links_->next(until); });
}

Result<bool> Waits::wait(Deadline deadline, const Look& look, const std::function<Result<void>(Deadline)>& next) {
  bool changed = true;
  while (true) {
    if (changed && TRY(look())) return true;
    Deadline now = kernel_.clock().now();
    if (now >= deadline) return false;
    if (stop_.stop_requested()) return fail(Code::kCanceled, "asked to stop");
    auto announced = next(std::min(deadline, now + kStopNoticed));
    changed = announced.has_value();
    if (!changed && announced.error().code != Code::kTimeout) return fail(std::move(announced.error()));
  }
}

}  // namespace railbed::os
