// SPDX-License-Identifier: Apache-2.0
#include "check/rules/missing.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/read/objects.h"

namespace railbed::check {
namespace {

// Networks for which OpenShift's own operator makes attachment definitions.
std::set<std::string> additional_networks(const Bundle& bundle) {
  std::set<std::string> keys;
  for (const Document& document : bundle.documents) {
    if (document.kind != "Network" || !document.api_version.starts_with("operator.openshift.io/")) continue;
    const doc::Value* list = at(document.value, "spec.additionalNetworks");
    if (list == nullptr || !list->is_array()) continue;
    for (const doc::Value& network : *list->as_array()) {
      const std::string_view name = text_at(network, "name");
      const std::string_view ns = text_at(network, "namespace");
      if (!name.empty()) keys.insert(fmt::format("{}/{}", ns.empty() ? "default" : ns, name));
    }
  }
  return keys;
}

// Whether it is known in which namespace a network ends up.
bool has_known_namespace(const NetworkView& network) {
  return network.document->has_namespace() || !text_at(network.document->value, "spec.networkNamespace").empty();
}

// A network that a pod asks for and that is not there as it asks.
struct Missing {
  const PodView& pod;
  const PodView::Net& net;

  bool namespace_is_known() const { return net.selection->ns.present || pod.pod->document->has_namespace(); }
};

class MissingNetworks {
 public:
  MissingNetworks(const Views& views, const World& world, doc::Diagnostics& findings)
      : views_(views), world_(world), findings_(findings) {
    for (const NetworkView& network : views.networks) makers_.push_back(network.document);
  }

  void look_at(const PodView& pod) {
    for (const PodView::Net& net : pod.networks) {
      const Missing missing{pod, net};
      if (!has_network(missing)) report(missing);
    }
  }

 private:
  bool has_network(const Missing& missing) const {
    if (views_.network(missing.net.key) != nullptr) return true;
    const auto [begin, end] = views_.networks_by_name.equal_range(*missing.net.selection->name);
    return std::any_of(begin, end, [&](const auto& entry) {
      return !missing.namespace_is_known() || !has_known_namespace(views_.networks[entry.second]);
    });
  }

  // The network whose name the kustomization changes, while the annotation keeps the old one; null: none.
  const NetworkView* renamed(const Missing& missing) const {
    const auto found = std::ranges::find_if(views_.networks, [&](const NetworkView& network) {
      return network.document->name_in_file == *missing.net.selection->name;
    });
    return found == views_.networks.end() ? nullptr : &*found;
  }

  // A network of that name in another namespace, otherwise one with a similar name.
  std::string near(std::string_view key) const {
    std::vector<std::string_view> keys;
    for (const NetworkView& network : views_.networks) {
      if (base_name(network.key) == base_name(key)) return network.key;
      keys.push_back(network.key);
    }
    return doc::nearest(std::string(key), keys);
  }

  void report(const Missing& missing) {
    const doc::Span& name = missing.net.selection->name.span;
    const doc::Span span = name.known() ? name : missing.net.selection->span;
    const std::string label = missing.pod.pod->label();
    const std::string& key = missing.net.key;
    if (const NetworkView* network = renamed(missing)) {
      findings_
          .error(
              "RB-NET-010", span,
              fmt::format("{} requests network {}, which the kustomization renames to {}: it does not change names in "
                          "annotations",
                          label, *missing.net.selection->name, network->document->name))
          .note(network->document->renamed_at, "renamed here")
          .note(name_span(*network->document), "the network")
          .with_fix(network->document->name + ", or a kustomization without namePrefix and nameSuffix for networks");
      return;
    }
    // It is made by something that is judged apart, or that is a part only.
    if (world_.networks.contains(*missing.net.selection->name) &&
        !views_.networks_by_name.contains(*missing.net.selection->name))
      return;
    const std::string meant = near(key);
    const bool is_near = !meant.empty() && !differ_in_numbers(meant, key);
    const Absence absence = absence_of(world_, *missing.pod.pod->document, makers_, is_near);
    doc::Diagnostic reported{
        .id = "RB-POD-001",
        .severity = absence.severity,
        .span = span,
        .message = absence.why.empty()
                       ? fmt::format("{} requests network {}, which does not exist", label, key)
                       : fmt::format("{} requests network {}, which is not here: {}", label, key, absence.why)};
    reported.looks_for(key).that_says(doc::Says::kMissingNetwork);
    if (!meant.empty() && (absence.why.empty() || is_near)) reported.with_fix("did you mean " + meant + "?");
    findings_.mutable_all().push_back(std::move(reported));
  }

  const Views& views_;
  const World& world_;
  doc::Diagnostics& findings_;
  std::vector<const Document*> makers_;
};

// A resource that was probably meant: with the same name after its prefix, or nearly the same one.
std::string meant_resource(const Views& views, const std::string& wanted) {
  std::vector<std::string_view> made;
  for (const Producer& producer : views.producers) {
    if (base_name(producer.resource) == base_name(wanted)) return producer.resource;
    made.push_back(producer.resource);
  }
  const std::string near = doc::nearest(wanted, made);
  return differ_in_numbers(near, wanted) ? "" : near;
}

void weigh_missing_resource(const Document& network, const Views& views, const World& world, doc::Diagnostic& finding) {
  std::vector<const Document*> makers;
  for (const Producer& producer : views.producers) makers.push_back(producer.document);
  const bool near = !meant_resource(views, finding.missing).empty();
  const Absence absence = absence_of(world, network, makers, near);
  if (absence.why.empty()) {
    // A resource that resembles none may come from a plugin that is set up elsewhere.
    finding.severity = near ? doc::Severity::kError : doc::Severity::kWarning;
    return;
  }
  finding.severity = absence.severity;
  if (!near) finding.message += ": " + absence.why;
}

}  // namespace

void report_missing_networks(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings) {
  std::erase_if(findings.mutable_all(),
                [](const doc::Diagnostic& finding) { return finding.says == doc::Says::kMissingNetwork; });
  if (views.networks.empty()) return;
  const std::set<std::string> additional = additional_networks(bundle);
  MissingNetworks missing(views, world, findings);
  for (const PodView& pod : views.pods) {
    PodView others = pod;
    std::erase_if(others.networks, [&](const PodView::Net& net) {
      return additional.contains(net.key) ||
             (!pod.pod->document->has_namespace() && std::ranges::any_of(additional, [&](const std::string& key) {
               return base_name(key) == base_name(net.key);
             }));
    });
    missing.look_at(others);
  }
}

void weigh_missing_resources(const Bundle& bundle, const Views& views, const World& world, doc::Diagnostics& findings) {
  const ObjectIndex objects(bundle);
  const auto is_missing_resource = [](const doc::Diagnostic& finding) {
    return finding.says == doc::Says::kMissingResource;
  };
  std::erase_if(findings.mutable_all(), [&](const doc::Diagnostic& finding) {
    return is_missing_resource(finding) && views.producer(finding.missing) != nullptr;
  });
  for (doc::Diagnostic& finding : findings.mutable_all()) {
    const Document* network = is_missing_resource(finding) ? objects.at(finding.span) : nullptr;
    if (network != nullptr) weigh_missing_resource(*network, views, world, finding);
  }
}

}  // namespace railbed::check
