// SPDX-License-Identifier: Apache-2.0
#include "command/write_report.h"

#include <fstream>
#include <sstream>

#include "command/exit_status.h"
#include "command/output.h"
#include "report/html_summary.h"
#include "report/rail_table.h"

namespace railbed {
namespace {

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return fail(system_error(errno != 0 ? errno : EIO, "read " + path));
  return text.str();
}

Result<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) return fail(system_error(errno != 0 ? errno : EIO, "write " + path));
  return {};
}

}  // namespace

Result<report::Report> read_report(const ReportOptions& options) {
  report::Report report{.title = options.title, .measurements = {}, .nodes = {}};
  for (const std::string& path : options.results) {
    const std::string text = TRY(read_file(path));
    for (perf::Measurement& measurement : TRY(perf::measurements_from_json(text).context("{}", path)))
      report.measurements.push_back(std::move(measurement));
  }
  for (const std::string& path : options.status) {
    const std::string text = TRY(read_file(path));
    report.nodes.push_back(TRY(report::node_from_status_json(text).context("{}", path)));
  }
  return report;
}

Result<int> write_report(const report::Report& report, const ReportOptions& options) {
  const std::string html = report::to_html(report);
  if (options.output.empty() || options.output == "-") {
    print_document(html);
    return kExitOk;
  }
  TRY(write_file(options.output, html));
  const std::vector<report::RailFigures> rails = report::rails_of(report.measurements);
  print("{}\n{}\nreport: {}\n", report::verdict_of(rails).headline, report::rail_table(rails).to_text(),
        options.output);
  return kExitOk;
}

}  // namespace railbed
