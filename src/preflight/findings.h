// SPDX-License-Identifier: Apache-2.0
// What blocks railbed in a cluster, and what to do about it.
//
// Why: an installation that conflicts with another operator, a CNI that removes files, or a folder that cannot be
// written fails in a place where no one looks. All of it can be detected in advance. Ids are explained in
// docs/findings/cluster.md.
// Threading: pure.
// Failure: none; what could not be checked is a finding, too, since unknown does not mean correct.
#pragma once

#include <string_view>
#include <vector>

#include "findings/finding.h"
#include "preflight/look.h"

namespace railbed::preflight {

inline constexpr doc::Severity kBlocks =
    doc::Severity::kError;  // railbed, or part of it, does not work until it is fixed
inline constexpr doc::Severity kToKnow = doc::Severity::kNote;

// `architecture` is that of the image which looks ("amd64"): agents come from the same one.
std::vector<findings::Finding> cluster_findings(const ClusterLook& look, std::string_view architecture);
std::vector<findings::Finding> node_findings(const NodeLook& look);

}  // namespace railbed::preflight
