// SPDX-License-Identifier: Apache-2.0
// railbed perf report: one page from saved results, made here unless it shows a cluster, too (report_options.h).
#include "command/report_options.h"
#include "command/write_report.h"
#include "perf_verb.h"
#include "serving_program.h"

namespace railbed {
namespace {

void add_report_options(CommandLine& line, ReportOptions& options) {
  options.declare(line);
}

Result<int> make_report(const ReportOptions& options, const PerfCall& call) {
  if (options.with_cluster()) return fail(become(options.program(), call.arguments));
  return write_report(TRY(read_report(options)), options);
}

}  // namespace

PerfVerb perf_report() {
  return perf_row(ReportOptions::kName, ReportOptions::kAbout, add_report_options, make_report);
}

}  // namespace railbed
