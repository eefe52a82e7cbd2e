// SPDX-License-Identifier: Apache-2.0
// Changes to a text, and where the bytes of the changed text stood before.
//
// Why: a mistake with one safe repair (an indentation, a misspelt field) must not hide what is wrong behind
// it, and `--fix` must write exactly what was checked. So the repaired text is read again, and places in it
// are told in the text that the person has. Threading: values. Failure: edits that overlap an earlier one are
// left out.
#pragma once

#include <string>
#include <vector>

#include "doc/diagnostic.h"
#include "doc/text.h"

namespace railbed::doc {

class EditedText {
 public:
  // Applies `edits` to the text of `before`; only those whose span is in it.
  EditedText(SourcePtr before, std::vector<Edit> edits);

  const SourcePtr& before() const { return before_; }
  const SourcePtr& after() const { return after_; }  // of the same name
  size_t applied() const { return applied_; }
  // A place in the changed text as a place in the text before; other places as they are.
  Span back(const Span& span) const;

 private:
  struct Piece {
    size_t after = 0;  // where it begins in the changed text
    size_t before = 0;
    bool inserted = false;  // all its bytes come from `before`, the place where it was put
  };
  SourcePtr before_;
  LineIndex lines_before_;
  SourcePtr after_;
  std::vector<Piece> pieces_;
  size_t applied_ = 0;
};

// Lines that differ, as `diff -u` shows them, with three lines around; empty when the texts are equal.
std::string unified_diff(const std::string& name, std::string_view before, std::string_view after);

}  // namespace railbed::doc
