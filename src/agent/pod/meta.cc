// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta.h"

#include <algorithm>
#include <set>

#include "agent/addresses/addresses_in_use.h"
#include "agent/addresses/foreign_ipam.h"
#include "agent/addresses/leftover_files.h"
#include "agent/addresses/shared_ranges.h"
#include "agent/context/metrics.h"
#include "agent/failures.h"
#include "agent/pod/interfaces.h"
#include "agent/pod/meta_attach.h"
#include "agent/pod/meta_give_back.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "agent/records/records.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using state::Attachment;
using state::AttachmentStatus;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kReadyWait{45};
constexpr milliseconds kReadyStep{100};
constexpr cni::Version kStatusSince{1, 1, 0};

// Not the lock of the container itself: executed plugins ask the agent for addresses in its name, which takes that one.
std::string lock_name(const cni::Request& request) {
  return "meta/" + request.container_id;
}

cni::Version version_in(const std::string& text) {
  auto version = cni::parse_version(text);
  return version.has_value() ? *version : cni::Version{0, 1, 0};
}

// The program that a plugin of a network needs: the plugin itself, or the IPAM type of one of railbed's plugins.
std::optional<std::string> executed_type(const doc::Value& plugin) {
  std::string type = text_in(plugin, "type");
  if (!is_native(type)) return type;
  return foreign_ipam(plugin);
}

doc::Value attachments_value(const std::vector<cni::AttachmentId>& attachments) {
  doc::Value all = doc::Value::array();
  for (const cni::AttachmentId& id : attachments) {
    doc::Value one = doc::Value::object();
    one.set("containerID", id.container_id);
    one.set("ifname", id.ifname);
    all.push(std::move(one));
  }
  return all;
}

Result<void> wait_until_ready(Engine& engine, const MetaConfig& config) {
  if (config.readiness_file.empty()) return {};
  os::Kernel& kernel = engine.kernel();
  const os::Deadline deadline = kernel.clock().now() + kReadyWait;
  while (!kernel.files().exists(config.readiness_file)) {
    if (kernel.clock().now() >= deadline)
      return cni::fail_with(cni::kTryAgainLater,
                            fmt::format("the default network is not ready: there is no {} after {} s",
                                        config.readiness_file, kReadyWait.count()),
                            "it is written by the default network's daemon; see the log of that daemon");
    if (engine.stopping().stop_requested())
      return cni::fail_with(cni::kTryAgainLater, "the agent is stopping",
                            "the default network is not ready yet; the next agent waits for it");
    kernel.clock().wait_until(kernel.clock().now() + kReadyStep);
  }
  return {};
}

// Programs whose ADD or DEL never ended, or whose namespace has ended; of one sandbox, or of all if `key` is empty. A
// namespace that has only lost its name has not: its pod uses what the program gave it.
Result<std::vector<Attachment>> programs_left(Engine& engine, const std::string& key) {
  std::vector<Attachment> records;
  {
    Engine::Turn turn = TRY(engine.turn(kTurnWait));
    records = key.empty() ? TRY(turn.store().attachments()) : TRY(turn.store().attachments_of(key));
  }
  std::erase_if(records, [](const Attachment& one) { return !is_of_program(one) || is_of_earlier_boot(one); });
  std::vector<attach::NetnsRef> refs;
  for (const Attachment& record : records) refs.push_back(attach::netns_ref_of(record));
  attach::Namespaces spaces(engine.kernel());
  spaces.open(refs);
  spaces.ask_for_ends();
  std::erase_if(records, [&](const Attachment& record) {
    return record.status == AttachmentStatus::kAttached &&
           spaces.place_of(attach::netns_ref_of(record)).state != attach::NetnsState::kEnded;
  });
  return records;
}

}  // namespace

Meta::Meta(os::Disk& disk, PodSource& pods, std::vector<DeviceSource*> devices)
    : disk_(disk), pods_(pods), devices_(std::move(devices)), device_info_(disk) {}

