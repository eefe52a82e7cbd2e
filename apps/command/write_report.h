// SPDX-License-Identifier: Apache-2.0
// What `railbed perf report` reads and writes, whichever program makes it.
//
// Threading: one thread. Failure: what cannot be read or written, with its path and, in a result, the field.
#pragma once

#include "base/error.h"
#include "command/report_options.h"
#include "report/html.h"

namespace railbed {

// Results and statuses of the options' files.
Result<report::Report> read_report(const ReportOptions& options);
// The HTML where the options want it, and the verdict with a table on standard output where that is not the place.
Result<int> write_report(const report::Report& report, const ReportOptions& options);

}  // namespace railbed
