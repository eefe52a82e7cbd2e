// SPDX-License-Identifier: Apache-2.0
// VFs first..last of one PF, both included, and sets of them.
#pragma once

#include <string>
#include <vector>

namespace railbed::graph {

struct VfRange {
  int first = 0;
  int last = -1;

  int count() const { return last - first + 1; }
  bool contains(int vf) const { return first <= vf && vf <= last; }
  bool overlaps(const VfRange& other) const { return first <= other.last && other.first <= last; }
  std::string to_string() const;  // "0-3", "5"
  friend bool operator==(const VfRange&, const VfRange&) = default;
};

// Sorted, disjoint, with neighbours joined.
std::vector<VfRange> join(std::vector<VfRange> ranges);
bool overlap(const std::vector<VfRange>& a, const std::vector<VfRange>& b);
std::string to_string(const std::vector<VfRange>& ranges);  // "0-3, 6-7"

}  // namespace railbed::graph
