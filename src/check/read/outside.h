// SPDX-License-Identifier: Apache-2.0
// What rendering a kustomization would do beyond reading its files: fetch from other machines, or execute programs.
//
// Why: the author of a pull request writes kustomizations, and the renderer runs with the rights of the user who checks
// them.
// Threading: pure functions.
// Failure: none.
// Source: kustomize's reference of kustomization.yaml; api/internal/git/repospec.go (what it takes for a repository);
// api/loader/fileloader.go (any path may be a URL).
#pragma once

#include <string>
#include <string_view>

#include "doc/value.h"

namespace railbed::check {

// Whether kustomize would fetch it: a URL, a repository ("git@host:…", "github.com/owner/name", "…?ref=main").
bool is_remote(std::string_view path);
// The first path in the kustomization that is; empty: none.
std::string remote_entry(const doc::Value& kustomization);
// Why rendering would execute programs of the kustomization's choice ("helmCharts"); empty: it would not.
std::string executed_entry(const doc::Value& kustomization);
// The same of a file that a kustomization lists: a function that is a program or a container.
bool is_executed_function(std::string_view text);

}  // namespace railbed::check
