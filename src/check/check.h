// SPDX-License-Identifier: Apache-2.0
// `railbed check`: finds everything that can be known to be wrong before a node reboots.
//
// Why: single-object validation finds one mistake in five; this reads the whole bundle with the nodes' facts. Mistakes
// that have one safe repair (an indentation, a misspelt or misplaced field) are repaired in memory and the text is read
// again, so that they do not hide other mistakes; all locations are reported in the original text. A finding that only
// follows from another is folded into it.
// Threading: a pure function.
// Failure: none; everything is a finding.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "check/read/coverage.h"
#include "check/rules/rule.h"

namespace railbed::check {

// Larger files are refused: they are no manifests, and nobody could read all their findings.
inline constexpr size_t kMaxCheckedBytes = 16u << 20;
inline constexpr size_t kMaxFindings = 10'000;

struct Repair {
  doc::SourcePtr before;
  doc::SourcePtr after;
};

struct Report {
  doc::Diagnostics findings;         // sorted by place
  std::vector<Repair> repairs;       // of the sources that have mistakes with a safe repair
  std::vector<Rule> not_checked;     // because they need facts about nodes
  std::vector<std::string> sources;  // names, in order
  std::map<std::string, int> kinds;  // objects by kind, known kinds only
  std::map<std::string, int> unknown_kinds;
  std::string grouped;  // why the files were checked in several groups, and how; empty: together
  Coverage coverage;    // what was judged, and as what
  int commands = 0;
  int nodes = 0;
  int suppressed = 0;
  int left_out = 0;  // findings beyond the first kMaxFindings

  int objects() const;
  // Appends the report of another bundle.
  void add(Report other);
};

// The sources as one bundle.
Report check(const std::vector<doc::SourcePtr>& sources, const std::vector<facts::NodeFacts>& nodes,
             const Settings& settings);

// The files of a run: alternatives of one object (check/read/alternatives.h) are judged apart, unless
// `settings.together`.
Report check_files(const std::vector<doc::SourcePtr>& sources, const std::vector<facts::NodeFacts>& nodes,
                   const Settings& settings);

// Only the rules, for `plan` and `up`, which have already read the manifests and made the graph.
doc::Diagnostics rule_findings(const std::vector<doc::SourcePtr>& sources, const api::Objects& objects,
                               const graph::Catalog& catalog, std::span<const graph::Graph> graphs,
                               std::span<const facts::NodeFacts> nodes, const Settings& settings);

// The same for objects that have no text: those of an API server, as bundle_of (check/read/objects.h) makes a bundle of
// them. `objects` are loaded from the values of that bundle. Findings name kind, object and field instead of a line.
doc::Diagnostics rule_findings(const Bundle& bundle, const api::Objects& objects, const graph::Catalog& catalog,
                               std::span<const graph::Graph> graphs, std::span<const facts::NodeFacts> nodes,
                               const Settings& settings);

// Whether a finding can have this id.
bool is_known_id(std::string_view id);

}  // namespace railbed::check
