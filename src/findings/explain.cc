// SPDX-License-Identifier: Apache-2.0
#include "findings/explain.h"

#include <algorithm>

#include "base/text.h"
#include "findings/pages.h"

namespace railbed::findings {
namespace {

void read_page(const EmbeddedFile& page, std::vector<Explanation>& out) {
  constexpr std::string_view kHeading = "\n## RB-";
  for (size_t at = page.text.find(kHeading); at != std::string_view::npos;) {
    const size_t begin = at + kHeading.size() - 3;
    const size_t line_end = std::min(page.text.find('\n', begin), page.text.size());
    const size_t next = page.text.find("\n## ", line_end);
    const std::string_view heading = page.text.substr(begin, line_end - begin);
    const size_t blank = std::min(heading.find(' '), heading.size());
    out.push_back({heading.substr(0, blank), trimmed(heading.substr(blank)),
                   trimmed(page.text.substr(line_end, next - line_end)), page.name});
    at = page.text.find(kHeading, line_end);
  }
}

}  // namespace

const std::vector<Explanation>& explanations() {
  static const std::vector<Explanation> kAll = [] {
    std::vector<Explanation> all;
    for (const EmbeddedFile& page : pages()) read_page(page, all);
    return all;
  }();
  return kAll;
}

const Explanation* explain(std::string_view id) {
  const auto found = std::ranges::find(explanations(), id, &Explanation::id);
  return found == explanations().end() ? nullptr : &*found;
}

}  // namespace railbed::findings
