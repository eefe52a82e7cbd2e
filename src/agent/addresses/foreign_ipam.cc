// SPDX-License-Identifier: Apache-2.0
#include "agent/addresses/foreign_ipam.h"

#include <algorithm>

#include "agent/records/records.h"
#include "api/ipam_parse.h"
#include "attach/attach.h"
#include "attach/json_fields.h"

namespace railbed::agent {
namespace {

using cni::Outcome;
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

Outcome<void> undo(Engine& engine, const Attachment& record) {
  ProgramsUndone undone = TRY_CNI(give_back_programs(engine, {record}));
  if (!undone.failures.empty()) return std::unexpected(std::move(undone.failures.front().why));
  Engine::Turn turn = TRY_CNI(engine.turn(kTurnWait));
  TRY_CNI(forget_pod_if_empty(turn.store(), record.pod));
  return {};
}

Outcome<cni::AddResult> ask(const RunningPlugins::Slot& slot, const ForeignIpam& wanted) {
  cni::AddResult answer = TRY_CNI(execute_add(slot, wanted.call, wanted.version));
  if (!answer.addresses.empty()) return answer;
  return std::unexpected(
      cni::Failure{cni::kDecode, fmt::format("plugin {}: the answer has no address", wanted.call.type)});
}

Outcome<ForeignAddresses> concluded(Engine& engine, const RunningPlugins::Slot& slot, const ForeignIpam& wanted,
                                    const Attachment& record) {
  ForeignAddresses done = given(TRY_CNI(ask(slot, wanted)), record);
  TRY_CNI(conclude(engine, done.record, done.addresses.result, wanted.sandbox));
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

Outcome<ForeignAddresses> acquire_foreign(Engine& engine, const ForeignIpam& wanted) {
  if (std::optional<Attachment> before = TRY_CNI(recorded(engine, wanted.key, wanted.call.ifname))) {
    std::optional<cni::AddResult> answer = TRY_CNI(result_of_program(*before));
    if (answer.has_value() && before->status == AttachmentStatus::kAttached && !is_of_earlier_boot(*before))
      return given(*answer, std::move(*before));
    TRY_CNI(undo(engine, *before));
  }
  // A plugin that cannot be run leaves nothing to undo, so this check comes before the record.
  TRY_CNI(find_plugin(engine.running_plugins(), wanted.call.type, wanted.call.path));
  const attach::NetnsRef netns = TRY_CNI(attach::netns_ref_at(engine.kernel(), wanted.call.netns));
  Attachment record = program_record(wanted.key, wanted.network, 0, wanted.call, wanted.version, netns);
  record.interface = record_name(wanted.call.ifname);
  Outcome<ForeignAddresses> done;
  {
    const RunningPlugins::Slot slot = TRY_CNI(engine.running_plugins().slot(wanted.call.type));
    TRY_CNI(begin_program(engine, record, wanted.sandbox));
    done = concluded(engine, slot, wanted, record);
  }
  if (done.has_value()) return done;
  cni::Failure why = std::move(done.error());
  if (Outcome<void> undone = undo(engine, record); !undone.has_value())
    why.details += fmt::format("{}the plugin's DEL also failed ({}); the DEL of the pod will retry it",
                               why.details.empty() ? "" : "; ", undone.error().message);
  return std::unexpected(std::move(why));
}

Outcome<void> release_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname) {
  std::optional<Attachment> record = TRY_CNI(recorded(engine, key, ifname));
  if (!record.has_value()) return {};
  return undo(engine, *record);
}

Outcome<void> undo_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname) {
  {
    Engine::Turn turn = TRY_CNI(engine.turn(kTurnWait));
    for (const Attachment& one : TRY_CNI(turn.store().attachments_of(key)))
      if (one.interface == ifname) return {};
  }
  return release_foreign_ipam(engine, key, ifname);
}

}  // namespace railbed::agent
