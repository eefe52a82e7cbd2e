// SPDX-License-Identifier: Apache-2.0
// Node labels: where labels that selectors need come from, and which selectors use labels that users set.
#include <algorithm>
#include <map>
#include <set>

#include "base/well_known.h"
#include "check/data_files.h"
#include "check/rules/families.h"
#include "check/rules/lookups.h"
#include "doc/yaml.h"

namespace railbed::check {
namespace {

using doc::Value;

constexpr std::string_view kFeature = "feature.node.kubernetes.io/";
constexpr std::string_view kVendorId = "15b3";

const Value& labels_data() {
  static const Value kData = data_document("producers.yaml");
  return kData;
}

const Value* known_label(std::string_view key) {
  for (const Value& row : *labels_data().find("labels")->as_array())
    if (text_at(row, "name") == key) return &row;
  return nullptr;
}

// One "key: value" of a selector.
struct SelectedNodes {
  std::string key;
  const Value* value = nullptr;
  doc::Span span;  // of the key
  const Document* document = nullptr;
};

void add_map(const Document& document, const Value* map, std::vector<SelectedNodes>& out) {
  if (map == nullptr || !map->is_object()) return;
  for (const Value::Member& member : *map->as_object())
    if (!member.value.is_object() && !member.value.is_array())
      out.push_back({member.key, &member.value, member.key_span, &document});
}

// What the node selectors of the bundle select.
std::vector<SelectedNodes> selected(const Input& in) {
  static constexpr std::string_view kKinds[] = {"SriovNetworkNodePolicy", "SriovNetworkPoolConfig",
                                                "NicConfigurationTemplate", "NicNodePolicy", "MachineConfigPool"};
  std::vector<SelectedNodes> all;
  for (const Document& document : in.bundle.documents) {
    if (std::ranges::find(kKinds, document.kind) == std::end(kKinds)) continue;
    add_map(document, at(document.value, "spec.nodeSelector"), all);
    add_map(document, at(document.value, "spec.nodeSelector.matchLabels"), all);
  }
  for (const PodTemplate& pod : in.pods) add_map(*pod.document, at(*pod.spec, "nodeSelector"), all);
  return all;
}

// Adds the keys of all kinds of selectors and affinities, at any depth.
void add_used(const Value& value, std::set<std::string>& keys) {
  if (const Value::Array* items = value.as_array())
    for (const Value& item : *items) add_used(item, keys);
  const Value::Object* members = value.as_object();
  if (members == nullptr) return;
  for (const Value::Member& member : *members) {
    if ((member.key == "nodeSelector" || member.key == "matchLabels") && member.value.is_object())
      for (const Value::Member& one : *member.value.as_object()) keys.insert(one.key);
    if (member.key == "key" && member.value.as_string()) keys.insert(*member.value.as_string());
    add_used(member.value, keys);
  }
}

// The configuration of NFD's workers, and its place.
struct NfdConfig {
  const Value* text = nullptr;
  Value config;
  bool has_whitelist = false;
  std::vector<std::string> classes;
  std::vector<std::string> fields;
};

NfdConfig read_nfd(const Value& text) {
  NfdConfig nfd{.text = &text};
  doc::Diagnostics reported_elsewhere;
  auto documents = doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{"workerConfig", *text.as_string()}),
                                   reported_elsewhere);
  if (!documents.empty()) nfd.config = std::move(documents.front());
  nfd.has_whitelist = at(nfd.config, "sources.pci.deviceClassWhitelist") != nullptr;
  for (const Word& word : texts_at(nfd.config, "sources.pci.deviceClassWhitelist"))
    nfd.classes.push_back(lower(word.text));
  for (const Word& word : texts_at(nfd.config, "sources.pci.deviceLabelFields")) nfd.fields.push_back(word.text);
  return nfd;
}

std::vector<NfdConfig> nfd_configs(const Input& in) {
  std::vector<NfdConfig> all;
  for (const Document& document : in.bundle.documents) {
    if (document.kind == "NodeFeatureDiscovery") {
      const Value* text = at(document.value, "spec.workerConfig.configData");
      if (text != nullptr && text->is_string()) all.push_back(read_nfd(*text));
    } else if (document.kind == "ConfigMap") {
      const Value* data = document.value.find("data");
      if (data == nullptr || !data->is_object()) continue;
      for (const Value::Member& member : *data->as_object())
        if (member.value.is_string() && member.value.as_string()->find("deviceClassWhitelist") != std::string::npos)
          all.push_back(read_nfd(member.value));
    }
  }
  return all;
}

