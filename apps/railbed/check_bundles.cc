// SPDX-License-Identifier: Apache-2.0
#include "check_bundles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "check/read/rendered.h"

namespace railbed {
namespace {

using Sources = std::vector<doc::SourcePtr>;

// Sources that are checked together.
struct Environment {
  Sources sources;
  std::set<std::string> counted;  // of those, what an earlier environment has counted
};

// The environments of project files, each with what belongs to none; without any, all sources are one.
std::vector<Environment> environments_of(Sources sources, const check::Policy& policy) {
  std::map<std::pair<size_t, size_t>, Sources> inside;
  Sources shared;
  for (doc::SourcePtr& source : sources) {
    const auto place = policy.places.find(source->name);
    std::optional<size_t> environment;
    if (place != policy.places.end() && place->second.project)
      environment = policy.projects[*place->second.project].environment_of(place->second.path);
    if (environment)
      inside[{*place->second.project, *environment}].push_back(std::move(source));
    else
      shared.push_back(std::move(source));
  }
  std::vector<Environment> all;
  if (inside.empty()) all.push_back({std::move(shared), {}});
  std::set<std::string> counted;
  for (auto& [key, own] : inside) {
    own.insert(own.end(), shared.begin(), shared.end());
    all.push_back({std::move(own), counted});
    if (counted.empty())
      for (const doc::SourcePtr& source : shared) counted.insert(source->name);
  }
  return all;
}

check::Report check_each(Sources sources, const std::vector<facts::NodeFacts>& nodes, const check::Settings& settings) {
  check::Report all;
  for (doc::SourcePtr& source : sources) all.add(check::check({std::exchange(source, nullptr)}, nodes, settings));
  return all;
}

check::Report check_together(const Sources& sources, const std::vector<facts::NodeFacts>& nodes,
                             check::Settings settings, bool together) {
  settings.together = together;
  return check::check_files(sources, nodes, settings);
}

// A finding in a file that several environments share is reported once.
class SeenFindings {
 public:
  void keep_new(check::Report& report) {
    std::erase_if(report.findings.mutable_all(), [&](const doc::Diagnostic& finding) {
      if (finding.span.source == nullptr) return false;
      return !findings_.insert({finding.id, finding.span.source->name, finding.span.offset, finding.message}).second;
    });
    std::erase_if(report.repairs, [&](const check::Repair& one) { return !repaired_.insert(one.before).second; });
  }

 private:
  std::set<std::tuple<std::string, std::string, uint32_t, std::string>> findings_;
  std::set<doc::SourcePtr> repaired_;
};

// What a program printed is in no file: nothing of it can be repaired.
void keep_rendered_text(check::Report& report) {
  std::erase_if(report.repairs, [](const check::Repair& one) { return check::is_rendered(one.before->name); });
  for (doc::Diagnostic& finding : report.findings.mutable_all())
    if (finding.span.known() && check::is_rendered(finding.span.source->name)) {
      finding.edits.clear();
      finding.applicability = doc::Applicability::kNone;
    }
}

}  // namespace

check::Report check_bundles(Sources sources, const std::vector<facts::NodeFacts>& nodes, const CheckOptions& options) {
  std::vector<Environment> environments = environments_of(std::move(sources), *options.settings.policy);
  check::Report all;
  SeenFindings seen;
  for (Environment& environment : environments) {
    check::Settings settings = options.settings;
    settings.counted = std::move(environment.counted);
    check::Report one = options.each ? check_each(std::move(environment.sources), nodes, settings)
                                     : check_together(environment.sources, nodes, settings, options.together);
    if (environments.size() > 1) seen.keep_new(one);
    std::string grouped = std::move(one.grouped);
    all.add(std::move(one));
    if (!grouped.empty()) all.grouped = std::move(grouped);
  }
  if (environments.size() > 1)
    all.grouped += fmt::format("{}each of {} environments was checked separately", all.grouped.empty() ? "" : "; ",
                               environments.size());
  all.findings.sort();
  keep_rendered_text(all);
  return all;
}

}  // namespace railbed
