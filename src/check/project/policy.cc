// SPDX-License-Identifier: Apache-2.0
#include "check/project/policy.h"

#include <algorithm>

#include "check/project/rule_names.h"

namespace railbed::check {
namespace {

bool any_names(const std::vector<std::string>& names, std::string_view id) {
  return std::ranges::any_of(names, [&](const std::string& name) { return names_rule(name, id); });
}

void set_severity(doc::Diagnostic& finding, SetSeverity set, const ProjectFile& project) {
  const auto severity = static_cast<doc::Severity>(static_cast<size_t>(set) - 1);
  if (finding.severity == severity) return;
  finding.severity = severity;
  // A person has decided; what the rule was unsure of does not count any more.
  finding.confidence = doc::Confidence::kHigh;
  finding.why = fmt::format("{} sets this severity", project.source->name);
}

void report_empty_environments(const Policy& policy, size_t project, doc::Diagnostics& out) {
  const ProjectFile& file = policy.projects[project];
  std::set<size_t> seen;
  for (const auto& [name, place] : policy.places)
    if (place.project == project)
      if (const auto environment = file.environment_of(place.path)) seen.insert(*environment);
  for (size_t i = 0; i < file.environments.size(); ++i)
    if (!seen.contains(i))
      out.warning("RB-PROJECT-003", file.environments[i].span,
                  fmt::format("no file was read from the environment {}", file.environments[i].folder))
          .with_fix("name a folder that has manifests, relative to this file");
}

}  // namespace

const SourcePlace* Policy::place_of(const doc::Span& span) const {
  if (span.source == nullptr) return nullptr;
  const auto found = places.find(span.source->name);
  return found == places.end() ? nullptr : &found->second;
}

const ProjectFile* Policy::project_of(const doc::Span& span) const {
  const SourcePlace* place = place_of(span);
  return place == nullptr || !place->project ? nullptr : &projects[*place->project];
}

std::optional<GivenClass> Policy::class_of(const doc::Span& span) const {
  const ProjectFile* project = project_of(span);
  return project == nullptr ? std::nullopt : project->class_of(place_of(span)->path);
}

Verdict judged(const Policy& policy, doc::Diagnostic& finding) {
  if (!policy.select.empty() && !any_names(policy.select, finding.id)) return {.what = Verdict::What::kOff};
  if (any_names(policy.ignore, finding.id)) return {.what = Verdict::What::kOff};
  const SourcePlace* place = policy.place_of(finding.span);
  if (place == nullptr || !place->project) return {};
  const ProjectFile& project = policy.projects[*place->project];
  for (size_t i = 0; i < project.ignore.size(); ++i) {
    const ProjectFile::Ignoring& one = project.ignore[i];
    const auto rule =
        std::ranges::find_if(one.rules, [&](const auto& named) { return names_rule(named.name, finding.id); });
    if (rule == one.rules.end() || !one.pattern.covers(place->path)) continue;
    return {.what = Verdict::What::kIgnored,
            .reason = one.reason,
            .by = IgnoreEntry{*place->project, i, static_cast<size_t>(rule - one.rules.begin())}};
  }
  const std::optional<SetSeverity> set = project.severity_of(finding.id);
  if (set == SetSeverity::kOff) return {.what = Verdict::What::kOff};
  if (set) set_severity(finding, *set, project);
  return {};
}

void report_unused(const Policy& policy, const std::set<IgnoreEntry>& used, const std::set<size_t>& whole,
                   doc::Diagnostics& out) {
  for (const size_t project : whole) report_empty_environments(policy, project, out);
  if (!policy.select.empty() || !policy.ignore.empty()) return;  // the rule may be one that is off
  for (const size_t project : whole)
    for (size_t i = 0; i < policy.projects[project].ignore.size(); ++i) {
      const ProjectFile::Ignoring& one = policy.projects[project].ignore[i];
      bool any_used = false;
      for (size_t rule = 0; rule < one.rules.size(); ++rule) {
        const bool is_used = used.contains({project, i, rule});
        any_used |= is_used;
        if (!is_used)
          out.warning("RB-IGNORE-001", one.rules[rule].span,
                      fmt::format("{} reports nothing in {} that could be ignored", one.rules[rule].name, one.text))
              .with_fix("remove it");
      }
      if (any_used && one.reason.empty())
        out.warning("RB-IGNORE-002", one.span, "no reason is given")
            .with_fix(
                fmt::format("{}: {{ids: [{}], reason: why that is right here}}", one.text, one.rules.front().name));
    }
}

}  // namespace railbed::check
