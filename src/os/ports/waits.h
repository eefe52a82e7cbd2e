// SPDX-License-Identifier: Apache-2.0
// Waits for the kernel, using its notifications.
//
// Why: VFs, drivers, interfaces and carriers appear asynchronously. Most are there at the first look; only if one is
// not, the stream of notifications is opened, the state is checked again (so that none is missed), and the stream is
// waited on.
// Threading: one thread per Waits.
// Failure: Canceled if asked to stop; the error of opening a stream.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include "os/ports/kernel.h"
#include "os/ports/link_watch.h"

namespace railbed::os {

class Waits {
 public:
  using Look = std::function<Result<bool>()>;

  Waits(Kernel& kernel, std::stop_token stop) : kernel_(kernel), stop_(std::move(stop)) {}

  // True as soon as `look` says so, false when it has not within `limit`.
  Result<bool> for_device(std::chrono::milliseconds limit, const Look& look);  // on uevents
  Result<bool> for_link(std::chrono::milliseconds limit, const Look& look);    // on link announcements

 private:
  Result<bool> wait(Deadline deadline, const Look& look, const std::function<Result<void>(Deadline)>& next);

  Kernel& kernel_;
  std::stop_token stop_;
  std::unique_ptr<UeventStream> uevents_;
  std::unique_ptr<LinkWatch> links_;
};

}  // namespace railbed::os
