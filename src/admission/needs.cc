// SPDX-License-Identifier: Apache-2.0
#include "admission/needs.h"

#include <algorithm>
#include <utility>

#include "api/load.h"
#include "base/object_names.h"
#include "base/text.h"
#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/members.h"

namespace railbed::admission {
namespace {

using doc::Value;

std::string_view annotation_of(const Value& object, std::string_view key) {
  const Value* metadata = doc::object_in(object, "metadata");
  const Value* annotations = metadata == nullptr ? nullptr : doc::object_in(*metadata, "annotations");
  const Value* found = annotations == nullptr ? nullptr : annotations->find(key);
  const std::string* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// The keys of the networks that one annotation names.
Result<std::vector<std::string>> keys_in(const Value& pod, std::string_view annotation, std::string_view ns) {
  std::vector<std::string> keys;
  const std::string_view text = annotation_of(pod, annotation);
  if (text.empty()) return keys;
  doc::Diagnostics found;
  const auto networks = api::parse_networks_annotation(Value(text), ns, found);
  TRY(doc::first_error(found).context("annotation {}", annotation));
  for (const api::NetworkSelection& one : networks) keys.push_back(*one.ns + "/" + *one.name);
  return keys;
}

// A name under which a device plugin can offer devices. Others ("cpu") are the kubelet's own, and a definition must not
// change what a pod gets of them.
bool is_device_resource(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || !is_dns_subdomain(name.substr(0, slash)) || !is_label_key(name)) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io");
}

// The resources that the pod's claims give.
std::set<std::string> claimed_by(const Value& pod, std::string_view ns, const Networks& networks) {
  std::set<std::string> out;
  const Value* spec = doc::object_in(pod, "spec");
  const Value::Array* claims = spec == nullptr ? nullptr : doc::list_in(*spec, "resourceClaims");
  if (claims == nullptr) return out;
  for (const Value& claim : *claims)
    for (const char* key : {"resourceClaimName", "resourceClaimTemplateName"})
      if (const auto known = networks.claimed.find(std::string(ns) + "/" + doc::text_in(claim, key));
          known != networks.claimed.end())
        out.insert(known->second.begin(), known->second.end());
  return out;
}

Result<size_t> chosen_container(const Value& pod) {
  const std::string_view wanted = annotation_of(pod, kContainerAnnotation);
  if (wanted.empty()) return size_t{0};
  const Value* spec = doc::object_in(pod, "spec");
  const Value::Array* containers = spec == nullptr ? nullptr : doc::list_in(*spec, "containers");
  if (containers != nullptr)
    for (size_t i = 0; i < containers->size(); ++i)
      if (doc::text_in((*containers)[i], "name") == wanted) return i;
  return fail(
      Error{.code = Code::kInvalid,
            .message = fmt::format("annotation {}: the pod has no container \"{}\"", kContainerAnnotation, wanted),
            .hint = "name one of spec.containers, or leave the annotation out: the first one is taken"});
}

// The node selectors of definitions, merged with the pod's.
class Selectors {
 public:
  Selectors(const Value& pod, const Networks& networks) : networks_(networks) {
    for (const auto& [key, value] : doc::text_map_at(pod, "spec.nodeSelector")) has_[key] = {value, "the pod"};
  }

  Result<void> add(const std::string& network, std::string_view text, PodNeeds& needs) {
    if (trimmed(text).empty()) return {};
    const size_t equals = text.find('=');
    const std::string key(trimmed(text.substr(0, equals)));
    const std::string value(equals == std::string_view::npos ? "" : trimmed(text.substr(equals + 1)));
    if (!is_label_key(key) || !is_label_value(value))
      return fail(Error{.code = Code::kInvalid,
                        .message = fmt::format("network {}: annotation {} is no label of a node: \"{}\"", network,
                                               kNodeSelectorAnnotation, text),
                        .hint = "KEY=VALUE"});
    const auto known = has_.find(key);
    if (known != has_.end() && known->second.value == value) return {};
    if (!networks_.node_labels.contains(key)) {
      needs.warnings.push_back(fmt::format("{} of network {} is not merged: no administrator has listed {}",
                                           kNodeSelectorAnnotation, network, key));
      return {};
    }
    if (known != has_.end())
      return fail(
          Error{.code = Code::kInvalid,
                .message = fmt::format("network {} is on nodes with {}={}, and {} selects {}={}: no node has both",
                                       network, key, value, known->second.by, key, known->second.value),
                .hint = "leave out the network or the selector"});
    has_[key] = {value, "network " + network};
    needs.node_selector[key] = value;
    return {};
  }

 private:
  struct Selected {
    std::string value;
    std::string by;
  };
  const Networks& networks_;
  std::map<std::string, Selected> has_;
};

Result<void> add_network(const std::string& key, const Networks& networks, const std::set<std::string>& claimed,
                         Selectors& selectors, PodNeeds& needs) {
  const auto known = networks.by_key.find(key);
  if (known == networks.by_key.end())
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("network {} does not exist: the pod would never start", key),
                      .hint = fmt::format("create the NetworkAttachmentDefinition {}, or correct the annotation {}",
                                          key, kNetworksAnnotation)});
  const OfferedNetwork& network = known->second;
  TRY(selectors.add(key, network.node_selector, needs));
  if (network.resource.empty() || claimed.contains(network.resource) ||
      networks.dra_resources.contains(network.resource))
    return {};
  if (!is_device_resource(network.resource))
    return fail(Error{
        .code = Code::kInvalid,
        .message = fmt::format("network {} takes its device from \"{}\", which no device plugin can offer", key,
                               network.resource),
        .hint = fmt::format("its annotation {} has a name with a prefix: openshift.io/rail0", kResourceAnnotation)});
  ++needs.resources[network.resource];
  return {};
}

}  // namespace

OfferedNetwork read_offered_network(const Value& definition) {
  return {.resource = std::string(trimmed(annotation_of(definition, kResourceAnnotation))),
          .node_selector = std::string(annotation_of(definition, kNodeSelectorAnnotation))};
}

Result<std::vector<std::string>> networks_of(const Value& pod, std::string_view ns, const Networks& networks) {
  if (doc::flag_at(pod, "spec.hostNetwork").value_or(false)) return std::vector<std::string>();
  std::vector<std::string> keys = TRY(keys_in(pod, kNetworksAnnotation, ns));
  const std::vector<std::string> of_default =
      TRY(keys_in(pod, kDefaultNetworkAnnotation, networks.default_network_namespace));
  keys.insert(keys.end(), of_default.begin(), of_default.end());
  return keys;
}

Result<PodNeeds> needs_of(const Value& pod, std::string_view ns, const Networks& networks) {
  PodNeeds needs;
  const std::vector<std::string> keys = TRY(networks_of(pod, ns, networks));
  if (keys.empty()) return needs;
  needs.container = TRY(chosen_container(pod));
  const std::set<std::string> claimed = claimed_by(pod, ns, networks);
  Selectors selectors(pod, networks);
  for (const std::string& key : keys) TRY(add_network(key, networks, claimed, selectors, needs));
  return needs;
}

}  // namespace railbed::admission