Result<PodNetworks> Meta::networks_of(Backends& backends, const MetaConfig& meta_config, const cni::Request& request,
                                      const cni::PluginConfig& config) {
  PhaseTimer timer(backends, request.type, Phase::kPrepare);
  return read_pod_networks(backends.engine.kernel(), pods_, meta_config, config, request);
}

Result<std::string> Meta::add(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  MetaConfig meta_config = TRY(read_meta_config(config));
  auto lock = backends.engine.container(lock_name(request));
  TRY(wait_until_ready(backends.engine, meta_config));
  PodNetworks pod = TRY(networks_of(backends, meta_config, request, config));
  const std::string key = sandbox_of(request).key();
  Result<cni::AddResult> result = attach_sandbox(
      backends, *this, {.request = request, .config = config, .meta_config = meta_config, .pod = std::move(pod)});
  if (result.has_value()) return cni::to_json(*result, config.version);
  Result<void> undone = give_back_sandbox(backends, *this, key);
  if (!undone.has_value())
    cni::add_hint(result.error(), fmt::format("rolling back failed ({}); DEL will retry it", undone.error().story()));
  return fail(std::move(result.error()));
}

Result<void> Meta::del(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  MetaConfig meta_config = TRY(read_meta_config(config));
  auto lock = backends.engine.container(lock_name(request));
  std::set<std::string> keys;
  bool known = false;
  // Records of programs outlive the state, after a reboot or where it was lost; those of what host-local gave do not.
  bool has_programs = false;
  {
    Engine::Turn turn = TRY(backends.engine.turn(kTurnWait));
    for (const std::string& key : TRY(keys_of_container(turn.store(), request))) keys.insert(key);
    // Even without interfaces there may be a note, under another name of the pod.
    if (keys.size() != 1 || TRY(turn.store().attachments_of(*keys.begin())).empty())
      for (const SandboxNote& note : TRY(sandbox_notes(turn.store())))
        if (state::Sandbox::of_key(note.key).container == request.container_id) keys.insert(note.key);
    for (const std::string& key : keys) {
      const std::vector<Attachment> records = TRY(turn.store().attachments_of(key));
      known = known || TRY(sandbox_note(turn.store(), key)).has_value() || !records.empty();
      has_programs = has_programs || std::ranges::any_of(records, is_of_program);
    }
  }
  if (!known) TRY(give_back_multus(backends, disk_, request, meta_config));
  for (const std::string& key : keys)
    if (known) TRY(give_back_sandbox(backends, *this, key));
  if (known && !has_programs) return {};
  Engine::Turn turn = TRY(backends.engine.turn(kTurnWait));
  if (!known) TRY(release_in_use(turn, request.netns, ""));
  // Of an ADD that failed, and could not give them back.
  for (const std::string& key : keys) TRY(release_addresses_of(turn, backends.host_local, key));
  TRY(backends.host_local.release_container(turn, request.container_id));
  return {};
}

Result<void> Meta::check(Backends& backends, const cni::Request& request) {
  auto lock = backends.engine.container(lock_name(request));
  if (TRY(check_interfaces(backends, request, {})) > 0) return {};
  return cni::fail_with(cni::kUnknownContainer,
                        fmt::format("container {} has no network that railbed attached", request.container_id));
}

