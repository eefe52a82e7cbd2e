// SPDX-License-Identifier: Apache-2.0
// Operators: objects that they ignore, and behaviour that differs from what one would expect.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "api/operator_config.h"
#include "api/placement.h"
#include "check/read/copies.h"
#include "check/read/templates.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/versions.h"

namespace railbed::check {
namespace {

using doc::Value;

constexpr std::string_view kPoolKind = "SriovNetworkPoolConfig";
constexpr std::string_view kConfigKind = "SriovOperatorConfig";

// The interface that has `name` only as an alternative name; null where there is none.
const facts::NetInterface* with_alt_name(const facts::NodeFacts& node, const std::string& name) {
  for (const facts::Nic& nic : node.nics)
    for (const facts::NetInterface& netdev : nic.netdevs)
      if (std::ranges::find(netdev.alt_names, name) != netdev.alt_names.end()) return &netdev;
  return nullptr;
}

void range_on_alt_name(const Input& in, Findings& out) {
  for (const PolicyView& policy : in.views.policies)
    for (const Word& word : texts_at(*policy.spec, "nicSelector.pfNames")) {
      const size_t hash = word.text.find('#');
      if (hash == std::string::npos) continue;
      const std::string name = word.text.substr(0, hash);
      for (const facts::NodeFacts& node : in.nodes) {
        const facts::NetInterface* netdev = with_alt_name(node, name);
        if (netdev == nullptr) continue;
        out.warning(word.span,
                    fmt::format("{} is only an alternative name of {} on {}: the operator finds the PF by it but "
                                "ignores the range, so the policy gets all VFs",
                                name, netdev->name, node.node))
            .with_fix(netdev->name + word.text.substr(hash));
        break;
      }
    }
}

// Whether a pool speaks of nodes: with ovsHardwareOffloadConfig it is one of another sort.
bool has_nodes(const Document& pool) {
  return text_at(pool.value, "spec.ovsHardwareOffloadConfig.name").empty();
}

// A pool's selector; nothing where a value in it has another type than the API says.
std::optional<api::NodeTerm> selector_of(const Document& pool) {
  const Value* selector = at(pool.value, "spec.nodeSelector");
  if (selector == nullptr || !selector->is_object()) return api::NodeTerm{};
  const Value* labels = selector->find("matchLabels");
  if (labels != nullptr && labels->is_object() &&
      !std::ranges::all_of(*labels->as_object(), [](const Value::Member& one) { return one.value.is_string(); }))
    return std::nullopt;
  return api::read_label_selector(*selector);
}

// The nodes that a pool selects; none without facts.
std::set<std::string> nodes_of(const Input& in, const Document& pool) {
  std::set<std::string> out;
  const std::optional<api::NodeTerm> selector = selector_of(pool);
  for (const graph::Graph& graph : in.graphs)
    if (selector && api::is_selected(*selector, graph.labels)) out.insert(graph.facts->node);
  return out;
}

// What maxUnavailable of a pool says; null where it says nothing, or an engine fills it in.
const Value* most_of(const Document& pool) {
  const Value* most = at(pool.value, "spec.maxUnavailable");
  return most == nullptr || most->is_null() || is_filled_in(most->span) ? nullptr : most;
}

void drain_of_all_or_none(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    if (document.kind != kPoolKind || !has_nodes(document)) continue;
    const Value* written = at(document.value, "spec.maxUnavailable");
    if (written == nullptr || written->is_null()) {
      out.warning(name_span(document), "without maxUnavailable the operator drains all nodes of the pool at once")
          .with_fix("maxUnavailable: 1");
      continue;
    }
    const Value* most = most_of(document);
    const Result<api::MaxUnavailable> read = api::parse_max_unavailable(*written);
    if (most == nullptr || !read.has_value()) continue;  // RB-OP-009
    const auto nodes = static_cast<int64_t>(nodes_of(in, document).size());
    if (read->number == 0)
      out.error(most->span, "no node of this pool is ever drained, so policies that need it are not applied")
          .with_fix("maxUnavailable: 1");
    else if (read->percent && nodes > 0 && read->number * nodes < 100)
      out.error(most->span, fmt::format("{} of {} node{} is rounded down to 0: none is ever drained, and policies that "
                                        "need it are not applied",
                                        read->to_string(), nodes, nodes == 1 ? "" : "s"))
          .with_fix("maxUnavailable: 1")
          .at_most(doc::Confidence::kMedium, "the pool may have nodes of which there are no facts");
  }
}

void unreadable_bound(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    const Value* most = document.kind == kPoolKind ? most_of(document) : nullptr;
    if (most == nullptr || (!most->is_string() && most->as_int() == nullptr)) continue;  // the schema reports it
    if (const auto read = api::parse_max_unavailable(*most); !read.has_value())
      out.error(most->span, "the operator's webhook refuses this maxUnavailable: " + read.error().message)
          .with_fix("maxUnavailable: 1");
  }
}

