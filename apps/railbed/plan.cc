// SPDX-License-Identifier: Apache-2.0
// railbed plan: shows what `up` would do to a node and its pods, why, and which pods it disturbs. Changes nothing.
#include "plan/plan.h"

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "base/well_known.h"
#include "command/agent_client.h"
#include "command/output.h"
#include "command/state_options.h"
#include "machine.h"
#include "manifests.h"
#include "node/resource_prefix.h"
#include "node/standalone.h"
#include "plan/plan_json.h"
#include "plan/plan_text.h"
#include "verb.h"

namespace railbed {
namespace {

struct PlanOptions {
  std::vector<std::string> files;
  std::vector<std::string> facts;
  Machine machine;
  std::string node;
  std::string output = "text";
  bool quiet = false;
  std::vector<std::string> forced;
  std::string prefix;  // empty: what the operator says to this node, else the default
  graph::Options graph;
  plan::Options plan;
  StateOptions state;
  std::string agent_socket = kAgentSocket;
};

// Nodes whose state is not at hand: those in files of facts, or a recorded machine.
Result<std::vector<facts::NodeFacts>> read_nodes_of_plan(const PlanOptions& options, doc::Diagnostics& diagnostics) {
  std::vector<facts::NodeFacts> nodes;
  if (options.facts.empty()) {
    const auto kernel = TRY(open_machine(options.machine));
    facts::CollectOptions collect = collect_options(options.machine, *kernel);
    if (!options.node.empty()) collect.node = options.node;
    nodes.push_back(facts::collect(*kernel, collect));
    return nodes;
  }
  nodes = TRY(read_nodes_of(options.facts, diagnostics));
  if (options.node.empty() || nodes.empty()) return nodes;
  std::vector<std::string> names;
  for (const facts::NodeFacts& node : nodes) names.push_back(node.node);
  std::erase_if(nodes, [&](const facts::NodeFacts& node) { return node.node != options.node; });
  if (nodes.empty())
    return fail(Code::kNotFound, "node {} not found in the facts; found: {}", options.node, fmt::join(names, ", "));
  return nodes;
}

void print_plans(const std::vector<plan::NodePlan>& plans, const std::string& output) {
  if (output != "text") {
    doc::Value nodes = doc::Value::array();
    for (const plan::NodePlan& one : plans) nodes.push(plan::to_value(one));
    doc::Value all = doc::Value::object();
    all.set("apiVersion", kOwnApiVersion);
    all.set("kind", "Plan");
    all.set("nodes", std::move(nodes));
    print_value(all, output);
    return;
  }
  for (const plan::NodePlan& one : plans) print("{}{}", &one == &plans.front() ? "" : "\n", plan::to_text(one));
}

void warn_if_empty(const Manifests& manifests) {
  const api::Objects& objects = manifests.objects;
  if (manifests.diagnostics.has_errors())
    print_error("railbed: the manifests have errors; objects that cannot be read are not in this plan\n");
  else if (objects.policies.empty() && objects.networks.empty() && objects.attachments.empty() && objects.pods.empty())
    print_error("railbed: no policies, networks or pods in the given files: there is nothing to plan\n");
}

// The steps that `up` would carry out here: what it would decide over, read without the state's lock.
Result<std::vector<plan::NodePlan>> plan_here(const PlanOptions& options, const Manifests& manifests,
                                              doc::Diagnostics& diagnostics) {
  const std::unique_ptr<os::Kernel> kernel = os::real_kernel();
  std::unique_ptr<state::Store> store = TRY(options.state.look(*kernel).context(
      "the VFs of pods are recorded in railbed's state; without it the plan leaves out pods"));
  if (store == nullptr) store = state::memory_store();  // railbed has done nothing here
  const bool agent = !options.agent_socket.empty() && agent_listens(options.agent_socket);
  node::KnownPrefixes known = TRY(node::known_prefixes(store.get()));
  if (!options.prefix.empty())
    known = {.ordered = options.prefix, .given = ""};  // a question, which commits to nothing
  const node::Settings settings{.node = options.node,
                                .resource_prefix = known.chosen(node::kDefaultPrefix),
                                .soft_rdma = options.graph.soft_rdma,
                                .disrupt = options.plan.disrupt,
                                .pods_by = agent ? node::PodsBy::kAgent : node::PodsBy::kThisProcess,
                                .placement = graph::PodPlacement::kChecked};
  const auto seen = TRY(node::look(*kernel, store.get(), manifests.objects, settings));
  diagnostics.append(seen->diagnostics);
  diagnostics.append(rule_findings(manifests, seen->resolution, options.forced, node::lent_interfaces(seen->there)));
  return std::vector{seen->plan};
}

Result<std::vector<plan::NodePlan>> plan_elsewhere(const PlanOptions& options, const Manifests& manifests,
                                                   doc::Diagnostics& diagnostics) {
  const std::vector<facts::NodeFacts> nodes = TRY(read_nodes_of_plan(options, diagnostics));
  const graph::Resolution resolution(manifests.objects, nodes, options.graph, graph::PodPlacement::kChecked,
                                     diagnostics);
  diagnostics.append(rule_findings(manifests, resolution, options.forced));
  return plan::make_plans(resolution, {}, options.plan, diagnostics);
}

// Pods that cannot get what they ask for.
bool has_problems(const plan::NodePlan& plan) {
  return std::ranges::any_of(plan.pod_steps, [](const plan::PodStep& step) { return !step.problem.empty(); });
}

Result<int> make_plans(PlanOptions& options) {
  TRY(node::check_prefix(options.prefix));
  if (!options.prefix.empty()) options.graph.resource_prefix = options.prefix;
  if (!options.facts.empty()) TRY(take_facts(options.files, options.facts));
  Manifests manifests = TRY(read_manifests(options.files));
  doc::Diagnostics diagnostics = manifests.diagnostics;
  const bool here = options.facts.empty() && options.machine.is_this_one();
  const std::vector<plan::NodePlan> plans =
      TRY(here ? plan_here(options, manifests, diagnostics) : plan_elsewhere(options, manifests, diagnostics));
  const bool change =
      std::ranges::any_of(plans, [](const plan::NodePlan& one) { return one.changes() || !one.held_back.empty(); });
  print_diagnostics(diagnostics);
  warn_if_empty(manifests);
  if (!options.quiet) print_plans(plans, options.output);
  if (diagnostics.has_errors() || plans.empty() || std::ranges::any_of(plans, has_problems)) return kExitError;
  return change ? kExitFound : kExitOk;
}

}  // namespace

int plan_verb(CommandLine& line) {
  PlanOptions options;
  line.about(
      "Shows what would change on this node, or on those in facts files, to apply the manifests: ordered steps,\n"
      "reasons and disrupted pods. Changes nothing. Exits 0 if nothing would change, 2 if something would,\n"
      "1 on errors (what can be planned is printed anyway).");
  line.option("FILES", &options.files, "manifests (YAML or JSON): files, directories, - for standard input")
      .required()
      .file();
  const Option& facts =
      line.option("--facts", &options.facts,
                  "node facts (railbed discover -o json) instead of this machine; more may follow, or be among FILES")
          .one_value_each()
          .existing_file();
  const Option& from =
      line.option("--from", &options.machine.from, "read a recorded machine: FILE.tar, or FILE.machine")
          .existing_file()
          .excludes(facts);
  line.option("--root", &options.machine.root, "read a machine's files (/sys, /proc) below this directory")
      .existing_directory()
      .excludes(facts)
      .excludes(from);
  line.option("--node", &options.node, "this node's name, or the one of --facts to plan for");
  line.option("-o,--output", &options.output, "text, json or yaml").one_of({"text", "json", "yaml"});
  line.option("-q,--quiet", &options.quiet, "print only errors; the exit status says whether something would change");
  line.option("--soft-rdma", &options.graph.soft_rdma, "soft-RoCE devices on RDMA-marked VFs");
  line.option("--disrupt", &options.plan.disrupt, "also plan steps that take VFs from running pods");
  line.option("--force", &options.forced, "id of a check finding that is not treated as an error; may be repeated")
      .one_value_each();
  line.option("--state-dir", &options.state.directory, "this machine's state directory").show_default().directory();
  line.option("--agent", &options.agent_socket, "the socket of the agent that would attach pods; \"\" for none")
      .show_default()
      .file();
  line.option("--resource-prefix", &options.prefix,
              "prefix of resource names (the one that the operator or `up` said to this node, else openshift.io)");
  line.exit_status(kExitFound, "something would change");
  if (auto status = line.parse()) return *status;
  return status_of(make_plans(options));
}

}  // namespace railbed
