// SPDX-License-Identifier: Apache-2.0
// The texts under repair: the only place where the edits of findings are applied, and the guard that no content is
// lost.
//
// Why: a repair is automatic, in a file that the user trusts, and lost content goes unnoticed until a node has
// rebooted. So, whatever a rule offers, its edits are applied all or none, and the repaired text must have every line
// with content, every key and every value of the text before. The only exceptions are changes within a line that the
// finding itself names: a word for a word, quotes, brackets around a value, a line of dots as a comment. A `kind` is
// never changed: only its author knows which object was meant. A repair that violates this is not applied and its
// finding is reported without one; the others are still applied.
// Threading: values.
// Failure: none.
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "doc/diagnostic.h"
#include "doc/edits.h"

namespace railbed::check {

// The sources in their current form, with the way back to the form that the user gave.
class Texts {
 public:
  explicit Texts(std::vector<doc::SourcePtr> sources) : given_(sources), current_(std::move(sources)) {}

  const std::vector<doc::SourcePtr>& current() const { return current_; }

  // Makes the repairs of `findings` that are at least so applicable; those that would lose something are taken away
  // from their findings. Repairs that touch the same lines as an earlier one stay where they are, for the next round.
  // Whether anything changed.
  bool apply(doc::Diagnostics& findings, doc::Applicability least = doc::Applicability::kNone);

  // Converts a place in any of the texts to one in the given text.
  doc::Span back(doc::Span span) const;
  void to_given(doc::Diagnostics& findings) const;
  std::vector<Repair> repairs() const;

 private:
  std::vector<doc::SourcePtr> given_;
  std::vector<doc::SourcePtr> current_;
  std::vector<doc::EditedText> history_;  // in the order in which they were made
};

// Whether the finding has edits that may be applied.
inline bool is_repairable(const doc::Diagnostic& finding, doc::Applicability least) {
  return !finding.edits.empty() && finding.applicability >= least;
}

// Whether `after` still has everything of `before`, if only the repairs of `findings` made the difference.
bool keeps_everything(const doc::SourcePtr& before, const doc::SourcePtr& after,
                      const std::vector<const doc::Diagnostic*>& findings);

}  // namespace railbed::check
