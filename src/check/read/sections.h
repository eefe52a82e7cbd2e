// SPDX-License-Identifier: Apache-2.0
// Which section of a page or a script a place is in.
//
// Why: two commands of one section belong together; those under two headings, or before and behind "Alternatively", are
// examples of their own.
// Threading: one object per thread: it keeps what it has looked up.
// Failure: none; a text without headings is one section.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <vector>

#include "doc/value.h"

namespace railbed::check {

// Where sections begin, in bytes and in order: at headings of the language that the name's ending says, and at
// paragraphs and comments that begin with a word for another way ("or", "alternatively").
std::vector<size_t> section_begins(std::string_view name, std::string_view text);

class Sections {
 public:
  // Whether both places are in one text and no section begins between them.
  bool same(const doc::Span& one, const doc::Span& other);

 private:
  const std::vector<size_t>& begins(const doc::SourcePtr& source);

  std::map<const doc::Source*, std::vector<size_t>> begins_;
};

}  // namespace railbed::check
