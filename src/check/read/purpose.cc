// SPDX-License-Identifier: Apache-2.0
#include "check/read/purpose.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "check/read/page.h"

namespace railbed::check {
namespace {

// What a heading or the line before an example says of one that is wrong.
constexpr std::array<std::string_view, 17> kWrongOnPurpose = {
    "should fail",   "must fail",   "expected to fail", "should be rejected", "will be rejected",
    "is rejected",   "be refused",  "invalid",          "incorrect",          "wrong",
    "negative test", "bad example", "anti-pattern",     "do not do this",     "don't do this",
    "does not work", "\xE2\x9D\x8C"};

bool says_wrong(std::string_view line) {
  const std::string text = lower(line);
  return std::ranges::any_of(kWrongOnPurpose, [&](std::string_view words) { return text.find(words) != text.npos; });
}

// What opens or closes a block, or belongs to its opening.
bool is_block_mark(std::string_view content) {
  return content.starts_with("```") || content.starts_with("~~~") || content.starts_with("----") ||
         content.starts_with("[source") || content.starts_with(".. ");
}

bool is_page_heading(std::string_view content) {
  return content.starts_with('#') || content.starts_with("== ") || content.starts_with("=== ");
}

}  // namespace

bool is_wrong_on_purpose(std::string_view page, size_t begin) {
  constexpr int kMostLines = 30;
  bool outside = false;  // above the block's opening
  bool prose = false;    // the line before the block is behind us
  // Behind the end of the line above, which ends with a '\n' of its own.
  size_t end = begin == 0 ? 0 : page.rfind('\n', std::min(begin, page.size()) - 1) + 1;  // npos + 1 is 0
  for (int lines = 0; end > 0 && lines < kMostLines; ++lines) {
    const size_t start = end == 1 ? 0 : page.rfind('\n', end - 2) + 1;
    const std::string_view content = trimmed(page.substr(start, end - start - 1));  // without its '\n'
    end = start;
    if (content.empty()) continue;
    if (is_block_mark(content)) {
      if (prose) return false;  // another block: its words are not of this one
      outside = true;
    } else if (is_page_heading(content)) {
      if (says_wrong(content)) return true;
      if (outside) return false;
    } else if (outside && !prose) {
      if (says_wrong(content)) return true;
      prose = true;
    }
  }
  return false;
}

}  // namespace railbed::check
