// SPDX-License-Identifier: Apache-2.0
#include "agent/door/kept_pages.h"

#include <utility>

namespace railbed::agent {
namespace {

constexpr const char* kMetricsEvent = "metrics";

}  // namespace

KeptPages::KeptPages(Metrics& metrics, Events& events, std::string address, HttpPages pages)
    : metrics_(metrics), events_(events), address_(std::move(address)), pages_(std::move(pages)) {}

Result<KeptPages::Kept> KeptPages::keep() {
  if (served_) return Kept::kAlready;
  Result<int> served = metrics_.expose(address_, pages_);
  if (!served.has_value()) {
    if (served.error().code != Code::kInvalid)
      events_.happened(kMetricsEvent, address_,
                       served.error().story() + "; the agent runs without metrics and health pages");
    return fail(std::move(served).error());
  }
  served_ = true;
  events_.over(kMetricsEvent, address_);
  return Kept::kNow;
}

}  // namespace railbed::agent