// Labels that rules, node objects and commands in the bundle set.
std::set<std::string> made_here(const Input& in) {
  std::set<std::string> made;
  for (const Document& document : in.bundle.documents) {
    if (document.kind == "NodeFeatureRule" || document.kind == "NodeFeatureGroup") {
      const Value* rules = at(document.value, "spec.rules");
      if (rules == nullptr || !rules->is_array()) continue;
      for (const Value& rule : *rules->as_array())
        if (const Value* labels = rule.find("labels"); labels != nullptr && labels->is_object())
          for (const Value::Member& label : *labels->as_object()) {
            made.insert(label.key);
            if (label.key.find('/') == std::string::npos) made.insert(std::string(kFeature) + label.key);
          }
    } else if (document.kind == "Node") {
      const Value* labels = at(document.value, "metadata.labels");
      if (labels != nullptr && labels->is_object())
        for (const Value::Member& label : *labels->as_object()) made.insert(label.key);
    }
  }
  for (const Command& command : in.bundle.commands)
    if (command.words.size() > 3 && command.words[1].text == "label")
      for (const Word& word : command.words) made.insert(word.text.substr(0, word.text.find('=')));
  return made;
}

bool class_listed(const std::vector<std::string>& classes, std::string_view wanted) {
  return std::ranges::any_of(classes, [&](const std::string& one) { return wanted.starts_with(one); });
}

std::vector<std::string> default_classes() {
  std::vector<std::string> classes;
  for (const Word& word : texts_at(labels_data(), "nfd_default_classes")) classes.push_back(word.text);
  return classes;
}

NfdConfig nfd_of_openshift() {
  NfdConfig nfd{.has_whitelist = true};
  for (const Word& word : texts_at(labels_data(), "nfd_openshift.classes")) nfd.classes.push_back(word.text);
  for (const Word& word : texts_at(labels_data(), "nfd_openshift.fields")) nfd.fields.push_back(word.text);
  return nfd;
}

// Why NFD's configuration makes no label "pci-<device>.…"; empty when it does.
std::string no_pci_label(const std::vector<NfdConfig>& configs, bool openshift, std::string_view device) {
  const size_t under = device.find('_');
  const bool by_vendor = under == std::string_view::npos;
  NfdConfig nfd;
  if (!configs.empty())
    nfd = configs.front();
  else if (openshift)
    nfd = nfd_of_openshift();
  const bool has_fields = !nfd.fields.empty();
  const bool makes_vendor = nfd.fields == std::vector<std::string>{"vendor"};
  const auto classes = nfd.has_whitelist ? nfd.classes : default_classes();
  const std::string of = !configs.empty() ? "NFD as configured here"
                         : openshift      ? "OpenShift's NFD as it comes"
                                          : "NFD as it comes";
  if (by_vendor && !makes_vendor) return fmt::format("{} calls such labels pci-<class>_<vendor>.present", of);
  if (!by_vendor && has_fields && makes_vendor) return fmt::format("{} calls such labels pci-<vendor>.present", of);
  const bool is_network = device.ends_with(kVendorId);
  const bool listed = by_vendor ? class_listed(classes, "0200") || class_listed(classes, "0207")
                                : class_listed(classes, device.substr(0, under));
  if (is_network && !listed) return fmt::format("{} labels only devices of classes {}", of, fmt::join(classes, ", "));
  return "";
}

// Whether the Network Operator is used: by its policy or by the namespace of its chart.
bool has_network_operator(const Input& in) {
  return has_kind(in.bundle, "NicClusterPolicy") || std::ranges::any_of(in.bundle.documents, [](const Document& one) {
           return one.ns == "nvidia-network-operator" || one.ns == "network-operator";
         });
}

bool has_label(const Input& in, const std::string& key) {
  return std::ranges::any_of(in.graphs, [&](const graph::Graph& graph) { return graph.labels.contains(key); });
}

// A well-known label of nodes that is meant: a letter is missing or wrong. Longer ones ("worker-a") are roles of their
// own.
std::string well_known_label_near(const std::string& key) {
  std::vector<std::string_view> names;
  for (const Value& name : *labels_data().find("well_known_labels")->as_array()) names.push_back(*name.as_string());
  if (std::ranges::find(names, key) != names.end()) return "";
  const std::string near = doc::nearest(key, names);
  return key.size() <= near.size() ? near : "";
}

void typo_of_well_known_label(const Input& in, const SelectedNodes& one, Findings& out) {
  if (has_label(in, one.key)) return;
  const std::string near = well_known_label_near(one.key);
  if (near.empty()) return;
  out.warning(one.span, fmt::format("label {} resembles {}: no node has it unless it was set manually", one.key, near))
      .with_fix("did you mean " + near + "?");
}

