// SPDX-License-Identifier: Apache-2.0
// Any bytes as a result file or a status are either refused or drawn without escaping from their place in the page.
#include <cstdlib>

#include "perf/collective/collective_report.h"
#include "report/html.h"
#include "report/rail_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  report::Report report;
  if (auto result = perf::read_result(text)) {
    if (auto measurements = perf::measurements_from(*result)) report.measurements = std::move(*measurements);
    if (auto jitter = perf::jitter_from(*result)) report.jitters.push_back(std::move(*jitter));
    if (auto run = perf::collective::run_from(*result)) report.collectives.push_back(std::move(*run));
  }
  if (auto node = report::node_from_status_json(text)) report.nodes.push_back(std::move(*node));
  if (report.measurements.empty() && report.nodes.empty() && report.jitters.empty() && report.collectives.empty())
    return 0;
  static_cast<void>(report::collective_table(report.collectives).to_text());
  const std::string html = report::to_html(report);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++scripts;
  if (scripts != 4) std::abort();
  return 0;
}
