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
#include <set>
#include <string>
#include <vector>

#include "check/read/coverage.h"
#include "check/rules/rule.h"

namespace railbed::check {

// Larger files are refused: they are no manifests, and no one could read all their findings.
inline constexpr size_t kMaxCheckedBytes = 16u << 20;
inline constexpr size_t kMaxFindings = 10'000;

struct Repair {
  doc::SourcePtr before;
  doc::SourcePtr after;
};

// A finding that is not shown, and by whose decision.
struct Ignored {
  enum class By : uint8_t { kComment, kProject, kBaseline };
  doc::Diagnostic finding;
  By by = By::kComment;
  std::string reason;  // may be empty
};

// What an object was like, to compare it with another version of itself.
struct ObjectState {
  std::string identity;  // "SriovNetwork.sriovnetwork.openshift.io ai/rail0"
  std::string label;     // "SriovNetwork ai/rail0"
  doc::Span begin;
  uint64_t content = 0;         // a hash
  std::vector<uint64_t> texts;  // hashes of the texts in it, sorted: the names that it gives and uses
};

struct Report {
  doc::Diagnostics findings;         // sorted by place
  std::vector<Repair> repairs;       // of the sources that have mistakes with a safe repair
  std::vector<Rule> not_checked;     // because they need facts about nodes
  std::vector<Undecided> undecided;  // since the facts that there are lack something
  std::vector<std::string> sources;  // names, in order
  std::map<std::string, int> kinds;  // objects by kind, known kinds only
  std::map<std::string, int> unknown_kinds;
  std::string grouped;  // why the files were checked in several groups, and how; empty: together
  int commands = 0;
  int nodes = 0;
  int suppressed = 0;
  int left_out = 0;                      // findings beyond the first kMaxFindings
  std::vector<Ignored> ignored;          // the first kMaxFindings of them
  std::set<IgnoreEntry> used_ignores;    // of project files
  std::map<std::string, int> read_from;  // objects by source; sources without any are absent
  std::vector<ObjectState> object_states;
  Coverage coverage;
  // Of a baseline: findings that are in it, and its entries that no finding has any more.
  int known = 0;
  int gone = 0;
  // Why the run is incomplete ("charts/x: helm template failed: …"); it fails then.
  std::vector<std::string> incomplete;

  int objects() const;
  // Findings that fail a run: errors that are sure.
  size_t sure_errors() const;
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

// What a run finds in objects that have no text (bundle_of), and of which nothing is repaired: their schemas, what they
// mean together, and the rules. What rests on another object of the bundle is less than sure, because nothing says that
// they are applied together.
doc::Diagnostics object_findings(Bundle bundle, const std::vector<facts::NodeFacts>& nodes, const Settings& settings);

// Whether a finding can have this id.
bool is_known_id(std::string_view id);

}  // namespace railbed::check
