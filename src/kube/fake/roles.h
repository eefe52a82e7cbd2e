// SPDX-License-Identifier: Apache-2.0
// The roles of deploy/rbac, made of the rights that components declare (kube/right.h), and what differs from them: in a
// file, or among the requests that an API server in memory has seen.
//
// Why here: only tests write and compare the files, as they do with all that is generated.
// Threading: pure functions.
// Failure: none.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "kube/right.h"

namespace railbed::kube::fake {

// One verb on one kind, for somebody: "ClusterRole railbed-agent: patch pods/status".
using Grants = std::set<std::string>;

// The rights of one service account.
struct Account {
  std::string name;     // of the account, its roles and bindings
  std::string comment;  // above the first role: whole lines, without "# "
  std::vector<Right> rights;
};

// The file with the account's roles and bindings: what is granted by deploy/rbac. The rule of a kind has the reasons of
// all that need it.
std::string role_file(const Account& account);

// What `rights` need of such a role, those of `granted_by` and `where`.
Grants grants_of(std::string_view role, const std::vector<Right>& rights, GrantedBy granted_by, Where where);
// The same for both roles of an account in deploy/rbac.
Grants grants_of(const Account& account);
// What the roles in a manifest grant.
Grants grants_in(const std::string& yaml);
// "not granted, though declared: …" and "granted, though not declared: …", a line each; empty where they are equal.
std::string difference(const Grants& granted, const Grants& declared);

// Of ApiServer::requests(), those that no right covers, a line each. `own_ns` is railbed's namespace.
std::string beyond(const std::vector<Right>& rights, const std::vector<std::string>& requests,
                   const std::string& own_ns);

}  // namespace railbed::kube::fake
