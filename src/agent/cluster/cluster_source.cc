// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cluster_source.h"

#include <algorithm>
#include <map>
#include <set>

#include "agent/cluster/cluster_objects.h"
#include "agent/pod/manifest_source.h"
#include "agent/pod/network_status.h"
#include "agent/pod/tenant_definitions.h"
#include "agent/records/meta_records.h"
#include "doc/members.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

using doc::Value;
using kube::ObjectPtr;

// Whether somebody may want to read it: the pod chose its networks, or has more than the default one.
bool is_wanted(const std::map<std::string, std::string>& annotations, const Value& status) {
  for (const char* key : kChoiceKeys)
    if (const auto one = annotations.find(key); one != annotations.end() && !one->second.empty()) return true;
  std::set<std::string> names;
  if (status.is_array())
    for (const Value& element : *status.as_array()) names.insert(doc::text_in(element, "name"));
  return names.size() > 1;
}

// How old what was looked at is, for errors.
std::string source_of(const KeptCache& cache) {
  const KeptCache::Health now = cache.health();
  if (!now.age) return fmt::format("no {} are cached yet", cache.plural());
  return fmt::format("it is not among the {} cached {}, {} s old{}", now.informer.objects, cache.plural(),
                     now.age->count(), now.restored ? " and from an earlier agent's file" : "");
}

std::unexpected<Error> unanswered(const KeptCache& cache, const std::string& what, Error error) {
  error.context.push_back(fmt::format("{}: {}, and the API server is unreachable", what, source_of(cache)));
  if (error.hint.empty()) error.hint = "run `railbed status` for details; the runtime will retry the pod";
  return fail(std::move(error));
}

bool denies(const Value& binding, const std::string& policy) {
  const Value* spec = doc::object_in(binding, "spec");
  if (spec == nullptr || doc::text_in(*spec, "policyName") != policy) return false;
  const std::vector<std::string> actions = doc::texts_in(*spec, "validationActions");
  return std::ranges::find(actions, "Deny") != actions.end();
}

struct Unwritten {
  kube::ObjectKey pod;
  std::string uid;  // as the runtime reported it
  std::string sandbox;
  std::string text;
};

Result<std::vector<Unwritten>> noted_statuses(Engine& engine) {
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  std::vector<Unwritten> out;
  for (auto& [key, text] : TRY(turn.store().notes(std::string(kNetworkStatusNote)))) {
    const std::string sandbox = key.substr(kNetworkStatusNote.size());
    const std::string pod = state::Sandbox::of_key(sandbox).pod;
    const size_t slash = pod.find('/');
    const std::optional<SandboxNote> note = TRY(sandbox_note(turn.store(), sandbox));
    if (slash == std::string::npos || !note) continue;
    out.push_back({.pod = {.ns = pod.substr(0, slash), .name = pod.substr(slash + 1)},
                   .uid = note->pod_uid,
                   .sandbox = sandbox,
                   .text = text});
  }
  return out;
}

}  // namespace

ClusterSource::ClusterSource(KeptCache& pods, KeptCache& networks, AskOnce& asks, StatusWriter& writer,
                             state::Store& store, Settings settings)
    : pods_(pods), networks_(networks), asks_(asks), writer_(writer), store_(store), settings_(std::move(settings)) {}

Result<PodInfo> ClusterSource::pod(const std::string& ns, const std::string& name, const std::string& uid) {
  const kube::ObjectKey key{.ns = ns, .name = name};
  if (const ObjectPtr known = pods_.find(key); known != nullptr && is_pod(*known, uid)) return pod_of(*known, uid);
  const Result<ObjectPtr> asked = asks_.get(kube::kPods, key);
  if (asked.has_value() && is_pod(**asked, uid)) return pod_of(**asked, uid);
  const std::string what = uid.empty() ? fmt::format("pod {}", key.to_string())
                                       : fmt::format("pod {} with the uid {}", key.to_string(), uid);
  if (!asked.has_value() && asked.error().code != Code::kNotFound) return unanswered(pods_, what, asked.error());
  if (is_static_uid(uid))
    return fail(Error{.code = Code::kNotFound,
                      .message = fmt::format("the API server has no object for the static pod {} yet; the networks of "
                                             "the pod are read from it",
                                             key.to_string()),
                      .hint = "kubelet creates it and logs any failure; the runtime will retry the pod"});
  if (!asked.has_value()) return fail(Code::kNotFound, "the API server has no pod {}", key.to_string());
  return fail(Code::kNotFound, "pod {} was re-created: its uid in the API server is {}, not {}", key.to_string(),
              kube::uid_of(**asked), uid);
}

Result<NetworkInfo> ClusterSource::network(const std::string& ns, const std::string& name) {
  const kube::ObjectKey key{.ns = ns, .name = name};
  if (const ObjectPtr known = networks_.find(key)) return network_of(*known);
  const Result<ObjectPtr> asked = asks_.get(kube::kNetworkDefinitions, key);
  if (asked.has_value()) return network_of(**asked);
  const std::string what = fmt::format("network {}", key.to_string());
  if (asked.error().code != Code::kNotFound) return unanswered(networks_, what, asked.error());
  return fail(Error{.code = Code::kNotFound,
                    .message = fmt::format("the API server has no NetworkAttachmentDefinition {}", key.to_string()),
                    .hint = "create it, or correct the pod's annotation"});
}

