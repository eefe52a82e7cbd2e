// SPDX-License-Identifier: Apache-2.0
// A rule of `railbed check`: its inputs and how it reports.
//
// Why: a rule is one function and one row in its family's array (rules_<family>.cc), one section in
// docs/check/<family>.md and one folder in testdata/check/. It reads the bundle as written and the graph that plan and
// up use too; it never builds a second one.
// Threading: pure functions over immutable values.
// Failure: none; a rule declares the inputs that it requires with `needs`.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "check/project/policy.h"
#include "check/read/bundle.h"
#include "check/read/coverage.h"
#include "check/read/open_world.h"
#include "check/read/pods.h"
#include "doc/diagnostic.h"
#include "graph/graph.h"

namespace railbed::check {

// The user's settings about the cluster; a finding that depends on a default says so.
struct Settings {
  graph::Options graph;
  bool prefix_is_given = false;            // that of `graph`, by the user: what files say does not count
  std::vector<IpPrefix> cluster_networks;  // pod, service, machine and join networks
  // Interfaces of the node that pods have now: facts do not show them, and they come home.
  std::set<std::string> lent_interfaces;
  std::vector<std::string> given = {};  // the files and folders that the user named
  bool together = false;                // the files are all there is, and one bundle
  const World* world = nullptr;         // of all files of the run; null: of those that are checked
  // The files that are asked about; others are there for their sake. Null: all.
  const std::set<std::string, std::less<>>* about = nullptr;
  // What project files and options say of findings; null: nothing. It outlives the check.
  const Policy* policy = nullptr;
  // Which repairs are made in memory and offered: all, or the safe ones only, so that --fix writes what was checked.
  doc::Applicability least_repair = doc::Applicability::kSuggested;
  // Files of the given folders that may make objects and are in languages that are not read.
  std::vector<NotRead> not_read;
  // Sources that another check of the same run has counted.
  std::set<std::string> counted;
  // Whether the report gets the state of all objects, to compare it with that of another version.
  bool object_states = false;
};

struct Views;  // lookups.h

struct Input {
  const Bundle& bundle;
  std::span<const PodTemplate> pods;  // of the bundle, wherever they stand
  const api::Objects& objects;
  const graph::Catalog& catalog;
  std::span<const graph::Graph> graphs;     // one per node with facts; empty: no facts
  std::span<const facts::NodeFacts> nodes;  // the same nodes
  const Settings& settings;
  const Views& views;  // make_views(bundle, pods, graphs, settings)
};

class Findings;

enum class Needs : uint8_t {
  kNothing,
  kFacts,  // at least one node; without one, the rule is listed once as not checked
};

// How far a rule has come. A new one says "warning" where it means "error", until it was right often enough about
// files that had not been read (maturity.h).
enum class RuleState : uint8_t { kStable, kPreview };

struct Rule {
  std::string_view id;       // "RB-ADDR-001"
  std::string_view summary;  // one line of `railbed explain --list`
  Needs needs = Needs::kNothing;
  void (*run)(const Input&, Findings&);
  // What only follows, of the same object, where this rule finds something.
  doc::Says explains = doc::Says::kOther;
  doc::Confidence confidence = doc::Confidence::kHigh;  // of its findings, unless one says less
  // From data/maturity.yaml, by all_rules(): a row says nothing of it, so that all grounds are in one place.
  std::string_view since = "0.1";  // the version that has it first
  RuleState state = RuleState::kStable;
};

// What a rule could not judge, since the facts lack what it asks: neither right nor wrong.
struct Undecided {
  std::string rule;  // its id
  std::string what;  // "whether …: …", with the nodes
  friend bool operator==(const Undecided&, const Undecided&) = default;
};

// Where a rule reports; every finding gets the rule's id, and what the rule explains.
class Findings {
 public:
  // Without `undecided`, what could not be judged is not kept.
  Findings(const Rule& rule, doc::Diagnostics& out, std::vector<Undecided>* undecided = nullptr)
      : rule_(rule), out_(out), undecided_(undecided) {}
  doc::Diagnostic& error(doc::Span span, std::string message) {
    if (rule_.state == RuleState::kPreview) return warning(std::move(span), std::move(message));
    return of_this_rule(out_.error(rule_.id, std::move(span), std::move(message)));
  }
  doc::Diagnostic& warning(doc::Span span, std::string message) {
    return of_this_rule(out_.warning(rule_.id, std::move(span), std::move(message)));
  }
  doc::Diagnostic& note(doc::Span span, std::string message) {
    return of_this_rule(out_.note(rule_.id, std::move(span), std::move(message)));
  }
  void leave_open(std::string what) {
    if (undecided_ != nullptr) undecided_->push_back({.rule = std::string(rule_.id), .what = std::move(what)});
  }

 private:
  doc::Diagnostic& of_this_rule(doc::Diagnostic& finding) {
    finding.preview = rule_.state == RuleState::kPreview;
    finding.confidence = rule_.confidence;
    return finding.that_explains(rule_.explains);
  }

  const Rule& rule_;
  doc::Diagnostics& out_;
  std::vector<Undecided>* undecided_;
};

// All rules, by family; rules.cc has the only array of families.
std::vector<Rule> all_rules();

}  // namespace railbed::check
