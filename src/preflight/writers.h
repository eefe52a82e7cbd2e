// SPDX-License-Identifier: Apache-2.0
// Which subjects may write network definitions without being cluster administrators.
//
// Why: a definition can attach any interface of a node to a pod and run any of its plugins as root. The right to write
// one is often granted unnoticed: operators add it to the roles `admin` and `edit`, which owners of namespaces have. It
// is read from roles and bindings as they are; an authorizer other than RBAC is not visible. Excluded: subjects bound
// to a role that allows everything everywhere, the group system:masters, the control plane's own users (system:…) and
// the service accounts of kube-system and of railbed's namespace.
// Threading: pure.
// Failure: none.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "doc/value.h"

namespace railbed::preflight {

struct DefinitionWriter {
  std::string subject;  // "Group devs", "ServiceAccount ci/deployer"; empty: no subject is bound to the role
  std::string role;     // "ClusterRole edit"
  std::string ns;       // empty: in all namespaces
  friend auto operator<=>(const DefinitionWriter&, const DefinitionWriter&) = default;

  // Whether it is everybody who can log in, or every pod with a token.
  bool is_everybody() const;
  std::string to_string() const;  // "Group devs by ClusterRole edit in namespace ai"
};

// `roles`: Role and ClusterRole; `bindings`: RoleBinding and ClusterRoleBinding; `ns`: railbed's.
std::set<DefinitionWriter> definition_writers(const std::vector<doc::Value>& roles,
                                              const std::vector<doc::Value>& bindings, const std::string& ns);

}  // namespace railbed::preflight
