// SPDX-License-Identifier: Apache-2.0
#include "check/follow_ons.h"

#include <algorithm>
#include <set>

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
    // It selects no node, because its nodeSelector asks for what is nowhere.
    {"RB-POLICY-010", "RB-LABEL-001"},
    {"RB-POLICY-010", "RB-LABEL-003"},
    {"RB-POLICY-010", "RB-LABEL-005"},
    {"RB-POLICY-010", "RB-LABEL-006"},
};

// The object around a place: the last one that begins before it; null where there is none.
const Document* object_at(const Bundle& bundle, const doc::Span& span) {
  const Document* holder = nullptr;
  for (const Document& document : bundle.documents) {
    const doc::Span& begin = document.value.span;
    if (begin.source != span.source || begin.offset > span.offset) continue;
    if (holder == nullptr || begin.offset >= holder->value.span.offset) holder = &document;
  }
  return holder;
}

}  // namespace

void fold_follow_ons(const Bundle& bundle, doc::Diagnostics& all) {
  std::vector<doc::Diagnostic>& findings = all.mutable_all();
  std::set<size_t> folded;
  for (size_t i = 0; i < findings.size(); ++i) {
    const doc::Diagnostic& finding = findings[i];
    const auto of_finding = [&](const Row& row) { return row.follows == finding.id; };
    if (!finding.span.known() || std::ranges::none_of(kRows, of_finding)) continue;
    const Document* object = object_at(bundle, finding.span);
    if (object == nullptr) continue;
    const auto cause = std::ranges::find_if(findings, [&](const doc::Diagnostic& other) {
      return other.span.known() &&
             std::ranges::any_of(kRows,
                                 [&](const Row& row) { return of_finding(row) && row.cause == other.id; }) &&
             object_at(bundle, other.span) == object;
    });
    if (cause == findings.end()) continue;
    cause->note(finding.span, "because of it: " + finding.message);
    folded.insert(i);
  }
  size_t at = 0;
  std::erase_if(findings, [&](const doc::Diagnostic&) { return folded.contains(at++); });
}

}  // namespace railbed::check
