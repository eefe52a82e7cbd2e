// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/manifest_source.h"

#include <algorithm>

#include "agent/pod/network_status.h"
#include "api/attachment.h"
#include "api/ipam.h"
#include "api/load.h"
#include "doc/yaml.h"
#include "node/handed_manifests.h"
#include "node/planned_addresses.h"
#include "node/pod_vfs.h"

namespace railbed::agent {
namespace {

using doc::Value;

constexpr int kMostFolders = 8;  // one in another

using Texts = std::map<std::string, std::string>;

bool is_manifest(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

Result<void> read_folder(const os::FileTree& files, const std::string& folder, int depth, Texts& texts) {
  for (const std::string& name : TRY(files.list(folder))) {
    if (name.starts_with(".")) continue;
    std::string path = folder + "/" + name;
    if (is_manifest(name)) {
      Result<std::string> text = files.read(path);
      // A file that is being replaced is missing for a moment.
      if (text.has_value())
        texts.emplace(path, std::move(*text));
      else if (text.error().code != Code::kNotFound)
        return fail(std::move(text.error()));
    } else if (depth < kMostFolders && files.list(path).has_value()) {
      TRY(read_folder(files, path, depth + 1, texts));
    }
  }
  return {};
}

std::string text_of(const Value* object, std::string_view key) {
  const Value* value = object != nullptr && object->is_object() ? object->find(key) : nullptr;
  return value != nullptr && value->is_string() ? *value->as_string() : "";
}

}  // namespace

struct ManifestSource::Snapshot {
  Texts texts;
  std::string handed;                       // as it is in the state
  std::vector<doc::SourcePtr> handed_over;  // but for what is below the folder
  std::vector<Value> documents;
  api::Objects objects;
  doc::Diagnostics diagnostics;
  std::map<std::string, PodInfo> pods;
  std::map<std::string, Result<NetworkInfo>> networks;
  std::shared_ptr<const AddressClaims> claims;
  // Computed at the first use, in a turn.
  std::unique_ptr<node::Resolved> resolved;

  void read(const graph::Options& options) {
    std::vector<doc::SourcePtr> sources;
    for (const auto& [path, text] : texts) sources.push_back(std::make_shared<doc::Source>(doc::Source{path, text}));
    // What was said last counts.
    sources.insert(sources.end(), handed_over.begin(), handed_over.end());
    for (const doc::SourcePtr& source : sources)
      for (Value& document : doc::parse_yaml(source, diagnostics)) documents.push_back(std::move(document));
    std::vector<const Value*> pointers;
    for (const Value& document : documents) {
      pointers.push_back(&document);
      take(document);
    }
    objects = api::load_documents(pointers, diagnostics);
    render(options.resource_prefix);
    doc::Diagnostics unseen;
    claims = std::make_shared<const AddressClaims>(
        node::address_claims(graph::index(objects, options, unseen), node::PlannedTypes::kSameOnAllMachines));
  }

  // Keeps pods and definitions as written: errors in them are reported when they are needed.
  void take(const Value& object) {
    std::string kind = text_of(&object, "kind");
    if (kind == "List") {
      const Value* items = object.find("items");
      if (items != nullptr && items->is_array())
        for (const Value& item : *items->as_array()) take(item);
      return;
    }
    const Value* metadata = object.find("metadata");
    std::string name = text_of(metadata, "name");
    std::string ns = text_of(metadata, "namespace");
    if (ns.empty()) ns = "default";
    if (name.empty()) return;
    if (kind == "Pod")
      pods[ns + "/" + name] = {
          .ns = ns, .name = name, .uid = text_of(metadata, "uid"), .annotations = annotations_of(object)};
    if (kind == "NetworkAttachmentDefinition")
      networks.insert_or_assign(ns + "/" + name, read_network(ns, name, object));
  }

  // Turns SriovNetworks into definitions; a definition in the manifests has precedence.
  void render(const std::string& prefix) {
    for (const api::SriovNetwork& one : objects.networks) {
      api::NetworkAttachmentDefinition made = api::render(one, prefix);
      NetworkInfo network{*made.meta.ns, *made.meta.name, api::to_value(made.config), *made.resource_name};
      const std::string key = network.key();
      networks.try_emplace(key, std::move(network));
    }
  }

