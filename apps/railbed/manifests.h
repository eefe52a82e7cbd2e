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

// The content of one file; "-" is standard input.
Result<doc::SourcePtr> read_source(const std::string& path);

// `--facts A B` means the same in every verb. Where files are positional, too, only A is the option's: B, a recording
// or a file of node facts among `files`, is moved to `facts`.
Result<void> take_facts(std::vector<std::string>& files, std::vector<std::string>& facts);

// "-" is standard input; a directory means the *.yaml, *.yml and *.json files below it, in the order of paths. A
// directory without any is an error, because it is more often a typing mistake than intended.
Result<Manifests> read_manifests(const std::vector<std::string>& paths);

// What the rules of `railbed check` find in these manifests, as they were resolved. Findings with an id of `forced` are
// warnings: a person has decided about them. `lent` are interfaces of this machine that pods have now.
doc::Diagnostics rule_findings(const Manifests& manifests, const graph::Resolution& resolution,
                               const std::vector<std::string>& forced, const std::set<std::string>& lent = {});

// Prints the diagnostics and their number per severity on standard error; prints nothing when there are none.
void print_diagnostics(const doc::Diagnostics& diagnostics);

}  // namespace railbed