Result<void> Meta::gc(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  TRY(cni::require_valid_attachments(config));
  MetaConfig meta_config = TRY(read_meta_config(config));
  std::vector<SandboxNote> notes;
  {
    Engine::Turn turn = TRY(backends.engine.turn(kTurnWait));
    notes = TRY(sandbox_notes(turn.store()));
  }
  Failures failures;
  for (const SandboxNote& note : notes) {
    std::string container = state::Sandbox::of_key(note.key).container;
    if (container.empty() || note.network != config.network) continue;
    cni::AttachmentId id{container, note.ifname};
    if (std::ranges::find(config.valid, id) != config.valid.end()) continue;
    auto lock = backends.engine.container("meta/" + container);
    Result<void> gone = give_back_sandbox(backends, *this, note.key);
    if (!gone.has_value()) failures.add(note.key, std::move(gone.error()));
  }
  if (auto done = gc_files(backends.engine, config.valid); !done.has_value()) failures.add("", done.error());
  if (auto done = gc_adopted(backends.engine, config.valid); !done.has_value()) failures.add("", done.error());
  // Only executed plugins of the default network get GC; railbed's own were cleaned up above.
  auto network = TRY(default_network(backends.engine.kernel(), pods_, meta_config, config, ""));
  if (network.has_value() && !network->list.disable_gc && version_in(network->list.version) >= kStatusSince)
    for (size_t i = 0; i < network->list.plugins.size(); ++i) {
      std::optional<std::string> type = executed_type(network->list.plugins[i]);
      if (!type.has_value()) continue;
      network->list.plugins[i].set("cni.dev/valid-attachments", attachments_value(config.valid));
      Result<void> done =
          execute(backends.engine.running_plugins(), {.command = cni::Command::kGc,
                                                      .type = *type,
                                                      .path = program_path(meta_config, request),
                                                      .config = cni::plugin_input(network->list, i, std::nullopt, {})});
      if (!done.has_value()) failures.add("", std::move(done.error()));
    }
  return failures.outcome();
}

Result<Adopted> Meta::adopt_from(Engine::Turn& turn, std::unique_ptr<ForeignAllocations> allocations) {
  adopted_ = std::move(allocations);
  return agent::adopt(turn, *adopted_, disk_);
}

// Frees addresses from before the switch: of containers here that the runtime no longer knows, and of pods elsewhere
// that the list no longer has.
Result<void> Meta::gc_adopted(Engine& engine, const std::vector<cni::AttachmentId>& valid) {
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  TRY(collect_adopted(turn, [&](const std::string& container) {
    return std::ranges::find(valid, container, &cni::AttachmentId::container_id) != valid.end();
  }));
  if (adopted_ != nullptr) TRY(agent::adopt(turn, *adopted_, disk_).context("--adopt"));
  return {};
}

// host-local's files of before the state began, whose containers are unknown by now.
Result<void> Meta::gc_files(Engine& engine, const std::vector<cni::AttachmentId>& valid) {
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  for (const Leftover& one : TRY(find_leftover_files(turn.kernel(), turn.store(), disk_)))
    if (one.removable && std::ranges::find(valid, one.container, &cni::AttachmentId::container_id) == valid.end())
      TRY(remove_leftover_file(turn.store(), disk_, one));
  return {};
}

Result<void> Meta::look_up_status(Engine& engine, const cni::Request& request, const cni::PluginConfig& config) {
  os::Kernel& kernel = engine.kernel();
  MetaConfig meta_config = TRY(read_meta_config(config));
  if (!meta_config.readiness_file.empty() && !kernel.files().exists(meta_config.readiness_file))
    return cni::fail_with(cni::kUnavailable,
                          fmt::format("the default network is not ready: no {}", meta_config.readiness_file));
  if (const std::string kubeconfig = unserved_kubeconfig(meta_config, pods_); !kubeconfig.empty())
    return cni::fail_with(cni::kUnavailable,
                          fmt::format("the configuration names a kubeconfig ({}), but this agent does not use the API "
                                      "server, so the networks of its pods are unknown",
                                      kubeconfig),
                          kUnknownPodHint);
  auto network = TRY(default_network(kernel, pods_, meta_config, config, "eth0"));
  if (!network.has_value()) return {};
  const std::vector<std::string> path = program_path(meta_config, request);
  const doc::Value* ipam = doc::object_in(network->list.plugins.front(), "ipam");
  TRY(ranges_ready(engine, ipam, network->name));
  for (size_t i = 0; i < network->list.plugins.size(); ++i) {
    std::optional<std::string> type = executed_type(network->list.plugins[i]);
    if (!type.has_value()) continue;
    TRY(find_plugin(engine.running_plugins(), *type, path));
    if (version_in(network->list.version) < kStatusSince) continue;
    TRY(execute(engine.running_plugins(), {.command = cni::Command::kStatus,
                                           .type = *type,
                                           .path = path,
                                           .config = cni::plugin_input(network->list, i, std::nullopt, {})}));
  }
  return {};
}

