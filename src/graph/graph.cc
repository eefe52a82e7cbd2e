// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/format.h"
#include "graph/merge.h"
#include "graph/objection.h"
#include "graph/placement.h"
#include "graph/selector.h"

namespace railbed::graph {
namespace {

using doc::Diagnostics;
using State = PolicyOutcome::State;

// One policy on this node while the graph is being made.
struct Candidate {
  const Policy* policy = nullptr;
  std::string mismatch;  // of labels; empty when the policy selects this node
  int matched_nics = 0;
  PolicyOutcome outcome;
  struct Refused {
    std::string id, reason;
    std::vector<std::string> more;  // other PFs with the same objection
  };
  std::vector<Refused> refused;
};

class Resolver {
 public:
  Resolver(const Catalog& catalog, const facts::NodeFacts& facts, Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    graph_.catalog = &catalog;
    graph_.facts = &facts;
    graph_.labels = facts.labels;
    auto node = catalog.nodes.find(facts.node);
    if (node != catalog.nodes.end()) {
      for (const auto& [key, value] : node->second->meta.labels) graph_.labels.insert_or_assign(key, value);
      if (node->second->taints) graph_.taints = *node->second->taints;
    }
    graph_.soft_rdma = catalog.options.soft_rdma || (node != catalog.nodes.end() && *node->second->soft_rdma);
  }

  Graph run() {
    for (const Policy& policy : graph_.catalog->policies) {
      Candidate candidate{.policy = &policy};
      candidate.outcome = {.policy = policy.key, .span = policy.group.from->span};
      candidate.mismatch = label_mismatch(policy.object->node_selector, graph_.labels);
      candidates_.push_back(std::move(candidate));
    }
    for (const facts::Nic& nic : graph_.facts->nics)
      if (can_have_vfs(nic)) resolve_pf(nic);
    report_objections();
    for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); ++candidate)
      graph_.outcomes.push_back(conclude(*candidate));
    resolve_pods();
    return std::move(graph_);
  }

 private:
  Candidate& candidate_of(const OriginPtr& from) {
    return *std::ranges::find(candidates_, from,
                              [](const Candidate& one) -> const OriginPtr& { return one.policy->group.from; });
  }

  // A finding appears once per policy and node; further PFs with the same objection become notes of it.
  void refuse(const OriginPtr& from, const facts::Nic& nic, const Objection& objection) {
    graph_.refusals.push_back({from, &nic, pf_name(nic), objection.reason, objection.needs_reboot});
    Candidate& candidate = candidate_of(from);
    for (Candidate::Refused& earlier : candidate.refused)
      if (earlier.id == objection.id) {
        earlier.more.push_back(pf_name(nic));
        return;
      }
    candidate.refused.push_back({.id = objection.id, .reason = objection.reason, .more = {}});
    objections_.push_back({from, objection});
  }

  void report_objections() {
    std::set<std::pair<std::string, std::string>> reported;
    for (const auto& [from, objection] : objections_) {
      if (!reported.insert({objection.id, objection.reason}).second)
        continue;  // of the PF, reported with its first policy
      doc::Diagnostic& finding = diagnostics_.error(objection.id, objection.span, objection.reason)
                                     .with_fix(objection.fix)
                                     .that_explains(objection.explains);
      for (const Candidate::Refused& refused : candidate_of(from).refused)
        if (refused.id == objection.id && !refused.more.empty())
          finding.note({}, fmt::format("the same for {}", fmt::join(refused.more, ", ")));
    }
  }

  std::vector<Claim> claims(const facts::Nic& nic) {
    std::vector<Claim> found;
    for (Candidate& candidate : candidates_) {
      const Policy& policy = *candidate.policy;
      if (policy.ignored || !policy.problem.empty() || !candidate.mismatch.empty()) continue;
      if (!selects(policy.object->nic_selector, nic)) continue;
      ++candidate.matched_nics;
      Claim claim{.group = policy.group, .priority = *policy.object->priority};
      claim.group.vfs = selected_vfs(*policy.object, nic);
      if (auto against = objection(claim.group, nic, *graph_.facts)) {
        claim.refused = true;
        refuse(claim.group.from, nic, *against);
      } else {
        warn(claim.group, nic, graph_, diagnostics_);
      }
      found.push_back(std::move(claim));
    }
    return found;
  }

  void resolve_pf(const facts::Nic& nic) {
    const std::vector<Claim> claimed = claims(nic);
    Merged merged = merge(claimed);
    for (const Shadowed& shadowed : merged.shadowed)
      candidate_of(shadowed.policy)
          .outcome.shadowed_by.push_back(fmt::format("{} on {}", shadowed.by->policy, pf_name(nic)));
    if (merged.groups.empty()) return;
    PfWanted wanted = combine(nic, std::move(merged));
    if (auto against = objection(wanted, *graph_.facts)) {
      for (const VfGroup& group : wanted.groups) refuse(group.from, nic, *against);
      return;
    }
    for (const VfGroup& group : wanted.groups) candidate_of(group.from).outcome.pfs.push_back(pf_label(nic));
    graph_.pfs.push_back(std::move(wanted));
  }

