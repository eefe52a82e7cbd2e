// SPDX-License-Identifier: Apache-2.0
// Operators: objects that they ignore, and behaviour that differs from what one would expect.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "check/read/copies.h"
#include "check/read/templates.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "check/rules/versions.h"

namespace railbed::check {
namespace {

using doc::Value;

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

// The number of nodes that a pool selects; 0 without facts.
int64_t nodes_of(const Input& in, const Document& pool) {
  const Value* labels = at(pool.value, "spec.nodeSelector.matchLabels");
  return std::ranges::count_if(in.graphs, [&](const graph::Graph& graph) {
    if (labels == nullptr || !labels->is_object()) return true;
    return std::ranges::all_of(*labels->as_object(), [&](const Value::Member& one) {
      const auto found = graph.labels.find(one.key);
      return found != graph.labels.end() && one.value.as_string() && found->second == *one.value.as_string();
    });
  });
}

void drain_of_all_or_none(const Input& in, Findings& out) {
  for (const Document& document : in.bundle.documents) {
    if (document.kind != "SriovNetworkPoolConfig") continue;
    const Value* most = at(document.value, "spec.maxUnavailable");
    if (most == nullptr || most->is_null()) {
      out.warning(name_span(document), "without maxUnavailable the operator drains all nodes of the pool at once")
          .with_fix("maxUnavailable: 1");
      continue;
    }
    const std::string_view text = text_at(document.value, "spec.maxUnavailable");
    const auto number = integer_at(document.value, "spec.maxUnavailable");
    int64_t percent = 0;
    for (const char c : text.substr(0, text.find('%')))
      percent = c >= '0' && c <= '9' && percent < 1000 ? percent * 10 + (c - '0') : 1000;
    const bool is_percent = text.ends_with('%') && percent < 1000;
    const int64_t nodes = nodes_of(in, document);
    if (number == 0 || (is_percent && percent == 0))
      out.error(most->span, "no node of this pool is ever drained, so policies that need it are not applied")
          .with_fix("maxUnavailable: 1");
    else if (is_percent && nodes > 0 && percent * nodes < 100)
      out.error(most->span, fmt::format("{} of {} node{} is rounded down to 0: none is ever drained, and policies that "
                                        "need it are not applied",
                                        text, nodes, nodes == 1 ? "" : "s"))
          .with_fix("maxUnavailable: 1")
          .at_most(doc::Confidence::kMedium, "the pool may have nodes of which there are no facts");
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
};

}  // namespace

std::span<const Rule> operator_rules() {
  return kOperatorRules;
}

}  // namespace railbed::check
