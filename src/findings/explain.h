// SPDX-License-Identifier: Apache-2.0
// The detailed explanation of every finding, from the pages docs/check/*.md (about texts: doc::Diagnostic) and
// docs/findings/*.md (about machines, clusters and results of measurements: Finding), which are compiled in.
//
// Why: the page and `railbed explain` share one text. A section `## RB-ADDR-001 Title` belongs to an id; `#` begins the
// family.
// Threading: immutable.
// Failure: none.
#pragma once

#include <string_view>
#include <vector>

namespace railbed::findings {

struct Explanation {
  std::string_view id;     // "RB-ADDR-001"
  std::string_view title;  // the text after the id, in the same line
  std::string_view story;  // Markdown, without the heading
  std::string_view page;   // "docs/check/addresses.md"

  // A finding of `check`, `plan` or `up` about a place in a text; otherwise it is about a machine, a cluster or a
  // result.
  bool is_about_text() const { return page.starts_with("docs/check/"); }
};

// The explanations of all ids, in the order of the pages.
const std::vector<Explanation>& explanations();
// Null for an unknown id.
const Explanation* explain(std::string_view id);

}  // namespace railbed::findings