  std::string first_error() const {
    for (const doc::Diagnostic& one : diagnostics.all())
      if (one.severity == doc::Severity::kError)
        return fmt::format("; one thing that is wrong there: {}: {}", one.span.to_string(), one.message);
    return "";
  }
};

ManifestSource::ManifestSource(os::Kernel& kernel, state::Store& store, std::string directory, node::Settings settings)
    : kernel_(kernel), store_(store), directory_(std::move(directory)), settings_(std::move(settings)) {
  while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
  if (settings_.node.empty()) settings_.node = kernel_.host_name();
}
ManifestSource::~ManifestSource() = default;

Result<std::shared_ptr<ManifestSource::Snapshot>> ManifestSource::current() {
  Texts texts;
  std::string handed = TRY(node::handed_over_text(store_));
  Result<void> read = read_folder(kernel_.files(), directory_, 0, texts);
  // Who hands everything over needs no folder.
  if (!read.has_value() && (handed.empty() || read.error().code != Code::kNotFound))
    return fail(std::move(std::move(read).context("reading the manifests in {}", directory_).error()));
  std::lock_guard lock(mutex_);
  if (snapshot_ != nullptr && snapshot_->texts == texts && snapshot_->handed == handed) return snapshot_;
  auto fresh = std::make_shared<Snapshot>();
  fresh->texts = std::move(texts);
  fresh->handed_over = TRY(node::read_handed_over(handed));
  std::erase_if(fresh->handed_over,
                [&](const doc::SourcePtr& source) { return source->name.starts_with(directory_ + "/"); });
  fresh->handed = std::move(handed);
  fresh->read({.resource_prefix = settings_.resource_prefix, .soft_rdma = settings_.soft_rdma});
  snapshot_ = fresh;
  return fresh;
}

Result<std::shared_ptr<ManifestSource::Snapshot>> ManifestSource::last() {
  {
    std::lock_guard lock(mutex_);
    if (snapshot_ != nullptr) return snapshot_;
  }
  return current();
}

Result<PodInfo> ManifestSource::pod(const std::string& ns, const std::string& name, const std::string& uid) {
  auto now = TRY(current());
  auto found = now->pods.find(ns + "/" + name);
  // The kubelet appends the node's name to the names of pods from its own manifests.
  std::string ending = "-" + settings_.node;
  if (found == now->pods.end() && name.size() > ending.size() && name.ends_with(ending))
    found = now->pods.find(ns + "/" + name.substr(0, name.size() - ending.size()));
  if (found == now->pods.end())
    return fail(Code::kNotFound, "there is no pod {}/{} in {}{}{}", ns, name, directory_,
                now->handed.empty() ? "" : ", nor in what `railbed up` handed over", now->first_error());
  PodInfo pod = found->second;
  if (!pod.uid.empty() && !uid.empty() && pod.uid != uid)
    return fail(Code::kNotFound, "pod {}/{} in {} is another one: its uid is {}, not {}", ns, name, directory_, pod.uid,
                uid);
  if (pod.uid.empty()) pod.uid = uid;
  return pod;
}

Result<NetworkInfo> ManifestSource::network(const std::string& ns, const std::string& name) {
  auto now = TRY(last());
  auto found = now->networks.find(ns + "/" + name);
  if (found == now->networks.end())
    return fail(Code::kNotFound, "there is no network {}/{} in {}{}", ns, name, directory_, now->first_error());
  return found->second;
}

bool ManifestSource::soft_rdma() {
  if (settings_.soft_rdma) return true;
  Result<std::shared_ptr<Snapshot>> now = last();
  if (!now.has_value()) return false;
  return std::ranges::any_of((*now)->objects.nodes, [&](const api::Node& node) {
    return *node.meta.name == settings_.node && node.soft_rdma.value;
  });
}

Result<std::vector<Device>> ManifestSource::devices(const DeviceRequest& request, const kubelet::GivenDevices&,
                                                    const plan::InUse& in_use) {
  const auto& [pod, resource, count] = request;
  auto now = TRY(last());
  for (bool fresh : {false, true}) {
    if (fresh || now->resolved == nullptr) {
      now->resolved = node::look_at_vfs(kernel_, now->objects, settings_);
      fresh = true;
    }
    plan::InUse taken = in_use;
    std::vector<Device> chosen;
    Result<plan::PoolVf> vf = fail(Code::kNotFound, "no device is asked for");
    while (chosen.size() < count) {
      vf = node::free_vf(kernel_, *now->resolved, resource, pod.key(), taken);
      if (!vf.has_value()) break;
      taken[vf->address] = pod.key();
      chosen.push_back({vf->address.to_string(), *vf});
    }
    if (chosen.size() == count) return chosen;
    if (fresh) return fail(std::move(vf.error()));
  }
  return fail(Code::kInternal, "devices of {}", resource);
}

Result<std::shared_ptr<const AddressClaims>> ManifestSource::address_claims() {
  return TRY(last())->claims;
}

Result<void> ManifestSource::publish_status(const PodInfo&, const std::string& sandbox, const Value& status) {
  const std::string key = std::string(kNetworkStatusNote) + sandbox;
  return status.is_null() ? store_.forget_note(key) : store_.put_note(key, annotation_text(status));
}

}  // namespace railbed::agent