Result<NetworkInfo> ClusterSource::network_if_known(const std::string& ns, const std::string& name) {
  const kube::ObjectKey key{.ns = ns, .name = name};
  if (const ObjectPtr known = networks_.find(key)) return network_of(*known);
  if (!networks_.is_known()) return network(ns, name);
  return fail(Code::kNotFound, "there is no NetworkAttachmentDefinition {}", key.to_string());
}

Result<bool> ClusterSource::may_use_node(const std::string& ns) {
  if (!settings_.restrict_definitions) return true;
  const Result<ObjectPtr> asked = asks_.get(kube::kNamespaces, {.ns = "", .name = ns});
  const std::lock_guard lock(mutex_);
  if (asked.has_value()) {
    const Value* labels = doc::at(**asked, "metadata.labels");
    return may_use_node_[ns] = doc::text_in(labels, kHostDevicesLabel) == kHostDevicesAllowed;
  }
  if (const auto last = may_use_node_.find(ns); last != may_use_node_.end()) return last->second;
  Error error = asked.error();
  error.context.push_back(fmt::format("the labels of namespace {} are unknown", ns));
  return fail(std::move(error));
}

Result<bool> ClusterSource::reserves_ib_kubernetes() {
  const kube::ObjectKey key{.ns = "", .name = std::string(kIbKubernetesPolicy)};
  Result<ObjectPtr> policy = asks_.get(kube::kAdmissionPolicies, key);
  Result<ObjectPtr> binding = policy;
  if (policy.has_value()) binding = asks_.get(kube::kAdmissionPolicyBindings, key);
  const std::lock_guard lock(mutex_);
  if (binding.has_value()) return *(reserves_ib_kubernetes_ = denies(**binding, key.name));
  if (binding.error().code == Code::kNotFound) return *(reserves_ib_kubernetes_ = false);
  if (reserves_ib_kubernetes_.has_value()) return *reserves_ib_kubernetes_;
  Error error = binding.error();
  error.context.push_back(fmt::format("ValidatingAdmissionPolicy {}", key.name));
  return fail(std::move(error));
}

Result<std::string> ClusterSource::published_status(const std::string& ns, const std::string& name,
                                                    const std::string& uid) {
  if (!pods_.is_known())
    return fail(Code::kBusy, "the pods of this node are not known yet; their addresses are read from their status");
  const ObjectPtr known = pods_.find({.ns = ns, .name = name});
  if (known == nullptr || !is_pod(*known, uid)) return std::string();
  const std::map<std::string, std::string> annotations = annotations_of(*known);
  const auto status = annotations.find(kNetworkStatusAnnotation);
  return status == annotations.end() ? std::string() : status->second;
}

Result<void> ClusterSource::publish_status(const PodInfo& pod, const std::string& sandbox, const Value& status) {
  const std::string key = std::string(kNetworkStatusNote) + sandbox;
  if (status.is_null()) {
    writer_.drop(sandbox);
    return store_.forget_note(key);
  }
  const std::string text = annotation_text(status);
  TRY(store_.put_note(key, text));
  if (!pod.api_uid.empty() && is_wanted(pod.annotations, status))
    writer_.put({.pod = {.ns = pod.ns, .name = pod.name}, .uid = pod.api_uid, .sandbox = sandbox, .text = text});
  return {};
}

std::string ClusterSource::api_uid(const std::string& ns, const std::string& name, const std::string& uid) const {
  const ObjectPtr known = pods_.find({.ns = ns, .name = name});
  if (known != nullptr && is_pod(*known, uid)) return kube::uid_of(*known);
  return is_static_uid(uid) ? "" : uid;
}

Result<size_t> ClusterSource::resume_statuses(Engine& engine) {
  std::map<kube::ObjectKey, StatusToWrite> unwritten;
  std::set<kube::ObjectKey> written;  // one of two sandboxes of a pod is enough
  for (Unwritten& one : TRY(noted_statuses(engine))) {
    const ObjectPtr pod = pods_.find(one.pod);
    if (pod == nullptr || !is_pod(*pod, one.uid)) continue;
    const std::map<std::string, std::string> annotations = annotations_of(*pod);
    const auto there = annotations.find(kNetworkStatusAnnotation);
    if (there != annotations.end() && there->second == one.text) written.insert(one.pod);
    const Result<Value> status = kube::parse_object(fmt::format(R"({{"all":{}}})", one.text));
    const Value* all = status.has_value() ? status->find("all") : nullptr;
    if (all == nullptr || !is_wanted(annotations, *all)) continue;
    unwritten[one.pod] = {.pod = one.pod, .uid = kube::uid_of(*pod), .sandbox = one.sandbox, .text = one.text};
  }
  size_t count = 0;
  for (auto& [pod, status] : unwritten) {
    if (written.contains(pod)) continue;
    writer_.put(std::move(status));
    ++count;
  }
  return count;
}

}  // namespace railbed::agent
