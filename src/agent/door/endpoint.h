// SPDX-License-Identifier: Apache-2.0
// Pages over HTTP at a configured address.
//
// Why: the agent and the operator have the same option.
// Threading: as http.h.
// Failure: Invalid for an invalid address, else the kernel's error, with what to do about it.
#pragma once

#include "agent/context/metrics.h"
#include "agent/door/http.h"

namespace railbed::agent {

// The content type of Prometheus' text format.
inline constexpr std::string_view kMetricsFormat = "text/plain; version=0.0.4; charset=utf-8";

// "127.0.0.1:9470", "[::1]:9470".
Result<std::unique_ptr<HttpServer>> serve_at(const std::string& address, HttpPages pages);
// The same with /metrics beside the other pages, for the option --metrics. `metrics` outlives the server.
Result<std::unique_ptr<HttpServer>> serve_metrics(const Metrics& metrics, const std::string& address,
                                                  HttpPages pages = {});

}  // namespace railbed::agent