Result<void> Meta::status(Backends& backends, const cni::Request& request, const cni::PluginConfig& config) {
  Engine& engine = backends.engine;
  return statuses_.answer(engine.kernel().clock(), request.config,
                          [this, &engine, request, config] { return look_up_status(engine, request, config); });
}

// Requests are answered meanwhile, and an ADD in progress has records that look unfinished, too. So a container's
// records are read again while its lock keeps others away.
Result<void> Meta::recover_programs(Engine& engine, const std::string& key, std::vector<std::string>& lines) {
  const std::string container = state::Sandbox::of_key(key).container;
  auto lock = engine.container("meta/" + container);
  auto ipam = ipam_lock(engine, container);
  std::vector<Attachment> left = TRY(programs_left(engine, key));
  if (left.empty()) return {};
  Result<ProgramsUndone> undone = give_back_programs(engine, left);
  if (!undone.has_value()) {
    lines.push_back(fmt::format("{}: {}", key, undone.error().story()));
    return {};
  }
  for (const Attachment& record : undone->done)
    lines.push_back(fmt::format("{} {}: undone", record.pod, record.interface));
  for (const ProgramsUndone::Failure& one : undone->failures)
    lines.push_back(fmt::format("{} {}: {}", one.record.pod, one.record.interface, one.why.story()));
  return {};
}

Result<std::vector<std::string>> Meta::recover(Engine& engine) {
  std::vector<std::string> lines;
  std::set<std::string> keys;
  for (const Attachment& record : TRY(programs_left(engine, ""))) keys.insert(record.pod);
  for (const std::string& key : keys) TRY(recover_programs(engine, key, lines));
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  for (const SandboxNote& note : TRY(sandbox_notes(turn.store()))) {
    if (!TRY(turn.store().attachments_of(note.key)).empty()) continue;
    if (note.netns.empty() || turn.kernel().netns().open(note.netns).has_value()) continue;
    for (const std::string& file : note.device_info) TRY(device_info_.remove(file));
    state::Sandbox sandbox = state::Sandbox::of_key(note.key);
    if (size_t slash = sandbox.pod.find('/'); slash != std::string::npos) {
      TRY(pods_.publish_status({.ns = sandbox.pod.substr(0, slash), .name = sandbox.pod.substr(slash + 1)}, note.key,
                               doc::Value()));
      TRY(reservations_.reserve(turn, pods_, sandbox.pod));
    }
    TRY(forget_sandbox_note(turn.store(), note.key));
    TRY(forget_pod_if_empty(turn.store(), note.key));
    lines.push_back(fmt::format("{}: record removed, its namespace no longer exists", note.key));
  }
  return lines;
}

Result<std::string> meta_request(Backends& backends, Meta& meta, const cni::Request& request,
                                 const cni::PluginConfig& config) {
  switch (request.command) {
    case cni::Command::kAdd:
      return meta.add(backends, request, config);
    case cni::Command::kDel:
      TRY(meta.del(backends, request, config));
      return "";
    case cni::Command::kCheck:
      TRY(meta.check(backends, request));
      return "";
    case cni::Command::kGc:
      TRY(meta.gc(backends, request, config));
      return "";
    case cni::Command::kStatus:
      TRY(meta.status(backends, request, config));
      return "";
    case cni::Command::kVersion:
      break;
  }
  return "";
}

}  // namespace railbed::agent
