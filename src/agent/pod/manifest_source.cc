// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/manifest_source.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <span>

#include "agent/pod/network_status.h"
#include "api/attachment.h"
#include "api/ipam.h"
#include "api/load.h"
#include "doc/yaml.h"
#include "node/handed_manifests.h"
#include "node/planned_addresses.h"
#include "node/pod_vfs.h"
#include "node/resource_prefix.h"

namespace railbed::agent {
namespace {

using doc::Value;

constexpr int kMostFolders = 8;  // one in another

using Texts = std::map<std::string, std::string>;

bool is_manifest(const std::string& name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

// What cannot be read is left out and named in `unread`: it must not keep the other files' pods from being attached.
Result<void> read_folder(const os::FileTree& files, const std::string& folder, int depth, Texts& texts,
                         std::map<std::string, Error>& unread) {
  for (const std::string& name : TRY(files.list(folder))) {
    if (name.starts_with(".")) continue;
    std::string path = folder + "/" + name;
    if (is_manifest(name)) {
      Result<std::string> text = files.read(path);
      // A file that is being replaced is missing for a moment.
      if (text.has_value())
        texts.emplace(path, std::move(*text));
      else if (text.error().code != Code::kNotFound)
        unread.emplace(path, std::move(text.error()));
    } else if (depth < kMostFolders && files.list(path).has_value()) {
      TRY(read_folder(files, path, depth + 1, texts, unread));
    }
  }
  return {};
}

std::string text_of(const Value* object, std::string_view key) {
  const Value* value = object != nullptr && object->is_object() ? object->find(key) : nullptr;
  return value != nullptr && value->is_string() ? *value->as_string() : "";
}

// The annotations by which the pod chooses networks; nullopt: it has none of them.
std::optional<std::string> choice_of(const PodInfo& pod) {
  std::optional<std::string> choice;
  for (const char* key : kChoiceKeys)
    if (auto found = pod.annotations.find(key); found != pod.annotations.end())
      if (!choice.has_value() || choice->empty()) choice = found->second;
  return choice;
}

}  // namespace

// What the directory and the state have, not understood yet.
struct ManifestSource::Read {
  Texts texts;
  std::map<std::string, Error> unread;
  std::optional<Error> folder;  // why the directory could not be listed
  std::string handed;
  std::string prefix;  // of resource names
};

struct ManifestSource::Snapshot {
  Texts texts;
  std::map<std::string, Error> unread;  // files
  std::optional<Error> folder;          // why the directory could not be listed
  FolderReading reading;
  std::string handed;                       // as it is in the state
  std::string prefix;                       // of resource names
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
    for (const doc::SourcePtr& source : sources) {
      doc::Diagnostics of_file;
      const size_t before = documents.size();
      for (Value& document : doc::parse_yaml(source, of_file)) documents.push_back(std::move(document));
      if (texts.contains(source->name)) note_damage(*source, of_file, std::span(documents).subspan(before));
      diagnostics.append(std::move(of_file));
    }
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

  void note_damage(const doc::Source& source, const doc::Diagnostics& found, std::span<const Value> read) {
    std::string why = blank_reason(source.text);
    for (const doc::Diagnostic& one : found.all())
      if (why.empty() && one.severity == doc::Severity::kError)
        why = fmt::format("line {}: {}", one.span.line, one.message);
    if (why.empty() && std::ranges::none_of(read, [](const Value& one) { return !text_of(&one, "kind").empty(); }))
      why = "it contains no manifest";
    if (!why.empty()) reading.damaged.emplace(source.name, std::move(why));
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
    if (kind == "Pod") {
      PodInfo& pod = pods[ns + "/" + name];
      pod = {.ns = ns, .name = name, .uid = text_of(metadata, "uid"), .annotations = annotations_of(object)};
      const std::string file = object.span.source != nullptr ? object.span.source->name : "";
      reading.pods[pod.key()] = {.file = file, .networks = choice_of(pod)};
    }
    if (kind == "NetworkAttachmentDefinition")
      networks.insert_or_assign(ns + "/" + name, read_network(ns, name, object));
  }

  // Turns SriovNetworks into definitions; a definition in the manifests has precedence.
  void render(const std::string& resource_prefix) {
    for (const api::SriovNetwork& one : objects.networks) {
      api::NetworkAttachmentDefinition made = api::render(one, resource_prefix);
      NetworkInfo network{*made.meta.ns, *made.meta.name, api::to_value(made.config), *made.resource_name};
      const std::string key = network.key();
      networks.try_emplace(key, std::move(network));
    }
  }

