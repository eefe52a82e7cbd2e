// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "base/text.h"
#include "check/findings/judgement.h"
#include "check/findings/output.h"
#include "doc/markup.h"
#include "doc/render.h"
#include "doc/text.h"

namespace railbed::check {
namespace {

std::string joined(const std::map<std::string, int>& kinds) {
  std::string out;
  for (const auto& [kind, count] : kinds)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", kind, count == 1 ? "" : fmt::format(" ×{}", count));
  return out;
}

std::string_view who_ignored(const Report& report) {
  const auto any = [&](Ignored::By who) {
    return std::ranges::find(report.ignored, who, &Ignored::by) != report.ignored.end();
  };
  if (!any(Ignored::By::kProject)) return "comments";
  return any(Ignored::By::kComment) ? "comments and the project file" : "the project file";
}

}  // namespace

std::string coverage_text(const Coverage& coverage) {
  constexpr size_t kReasons = 5;
  std::string out;
  const bool only_manifests =
      coverage.classes.empty() || (coverage.classes.size() == 1 && coverage.classes.contains("manifest"));
  if (!only_manifests)
    for (const auto& [name, number] : coverage.classes)
      out += fmt::format("{}{} {}", out.empty() ? "documents: " : ", ", number, name);
  std::vector<std::string_view> reasons;
  std::map<std::string_view, std::vector<const NotRead*>> by_reason;
  for (const NotRead& one : coverage.not_read) {
    std::vector<const NotRead*>& same = by_reason[one.why];
    if (same.empty()) reasons.push_back(one.why);
    same.push_back(&one);
  }
  for (size_t i = 0; i < std::min(reasons.size(), kReasons); ++i) {
    const std::vector<const NotRead*>& same = by_reason[reasons[i]];
    out += fmt::format("{}not read: {}{} ({}{})", out.empty() ? "" : "; ", same.front()->name,
                       same.size() > 1 ? fmt::format(" and {} more", same.size() - 1) : "", reasons[i],
                       same.front()->command.empty() ? "" : ": " + same.front()->command);
  }
  if (reasons.size() > kReasons) out += fmt::format("; and more for {} other reasons", reasons.size() - kReasons);
  return out;
}

std::string summary(const Report& report) {
  const auto& findings = report.findings;
  const size_t unsure = findings.count(doc::Severity::kError) - report.sure_errors();
  std::string more;
  if (unsure > 0)
    more += fmt::format("; {} not sure and {} not fail the run", counted(unsure, "error is", "errors are"),
                        unsure == 1 ? "does" : "do");
  if (report.known > 0) more += fmt::format("; {} known before", counted(static_cast<size_t>(report.known), "finding"));
  if (report.gone > 0)
    more += fmt::format("; {} of the baseline not found any more: write it again",
                        counted(static_cast<size_t>(report.gone), "finding"));
  return fmt::format(
      "{}, {}, {} in {}{}{}{}{}", counted(findings.count(doc::Severity::kError), "error"),
      counted(findings.count(doc::Severity::kWarning), "warning"),
      counted(findings.count(doc::Severity::kNote), "note"), counted(static_cast<size_t>(report.objects()), "object"),
      report.commands > 0 ? fmt::format(" and {}", counted(static_cast<size_t>(report.commands), "command")) : "",
      report.nodes > 0 ? fmt::format(", on {}", counted(static_cast<size_t>(report.nodes), "node")) : "",
      report.suppressed > 0 ? fmt::format("; {} ignored by {}", report.suppressed, who_ignored(report)) : "", more);
}

std::string findings_text(const Report& report, Colour colour) {
  std::string out = doc::render(report.findings, colour);
  if (report.left_out > 0) out += fmt::format("and {} more findings, which are not shown\n", report.left_out);
  return out;
}

std::string to_text(const Report& report, Colour colour) {
  std::string out = findings_text(report, colour);
  std::map<std::string, int> unknown = report.unknown_kinds;
  if (unknown.erase("NodeFacts") > 0)
    out += "not checked: NodeFacts; --facts FILE checks against them (railbed discover wrote them)\n";
  if (!unknown.empty()) out += fmt::format("not checked: {} (unknown kinds)\n", joined(unknown));
  if (!report.grouped.empty()) out += report.grouped + "\n";
  if (!report.not_checked.empty()) {
    out += fmt::format("not checked, because node facts are missing: {}\n", counted(report.not_checked.size(), "rule"));
    out += "  give them with --facts: `railbed discover -o yaml` on each node (explain --list names the rules)\n";
  }
  for (const Undecided& one : report.undecided)
    out += doc::printable(fmt::format("not known: {} [{}]", one.what, one.rule)) + "\n";
  if (const std::string coverage = coverage_text(report.coverage); !coverage.empty())
    out += doc::printable(coverage) + "\n";
  return out + summary(report) + "\n";
}

namespace {

// Escapes data of a workflow command: % and line ends, in properties also ':' and ','.
std::string escaped(std::string_view text, bool property) {
  std::string out;
  for (char c : doc::printable(text))
    if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      out += c;
  return out;
}

// Like escaped(), but keeps line ends.
std::string line_ends_kept(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(1)) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += escaped(text.substr(0, end), false);
    text.remove_prefix(end);
    if (text.empty()) break;
    out += "%0A";
  }
  return out;
}