void offload_pool_with_nodes(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    if (document.kind != kPoolKind || has_nodes(document)) continue;
    for (const std::string_view field : {"maxUnavailable", "nodeSelector"}) {
      const std::string path = fmt::format("spec.{}", field);
      if (at(document.value, path) == nullptr) continue;
      out.error(key_span(document.value, path),
                fmt::format("{} beside ovsHardwareOffloadConfig.name is refused by the operator's webhook: such a "
                            "pool has no nodes of its own",
                            field))
          .note(key_span(document.value, "spec.ovsHardwareOffloadConfig"), "the other one")
          .with_fix(fmt::format("a SriovNetworkPoolConfig of its own with {}", field));
    }
  }
}

// Whether every node of `narrow` is also one of `wide`: it asks for all that the other does. Expressions are compared
// as they are written.
bool selects_all_of(const api::NodeTerm& wide, const api::NodeTerm& narrow) {
  return std::ranges::all_of(wide.labels, [&](const api::NodeRequirement& one) {
    return std::ranges::find(narrow.labels, one) != narrow.labels.end();
  });
}

// What two pools have in common: "all nodes of b", "n1"; empty where nothing is known of any.
std::string common_nodes(const Input& in, const Document& first, const Document& second) {
  const auto wide = selector_of(first), narrow = selector_of(second);
  if (!wide || !narrow) return "";
  if (selects_all_of(*wide, *narrow)) return "all nodes of " + second.name;
  if (selects_all_of(*narrow, *wide)) return "all nodes of " + first.name;
  const std::set<std::string> others = nodes_of(in, second);
  for (const std::string& node : nodes_of(in, first))
    if (others.contains(node)) return node;
  return "";
}

void node_in_two_pools(const Input& in, Findings& out) {
  std::vector<const Document*> pools;
  for (const Document& document : in.bundle.documents) {
    if (document.kind != kPoolKind || document.patch || !has_nodes(document)) continue;
    const auto shares = [&](const Document* one) {
      return one->name != document.name && one->ns == document.ns && belong_together(in.settings, document, *one) &&
             !common_nodes(in, *one, document).empty();
    };
    const auto found = std::ranges::find_if(pools, shares);
    const Document* first = found != pools.end() ? *found : nullptr;
    pools.push_back(&document);
    if (first == nullptr || document.name.empty()) continue;
    const doc::Span selector = key_span(document.value, "spec.nodeSelector");
    out.error(
           selector.known() ? selector : name_span(document),
           fmt::format("pools {} and {} both select {}: the operator drains no node that is in two, and policies that "
                       "need it are not applied",
                       first->name, document.name, common_nodes(in, *first, document)))
        .note(name_span(*first), "the other pool")
        .with_fix("nodeSelectors that no node matches both");
  }
}

void unknown_gate(const Input& in, Findings& out) {
  const std::vector<std::string_view> known(std::begin(api::kFeatureGates), std::end(api::kFeatureGates));
  for (const Document& document : in.bundle.documents) {
    const Value* gates = document.kind == kConfigKind ? at(document.value, "spec.featureGates") : nullptr;
    if (gates == nullptr || !gates->is_object()) continue;
    for (const Value::Member& gate : *gates->as_object()) {
      if (std::ranges::find(known, gate.key) != known.end() || is_filled_in(gate.key_span)) continue;
      const std::string near = doc::nearest(gate.key, known);
      auto& reported =
          out.warning(gate.key_span,
                      fmt::format("no known release of the operator has a feature gate {}: it does nothing", gate.key));
      if (!near.empty()) reported.with_fix(near);
    }
  }
}

void gate_of_an_injector_that_is_off(const Input& in, Findings& out) {
  static constexpr std::string_view kGate = "spec.featureGates.resourceInjectorMatchCondition";
  for (const Document& document : in.bundle.documents) {
    if (document.kind != kConfigKind || !flag_at(document.value, kGate).value_or(false)) continue;
    if (flag_at(document.value, "spec.enableInjector").value_or(true)) continue;
    out.warning(
           key_span(document.value, kGate),
           "resourceInjectorMatchCondition says which pods the injector is called for, and enableInjector is false")
        .note(key_span(document.value, "spec.enableInjector"), "it is off here")
        .with_fix("enableInjector: true, or no such gate");
  }
}

