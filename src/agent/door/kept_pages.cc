// SPDX-License-Identifier: Apache-2.0
#include "agent/door/kept_pages.h"

#include <utility>

#include "agent/door/endpoint.h"

namespace railbed::agent {
namespace {

constexpr const char* kMetricsEvent = "metrics";

}  // namespace

KeptPages::KeptPages(const Metrics& metrics, Events& events, std::string address, HttpPages pages)
    : metrics_(metrics), events_(events), address_(std::move(address)), pages_(std::move(pages)) {}

Result<KeptPages::Kept> KeptPages::keep() {
  if (server_ != nullptr) return Kept::kAlready;
  Result<std::unique_ptr<HttpServer>> served = serve_metrics(metrics_, address_, pages_);
  if (!served.has_value()) {
    if (served.error().code != Code::kInvalid)
      events_.happened(kMetricsEvent, address_,
                       served.error().story() + "; the agent runs without metrics and health pages");
    return fail(std::move(served).error());
  }
  server_ = *std::move(served);
  events_.over(kMetricsEvent, address_);
  return Kept::kNow;
}

}  // namespace railbed::agent
