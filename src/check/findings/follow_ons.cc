// SPDX-License-Identifier: Apache-2.0
#include "check/findings/follow_ons.h"

#include <map>
#include <set>
#include <utility>

#include "check/read/objects.h"

namespace railbed::check {

void fold_follow_ons(const Bundle& bundle, doc::Diagnostics& all) {
  std::vector<doc::Diagnostic>& findings = all.mutable_all();
  const ObjectIndex objects(bundle);
  std::map<std::pair<const Document*, doc::Says>, size_t> causes;  // by object and what they explain
  for (size_t i = 0; i < findings.size(); ++i) {
    const doc::Diagnostic& finding = findings[i];
    if (finding.explains == doc::Says::kOther) continue;
    if (const Document* object = objects.at(finding.span)) causes.emplace(std::pair(object, finding.explains), i);
  }
  std::set<size_t> folded;
  for (size_t i = 0; i < findings.size() && !causes.empty(); ++i) {
    const doc::Diagnostic& finding = findings[i];
    const Document* object = finding.says == doc::Says::kOther ? nullptr : objects.at(finding.span);
    if (object == nullptr) continue;
    const auto cause = causes.find({object, finding.says});
    if (cause == causes.end()) continue;
    findings[cause->second].note(finding.span, "because of it: " + finding.message);
    folded.insert(i);
  }
  size_t at = 0;
  std::erase_if(findings, [&](const doc::Diagnostic&) { return folded.contains(at++); });
}

}  // namespace railbed::check
