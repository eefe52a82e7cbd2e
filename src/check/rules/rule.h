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

#include "check/read/bundle.h"
#include "check/read/open_world.h"
#include "check/read/pods.h"
#include "doc/diagnostic.h"
#include "graph/graph.h"

namespace railbed::check {

// The user's settings about the cluster; a finding that depends on a default says so.
struct Settings {
  graph::Options graph;
  std::vector<IpPrefix> cluster_networks;  // pod, service, machine and join networks
  // Interfaces of the node that pods have now: facts do not show them, and they come home.
  std::set<std::string> lent_interfaces;
  // The files and folders that the user named, and files of other languages beside those that are read.
  std::vector<std::string> given = {};
  std::vector<std::string> unopened = {};
  bool together = false;         // the files are all there is, and one bundle
  const World* world = nullptr;  // of all files of the run; null: of those that are checked
  // The files that are asked about; others are there for their sake. Null: all.
  const std::set<std::string, std::less<>>* about = nullptr;
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

struct Rule {
  std::string_view id;       // "RB-ADDR-001"
  std::string_view summary;  // one line of `railbed explain --list`
  Needs needs = Needs::kNothing;
  void (*run)(const Input&, Findings&);
  // What only follows, of the same object, where this rule finds something.
  doc::Says explains = doc::Says::kOther;
};

// Where a rule tells; every finding gets the rule's id, and what the rule explains.
class Findings {
 public:
  Findings(const Rule& rule, doc::Diagnostics& out) : rule_(rule), out_(out) {}
  doc::Diagnostic& error(doc::Span span, std::string message) {
    return out_.error(rule_.id, std::move(span), std::move(message)).that_explains(rule_.explains);
  }
  doc::Diagnostic& warning(doc::Span span, std::string message) {
    return out_.warning(rule_.id, std::move(span), std::move(message)).that_explains(rule_.explains);
  }
  doc::Diagnostic& note(doc::Span span, std::string message) {
    return out_.note(rule_.id, std::move(span), std::move(message)).that_explains(rule_.explains);
  }

 private:
  const Rule& rule_;
  doc::Diagnostics& out_;
};

// All rules, by family; rules.cc has the only array of families.
std::vector<Rule> all_rules();

}  // namespace railbed::check
