// SPDX-License-Identifier: Apache-2.0
// The nearest known name: edit distance with swaps of neighbours (optimal string alignment), ignoring case.
#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "doc/diagnostic.h"

namespace railbed::doc {

namespace {
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}
}  // namespace

bool are_one_slip_apart(std::string_view one, std::string_view other) {
  const size_t longer = std::max(one.size(), other.size());
  return longer - std::min(one.size(), other.size()) <= 1 && edit_distance(one, other) == 1;
}

std::string nearest(std::string_view wrong, const std::vector<std::string_view>& candidates) {
  const size_t allowed = wrong.size() < 5 ? 1 : 2;
  size_t best = allowed + 1;
  std::string_view found;
  for (std::string_view candidate : candidates) {
    const size_t longer = std::max(candidate.size(), wrong.size());
    if (longer - std::min(candidate.size(), wrong.size()) > allowed) continue;
    const size_t distance = edit_distance(wrong, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return std::string(found);
}

}  // namespace railbed::doc
