// SPDX-License-Identifier: Apache-2.0
#include "controller/networks.h"

#include <algorithm>
#include <map>

#include "api/load.h"
#include "api/network.h"
#include "base/format.h"
#include "base/well_known.h"
#include "doc/fields.h"
#include "doc/members.h"
#include "kube/clock.h"
#include "kube/object.h"

namespace railbed::controller {

using doc::Value;

namespace {

StoredAttachment stored_attachment(const Value& object) {
  const kube::ObjectKey key = kube::key_of(object);
  const Value* annotations = doc::at(object, "metadata.annotations");
  return {.ns = key.ns,
          .name = key.name,
          .uid = kube::uid_of(object),
          .resource_version = kube::resource_version(object),
          .network_uid = doc::text_in(doc::at(object, "metadata.labels"), kNetworkUidLabel),
          .kind_uid = doc::text_in(annotations, kNetworkKindUid),
          .owner_ref = doc::text_in(annotations, api::kOwnerAnnotation),
          .resource = doc::text_in(annotations, kResourceAnnotation),
          .config = std::string(doc::text_at(object, "spec.config"))};
}

std::optional<FinalizerPatch> without_finalizer(const kube::ObjectPtr& network, bool infiniband) {
  std::optional<Value> patch = patch_without(*network, kUpstreamFinalizer);
  if (!patch) return std::nullopt;
  return FinalizerPatch{network, infiniband, *std::move(patch)};
}

class Planner {
 public:
  explicit Planner(const NetworksView& view) : view_(view) {
    for (const auto& [key, object] : view.definitions) attachments_.push_back(stored_attachment(*object));
  }

  NetworksPlan run() {
    if (view_.networks != nullptr)
      for (const auto& [key, object] : *view_.networks) read(object, false);
    if (view_.ib_networks != nullptr)
      for (const auto& [key, object] : *view_.ib_networks) read(object, true);
    // While the definition of one that is listed is not known, the networks of a definition may be of that one.
    std::set<std::string> kinds;
    if (listed_are_known()) kinds = {view_.kind.uid, view_.ib_kind.uid};
    kinds.erase("");
    AttachmentWrites writes =
        attachment_writes(readable_, attachments_, view_.namespaces, view_.resource_prefix, kinds);
    out_.applies = std::move(writes.applies);
    for (AttachmentWrites::Deletion& one : writes.deletions)
      if (is_decided(one)) out_.deletions.push_back(std::move(one));
    for (const AttachmentWrites::Deletion& one : writes.kept)
      if (is_decided(one)) out_.kept.push_back(view_.definitions.at({one.ns, one.name}));
    if (!listed_are_known()) {
      out_.deletions.clear();
      out_.finalizers.clear();
    }
    for (AttachmentWrites::NetworkOutcome& one : writes.outcomes) {
      NetworkOutcome& outcome = by_uid_.at(one.uid);
      outcome.readiness = {one.message.empty() ? "True" : "False", std::move(one.reason), std::move(one.message)};
      out_.outcomes.push_back(outcome);
    }
    return std::move(out_);
  }

 private:
  bool listed_are_known() const {
    return (view_.networks == nullptr || !view_.kind.uid.empty()) &&
           (view_.ib_networks == nullptr || !view_.ib_kind.uid.empty());
  }

  // A network that is older than its kind is one of the former kind's, of whose end the cache has not heard yet.
  std::string kind_of(const Value& network, bool infiniband) const {
    const KindDefinition& kind = infiniband ? view_.ib_kind : view_.kind;
    const auto made = kube::read_time(kube::metadata_text(network, "creationTimestamp"));
    const auto since = kube::read_time(kind.created);
    return made && since && *made < *since ? "" : kind.uid;
  }

