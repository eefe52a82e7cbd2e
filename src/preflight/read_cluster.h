// SPDX-License-Identifier: Apache-2.0
// Reads a cluster through its API server, and changes nothing.
//
// Why: see findings.h. Each list is requested once; a refused one is recorded in ClusterLook::unknown, and the others
// are still read. A kind that the cluster does not have is an empty list.
// Threading: blocks its caller.
// Failure: that of GET /version, without which no other request is useful.
#pragma once

#include <vector>

#include "kube/client.h"
#include "preflight/look.h"

namespace railbed::preflight {

// A rule of a Role or ClusterRole of deploy/rbac, of the service account that has the role's name.
struct GrantedRule {
  std::string account;
  bool everywhere = false;  // of a ClusterRole
  std::vector<std::string> groups, resources, verbs;
  std::vector<std::string> names;  // of the objects that it is about; empty: all
};
// The rules of such a manifest.
std::vector<GrantedRule> rules_of(const std::string& yaml);

// `granted`: what service accounts of namespace `ns` are to have; asked about where they are there.
Result<ClusterLook> look_at_cluster(kube::Client& client, kube::Transport& transport, const std::string& ns,
                                    const std::vector<GrantedRule>& granted);

}  // namespace railbed::preflight