std::string_view github_level(doc::Severity severity) {
  return severity == doc::Severity::kNote ? "notice" : doc::severity_name(severity);
}

}  // namespace

// Errors first: of each level only ten are shown. The numbers are a line of the log, which takes none of them.
std::string to_github(const Report& report) {
  std::vector<const doc::Diagnostic*> order;
  for (const doc::Diagnostic& finding : report.findings.all()) order.push_back(&finding);
  std::ranges::stable_sort(order, std::greater<>(), [](const doc::Diagnostic* one) { return one->severity; });
  std::string out;
  for (const doc::Diagnostic* one : order) {
    const doc::Diagnostic& finding = *one;
    out += fmt::format("::{} ", github_level(finding.severity));
    if (finding.span.source != nullptr) out += fmt::format("file={},", escaped(finding.span.source->name, true));
    if (finding.span.known())
      out += fmt::format("line={},col={},endColumn={},", finding.span.line, finding.span.column,
                         finding.span.column + std::max(finding.span.length, 1));
    const std::string fix = finding.fix.empty() ? "" : "\nfix: " + finding.fix;
    out +=
        fmt::format("title={}::{}\n", escaped(finding.id, true), escaped(finding.message, false) + line_ends_kept(fix));
  }
  out += fmt::format("railbed check: {}\n", summary(report));
  if (const std::string coverage = coverage_text(report.coverage); !coverage.empty())
    out += fmt::format("railbed check: {}\n", escaped(coverage, false));
  return out;
}

// One test case per source: an error makes it fail, warnings and notes become its output.
std::string to_junit(const Report& report) {
  std::string cases;
  size_t failures = 0;
  std::vector<std::string> names = report.sources;
  const auto has_no_source = [](const doc::Diagnostic& finding) { return finding.span.source == nullptr; };
  if (std::ranges::any_of(report.findings.all(), has_no_source)) names.emplace_back("(no file)");
  for (const std::string& name : names) {
    std::string failed;
    std::string reported;
    for (const doc::Diagnostic& finding : report.findings.all()) {
      if ((has_no_source(finding) ? "(no file)" : finding.span.source->name) != name) continue;
      std::string text = doc::render(finding);
      std::string lines;
      while (!text.empty()) {  // line by line, to keep the line ends
        const size_t end = std::min(text.find('\n'), text.size());
        lines += doc::markup_text(text.substr(0, end)) + "\n";
        text.erase(0, std::min(end + 1, text.size()));
      }
      if (finding.severity == doc::Severity::kError)
        failed += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", doc::markup_text(finding.id),
                              doc::markup_text(finding.message), lines);
      else
        reported += lines;
    }
    failures += failed.empty() ? 0 : 1;
    cases += fmt::format("    <testcase classname=\"railbed check\" name=\"{}\">\n{}{}    </testcase>\n",
                         doc::markup_text(name), failed,
                         reported.empty() ? "" : fmt::format("      <system-out>{}</system-out>\n", reported));
  }
  std::string properties;
  if (const std::string coverage = coverage_text(report.coverage); !coverage.empty())
    properties = fmt::format("    <properties>\n      <property name=\"coverage\" value=\"{}\"/>\n    </properties>\n",
                             doc::markup_text(coverage));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"railbed check\" tests=\"{}\" failures=\"{}\">\n{}{}  </testsuite>\n</testsuites>\n",
      names.size(), failures, properties, cases);
}

}  // namespace railbed::check
