// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <algorithm>

#include "base/command.h"
#include "base/text.h"
#include "report/html_assets.h"
#include "report/html_cluster.h"
#include "report/html_drawing.h"
#include "report/html_text.h"
#include "report/joined.h"
#include "report/rail_findings.h"

namespace railbed::report {
namespace {

constexpr size_t kMostEmbedded_bytes = size_t{1} << 20;

// A place of the page, of all sections.
Html all_of(const std::vector<Section>& sections, Html Section::* place) {
  Html out;
  for (const Section& one : sections) out += one.*place;
  return out;
}

std::string started_text(const std::vector<Section>& sections) {
  std::string first;
  for (const Section& one : sections) keep_earlier(first, one.started_at);
  // Shows 2026-01-02T03:04:05.678Z in a form that people write.
  if (first.size() >= 20 && first[10] == 'T' && first.back() == 'Z')
    return fmt::format("{} {} UTC", first.substr(0, 10), first.substr(11, 5));
  return first;
}

// Absent where nothing counts.
std::optional<size_t> count_of(const std::vector<Section>& sections) {
  std::optional<size_t> count;
  for (const Section& one : sections)
    if (one.count) count = count.value_or(0) + *one.count;
  return count;
}

Html head_html(const Report& report, std::string_view title) {
  Html out = html(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n<title>{}</title>\n<style>{}\n{}</style></head>\n<body><main>\n",
      title, uplot_style(), report_style());
  std::vector<std::string> facts = {started_text(report.sections)};
  if (const auto count = count_of(report.sections)) facts.push_back(counted(*count, "measurement"));
  facts.push_back(fmt::format("railbed {}", RAILBED_VERSION));
  std::erase(facts, "");
  return out + html(
                   "<header><h1>{}</h1><p class=\"quiet\">{}</p>"
                   "<button type=\"button\" id=\"save\" hidden>Save the results (JSON)</button></header>\n",
                   title, joined(facts, " · "));
}

// The id of a finding is for who asks what it means; the sentence says it without.
Html finding_html(const findings::Finding& finding) {
  return html("<p title=\"{}\">{}</p>\n", Command{"railbed", "explain"}.value(finding.id).to_string(), finding.message);
}

Html assessment_html(const Assessment& assessment) {
  constexpr std::string_view kMarks[] = {"✓", "!", "–"};
  constexpr std::string_view kClasses[] = {"good", "caution", "none"};
  const auto tone = static_cast<size_t>(assessment.tone);
  Html out = html("<section class=\"verdict {}\"><div class=\"mark\" aria-hidden=\"true\">{}</div><div><h2>{}</h2>\n",
                  kClasses[tone], kMarks[tone], assessment.headline);
  for (const findings::Finding& one : assessment.found) out += finding_html(one);
  for (const std::string& note : assessment.notes) out += html("<p>{}</p>\n", note);
  return out + markup("</div></section>\n");
}

Html scene_html(const Report& report) {
  std::map<std::string, std::string> rail_texts;
  for (const Section& one : report.sections) rail_texts.insert(one.rail_texts.begin(), one.rail_texts.end());
  const Html scene = drawing(scene_of(paths_of(report.sections), report.nodes), rail_texts);
  if (scene.empty()) return {};
  return html("<section><h2>What was measured</h2><div class=\"wide\">{}</div></section>\n", scene);
}

Html all_charts(const std::vector<Section>& sections) {
  Html out;
  for (const Section& one : sections) out += one.charts.note + one.charts.html;
  return out.empty() ? charts_need_script() : out;
}

// A page on which nothing counts, and one on which nothing was measured, say that there are none.
Html tables_html(const std::vector<Section>& sections) {
  const Html tables = all_of(sections, &Section::tables);
  if (tables.empty() && count_of(sections).value_or(0) > 0) return {};
  return html("<section><h2>All figures and how they were taken</h2>\n{}</section>\n", tables);
}

// The lists that html.js draws. It expects one of rails, if only an empty one.
std::string charts_data(const std::vector<Section>& sections) {
  constexpr std::string_view kRails = "rails";
  std::vector<std::string> lists;
  const auto is_rails = [&](const Section& one) { return one.charts.list == kRails; };
  if (std::ranges::none_of(sections, is_rails)) lists.push_back(fmt::format("\"{}\":[]", kRails));
  for (const Section& one : sections)
    if (!one.charts.list.empty()) lists.push_back(fmt::format("\"{}\":{}", one.charts.list, one.charts.data));
  return fmt::format("{{{}}}", fmt::join(lists, ","));
}

Html scripts_html(std::string_view data, std::string_view results) {
  return json_script("results", results) + json_script("data", data) +
         html("<script>/*!\n{}\n*/\n{}</script>\n<script>{}</script>\n</body></html>\n", uplot_licence(),
              uplot_script(), report_script());
}

}  // namespace

std::string to_html(const Report& report) {
  const std::vector<Section>& sections = report.sections;
  const bool too_large = report.results.size() > kMostEmbedded_bytes;  // those are left to their files
  Html out = head_html(report, report.title.empty() ? "Rail measurements" : report.title);
  for (const Section& one : sections)
    if (one.assessment) out += assessment_html(*one.assessment);
  out += all_of(sections, &Section::body) + all_of(sections, &Section::figures);
  out += scene_html(report);
  if (report.cluster) out += cluster_html(*report.cluster);
  out += all_charts(sections) + all_of(sections, &Section::environment) + tables_html(sections);
  if (too_large)
    out += markup("<p class=\"quiet\">The results are too large for this page; see the result files.</p>\n");
  out += html(
      "<footer>Gb/s are 10⁹ bits of payload per second. Latency one way is half of a round trip, which is known only "
      "for the fastest and the middle one; all other times are whole round trips. Percentiles are of all samples, none "
      "dropped, and are reported if at least ten samples exceed them. Good is {:.0f} to {:.0f} % of what the link can "
      "carry (rate, MTU, headers, PCIe).</footer></main>\n",
      100 * kBandFrom, 100 * kBandTo);
  out += all_of(sections, &Section::scripts);
  out += scripts_html(charts_data(sections), too_large ? "" : report.results);
  return out.text();
}

}  // namespace railbed::report
