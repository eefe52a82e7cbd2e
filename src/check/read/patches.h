// SPDX-License-Identifier: Apache-2.0
// Which documents are patches of kustomize: partial objects, in which no field is required.
//
// Why: a patch has the form of an object and few of its fields. Its name does not identify it: a kustomization lists
// it, or it contains a directive of a strategic merge ("$patch: delete").
// Threading: pure functions.
// Failure: none.
// Source: kustomize's reference of kustomization.yaml (patches, patchesStrategicMerge, patchesJson6902), and
// Kubernetes' strategic-merge-patch.md.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "check/read/bundle.h"

namespace railbed::check {

// The sources that a kustomization of the bundle lists as patches, by name, with the name of the kustomization.
std::map<std::string, std::string> patch_files(const Bundle& bundle);

// "$patch", "$retainKeys" and their kin.
bool is_merge_directive(std::string_view key);
// Whether an object holds one, at any depth.
bool has_merge_directive(const doc::Value& value);

// The names of ConfigMaps that replacements of kustomizations take values from: their data may have any form.
std::set<std::string, std::less<>> replacement_sources(const Bundle& bundle);

}  // namespace railbed::check
