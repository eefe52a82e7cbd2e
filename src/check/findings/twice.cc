// SPDX-License-Identifier: Apache-2.0
#include "check/findings/twice.h"

#include <algorithm>
#include <optional>
#include <set>

#include "check/read/copies.h"
#include "check/read/objects.h"
#include "doc/members.h"

namespace railbed::check {

using doc::Diagnostic;
using doc::Diagnostics;

void drop_steps(const Bundle& bundle, Diagnostics& findings) {
  std::set<const doc::Source*> stepwise;
  for (const Document& document : bundle.documents)
    if (document.origin != Origin::kFile) stepwise.insert(document.value.span.source.get());
  if (stepwise.empty()) return;
  std::erase_if(findings.mutable_all(), [&](const Diagnostic& finding) {
    return finding.says == doc::Says::kGivenTwice && !finding.notes.empty() &&
           finding.notes[0].span.source == finding.span.source && stepwise.contains(finding.span.source.get());
  });
}

namespace {

// A hook of Helm is made and deleted at its own time.
bool is_hook(const Document& document) {
  const doc::Value* metadata = document.value.find("metadata");
  const doc::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
  return annotations != nullptr && !doc::text_in(*annotations, "helm.sh/hook").empty();
}

}  // namespace

void judge_duplicates(const Bundle& bundle, const World& world, Diagnostics& findings) {
  std::optional<ObjectIndex> index;
  std::erase_if(findings.mutable_all(), [&](Diagnostic& finding) {
    if (finding.notes.empty() || !finding.span.known()) return false;
    if (!index) index.emplace(bundle);
    const Document* here = index->at(finding.span);
    if (here == nullptr || here->name.empty()) return false;
    for (const Diagnostic::Note& note : finding.notes) {
      const Document* there = note.span.known() ? index->at(note.span) : nullptr;
      if (there == nullptr || there == here || identity_of(*there) != identity_of(*here)) continue;
      if (finding.says != doc::Says::kGivenTwice || is_hook(*here) || is_hook(*there)) return true;
      if (world.tied(*here, *there)) return false;
      finding.severity = doc::Severity::kNote;
      finding.message += "; nothing applies both files, so they are alternatives";
      return false;
    }
    return false;
  });
}

}  // namespace railbed::check
