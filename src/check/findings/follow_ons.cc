// SPDX-License-Identifier: Apache-2.0
#include "check/findings/follow_ons.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace railbed::check {
namespace {

struct Row {
  std::string_view follows;
  std::string_view cause;
};
constexpr Row kRows[] = {
    // The policy matches no NIC, because its nicSelector is for something else.
    {"RB-POLICY-009", "RB-RDMA-006"},
    {"RB-POLICY-009", "RB-RDMA-007"},
    // What the NIC allows is told, and is less than what the webhook does.
    {"RB-RES-007", "RB-VF-002"},
    // It selects no node, because its nodeSelector asks for what is nowhere.
    {"RB-POLICY-010", "RB-LABEL-001"},
    {"RB-POLICY-010", "RB-LABEL-003"},
    {"RB-POLICY-010", "RB-LABEL-005"},
    {"RB-POLICY-010", "RB-LABEL-006"},
};

// The object around a place: the last one that begins before it.
class Objects {
 public:
  explicit Objects(const Bundle& bundle) {
    for (const Document& document : bundle.documents) {
      const doc::Span& begin = document.value.span;
      if (begin.known()) begins_.emplace(begin.source.get(), begin.offset);
    }
  }

  // Where it begins; nothing where there is none.
  std::optional<size_t> at(const doc::Span& span) const {
    auto next = begins_.upper_bound({span.source.get(), span.offset});
    if (next == begins_.begin() || (--next)->first != span.source.get()) return std::nullopt;
    return next->second;
  }

 private:
  std::set<std::pair<const doc::Source*, size_t>> begins_;
};

}  // namespace

void fold_follow_ons(const Bundle& bundle, doc::Diagnostics& all) {
  std::vector<doc::Diagnostic>& findings = all.mutable_all();
  const Objects objects(bundle);
  std::map<std::tuple<const doc::Source*, size_t, std::string_view>, size_t> causes;  // by object and id
  for (size_t i = 0; i < findings.size(); ++i) {
    const doc::Diagnostic& finding = findings[i];
    const auto cause = std::ranges::find(kRows, finding.id, &Row::cause);
    if (cause == std::end(kRows) || !finding.span.known()) continue;
    if (const auto object = objects.at(finding.span))
      causes.emplace(std::tuple(finding.span.source.get(), *object, cause->cause), i);
  }
  std::set<size_t> folded;
  for (size_t i = 0; i < findings.size() && !causes.empty(); ++i) {
    const doc::Diagnostic& finding = findings[i];
    for (const Row& row : kRows) {
      if (row.follows != finding.id || !finding.span.known()) continue;
      const auto object = objects.at(finding.span);
      if (!object) break;
      const auto cause = causes.find(std::tuple(finding.span.source.get(), *object, row.cause));
      if (cause == causes.end()) continue;
      findings[cause->second].note(finding.span, "because of it: " + finding.message);
      folded.insert(i);
      break;
    }
  }
  size_t at = 0;
  std::erase_if(findings, [&](const doc::Diagnostic&) { return folded.contains(at++); });
}

}  // namespace railbed::check