  std::string first_error() const {
    for (const doc::Diagnostic& one : diagnostics.all())
      if (one.severity == doc::Severity::kError)
        return fmt::format("; one of the errors: {}: {}", one.span.to_string(), one.message);
    return "";
  }
};

ManifestSource::ManifestSource(os::Kernel& kernel, state::Store& store, std::string directory, node::Settings settings)
    : kernel_(kernel), store_(store), directory_(std::move(directory)), settings_(std::move(settings)) {
  while (directory_.size() > 1 && directory_.back() == '/') directory_.pop_back();
  if (settings_.node.empty()) settings_.node = kernel_.host_name();
}
ManifestSource::~ManifestSource() = default;

int64_t ManifestSource::seconds_of_the_clock() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void ManifestSource::remember_in(os::Disk& disk, std::string file, Seconds now_s) {
  std::lock_guard lock(mutex_);
  disk_ = &disk;
  now_s_ = std::move(now_s);
  seen_file_ = std::move(file);
  Result<std::string> text = disk_->read(seen_file_);
  if (!text.has_value() && text.error().code == Code::kNotFound) return;
  Result<SeenPods> seen = text.has_value() ? read_seen_pods(*text) : fail(std::move(text.error()));
  if (seen.has_value())
    seen_ = *std::move(seen);
  else
    seen_problem_ = std::move(seen).context("reading {}", seen_file_).error().story();
}

Result<std::shared_ptr<ManifestSource::Snapshot>> ManifestSource::current() {
  Read read;
  read.handed = TRY(node::handed_over_text(store_));
  read.prefix = TRY(node::known_prefixes(&store_)).chosen(settings_.resource_prefix);
  if (Result<void> all = read_folder(kernel_.files(), directory_, 0, read.texts, read.unread); !all.has_value())
    read.folder = std::move(std::move(all).context("reading the manifests in {}", directory_).error());
  std::lock_guard lock(mutex_);
  auto now = TRY(understand(std::move(read)));
  see(*now);
  return now;
}

Result<std::shared_ptr<ManifestSource::Snapshot>> ManifestSource::understand(Read read) {
  const auto story = [](const std::optional<Error>& error) { return error.has_value() ? error->story() : ""; };
  if (snapshot_ != nullptr && snapshot_->texts == read.texts && snapshot_->handed == read.handed &&
      snapshot_->prefix == read.prefix && story(snapshot_->folder) == story(read.folder) &&
      std::ranges::equal(std::views::keys(snapshot_->unread), std::views::keys(read.unread)))
    return snapshot_;
  auto fresh = std::make_shared<Snapshot>();
  fresh->texts = std::move(read.texts);
  fresh->unread = std::move(read.unread);
  fresh->folder = std::move(read.folder);
  fresh->handed_over = TRY(node::read_handed_over(read.handed));
  std::erase_if(fresh->handed_over,
                [&](const doc::SourcePtr& source) { return source->name.starts_with(directory_ + "/"); });
  fresh->handed = std::move(read.handed);
  for (const auto& [path, error] : fresh->unread) fresh->reading.damaged.emplace(path, error.story());
  if (fresh->folder.has_value())
    fresh->reading.unread = fresh->folder->story();
  else if (fresh->texts.empty() && fresh->unread.empty())
    fresh->reading.unread = fmt::format("there is no manifest in {}", directory_);
  fresh->prefix = std::move(read.prefix);
  fresh->read({.resource_prefix = fresh->prefix, .soft_rdma = settings_.soft_rdma});
  snapshot_ = fresh;
  return fresh;
}

void ManifestSource::see(const Snapshot& now) {
  SeenPods fresh = agent::see(seen_, now.reading, now_s_());
  // Pods that `up` handed over are in the state.
  std::erase_if(fresh, [&](const auto& one) { return !one.second.file.starts_with(directory_ + "/"); });
  if (fresh == seen_ && !unsaved_) return;
  seen_ = std::move(fresh);
  if (disk_ == nullptr) return;
  Result<void> written = disk_->make_directories(std::filesystem::path(seen_file_).parent_path().string(), 0700);
  if (written.has_value()) written = disk_->replace(seen_file_, seen_pods_text(seen_), 0600);
  if (!written.has_value())
    seen_problem_ = written.error().story();
  else if (unsaved_)
    seen_problem_.clear();
  unsaved_ = !written.has_value();
}

std::optional<std::string> ManifestSource::lost(const Snapshot& now, const std::string& pod) {
  std::lock_guard lock(mutex_);
  return lost_networks(seen_, now.reading, pod, now_s_());
}

Result<std::map<std::string, std::string>> ManifestSource::look() {
  auto now = TRY(current());
  std::lock_guard lock(mutex_);
  std::map<std::string, std::string> worse = now->reading.damaged;
  if (!seen_.empty() && !now->reading.unread.empty()) worse[directory_] = now->reading.unread;
  for (const auto& [key, pod] : seen_)
    if (auto why = lost_networks(seen_, now->reading, key, now_s_())) worse["pod " + key] = *why;
  if (!seen_problem_.empty()) worse[seen_file_] = seen_problem_;
  return worse;
}

std::vector<std::string> ManifestSource::not_ready() {
  std::lock_guard lock(mutex_);
  if (snapshot_ == nullptr || seen_.empty() || snapshot_->reading.unread.empty()) return {};
  return {fmt::format("{} pods of the manifests had networks but cannot be attached: {}", seen_.size(),
                      snapshot_->reading.unread)};
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
  const std::string plain =
      name.size() > ending.size() && name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
  if (found == now->pods.end()) found = now->pods.find(ns + "/" + plain);
  const std::string key = found != now->pods.end() ? found->first : ns + "/" + name;
  for (const std::string& one : {key, ns + "/" + plain})
    if (auto why = lost(*now, one))
      return fail(Error{.code = Code::kBusy,
                        .message = *std::move(why),
                        .hint = "restore the file; to start the pod without networks, set its annotation "
                                "k8s.v1.cni.cncf.io/networks to an empty value"});
  if (found == now->pods.end()) {
    if (now->folder.has_value() && (now->handed.empty() || now->folder->code != Code::kNotFound))
      return fail(*now->folder);
    // It may be in one of these.
    if (!now->unread.empty()) return fail(now->unread.begin()->second);
    return fail(Code::kNotFound, "there is no pod {}/{} in {}{}{}", ns, name, directory_,
                now->handed.empty() ? "" : ", nor in what `railbed up` handed over", now->first_error());
  }
  PodInfo pod = found->second;
  if (!pod.uid.empty() && !uid.empty() && pod.uid != uid)
    return fail(Code::kNotFound, "pod {}/{} in {} has the uid {}, not {}", ns, name, directory_, pod.uid, uid);
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

std::unique_ptr<node::Resolved> ManifestSource::look_at_vfs(const Snapshot& now) const {
  node::Settings settings = settings_;
  settings.resource_prefix = now.prefix;
  return node::look_at_vfs(kernel_, now.objects, settings);
}

Result<std::vector<Device>> ManifestSource::devices(const DeviceRequest& request, const kubelet::GivenDevices&,
                                                    const plan::InUse& in_use) {
  const auto& [pod, resource, asked] = request;
  auto now = TRY(last());
  for (bool fresh : {false, true}) {
    if (fresh || now->resolved == nullptr) {
      now->resolved = look_at_vfs(*now);
      fresh = true;
    }
    plan::InUse taken = in_use;
    std::vector<Device> chosen(asked.size());
    std::optional<Error> failure;
    // Those that the pod names first, so that no other of its networks gets them.
    for (const bool named : {true, false})
      for (size_t i = 0; i < asked.size() && !failure.has_value(); ++i) {
        if (asked[i].empty() == named) continue;
        Result<plan::PoolVf> vf = node::free_vf(kernel_, *now->resolved, {resource, pod.key(), asked[i]}, taken);
        if (!vf.has_value()) {
          failure = std::move(vf.error());
          break;
        }
        taken[vf->address] = pod.key();
        chosen[i] = {vf->address.to_string(), *vf};
      }
    if (!failure.has_value()) return chosen;
    if (fresh) return fail(*std::move(failure));
  }
  return fail(Code::kInternal, "devices of {}", resource);
}

Result<bool> ManifestSource::offers(const PciAddress& device) {
  auto now = TRY(last());
  if (now->resolved == nullptr) now->resolved = look_at_vfs(*now);
  return node::is_in_a_pool(kernel_, *now->resolved, device);
}

Result<std::shared_ptr<const AddressClaims>> ManifestSource::address_claims() {
  return TRY(last())->claims;
}

Result<void> ManifestSource::publish_status(const PodInfo&, const std::string& sandbox, const Value& status) {
  const std::string key = std::string(kNetworkStatusNote) + sandbox;
  return status.is_null() ? store_.forget_note(key) : store_.put_note(key, annotation_text(status));
}

}  // namespace railbed::agent