// A label of a PCI device whose end is nearly one that NFD writes: "pci-15b3.presnt". Empty for others.
std::string meant_pci_label(std::string_view name) {
  static constexpr std::string_view kEnds[] = {"present", "sriov.capable"};
  const size_t dot = name.find('.');
  if (!name.starts_with("pci-") || dot == std::string_view::npos) return "";
  const std::string_view end = name.substr(dot + 1);
  if (std::ranges::find(kEnds, end) != std::end(kEnds)) return "";
  const std::string near = doc::nearest(end, {std::begin(kEnds), std::end(kEnds)});
  return near.empty() ? "" : fmt::format("{}.{}", name.substr(0, dot), near);
}

void no_component_sets_label(const Input& in, Findings& out) {
  const auto made = made_here(in);
  const auto configs = nfd_configs(in);
  const bool openshift = is_openshift(in.bundle);
  std::set<std::string> reported;
  for (const SelectedNodes& one : selected(in)) {
    if (made.contains(one.key) || !reported.insert(one.key).second) continue;
    if (!one.key.starts_with(kFeature)) {
      typo_of_well_known_label(in, one, out);
      continue;
    }
    const std::string_view name = std::string_view(one.key).substr(kFeature.size());
    if (name.starts_with("pci-") && name.ends_with(".present")) {
      if (configs.empty() && has_kind(in.bundle, "ClusterPolicy")) continue;  // the GPU Operator's NFD makes it
      const std::string why = no_pci_label(configs, openshift, name.substr(4, name.size() - 4 - 8));
      if (why.empty()) continue;
      const bool chart = name == "pci-15b3.present" && has_network_operator(in);
      const std::string text = fmt::format("label {}: {}", one.key, why);
      auto& finding = chart ? out.note(one.span, text +
                                                     "; only a NodeFeatureRule of the Network "
                                                     "Operator's chart makes it")
                            : out.warning(one.span, text + ", so no node has it");
      finding.with_fix(
          "a NodeFeatureRule that makes the label, or NFD with deviceLabelFields: [vendor] and classes 0200 and 0207");
    } else if (const std::string meant = meant_pci_label(name); !meant.empty() && !has_label(in, one.key)) {
      out.error(one.span, fmt::format("no component sets label {}; the selector matches no node", one.key))
          .with_fix(fmt::format("did you mean {}{}?", kFeature, meant));
    } else if (known_label(one.key) == nullptr && !name.starts_with("pci-") && !has_label(in, one.key)) {
      std::vector<std::string_view> names;
      for (const Value& row : *labels_data().find("labels")->as_array())
        if (row.find("instead") == nullptr) names.push_back(text_at(row, "name"));
      const std::string near = doc::nearest(one.key, names);
      if (!near.empty())
        out.error(one.span, fmt::format("no component sets label {}; the selector matches no node", one.key))
            .with_fix("did you mean " + near + "?");
    }
  }
}

void whitelist_without_infiniband(const Input& in, Findings& out) {
  const bool infiniband = std::ranges::any_of(in.views.links, [](const auto& one) { return one.second.infiniband; }) ||
                          std::ranges::any_of(in.views.networks, &NetworkView::infiniband) ||
                          std::ranges::any_of(in.nodes, [](const facts::NodeFacts& node) {
                            return std::ranges::any_of(node.nics, [](const facts::Nic& nic) {
                              return nic.link_type == facts::LinkType::kInfiniband && nic.pci.vendor == kVendorId;
                            });
                          });
  for (const NfdConfig& nfd : nfd_configs(in)) {
    if (!nfd.has_whitelist || class_listed(nfd.classes, "0207") || !class_listed(nfd.classes, "0200")) continue;
    const std::string text =
        "InfiniBand ports are of PCI class 0207, which is not listed: such nodes get no pci-15b3 label, and the "
        "operators skip their drivers there";
    auto& reported = infiniband ? out.warning(inside(*nfd.text, "deviceClassWhitelist"), text)
                                : out.note(inside(*nfd.text, "deviceClassWhitelist"), text);
    reported.with_fix("add \"0207\" (or \"02\" for all network controllers)");
  }
}

