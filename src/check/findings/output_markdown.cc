// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "check/data_files.h"
#include "check/findings/output.h"
#include "check/rules/lookups.h"
#include "doc/text.h"

namespace railbed::check {
namespace {

// Escapes text so that it stays within one cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : doc::printable(text)) {
    if (c == '|' || c == '<') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string place(const doc::Span& span) {
  if (span.source == nullptr) return "-";
  return span.known() ? fmt::format("{}:{}", span.source->name, span.line) : span.source->name;
}

bool reports_mistake(const doc::Diagnostic& finding, const doc::Value& mistake) {
  const auto ids = texts_at(mistake, "ids");
  if (std::ranges::none_of(ids, [&](const Word& id) { return id.text == finding.id; })) return false;
  if (flag_at(mistake, "placeholder") == true && finding.says != doc::Says::kPlaceholder) return false;
  return finding.subject.field.find(text_at(mistake, "field")) != std::string::npos;
}

struct MistakeRow {
  std::string places;
  std::string ids;
};

// The places of a mistake; several findings in one line count as one place.
MistakeRow row_of(const doc::Value& mistake, const Report& report) {
  constexpr int kShown = 6;
  std::vector<std::string> places;
  std::vector<std::string> ids;
  for (const doc::Diagnostic& finding : report.findings.all()) {
    if (!reports_mistake(finding, mistake)) continue;
    if (std::ranges::find(places, place(finding.span)) == places.end()) places.push_back(place(finding.span));
    if (std::ranges::find(ids, finding.id) == ids.end()) ids.push_back(finding.id);
  }
  const size_t more = places.size() > kShown ? places.size() - kShown : 0;
  places.resize(places.size() - more);
  return {fmt::format("{}{}", fmt::join(places, ", "), more > 0 ? fmt::format(" and {} more", more) : ""),
          fmt::format("{}", fmt::join(ids, ", "))};
}

}  // namespace

std::string to_mistakes(const Report& report) {
  static const doc::Value kMistakes = data_document("mistakes.yaml");
  std::string out = "| # | mistake | where | found as |\n|---|---|---|---|\n";
  int number = 0;
  int found = 0;
  for (const doc::Value& mistake : *kMistakes.find("mistakes")->as_array()) {
    const MistakeRow row = row_of(mistake, report);
    const bool needs_facts = report.nodes == 0 && text_at(mistake, "needs") == "facts";
    out += fmt::format("| {} | {} | {} | {} |\n", ++number, cell(text_at(mistake, "says")),
                       row.places.empty() ? (needs_facts ? "(needs node facts)" : "–") : cell(row.places), row.ids);
    found += row.places.empty() ? 0 : 1;
  }
  return out + fmt::format("\n{} of {} known mistakes.\n", found, number);
}

std::string to_markdown(const Report& report) {
  std::string out = fmt::format("**railbed check: {}**\n", summary(report));
  const doc::Source* file = nullptr;
  bool begun = false;
  for (const doc::Diagnostic& finding : report.findings.all()) {
    const doc::Source* source = finding.span.source.get();
    if (!begun || source != file)
      out += fmt::format("\n### {}\n\n| line | | finding | fix |\n|---|---|---|---|\n",
                         source == nullptr ? "(no file)" : cell(source->name));
    begun = true;
    file = source;
    const std::string line = finding.span.known() ? std::to_string(finding.span.line) : "";
    const std::string about = finding.span.known() ? "" : cell(finding.subject.to_string());
    out += fmt::format("| {} | {} | {}{}{} ({}) | {} |\n", line, doc::severity_name(finding.severity), about,
                       about.empty() ? "" : ": ", cell(finding.message), finding.id, cell(finding.fix));
  }
  if (!report.grouped.empty()) out += "\n" + cell(report.grouped) + "\n";
  if (const std::string coverage = coverage_text(report.coverage); !coverage.empty())
    out += "\n" + cell(coverage) + "\n";
  for (const std::string& why : report.incomplete) out += "\n**incomplete:** " + cell(why) + "\n";
  return out;
}

}  // namespace railbed::check
