// SPDX-License-Identifier: Apache-2.0
// The pages of metrics and health, at an address that somebody else may have for a while.
//
// Why: the next agent of an upgrade may start to serve before the one before has let its port go, and any user of the
// machine can take a port. Pods are more important than pages: the agent works without them and tries again.
// Threading: one thread at a time. Failure: keep(), Invalid for what is no address, else what the kernel says; each
// such failure is counted among the agent's events, and over when the pages are served.
#pragma once

#include <string>

#include "agent/door/events.h"
#include "agent/door/http.h"
#include "agent/door/metrics.h"

namespace railbed::agent {

class KeptPages {
 public:
  // Both outlive this.
  KeptPages(Metrics& metrics, Events& events, std::string address, HttpPages pages);

  enum class Kept : uint8_t { kAlready, kNow };
  // Serves them, where they are not served yet.
  Result<Kept> keep();

 private:
  Metrics& metrics_;
  Events& events_;
  const std::string address_;
  const HttpPages pages_;
  bool served_ = false;
};

}  // namespace railbed::agent
