// SPDX-License-Identifier: Apache-2.0
#include "controller/attachments.h"

#include <map>
#include <utility>

#include "api/attachment.h"
#include "api/load.h"
#include "base/format.h"

namespace railbed::controller {

using doc::Value;
using Key = std::pair<std::string, std::string>;  // namespace, name

namespace {

std::string annotation_of(const api::NetworkAttachmentDefinition& definition, std::string_view key) {
  const auto found = definition.meta.annotations.find(std::string(key));
  const std::string* text = found == definition.meta.annotations.end() ? nullptr : found->second->as_string();
  return text ? *text : "";
}

Value owner_reference(const StoredNetwork& stored) {
  Value owner = Value::object();
  const Kind& kind = api::network_kind(stored.network.infiniband);
  owner.set("apiVersion", kind.api_version());
  owner.set("kind", kind.name);
  owner.set("name", *stored.network.meta.name);
  owner.set("uid", stored.uid);
  owner.set("controller", true);
  return owner;
}

Value object_of(const StoredNetwork& stored, const api::NetworkAttachmentDefinition& definition,
                const std::string& kind_uid) {
  Value object = api::to_value(definition);
  Value& meta = *object.find("metadata");
  if (!kind_uid.empty()) meta.find("annotations")->set(kNetworkKindUid, kind_uid);
  meta.set("labels", Value::object()).set(kNetworkUidLabel, stored.uid);
  if (*definition.meta.ns == *stored.network.meta.ns)
    meta.set("ownerReferences", Value::array()).push(owner_reference(stored));
  return object;
}

class Writer {
 public:
  Writer(const std::vector<StoredAttachment>& attachments, const std::set<std::string>& namespaces,
         std::string_view resource_prefix)
      : namespaces_(namespaces), resource_prefix_(resource_prefix) {
    for (const StoredAttachment& one : attachments) stored_[{one.ns, one.name}] = &one;
  }

  void write(const StoredNetwork& network) {
    live_.insert(network.uid);
    const api::NetworkAttachmentDefinition definition = api::render(network.network, resource_prefix_);
    const Key key{*definition.meta.ns, *definition.meta.name};
    if (!namespaces_.contains(key.first))
      return report(network, "NamespaceNotFound", fmt::format("namespace {} not found", key.first));
    if (const auto [other, is_first] = taken_.insert({key, &network}); !is_first)
      return report(network, "NameTaken",
                    fmt::format("network {}/{} already defines {}/{}", *other->second->network.meta.ns,
                                *other->second->network.meta.name, key.first, key.second));
    const auto found = stored_.find(key);
    const StoredAttachment* stored = found == stored_.end() ? nullptr : found->second;
    if (stored && !is_of(*stored, network, definition)) {
      taken_.erase(key);
      return report(
          network, "NameTaken",
          fmt::format("{}/{} already exists and was not created from this network: rename one of them, or delete the "
                      "definition",
                      key.first, key.second));
    }
    // Where the kind is not known now, what is known of it stays.
    const std::string& kind_uid = network.kind_uid.empty() && stored ? stored->kind_uid : network.kind_uid;
    if (!stored || stored->kind_uid != kind_uid || !is_equal(*stored, network, definition))
      out_.applies.push_back(object_of(network, definition, kind_uid));
    report(network, "NetworkReady", "");
  }

  AttachmentWrites finish(const std::vector<StoredAttachment>& attachments, const std::set<std::string>& kinds) {
    for (const StoredAttachment& one : attachments) {
      if (one.network_uid.empty() || taken_.contains({one.ns, one.name})) continue;
      // A network that is there and wants its definition elsewhere says so itself.
      const bool is_meant = live_.contains(one.network_uid) || kinds.contains(one.kind_uid);
      (is_meant ? out_.deletions : out_.kept).push_back({one.ns, one.name, one.uid, one.resource_version});
    }
    return std::move(out_);
  }

 private:
  // Ours, or the SR-IOV operator's for the same network: taken over without a change for pods. After a network was
  // deleted and made again under its name, the definition of the former one is this one's.
  static bool is_of(const StoredAttachment& stored, const StoredNetwork& network,
                    const api::NetworkAttachmentDefinition& definition) {
    return stored.network_uid == network.uid ||
           (!stored.owner_ref.empty() && stored.owner_ref == annotation_of(definition, api::kOwnerAnnotation));
  }

  static bool is_equal(const StoredAttachment& stored, const StoredNetwork& network,
                       const api::NetworkAttachmentDefinition& definition) {
    return stored.network_uid == network.uid && stored.owner_ref == annotation_of(definition, api::kOwnerAnnotation) &&
           stored.resource == *definition.resource_name && stored.config == api::config_text(definition.config);
  }

  void report(const StoredNetwork& network, std::string_view reason, std::string message) {
    out_.outcomes.push_back({network.uid, std::string(reason), std::move(message)});
  }

  const std::set<std::string>& namespaces_;
  std::string_view resource_prefix_;
  std::map<Key, const StoredAttachment*> stored_;
  std::map<Key, const StoredNetwork*> taken_;
  std::set<std::string> live_;  // UIDs of networks
  AttachmentWrites out_;
};

}  // namespace

AttachmentWrites attachment_writes(const std::vector<StoredNetwork>& networks,
                                   const std::vector<StoredAttachment>& attachments,
                                   const std::set<std::string>& namespaces, std::string_view resource_prefix,
                                   const std::set<std::string>& kinds) {
  Writer writer(attachments, namespaces, resource_prefix);
  for (const StoredNetwork& network : networks) writer.write(network);
  return writer.finish(attachments, kinds);
}

}  // namespace railbed::controller
