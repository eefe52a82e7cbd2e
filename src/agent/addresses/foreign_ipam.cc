// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/foreign_ipam.h"

#include <algorithm>

#include "agent/records/records.h"
#include "api/ipam_parse.h"
#include "attach/attach.h"
#include "attach/json_fields.h"

namespace railbed::agent {
namespace {

using doc::Value;
using state::Attachment;
using state::AttachmentStatus;

constexpr std::string_view kIpamSuffix = "#ipam";

std::string record_name(const std::string& ifname) {
  return fmt::format("{}{}{}", attach::kProgramPrefix, ifname, kIpamSuffix);
}

Result<std::optional<Attachment>> recorded(Engine& engine, const std::string& key, const std::string& ifname) {
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  for (Attachment& one : TRY(turn.store().attachments_of(key)))
    if (one.interface == record_name(ifname)) return std::optional(std::move(one));
  return std::optional<Attachment>{};
}

ForeignAddresses given(const cni::AddResult& answer, Attachment record) {
  ForeignAddresses given;
  for (const cni::Address& one : answer.addresses) {
    given.addresses.assigned.push_back({one.address, one.gateway, ""});
    given.addresses.result.addresses.push_back({one.address, one.gateway, std::nullopt});
  }
  given.addresses.result.routes = answer.routes;
  given.addresses.result.dns = answer.dns;
  given.record = std::move(record);
  return given;
}

Result<void> undo(Engine& engine, const Attachment& record) {
  ProgramsUndone undone = TRY(give_back_programs(engine, {record}));
  if (!undone.failures.empty()) return fail(std::move(undone.failures.front().why));
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  TRY(forget_pod_if_empty(turn.store(), record.pod));
  return {};
}

Result<cni::AddResult> ask(const RunningPlugins::Slot& slot, const ForeignIpam& wanted) {
  cni::AddResult answer = TRY(execute_add(slot, wanted.call, wanted.version));
  if (!answer.addresses.empty()) return answer;
  return cni::fail_with(cni::kDecode, fmt::format("plugin {}: the answer has no address", wanted.call.type));
}

Result<ForeignAddresses> concluded(Engine& engine, const RunningPlugins::Slot& slot, const ForeignIpam& wanted,
                                   const Attachment& record) {
  ForeignAddresses done = given(TRY(ask(slot, wanted)), record);
  TRY(conclude(engine, done.record, done.addresses.result, wanted.sandbox));
  return done;
}

}  // namespace

std::optional<std::string> foreign_ipam(const Value& plugin) {
  const Value* ipam = plugin.is_object() ? plugin.find("ipam") : nullptr;
  if (ipam == nullptr || !ipam->is_object()) return std::nullopt;
  std::string type = doc::text_in(*ipam, "type");
  if (type.empty() || api::ipam_type(type).has_value()) return std::nullopt;
  return type;
}

bool is_foreign_ipam(const Attachment& record, const std::string& ifname) {
  return record.interface == record_name(ifname);
}

std::optional<std::string> interface_of_foreign_ipam(const Attachment& record) {
  std::string_view name = record.interface;
  if (!name.starts_with(attach::kProgramPrefix) || !name.ends_with(kIpamSuffix)) return std::nullopt;
  name.remove_prefix(attach::kProgramPrefix.size());
  name.remove_suffix(kIpamSuffix.size());
  return std::string(name);
}

std::unique_ptr<Engine::ContainerLock> ipam_lock(Engine& engine, const std::string& container) {
  return engine.container("ipam/" + container);
}

Result<ForeignAddresses> acquire_foreign(Engine& engine, const ForeignIpam& wanted) {
  if (std::optional<Attachment> before = TRY(recorded(engine, wanted.key, wanted.call.ifname))) {
    std::optional<cni::AddResult> answer = TRY(result_of_program(*before));
    if (answer.has_value() && before->status == AttachmentStatus::kAttached && !is_of_earlier_boot(*before))
      return given(*answer, std::move(*before));
    TRY(undo(engine, *before));
  }
  // A plugin that cannot be run leaves nothing to undo, so this check comes before the record.
  TRY(find_plugin(engine.running_plugins(), wanted.call.type, wanted.call.path));
  const attach::NetnsRef netns = TRY(attach::netns_ref_at(engine.kernel(), wanted.call.netns));
  Attachment record = program_record(wanted.key, wanted.network, 0, wanted.call, wanted.version, netns);
  record.interface = record_name(wanted.call.ifname);
  Result<ForeignAddresses> done;
  {
    const RunningPlugins::Slot slot = TRY(engine.running_plugins().slot(wanted.call.type));
    TRY(begin_program(engine, record, wanted.sandbox));
    done = concluded(engine, slot, wanted, record);
  }
  if (done.has_value()) return done;
  Error why = std::move(done.error());
  if (Result<void> undone = undo(engine, record); !undone.has_value())
    cni::add_hint(why, fmt::format("the plugin's DEL also failed ({}); the DEL of the pod will retry it",
                                   undone.error().story()));
  return fail(std::move(why));
}

Result<void> release_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname) {
  std::optional<Attachment> record = TRY(recorded(engine, key, ifname));
  if (!record.has_value()) return {};
  return undo(engine, *record);
}

Result<void> undo_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname) {
  {
    Engine::Turn turn = TRY(engine.turn(kTurnWait));
    for (const Attachment& one : TRY(turn.store().attachments_of(key)))
      if (one.interface == ifname) return {};
  }
  return release_foreign_ipam(engine, key, ifname);
}

}  // namespace railbed::agent
