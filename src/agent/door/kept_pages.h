// SPDX-License-Identifier: Apache-2.0
// The pages of metrics and health, at an address that another process may use for a while.
//
// Why: in an upgrade the next agent may start before the previous one has released its port, and any user of the
// machine can take a port. Pods are more important than pages: the agent works without them and retries.
// Threading: one thread at a time.
// Failure: keep(), Invalid for an invalid address, else the kernel's error; each such failure is counted among the
// agent's events, and ends when the pages are served.
#pragma once

#include <memory>
#include <string>

#include "agent/context/metrics.h"
#include "agent/door/events.h"
#include "agent/door/http.h"

namespace railbed::agent {

class KeptPages {
 public:
  // Both outlive this.
  KeptPages(const Metrics& metrics, Events& events, std::string address, HttpPages pages);

  enum class Kept : uint8_t { kAlready, kNow };
  // Serves them, where they are not served yet.
  Result<Kept> keep();

 private:
  const Metrics& metrics_;
  Events& events_;
  const std::string address_;
  const HttpPages pages_;
  std::unique_ptr<HttpServer> server_;  // null: not served yet
};

}  // namespace railbed::agent