void capable_before_enabled(const Input& in, Findings& out) {
  std::set<std::pair<const doc::Source*, uint32_t>> reported;
  for (const graph::Graph& graph : in.graphs) {
    if (graph.labels.contains(std::string(kSriovCapableLabel))) continue;
    const facts::Nic* card = nullptr;
    for (const facts::Nic& nic : graph.facts->nics)
      if (nic.pci.vendor == kVendorId && nic.total_vfs.value_or(0) == 0 && !nic.pci.driver.starts_with("vfio"))
        card = &nic;
    if (card == nullptr) continue;
    for (const PolicyView& policy : in.views.policies) {
      const Value* selector = policy.spec->find("nodeSelector");
      const Value::Object* members = selector == nullptr ? nullptr : selector->as_object();
      if (members == nullptr) continue;
      const auto label = std::ranges::find(*members, kSriovCapableLabel, &Value::Member::key);
      if (label == members->end()) continue;
      const doc::Span& place = label->key_span;
      if (!reported.insert({place.source.get(), place.offset}).second) continue;
      out.warning(place,
                  fmt::format("{} has {} with SR-IOV switched off in its firmware, so it gets this label only after "
                              "the policy has enabled SR-IOV, but the policy waits for the label",
                              graph.facts->node, graph::pf_label(*card)))
          .with_fix(
              "select by a label that is there before (pci-15b3.present, a role), or enable SR-IOV once: mstconfig -d "
              "DEVICE set SRIOV_EN=1 NUM_OF_VFS=8");
    }
  }
}

bool set_by_others(std::string_view key) {
  for (const Word& prefix : texts_at(labels_data(), "known_prefixes"))
    if (key.starts_with(prefix.text)) return true;
  return key.find('/') == std::string_view::npos || key.find("kubernetes.io/") != std::string_view::npos;
}

void unselected_label(const Input& in, Findings& out) {
  if (in.views.policies.empty()) return;  // the bundle has no selectors
  std::set<std::string> used;
  for (const Document& document : in.bundle.documents)
    if (document.kind != "Node") add_used(document.value, used);
  const auto report = [&](const doc::Span& span, const std::string& key) {
    if (set_by_others(key) || used.contains(key)) return;
    out.note(span, fmt::format("no selector uses label {}: setting it has no effect", key))
        .with_fix("select by it, or leave it out");
  };
  for (const Document& document : in.bundle.documents) {
    const Value* labels = document.kind == "Node" ? at(document.value, "metadata.labels") : nullptr;
    if (labels == nullptr || !labels->is_object()) continue;
    for (const Value::Member& label : *labels->as_object()) report(label.key_span, label.key);
  }
  for (const Command& command : in.bundle.commands) {
    const auto& words = command.words;
    if (words.size() < 4 || words[1].text != "label" || !words[2].text.starts_with("no")) continue;
    for (const Word& word : words)
      if (const size_t equals = word.text.find('='); equals != std::string::npos && word.text[0] != '-')
        report(word.span, word.text.substr(0, equals));
  }
}

void documented_only(const Input& in, Findings& out) {
  const auto made = made_here(in);
  for (const SelectedNodes& one : selected(in)) {
    const Value* row = known_label(one.key);
    if (row == nullptr || row->find("instead") == nullptr || made.contains(one.key)) continue;
    if (has_label(in, one.key)) continue;
    const std::string instead(text_at(*row, "instead"));
    auto& reported =
        out.error(one.span,
                  fmt::format("Node Feature Discovery does not set label {}; the selector matches no node", one.key))
            .with_fix(instead + ": \"true\"");
    if (one.span.length == static_cast<int>(one.key.size())) reported.with_edit(one.span, instead);
  }
}

void value_that_is_never_set(const Input& in, Findings& out) {
  for (const SelectedNodes& one : selected(in)) {
    const Value* row = known_label(one.key);
    const bool pci = one.key.starts_with(std::string(kFeature) + "pci-") && one.key.ends_with(".present");
    if ((row == nullptr || row->find("value") == nullptr) && !pci) continue;
    const std::string* value = one.value->as_string();
    if (value == nullptr || *value == "true") continue;
    out.error(one.value->span, fmt::format("label {} is \"true\" where it is set, never \"{}\"", one.key, *value))
        .with_fix(one.key + ": \"true\"");
  }
}

constexpr Rule kLabelRules[] = {
    {"RB-LABEL-001", "a node selector uses a label that no component sets", Needs::kNothing, no_component_sets_label,
     doc::Says::kSelectsNoNode},
    {"RB-LABEL-002", "NFD's class list leaves InfiniBand out", Needs::kNothing, whitelist_without_infiniband},
    {"RB-LABEL-003", "a policy that waits for a label that it must first cause", Needs::kFacts, capable_before_enabled,
     doc::Says::kSelectsNoNode},
    {"RB-LABEL-004", "a label that no selector uses", Needs::kNothing, unselected_label},
    {"RB-LABEL-005", "a label that only documentation knows", Needs::kNothing, documented_only,
     doc::Says::kSelectsNoNode},
    {"RB-LABEL-006", "a value that a label never has", Needs::kNothing, value_that_is_never_set,
     doc::Says::kSelectsNoNode},
};

}  // namespace

std::span<const Rule> label_rules() {
  return kLabelRules;
}

}  // namespace railbed::check
