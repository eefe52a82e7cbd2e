// SPDX-License-Identifier: Apache-2.0
// Decides what each document of a bundle is (document_class.h).
//
// Why: the only place that decides it. The signs of a manifest are apiVersion and kind of a known kind, fields of which
// most fit it, a name, no mark of an engine, no list of patches, no carrier of parts, no verb that says otherwise. One
// of them that is not there makes it something else, in which nothing is missing.
// Threading: pure functions over a Bundle.
// Failure: none.
#pragma once

#include <map>
#include <string>

#include "check/read/bundle.h"
#include "check/read/kustomizations.h"

namespace railbed::check {

// Sets `cls`, `engine`, `filled_in` and `patch` of all documents, and marks the values that kustomizations set.
// `patches`: sources that a kustomization lists as patches, with its name.
void classify(Bundle& bundle, const std::map<std::string, std::string>& patches, const Kustomizations& kustomizations);

// Moves documents that no rule reads to bundle.aside: assertions, output, patches, the identities of objects that are
// deleted, settings of others.
void set_aside(Bundle& bundle);

// Whether most fields of the object are unknown to its kind: it must be something else.
bool is_something_else(const Document& document);

// Whether kustomize and kpt read the object and never emit it (config.kubernetes.io/local-config).
bool is_local_config(const doc::Value& object);

}  // namespace railbed::check