  void read(const kube::ObjectPtr& object, bool infiniband) {
    if (auto patch = without_finalizer(object, infiniband)) out_.finalizers.push_back(std::move(*patch));
    if (!kube::metadata_text(*object, "deletionTimestamp").empty()) return remove_foreign(*object, infiniband);
    const std::string uid = kube::uid_of(*object);
    NetworkOutcome outcome{.network = object, .infiniband = infiniband, .readiness = {}};
    doc::Diagnostics found;
    auto network = infiniband ? api::parse_sriov_ib_network(*object, found) : api::parse_sriov_network(*object, found);
    if (!network) {
      refuse(outcome, "NetworkAttachmentDefinitionInvalid", doc::first_error(found).error().message);
      return;
    }
    const std::string& own = *network->meta.ns;
    const std::string& target = *network->network_namespace;
    // Who may make networks in one namespace must not make definitions in another one.
    if (!view_.operator_namespaces.contains(own) && !target.empty() && target != own) {
      refuse(outcome, "NamespaceForbidden",
             fmt::format("networkNamespace {} is for networks in {} {} only", target,
                         view_.operator_namespaces.size() == 1 ? "namespace" : "namespaces",
                         fmt::join(view_.operator_namespaces, ", ")));
      return;
    }
    by_uid_.emplace(uid, std::move(outcome));
    readable_.push_back({.uid = uid, .network = std::move(*network), .kind_uid = kind_of(*object, infiniband)});
  }

  void refuse(NetworkOutcome& outcome, std::string reason, std::string message) {
    kept_.insert(kube::uid_of(*outcome.network));
    outcome.readiness = {"False", std::move(reason), std::move(message)};
    out_.outcomes.push_back(std::move(outcome));
  }

  // What the SR-IOV operator made of a network that is being deleted: its finalizer is there to have it removed.
  void remove_foreign(const Value& network, bool infiniband) {
    const kube::ObjectKey key = kube::key_of(network);
    const std::string owner = api::owner_ref(api::network_kind(infiniband), key.ns, key.name);
    for (const StoredAttachment& one : attachments_)
      if (one.owner_ref == owner && one.network_uid.empty())
        out_.deletions.push_back({one.ns, one.name, one.uid, one.resource_version});
  }

  // Its network can be read, or does not exist. Of a kind that is not listed, neither is known.
  bool is_decided(const AttachmentWrites::Deletion& one) const {
    const auto found = std::ranges::find(attachments_, one.uid, &StoredAttachment::uid);
    if (found == attachments_.end() || kept_.contains(found->network_uid)) return false;
    const bool is_network = is_of_kind(*found, false), is_ib_network = is_of_kind(*found, true);
    return (view_.networks != nullptr || is_ib_network) && (view_.ib_networks != nullptr || is_network);
  }
  static bool is_of_kind(const StoredAttachment& definition, bool infiniband) {
    const Kind& kind = api::network_kind(infiniband);
    return definition.owner_ref.starts_with(fmt::format("{}.{}/", kind.name, kind.group));
  }

  const NetworksView& view_;
  std::vector<StoredAttachment> attachments_;
  std::vector<StoredNetwork> readable_;
  std::map<std::string, NetworkOutcome> by_uid_;
  std::set<std::string> kept_;  // UIDs of networks whose definitions stay as they are
  NetworksPlan out_;
};

}  // namespace

NetworksPlan plan_networks(const NetworksView& view) {
  return Planner(view).run();
}

std::string why_kept(const Value& definition) {
  const std::string owner = stored_attachment(definition).owner_ref;
  const std::string kind = owner.substr(0, owner.find('.')), name = owner.substr(owner.find('/') + 1);
  return fmt::format(
      "its network {} {} no longer exists, possibly because the CustomResourceDefinition of its kind was deleted; "
      "re-create the network, or delete this definition",
      kind, name);
}

Value network_status(const NetworkOutcome& outcome, std::string_view now) {
  const Value* meta = doc::object_in(*outcome.network, "metadata");
  const Value* stored = doc::object_in(*outcome.network, "status");
  const Value before = stored != nullptr ? *stored : Value();
  Value status = Value::object();
  status.set("conditions", Value::array())
      .push(ready_condition(before, doc::number_in(*meta, "generation"), now, outcome.readiness));
  return status == before ? Value() : status;
}

kube::Trim definition_trim() {
  return kube::keep_fields({"spec.config"});
}

}  // namespace railbed::controller
