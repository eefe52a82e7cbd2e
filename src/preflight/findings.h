// SPDX-License-Identifier: Apache-2.0
// What blocks railbed in a cluster, and what to do about it.
//
// Why: an installation that conflicts with another operator, a CNI that removes files, or a folder that cannot be
// written fails in a place where no one looks. All of it can be detected in advance.
// Threading: pure.
// Failure: none; what could not be checked is a finding, too, since unknown does not mean correct.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "preflight/look.h"

namespace railbed::preflight {

enum class Weight : uint8_t {
  kAgainst,  // railbed, or part of it, does not work until something is done
  kToKnow,
};

struct Finding {
  Weight weight = Weight::kAgainst;
  std::string what;
  std::string where;
  std::string todo;
  friend bool operator==(const Finding&, const Finding&) = default;
};

// `architecture` is that of the image which looks ("amd64"): agents come from the same one.
std::vector<Finding> cluster_findings(const ClusterLook& look, std::string_view architecture);
std::vector<Finding> node_findings(const NodeLook& look);

}  // namespace railbed::preflight
