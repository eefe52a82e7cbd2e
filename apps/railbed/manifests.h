// SPDX-License-Identifier: Apache-2.0
// The manifests that a verb is given: files, directories, standard input.
//
// Threading: one thread. Failure: an Error names the path that cannot be read; what is wrong inside is in the
// diagnostics, with file:line:column.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/load.h"
#include "graph/resolution.h"

namespace railbed {

struct Manifests {
  std::vector<doc::SourcePtr> sources;
  api::Objects objects;
  doc::Diagnostics diagnostics;
};

// One file as it is; "-" is standard input.
Result<doc::SourcePtr> read_source(const std::string& path);

// All files that `paths` name, read. A directory stands for the files below it with one of these endings
// (".yaml"), by path.
Result<std::vector<doc::SourcePtr>> read_sources(const std::vector<std::string>& paths,
                                                 const std::set<std::string>& endings);

// "-" is standard input; a directory stands for the *.yaml, *.yml and *.json files below it, by path. A
// directory without any is an error: it is a typing mistake more often than a wish.
Result<Manifests> read_manifests(const std::vector<std::string>& paths);

// What the rules of `railbed check` find in these manifests, as they were resolved. Findings with an id of `forced` are
// warnings: a person has decided about them.
doc::Diagnostics rule_findings(const Manifests& manifests, const graph::Resolution& resolution,
                               const std::vector<std::string>& forced);

// The diagnostics on standard error, and how many of each severity; nothing when there are none.
void print_diagnostics(const doc::Diagnostics& diagnostics);

}  // namespace railbed
