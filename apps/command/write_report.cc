// SPDX-License-Identifier: Apache-2.0
#include "command/write_report.h"

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/replace_file.h"
#include "report/result_kinds.h"

namespace railbed {

Result<report::Report> read_report(const ReportOptions& options) {
  report::Results results;
  for (const std::string& path : options.results) {
    const std::string text = TRY(read_file(path));
    TRY(results.add(text).context("{}", path));
  }
  report::Report report{.title = options.title, .sections = results.sections(), .results = results.json()};
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
  TRY(replace_file(options.output, html));
  for (const report::Section& section : report.sections) print("{}", section.terminal);
  for (const report::Section& section : report.sections) print("{}", section.summary);
  print("report: {}\n", options.output);
  return kExitOk;
}

}  // namespace railbed