void fixed_names(const Input& in, Findings& out) {
  struct Row {
    std::string_view kind, group, name, why;
  };
  static constexpr Row kRows[] = {
      {"NicClusterPolicy", "mellanox.com/", "nic-cluster-policy",
       "the Network Operator ignores a NicClusterPolicy of any other name"},
      {"SriovOperatorConfig", "sriovnetwork.openshift.io/", "default",
       "the SR-IOV operator reads only the SriovOperatorConfig called default"},
  };
  for (const Document& document : in.bundle.documents)
    for (const Row& row : kRows) {
      if (document.kind != row.kind || !document.api_version.starts_with(row.group)) continue;
      const Value* name = at(document.value, "metadata.name");
      if (name == nullptr || document.name.empty() || document.name == row.name) continue;
      auto& reported = out.error(name->span, fmt::format("{}, so this one has no effect", row.why))
                           .with_fix(fmt::format("name: {}", row.name));
      if (name->span.length == static_cast<int>(document.name.size()))
        reported.with_edit(name->span, std::string(row.name));
    }
}

// Whether one node can match both selections of labels: no label must have two values.
bool can_meet(const Value* a, const Value* b) {
  if (a == nullptr || b == nullptr || !a->is_object() || !b->is_object()) return true;
  return std::ranges::all_of(*a->as_object(), [&](const Value::Member& one) {
    const Value* other = b->find(one.key);
    return other == nullptr || *other == one.value;
  });
}

// Whether two lists can have a common member; an absent list includes everything.
bool can_share(const Value& a, const Value& b, std::string_view path) {
  const auto first = texts_at(a, path);
  const auto second = texts_at(b, path);
  if (first.empty() || second.empty()) return true;
  return std::ranges::any_of(first, [&](const Word& one) {
    return std::ranges::any_of(second, [&](const Word& other) { return lower(one.text) == lower(other.text); });
  });
}

void two_templates(const Input& in, Findings& out) {
  std::vector<const Document*> all;
  for (const Document& document : in.bundle.documents)
    if (document.kind == "NicConfigurationTemplate") all.push_back(&document);
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Value& later = all[i]->value;
      const Value& first = all[j]->value;
      if (all[i]->name == all[j]->name ||
          lower(text_at(later, "spec.nicSelector.nicType")) != lower(text_at(first, "spec.nicSelector.nicType")) ||
          !can_share(later, first, "spec.nicSelector.pciAddresses") ||
          !can_share(later, first, "spec.nicSelector.serialNumbers") ||
          !can_share(later, first, "spec.nicSelector.partNumbers") ||
          !can_meet(at(later, "spec.nodeSelector"), at(first, "spec.nodeSelector")))
        continue;
      const Value* selector = at(later, "spec.nicSelector.nicType");
      out.warning(selector == nullptr ? name_span(*all[i]) : selector->span,
                  fmt::format("{} and {} can take the same NIC: the operator then applies neither", all[j]->name,
                              all[i]->name))
          .note(name_span(*all[j]), "the other template")
          .with_fix("pciAddresses, serialNumbers or a nodeSelector that keep them apart");
    }
}

// The first difference between two specs ("spec.x is absent here"), with its place.
struct Difference {
  std::string text;
  doc::Span here;
  doc::Span there;
};

// A text of which a page shows only the lines in question.
bool leaves_text_out(const Value& value) {
  return value.is_string() && check::leaves_lines_out(*value.as_string());
}

std::optional<Difference> difference(const Value& here, const Value& there, const std::string& path) {
  const Value::Object* a = here.as_object();
  const Value::Object* b = there.as_object();
  if (a == nullptr || b == nullptr) {
    if (same_content(here, there) || leaves_text_out(here) || leaves_text_out(there)) return std::nullopt;
    return Difference{path + " differs", here.span, there.span};
  }
  for (const Value::Member& member : *b)
    if (here.find(member.key) == nullptr)
      return Difference{path + "." + member.key + " is not in this one", {}, member.key_span};
  for (const Value::Member& member : *a) {
    const Value* other = there.find(member.key);
    if (other == nullptr) return Difference{path + "." + member.key + " is only in this one", member.key_span, {}};
    if (auto found = difference(member.value, *other, path + "." + member.key)) return found;
  }
  return std::nullopt;
}