  PfWanted combine(const facts::Nic& nic, Merged merged) {
    PfWanted wanted{.nic = &nic, .name = pf_name(nic)};
    for (const VfGroup* one : merged.contributors) {
      if (one->num_vfs >= wanted.num_vfs) {
        wanted.num_vfs = one->num_vfs;
        wanted.num_vfs_from = one->from;
      }
      if (one->mtu > 0 && one->mtu >= wanted.mtu) {
        wanted.mtu = one->mtu;
        wanted.mtu_from = one->from;
      }
    }
    const VfGroup& lead = *merged.contributors.back();
    wanted.lead = lead.from;
    wanted.link_type = lead.link_type;
    wanted.eswitch_mode = lead.eswitch_mode;
    wanted.externally_managed = lead.externally_managed;
    wanted.groups = std::move(merged.groups);
    for (const VfGroup& group : wanted.groups) report_conflicts(wanted, group);
    return wanted;
  }

  // The operator takes the last policy's value for the whole PF without a word; a warning shows which one counts.
  void report_conflicts(const PfWanted& wanted, const VfGroup& group) {
    const Origin& lead = *wanted.lead;
    const Origin& other = *group.from;
    auto report_one = [&](std::string_view field, const doc::Span& span, const doc::Span& lead_span) {
      diagnostics_
          .warning("RB-POLICY-012", span.known() ? span : other.span,
                   fmt::format("policies {} and {} conflict about {} of {}; {} takes effect", other.policy, lead.policy,
                               field, pf_label(*wanted.nic), lead.policy))
          .note(lead_span.known() ? lead_span : lead.span, "this one counts");
    };
    if (group.from == wanted.lead) return;
    if (group.eswitch_mode != wanted.eswitch_mode) report_one("eSwitchMode", other.eswitch_mode, lead.eswitch_mode);
    if (group.externally_managed != wanted.externally_managed)
      report_one("externallyManaged", other.externally_managed, lead.externally_managed);
    // linkType needs no comparison: resolve has already refused a policy whose linkType is not the PF's.
  }

  PolicyOutcome conclude(Candidate& candidate) {
    PolicyOutcome& outcome = candidate.outcome;
    const Policy& policy = *candidate.policy;
    if (policy.ignored || !policy.problem.empty()) {
      outcome.state = policy.ignored ? State::kIgnored : State::kRefused;
      outcome.detail = policy.problem;
    } else if (!candidate.mismatch.empty()) {
      outcome.state = State::kOtherNode;
      outcome.detail = candidate.mismatch;
    } else if (candidate.matched_nics == 0) {
      outcome.state = State::kNoMatch;
      outcome.detail = why_nothing(policy.object->nic_selector, graph_.facts->nics);
    } else {
      const bool all = candidate.refused.empty() && outcome.shadowed_by.empty();
      if (!outcome.pfs.empty())
        outcome.state = all ? State::kApplied : State::kPartly;
      else
        outcome.state = candidate.refused.empty() ? State::kShadowed : State::kRefused;
      for (const Candidate::Refused& refused : candidate.refused) {
        if (!outcome.detail.empty()) outcome.detail += "; ";
        outcome.detail += refused.reason;
        if (!refused.more.empty()) outcome.detail += fmt::format(" (the same for {})", fmt::join(refused.more, ", "));
      }
    }
    return std::move(outcome);
  }

  void resolve_pods() {
    for (const api::Pod* pod : graph_.catalog->pods) {
      if (placement_mismatch(*pod, graph_)) continue;
      graph_.pods.push_back({.pod = pod, .networks = networks_of(*graph_.catalog, *pod)});
    }
  }

  Diagnostics& diagnostics_;
  Graph graph_;
  std::vector<Candidate> candidates_;  // in the order of Catalog::policies
  std::vector<std::pair<OriginPtr, Objection>> objections_;
};

}  // namespace

