// SPDX-License-Identifier: Apache-2.0
// The apiVersions of kinds that operators define: data/served_versions.yaml.
//
// Why: an API server refuses an object of a version that it does not serve, and of kinds that railbed does not parse
// no other component looks at the version. A group that is nearly the right one is reported as well; a group of others
// with a kind of the same name is theirs. Threading: pure functions. Failure: none; a test checks the table.
#pragma once

#include <string>
#include <string_view>

#include "check/read/bundle.h"
#include "doc/diagnostic.h"

namespace railbed::check {

// Whether Kubernetes prefers version `one`: "v2" to "v1", "v1" to "v1beta2", "v1beta1" to "v1alpha3".
bool is_newer_version(std::string_view one, std::string_view other);

// Whether a group is one of Kubernetes itself, whose fields an API server knows: strict validation refuses all others.
bool is_of_kubernetes(std::string_view group);

// Whether the table has a kind of this name, in any group.
bool is_served_kind(std::string_view kind);

// The kind of the document's group that it nearly names, by this table and that of Kubernetes' own kinds; empty where
// none is near.
std::string nearest_served_kind(const Document& document);

// RB-API-011 for the documents of a bundle whose kinds are in the table.
void report_wrong_versions(const Bundle& bundle, doc::Diagnostics& out);

}  // namespace railbed::check
