// SPDX-License-Identifier: Apache-2.0
// What an API server, or a webhook, refuses because of one object alone: two of one name, ports and mounts that there
// cannot be, requests above limits, pools of addresses.
//
// Why: these rules are rows of the family of admission (admission.cc), whose file they would make too long.
// Threading: pure functions.
// Failure: none.
// Source: Kubernetes, API reference, "Container", "Volume" and "Service"; nv-ipam, "IPPool CR" and "CIDRPool CR", and
// what its webhook validates (api/v1alpha1).
#pragma once

#include "check/rules/rule.h"

namespace railbed::check {

// Whether the object is whole: a patch, or what a page shows of one, may leave anything out.
bool is_whole_object(const Document& document);
// Kinds whose pods are made of the template as it is; other controllers may add to it.
bool makes_pods_verbatim(const PodTemplate& pod);

// What the API server refuses: "it" of its own kinds, into whose pods it looks, and "the pods made from it" of a custom
// resource, which it takes as it is.
std::string_view refused_for(const PodTemplate& pod);

// RB-ADM-006
void given_twice_in_a_pod(const Input& in, Findings& out);
// RB-ADM-007
void colon_in_a_mount_path(const Input& in, Findings& out);
// RB-ADM-008
void pool_contradicts_itself(const Input& in, Findings& out);
// RB-ADM-009
void ports_that_cannot_be(const Input& in, Findings& out);
// RB-ADM-010
void requests_above_limits(const Input& in, Findings& out);
// RB-ADM-011
void mounts_that_cannot_be(const Input& in, Findings& out);
// RB-ADM-012
void fields_that_exclude_each_other(const Input& in, Findings& out);

}  // namespace railbed::check