void check_policies_across(std::span<const Graph> graphs, Diagnostics& diagnostics) {
  if (graphs.empty()) return;
  const size_t count = graphs.front().outcomes.size();
  for (size_t i = 0; i < count; ++i) {
    const PolicyOutcome* no_match = nullptr;
    const PolicyOutcome* shadowed = nullptr;
    const facts::NodeFacts* no_match_node = nullptr;
    bool counts = false;
    for (const Graph& graph : graphs) {
      const PolicyOutcome& outcome = graph.outcomes[i];
      if (outcome.state == State::kShadowed) shadowed = &outcome;
      if (outcome.state == State::kNoMatch && no_match == nullptr) {
        no_match = &outcome;
        no_match_node = graph.facts;
      }
      counts = counts || (outcome.state != State::kShadowed && outcome.state != State::kNoMatch &&
                          outcome.state != State::kOtherNode);
    }
    if (counts) continue;
    const PolicyOutcome& first = graphs.front().outcomes[i];
    const std::string where = graphs.size() == 1 ? fmt::format("node {}", graphs.front().facts->node)
                                                 : fmt::format("any of {} nodes", graphs.size());
    if (shadowed != nullptr)
      diagnostics
          .warning("RB-POLICY-011", shadowed->span,
                   fmt::format("policy {} has no effect: {} took its VFs", shadowed->policy,
                               fmt::join(shadowed->shadowed_by, ", ")))
          .with_fix("give it VFs of its own (pfNames with a range), or a lower priority number");
    else if (no_match != nullptr)
      diagnostics
          .warning("RB-POLICY-009", no_match->span,
                   fmt::format("policy {} matches no NIC of node {}: {}", no_match->policy, no_match_node->node,
                               no_match->detail))
          .that_says(doc::Says::kMatchesNoNic);
    else
      diagnostics
          .warning("RB-POLICY-010", first.span,
                   fmt::format("policy {} does not select {}: {}", first.policy, where, first.detail))
          .with_fix("label the node, or give a Node object with its labels")
          .that_says(doc::Says::kSelectsNoNode);
  }
}

namespace {

void report_pod_of_no_node(const api::Pod& pod, std::span<const Graph> graphs, Diagnostics& diagnostics) {
  const bool named = !pod.node_name->empty();
  const bool known = std::ranges::any_of(graphs, [&](const Graph& one) { return one.facts->node == *pod.node_name; });
  if (named && !known) {
    diagnostics.note("RB-POD-004", pod.node_name.span,
                     fmt::format("pod {} is for node {}, of which there are no facts", pod.key(), *pod.node_name));
    return;
  }
  // Of a node that its labels admit, if there is one: its taint is the reason, and `check` reports it for all
  // workloads.
  std::optional<PlacementMismatch> reason;
  for (const Graph& one : graphs) {
    std::optional<PlacementMismatch> here = placement_mismatch(pod, one);
    if (here && (!reason || (here->by_taint && !reason->by_taint))) reason = std::move(here);
  }
  if (!reason) return;
  doc::Diagnostic& reported =
      diagnostics.note("RB-POD-004", named ? pod.node_name.span : pod.meta.name.span,
                       fmt::format("pod {} is for none of these nodes: {}", pod.key(), reason->why));
  if (reason->by_taint) reported.for_one_machine();
}

void check_pods_across(std::span<const Graph> graphs, Diagnostics& diagnostics) {
  for (const api::Pod* pod : graphs.front().catalog->pods) {
    if (pod->networks.empty()) continue;
    std::vector<std::string> nodes;
    for (const Graph& graph : graphs)
      if (std::ranges::find(graph.pods, pod, &PodOnNode::pod) != graph.pods.end()) nodes.push_back(graph.facts->node);
    if (nodes.empty()) {
      report_pod_of_no_node(*pod, graphs, diagnostics);
    } else if (nodes.size() > 1) {
      constexpr size_t kShown = 4;
      const size_t more = nodes.size() > kShown ? nodes.size() - kShown : 0;
      nodes.resize(nodes.size() - more);
      diagnostics
          .note("RB-POD-005", pod->meta.name.span,
                fmt::format("pod {} names no node and is counted on {}{}", pod->key(), fmt::join(nodes, ", "),
                            more == 0 ? "" : fmt::format(" and {} more", more)))
          .with_fix("spec.nodeName")
          .for_one_machine();
    }
  }
}

}  // namespace

std::vector<PodNetwork> networks_of(const Catalog& catalog, const api::Pod& pod) {
  std::vector<PodNetwork> networks;
  for (size_t i = 0; i < pod.networks.size(); ++i) {
    const api::NetworkSelection& selection = pod.networks[i];
    PodNetwork network{.selection = &selection, .key = network_key(pod, selection)};
    network.interface = selection.interface->empty() ? fmt::format("net{}", i + 1) : *selection.interface;
    auto found = catalog.networks.find(network.key);
    if (found != catalog.networks.end()) network.network = &found->second;
    networks.push_back(std::move(network));
  }
  return networks;
}

std::string network_key(const api::Pod& pod, const api::NetworkSelection& selection) {
  return fmt::format("{}/{}", selection.ns->empty() ? *pod.meta.ns : *selection.ns, *selection.name);
}

std::string pf_name(const facts::Nic& nic) {
  return nic.netdevs.empty() ? nic.pci.address.to_string() : nic.netdevs.front().name;
}

std::string pf_label(const facts::Nic& nic) {
  return nic.netdevs.empty() ? nic.pci.address.to_string()
                             : fmt::format("{} ({})", nic.netdevs.front().name, nic.pci.address);
}

Graph resolve(const Catalog& catalog, const facts::NodeFacts& facts, Diagnostics& diagnostics) {
  return Resolver(catalog, facts, diagnostics).run();
}

void check_across(std::span<const Graph> graphs, Diagnostics& diagnostics) {
  if (graphs.empty()) return;
  check_policies_across(graphs, diagnostics);
  check_pods_across(graphs, diagnostics);
}

}  // namespace railbed::graph
