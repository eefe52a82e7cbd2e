// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include "doc/json.h"
#include "report/html_assets.h"
#include "report/html_charts.h"
#include "report/html_cluster.h"
#include "report/html_collective.h"
#include "report/html_drawing.h"
#include "report/html_jitter.h"
#include "report/html_measurements.h"
#include "report/html_mesh.h"
#include "report/html_rails.h"
#include "report/html_summary.h"
#include "report/html_text.h"

namespace railbed::report {
namespace {

using perf::Measurement;

std::string verdict_html(const Verdict& verdict) {
  constexpr std::string_view kMarks[] = {"✓", "!", "–"};
  constexpr std::string_view kClasses[] = {"good", "caution", "none"};
  const auto tone = static_cast<size_t>(verdict.tone);
  std::string out =
      fmt::format("<section class=\"verdict {}\"><div class=\"mark\" aria-hidden=\"true\">{}</div><div><h2>{}</h2>\n",
                  kClasses[tone], kMarks[tone], escaped(verdict.headline));
  for (const std::string& remark : verdict.remarks) out += fmt::format("<p>{}</p>\n", escaped(remark));
  return out + "</div></section>\n";
}

std::string started_text(const Report& report) {
  std::string first;
  for (const Measurement& m : report.measurements)
    if (first.empty() || m.started_at < first) first = m.started_at;
  for (const perf::JitterReport& jitter : report.jitters)
    if (first.empty() || jitter.started_at < first) first = jitter.started_at;
  for (const perf::collective::CollectiveRun& run : report.collectives)
    if (!run.started_at.empty() && (first.empty() || run.started_at < first)) first = run.started_at;
  // Shows 2026-01-02T03:04:05.678Z in a form that people write.
  if (first.size() >= 20 && first[10] == 'T' && first.back() == 'Z')
    return fmt::format("{} {} UTC", first.substr(0, 10), first.substr(11, 5));
  return first;
}

// The results as they were read, for who wants to compute with them. Large ones are left to their files.
std::string embedded_results(const Report& report) {
  constexpr size_t kMost_bytes = size_t{1} << 20;
  std::vector<std::string> each;
  if (!report.measurements.empty()) each.push_back(perf::to_json(report.measurements));
  for (const doc::Value& other : report.others) each.push_back(doc::to_json(other));
  if (each.empty()) return "";
  const std::string json =
      report.others.empty()
          ? each[0]
          : fmt::format(R"({{"apiVersion":"railbed.dev/v1","kind":"Results","schema":"{}","results":[{}]}})",
                        kSavedSchema, fmt::join(each, ","));
  return json.size() > kMost_bytes ? "" : json;
}

std::string head_html(const Report& report, const std::string& title) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<title>{}</title>\n<style>{}\n{}</style></head>\n<body><main>\n",
      escaped(title), uplot_style(), report_style());
  std::vector<std::string> facts = {started_text(report)};
  const size_t count = report.measurements.size() + report.jitters.size() + report.collectives.size();
  if (count > 0 || report.meshes.empty())
    facts.push_back(fmt::format("{} measurement{}", count, count == 1 ? "" : "s"));
  facts.push_back(fmt::format("railbed {}", RAILBED_VERSION));
  std::erase(facts, "");
  return out + fmt::format(
                   "<header><h1>{}</h1><p class=\"quiet\">{}</p>"
                   "<button type=\"button\" id=\"save\" hidden>Save the results (JSON)</button></header>\n",
                   escaped(title), escaped(fmt::format("{}", fmt::join(facts, " · "))));
}

// Kinds of results that speak for themselves, beside measurements of rails.
bool has_others(const Report& report) {
  return !report.meshes.empty() || !report.jitters.empty() || !report.collectives.empty();
}

std::string data_of(const std::vector<const RailFigures*>& charted, const Report& report) {
  perf::JsonWriter writer;
  writer.begin_object();
  write_rails(writer, charted);
  write_collectives(writer, report.collectives);
  writer.end_object();
  return writer.take();
}

std::string scripts_html(const std::string& data, const std::string& results) {
  return fmt::format(
      "<script type=\"application/json\" id=\"results\">{}</script>\n<script type=\"application/json\" "
      "id=\"data\">{}</script>\n<script>/*!\n{}\n*/\n{}</script>\n<script>{}</script>\n</body></html>\n",
      script_safe(results), script_safe(data), uplot_licence(), uplot_script(), report_script());
}

}  // namespace

std::string to_html(const Report& report) {
  constexpr size_t kMostCharted = 16;
  const std::vector<RailFigures> rails = rails_of(report.measurements);
  const std::vector<const RailFigures*> charted = worst_rails(rails, kMostCharted);
  const std::string results = embedded_results(report);
  std::string out = head_html(report, report.title.empty() ? "Rail measurements" : report.title);
  if (!has_others(report) || !rails.empty()) out += verdict_html(verdict_of(rails));
  for (const MeshPage& mesh : report.meshes) out += mesh_html(mesh);
  out += collectives_html(report.collectives) + jitter_html(report.jitters) + rails_html(rails);
  const std::string scene = drawing(scene_of(report), rails);
  if (!scene.empty())
    out += fmt::format("<section><h2>What was measured</h2><div class=\"wide\">{}</div></section>\n", scene);
  if (report.cluster) out += cluster_html(*report.cluster);
  if (charted.size() < rails.size())
    out += fmt::format("<p class=\"quiet\">Charts are of the {} rails of {} with the most notable results.</p>\n",
                       charted.size(), rails.size());
  out += charts_html(charted);
  out += environment_html(report.measurements);
  if (!report.measurements.empty() || (report.jitters.empty() && report.collectives.empty()))
    out += measurements_html(report.measurements);
  if (results.empty() && !(report.measurements.empty() && report.others.empty()))
    out += "<p class=\"quiet\">The results are too large for this page; see the result files.</p>\n";
  out += fmt::format(
      "<footer>Gb/s are 10⁹ bits of payload per second. Latency one way is half of a round trip, which is known only "
      "for the fastest and the middle one; all other times are whole round trips. Percentiles are of all samples, none "
      "dropped, and are reported if at least ten samples exceed them. Good is {:.0f} to {:.0f} % of what the link can "
      "carry (rate, MTU, headers, PCIe).</footer></main>\n",
      100 * kBandFrom, 100 * kBandTo);
  if (!report.meshes.empty())
    out += fmt::format("<script type=\"application/json\" id=\"meshes\">{}</script>\n",
                       script_safe(mesh_data(report.meshes)));
  return out + scripts_html(data_of(charted, report), results);
}

}  // namespace railbed::report