// Whether a page shows both objects in blocks: it may show alternatives to choose from.
bool are_shown(const Document& a, const Document& b) {
  return a.value.span.source == b.value.span.source && a.origin != Origin::kAnsible && b.origin != Origin::kAnsible &&
         (a.origin == Origin::kFence || b.origin == Origin::kFence);
}

void defined_twice(const Input& in, Findings& out) {
  // Kinds that `plan` reads as well are left to RB-OBJECT-001 and RB-API-012.
  static constexpr std::string_view kOthers[] = {
      "NicClusterPolicy",     "NicNodePolicy",       "ClusterPolicy",          "NicConfigurationTemplate",
      "NodeFeatureDiscovery", "NodeFeatureRule",     "HostDeviceNetwork",      "MacvlanNetwork",
      "IPoIBNetwork",         "SriovOperatorConfig", "SriovNetworkPoolConfig", "ConfigMap"};
  std::map<std::string, const Document*> first_of;
  for (const Document& document : in.bundle.documents) {
    if (document.patch || document.name.empty() || std::ranges::find(kOthers, document.kind) == std::end(kOthers))
      continue;
    const auto [first, fresh] = first_of.try_emplace(document.label(), &document);
    if (fresh) continue;
    if (are_shown(document, *first->second)) continue;
    const std::string_view part = document.kind == "ConfigMap" ? "data" : "spec";
    const Value* here = document.value.find(part);
    const Value* there = first->second->value.find(part);
    if (here == nullptr || there == nullptr) continue;
    const auto found = difference(*here, *there, std::string(part));
    if (!found) continue;
    auto& reported =
        out.warning(found->here.known() ? found->here : name_span(document),
                    fmt::format("{} is defined twice with differences ({}): the last one applied takes effect",
                                document.label(), found->text));
    reported.note(found->there.known() ? found->there : name_span(*first->second), "the other one")
        .with_fix("keep one definition and refer to that file elsewhere")
        .that_says(doc::Says::kGivenTwice);
  }
}

void operand_of_one_version(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "NodeFeatureDiscovery") continue;
    const Value* image = at(document.value, "spec.operand.image");
    const std::string_view text = text_at(document.value, "spec.operand.image");
    const size_t colon = text.rfind(':');
    if (image == nullptr || colon == std::string_view::npos) continue;
    const std::string_view tag = text.substr(colon + 1);
    if (!tag.starts_with("4.") && !tag.starts_with("v4.")) continue;
    out.note(image->span, fmt::format("the operand is that of OpenShift {}: on a cluster of another version labels are "
                                      "missing, or the operand does not start",
                                      tag))
        .with_fix("remove spec.operand.image; the operator uses the one that it was built with");
  }
}

// The namespace that an object says that it has; null where it says none, or something that is no text.
const Value* written_namespace(const Document& document) {
  const Value* ns = at(document.value, "metadata.namespace");
  return ns == nullptr || ns->as_string() == nullptr ? nullptr : ns;
}

bool is_an_operators_namespace(std::string_view ns) {
  static constexpr std::string_view kNames[] = {"openshift-sriov-network-operator", "sriov-network-operator",
                                                "nvidia-network-operator", "network-operator"};
  return std::ranges::find(kNames, ns) != std::end(kNames);
}

// The object that says where an operator runs: its configuration, else one that is in a namespace with a name that
// such an operator has; null where nothing says it. `sure`: the first.
struct OperatorPlace {
  const Document* document = nullptr;
  bool sure = false;
};

class OperatorPlaces {
 public:
  explicit OperatorPlaces(const Input& in) : ties_(in.settings) {
    for (const Document& document : in.bundle.documents) {
      if (written_namespace(document) == nullptr) continue;
      const bool its_kind = document.api_version.starts_with("sriovnetwork.openshift.io/");
      if (document.kind == "SriovOperatorConfig")
        configs_.push_back(&document);
      else if (its_kind && is_an_operators_namespace(document.ns))
        others_.push_back(&document);
    }
  }

  // Of the operator that reads an object, as far as its own environment says. Where an operator is in each of several
  // namespaces, it is that of the object's.
  OperatorPlace of(const Document& read) const {
    const auto its_own = [&](const Document* one) { return belong_together(ties_, read, *one); };
    const Document* config = nullptr;
    for (const Document* one : configs_) {
      if (!its_own(one)) continue;
      if (config == nullptr || one->ns == read.ns) config = one;
    }
    if (config != nullptr) return {config, true};
    const auto other = std::ranges::find_if(others_, its_own);
    return {other == others_.end() ? nullptr : *other, false};
  }

