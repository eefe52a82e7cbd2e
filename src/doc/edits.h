// SPDX-License-Identifier: Apache-2.0
// Changes to a text, and the original positions of the bytes of the changed text.
//
// Why: a mistake with one safe repair (an indentation, a misspelt field) must not hide other mistakes behind it, and
// `--fix` must write exactly what was checked. So the repaired text is read again, and locations in it are reported as
// locations in the original text. A repair often consists of several edits (lines that move), some of which would be
// destructive alone: they form a group, and a group is applied as a whole or not at all.
// Threading: values.
// Failure: a group that overlaps an earlier one, itself or the end of the text is skipped.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/text.h"

namespace railbed::doc {

class EditedText {
 public:
  using Group = std::vector<Edit>;

  // Applies the groups that are compatible with each other; in a conflict the earlier one wins.
  EditedText(SourcePtr before, std::span<const Group> groups);
  // Independent edits: each is its own group.
  EditedText(SourcePtr before, const Group& edits);

  const SourcePtr& before() const { return before_; }
  const SourcePtr& after() const { return after_; }  // of the same name
  size_t applied() const { return applied_; }        // edits
  bool took(size_t group) const { return took_[group]; }
  // Converts a place in the changed text to one in the text before; places in other sources stay as they are.
  Span back(const Span& span) const;

 private:
  struct Piece {
    size_t after = 0;  // where it begins in the changed text
    size_t before = 0;
    bool inserted = false;  // all its bytes belong to one place in `before`, where it was inserted
  };
  SourcePtr before_;
  LineIndex lines_before_;
  SourcePtr after_;
  std::vector<Piece> pieces_;
  std::vector<bool> took_;  // by group: whether it was applied
  size_t applied_ = 0;
};

// Lines that differ, as `diff -u` shows them, with three lines around; empty when the texts are equal.
std::string unified_diff(const std::string& name, std::string_view before, std::string_view after);

}  // namespace railbed::doc
