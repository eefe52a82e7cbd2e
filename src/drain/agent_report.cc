// SPDX-License-Identifier: Apache-2.0
#include "drain/agent_report.h"

#include "base/format.h"
#include "doc/fields.h"
#include "doc/json.h"
#include "doc/record.h"

namespace railbed::drain {
namespace {

constexpr int kReportVersion = 1;
constexpr doc::Limits kReportName{.bytes = 1024};

}  // namespace

template <typename Io, doc::Is<AgentReport> T>
void fields(Io& io, T& report) {
  io.some("change", report.change, kReportName);
  io.some("withdrawn", report.withdrawn, doc::Limits{.bytes = 1024, .entries = 1024});
  io.some("applied", report.applied);
  io.some("failure", report.failure, doc::Limits{.bytes = 4096});
  io.some("bootID", report.boot_id, kReportName);
}

std::string to_text(const AgentReport& report) {
  if (report == AgentReport{}) return "";
  doc::Value value = doc::record_value(report);
  value.set("version", int64_t{kReportVersion});
  return doc::to_json(value);
}

Result<AgentReport> read_agent_report(std::string_view text) {
  AgentReport report;
  if (text.empty()) return report;
  const doc::Value value = TRY(doc::read_object(std::string(kReportAnnotation), text));
  doc::Diagnostics found;
  {
    doc::Fields fields_of(value, "", doc::kNoFamily, found);
    int version = 0;
    fields_of.need("version", version, {.min = 1, .max = kReportVersion});
    doc::read_record(fields_of, report);
  }
  TRY(doc::first_error(found).context("annotation {}", kReportAnnotation));
  return report;
}

}  // namespace railbed::drain