 private:
  Ties ties_;
  std::vector<const Document*> configs_;
  std::vector<const Document*> others_;
};

void outside_of_its_namespace(const Input& in, Findings& out) {
  const OperatorPlaces places(in);
  static constexpr std::string_view kKinds[] = {"SriovNetworkNodePolicy", "SriovNetworkPoolConfig"};
  for (const Document& document : in.bundle.documents) {
    const Value* ns = written_namespace(document);
    if (ns == nullptr || std::ranges::find(kKinds, document.kind) == std::end(kKinds)) continue;
    const OperatorPlace place = places.of(document);
    if (place.document == nullptr) continue;
    const std::string& operators = place.document->ns;
    // Two operators may be in one set of files.
    if (document.ns == operators || (!place.sure && is_an_operators_namespace(document.ns))) continue;
    const std::string text = fmt::format(
        "the operator runs in {} and reads {} objects only there: this one has no effect", operators, document.kind);
    auto& reported = place.sure ? out.error(ns->span, text) : out.warning(ns->span, text);
    reported
        .note(written_namespace(*place.document)->span,
              place.sure ? "the operator's namespace" : "other objects of the operator are in its namespace")
        .with_fix("namespace: " + operators);
  }
}

void network_for_another_namespace(const Input& in, Findings& out) {
  if (holds(in, "network-namespace-from-anywhere").holds != Holds::kNo) return;
  const OperatorPlaces places(in);
  static constexpr std::string_view kKinds[] = {"SriovNetwork", "SriovIBNetwork", "OVSNetwork"};
  for (const Document& document : in.bundle.documents) {
    const Value* ns = written_namespace(document);
    if (ns == nullptr || std::ranges::find(kKinds, document.kind) == std::end(kKinds)) continue;
    const Value* target = at(document.value, "spec.networkNamespace");
    if (target == nullptr || text_at(document.value, "spec.networkNamespace").empty()) continue;
    const OperatorPlace place = places.of(document);
    if (place.document == nullptr) continue;
    if (document.ns == place.document->ns || (!place.sure && is_an_operators_namespace(document.ns))) continue;
    const std::string text = fmt::format(
        "{} is not in the operator's namespace, so the operator's webhook refuses "
        "networkNamespace in it",
        document.label());
    auto& reported = place.sure ? out.error(target->span, text) : out.warning(target->span, text);
    reported.note(written_namespace(*place.document)->span, "the operator's namespace")
        .with_fix(fmt::format("namespace: {}; or no networkNamespace, and the network is for pods in {}",
                              place.document->ns, document.ns));
  }
}

constexpr Rule kOperatorRules[] = {
    {"RB-OP-001", "a VF range on an alternative name", Needs::kFacts, range_on_alt_name},
    {"RB-OP-002", "a pool that drains all nodes at once, or none", Needs::kNothing, drain_of_all_or_none},
    {"RB-OP-003", "an object whose name its operator ignores", Needs::kNothing, fixed_names},
    {"RB-OP-004", "two NIC templates for one NIC", Needs::kNothing, two_templates},
    {"RB-OP-005", "one object written twice and differently", Needs::kNothing, defined_twice},
    {"RB-OP-006", "an operand of one cluster version", Needs::kNothing, operand_of_one_version},
    {"RB-OP-007", "a policy outside of the operator's namespace", Needs::kNothing, outside_of_its_namespace},
    {"RB-OP-008", "a network for another namespace outside of the operator's", Needs::kNothing,
     network_for_another_namespace},
    {"RB-OP-009", "a maxUnavailable that is neither a number nor a percentage", Needs::kNothing, unreadable_bound},
    {"RB-OP-010", "a pool of OVS hardware offload with nodes", Needs::kNothing, offload_pool_with_nodes},
    {"RB-OP-011", "a node in two pools", Needs::kNothing, node_in_two_pools},
    {"RB-OP-012", "a feature gate that no release has", Needs::kNothing, unknown_gate},
    {"RB-OP-013", "a gate of an injector that is off", Needs::kNothing, gate_of_an_injector_that_is_off},
};

}  // namespace

std::span<const Rule> operator_rules() {
  return kOperatorRules;
}

}  // namespace railbed::check
