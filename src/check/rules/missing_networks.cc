// SPDX-License-Identifier: Apache-2.0
#include "check/rules/missing_networks.h"

#include <algorithm>
#include <set>

namespace railbed::check {
namespace {

// Kinds that the Network Operator turns into attachment definitions; the graph does not read them.
bool is_read_by_graph(const NetworkView& network) {
  static constexpr std::string_view kKinds[] = {"NetworkAttachmentDefinition", "SriovNetwork", "SriovIBNetwork"};
  return std::ranges::find(kKinds, network.document->kind) != std::end(kKinds);
}

// A network of that name in another namespace, otherwise one with a similar name.
std::string near(const Views& views, std::string_view key) {
  std::vector<std::string_view> keys;
  for (const NetworkView& network : views.networks) {
    if (base_name(network.key) == base_name(key)) return network.key;
    keys.push_back(network.key);
  }
  return doc::nearest(std::string(key), keys);
}

// Networks for which OpenShift's own operator makes attachment definitions.
std::set<std::string> additional_networks(const Bundle& bundle) {
  std::set<std::string> keys;
  for (const Document& document : bundle.documents) {
    if (document.kind != "Network" || !document.api_version.starts_with("operator.openshift.io/")) continue;
    const doc::Value* list = at(document.value, "spec.additionalNetworks");
    if (list == nullptr || !list->is_array()) continue;
    for (const doc::Value& network : *list->as_array()) {
      const std::string_view ns = text_at(network, "namespace");
      keys.insert(fmt::format("{}/{}", ns.empty() ? "default" : ns, text_at(network, "name")));
    }
  }
  return keys;
}

}  // namespace

void tell_missing_networks(const Bundle& bundle, const Views& views, doc::Diagnostics& findings) {
  const std::set<std::string> additional = additional_networks(bundle);
  std::erase_if(findings.mutable_all(), [&](const doc::Diagnostic& finding) {
    if (finding.says != doc::Says::kMissingNetwork) return false;
    const NetworkView* network = views.network(finding.missing);
    return views.networks.empty() || additional.contains(finding.missing) ||
           (network != nullptr && !is_read_by_graph(*network));
  });
  if (views.networks.empty()) return;
  for (const PodView& pod : views.pods) {
    if (pod.pod->document->kind == "Pod") continue;  // the graph reports these
    for (const PodView::Net& net : pod.networks) {
      if (views.network(net.key) != nullptr || additional.contains(net.key)) continue;
      const doc::Span& name = net.selection->name.span;
      auto& told =
          findings.error("RB-POD-001", name.known() ? name : net.selection->span,
                         fmt::format("{} requests network {}, which does not exist", pod.pod->label(), net.key));
      told.looks_for(net.key).that_says(doc::Says::kMissingNetwork);
      const std::string meant = near(views, net.key);
      if (!meant.empty()) told.with_fix("did you mean " + meant + "?");
    }
  }
}

}  // namespace railbed::check
