// SPDX-License-Identifier: Apache-2.0
// Any bytes as a result file or a status are either refused or drawn without escaping from their place in the page.
#include <cstdlib>

#include "perf/mesh/mesh_file.h"
#include "report/html.h"
#include "report/result_kinds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace railbed;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (perf::mesh::is_mesh_file(text)) return 0;  // mesh_file_fuzz reads those
  report::Results results;
  const bool read = results.add(text).has_value();
  report::Report report;
  if (auto node = report::node_from_status_json(text)) report.nodes.push_back(std::move(*node));
  if (!read && report.nodes.empty()) return 0;
  report.sections = results.sections();
  report.results = results.json();
  const std::string html = report::to_html(report);
  size_t scripts = 0;
  for (size_t at = 0; (at = html.find("</script", at)) != std::string::npos; ++at) ++scripts;
  if (scripts != 4) std::abort();
  return 0;
}
