// SPDX-License-Identifier: Apache-2.0
// What a change will disrupt, before it does.
//
// Why: who applies a policy wants to know which jobs it interrupts, on how many nodes, in how many waves, and for how
// long a job waits. The answer is that of waves() itself, with each wave taken to succeed.
// Threading: pure.
// Failure: none; nodes that cannot start are listed with the reason.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "drain/waves.h"

namespace railbed::drain {

struct JobPreview {
  std::string unit;  // "JobSet ai/train", "Pod web/front-0"
  int wave = 0;      // from 1
  size_t pods = 0;
  size_t nodes = 0;
  std::chrono::seconds waits{0};  // until the last of its nodes is changed
  friend bool operator==(const JobPreview&, const JobPreview&) = default;
};

struct Preview {
  int waves = 0;
  size_t nodes = 0;                                 // that change
  size_t without_eviction = 0;                      // of these, nodes without a pod in the way
  std::vector<JobPreview> jobs;                     // by wave and name
  std::map<std::string, std::string> blocked = {};  // nodes that do not change, with the reason
  friend bool operator==(const Preview&, const Preview&) = default;
};

// `per_node`: how long one node takes from its slot to its end.
Preview preview(std::vector<PoolView> pools, Time now, std::chrono::seconds per_node);

// "2 jobs and 1 pod on 12 of 16 nodes are interrupted, in 4 waves: JobSet ai/train (64 pods, 8 nodes, wave 1, waits
// about 20 min), …"; at most `shown` units by name.
std::string to_text(const Preview& preview, size_t shown = 8);

}  // namespace railbed::drain
