// SPDX-License-Identifier: Apache-2.0
#include "command/write_report.h"

#include <thread>

#include "command/exit_status.h"
#include "command/given_files.h"
#include "command/output.h"
#include "command/replace_file.h"
#include "doc/text.h"
#include "perf/collective/collective_report.h"
#include "perf/mesh/mesh_file.h"
#include "perf/mesh/verdict_lines.h"
#include "report/collective_series.h"
#include "report/html_summary.h"
#include "report/rail_table.h"

namespace railbed {
namespace {

// A mesh as it was saved, analysed anew: a second pass is not in the file.
Result<report::MeshPage> read_mesh(const std::string& bytes) {
  using namespace perf::mesh;
  const MeshFile file = TRY(read_mesh_file(bytes));
  const Limits limits;
  const Analysis analysis = analyse(file.results, limits, std::max(1U, std::thread::hardware_concurrency()));
  const std::vector<Verdict> verdicts = find_verdicts(file.results.fabric(), analysis, limits);
  std::vector<std::string> lines = verdict_lines(file.results.fabric(), analysis, verdicts, limits);
  if (file.damage) lines.insert(lines.begin(), fmt::format("incomplete: {}", file.damage->to_string()));
  const Coverage coverage = file.results.coverage();
  const bool whole = !file.damage && coverage.measured == coverage.planned;
  return report::mesh_page(file.results, analysis, std::move(lines), verdicts.empty() && whole);
}

// A result of whatever kind but a mesh.
Result<void> add(report::Report& report, const doc::Value& result) {
  const bool jitter = perf::is_result_of(result, perf::kJitterName);
  const bool collective = perf::is_result_of(result, perf::collective::kCollectiveName);
  if (jitter) report.jitters.push_back(TRY(perf::jitter_from(result)));
  if (collective) report.collectives.push_back(TRY(perf::collective::run_from(result)));
  if (jitter || collective) {
    report.others.push_back(result);
    return {};
  }
  for (perf::Measurement& measurement : TRY(perf::measurements_from(result)))
    report.measurements.push_back(std::move(measurement));
  return {};
}

// A file that a page saved has several.
Result<void> add_all(report::Report& report, const doc::Value& file) {
  const doc::Value* schema = file.find("schema");
  const doc::Value* results = file.find("results");
  if (schema == nullptr || *schema != report::kSavedSchema || results == nullptr || !results->is_array())
    return add(report, file);
  const std::vector<doc::Value>& all = *results->as_array();
  for (size_t i = 0; i < all.size(); ++i) TRY(add(report, all[i]).context("results[{}]", i));
  return {};
}

void print_collectives(const std::vector<perf::collective::CollectiveRun>& runs) {
  if (runs.empty()) return;
  print("{}", report::collective_table(runs).to_text());
  const std::vector<std::string> names = report::names_of(runs);
  for (size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].ended_by.empty())
      print("{} is incomplete: {}\n", doc::printable(names[i]), doc::printable(runs[i].ended_by));
  print("\n");
}

}  // namespace

Result<report::Report> read_report(const ReportOptions& options) {
  report::Report report{.title = options.title, .measurements = {}, .nodes = {}};
  for (const std::string& path : options.results) {
    const std::string text = TRY(read_file(path));
    if (perf::mesh::is_mesh_file(text)) {
      report.meshes.push_back(TRY(read_mesh(text).context("{}", path)));
      continue;
    }
    const doc::Value result = TRY(perf::read_result(text).context("{}", path));
    TRY(add_all(report, result).context("{}", path));
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
  TRY(replace_file(options.output, html));
  const std::vector<report::RailFigures> rails = report::rails_of(report.measurements);
  for (const report::MeshPage& mesh : report.meshes) railbed::print("{}\n\n", fmt::join(mesh.findings, "\n"));
  if (!report.jitters.empty()) print("{}\n", report::jitter_table(report.jitters).to_text());
  print_collectives(report.collectives);
  if (!rails.empty() || (report.meshes.empty() && report.jitters.empty() && report.collectives.empty()))
    print("{}\n{}\n", report::verdict_of(rails).headline, report::rail_table(rails).to_text());
  print("report: {}\n", options.output);
  return kExitOk;
}

}  // namespace railbed
