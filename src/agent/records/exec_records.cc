// SPDX-License-Identifier: Apache-2.0
#include "agent/records/exec_records.h"

#include "attach/attach.h"
#include "cni/version.h"
#include "doc/json.h"
#include "doc/members.h"

namespace railbed::agent {
namespace {

using doc::Value;
using state::Attachment;
using state::AttachmentStatus;

Result<Value> parsed(const std::string& text, const Attachment& record) {
  doc::Diagnostics unread;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"record", text}), unread);
  if (value && value->is_object()) return *std::move(value);
  return fail(Code::kInvalid, "the record of {} of pod {} cannot be read", record.interface, record.pod);
}

cni::Version version_or_latest(const std::string& text) {
  auto version = cni::parse_version(text);
  return version.has_value() ? *version : cni::kLatest;
}

}  // namespace

bool is_of_program(const Attachment& record) {
  return record.type.starts_with(attach::kProgramPrefix);
}

Attachment program_record(const std::string& sandbox, const std::string& network, size_t position,
                          const Execution& execution, const std::string& version, const attach::NetnsRef& netns) {
  Value undo = Value::object();
  attach::put_netns(undo, netns.identity, netns.nsid);
  undo.set("container", execution.container_id);
  undo.set("ifname", execution.ifname);
  undo.set("args", execution.args);
  Value& path = undo.set("path", Value::array());
  for (const std::string& directory : execution.path) path.push(directory);
  undo.set("version", version);
  undo.set("config", execution.config);
  return {.pod = sandbox,
          .interface = fmt::format("{}{}#{}", attach::kProgramPrefix, execution.ifname, position),
          .netns = execution.netns,
          .network = network,
          .type = std::string(attach::kProgramPrefix) + execution.type,
          .status = AttachmentStatus::kBegun,
          .device = "",
          .resource = "",
          .undo = doc::to_json(undo),
          .result = ""};
}

bool is_of_earlier_boot(const Attachment& record) {
  return is_of_program(record) && record.netns.empty();
}

Result<void> begin_program(Engine& engine, const Attachment& record, const std::optional<MetaSandbox>& sandbox) {
  TRY(engine.records().put_program(record, sandbox));
  Result<Engine::Turn> turn = engine.turn(kTurnWait);
  Result<void> put = turn.has_value() ? turn->store().put_attachment(record) : fail(std::move(turn.error()));
  if (!put.has_value()) (void)engine.records().forget_programs({record});  // it is not going to run
  return put;
}

void conclude(Attachment& record, const cni::AddResult& result) {
  record.status = AttachmentStatus::kAttached;
  record.result = cni::to_json(result, cni::kLatest);
}

Result<void> conclude(Engine& engine, Attachment& record, const cni::AddResult& result,
                      const std::optional<MetaSandbox>& sandbox) {
  conclude(record, result);
  return engine.records().put_program(record, sandbox);
}

Result<std::optional<cni::AddResult>> result_of_program(const Attachment& record) {
  if (record.result.empty()) return std::optional<cni::AddResult>{};
  auto result = cni::read_result(record.result, cni::kLatest.to_string());
  if (result.has_value()) return std::optional<cni::AddResult>(std::move(*result));
  return fail(Code::kInvalid, "the record of {} of pod {}: {}", record.interface, record.pod, result.error().story());
}

Result<std::string> version_of(const Attachment& record) {
  return text_in(TRY(parsed(record.undo, record)), "version");
}

Result<Execution> execution_of(const Attachment& record, cni::Command command) {
  Value undo = TRY(parsed(record.undo, record));
  Execution execution{.command = command,
                      .type = record.type.substr(attach::kProgramPrefix.size()),
                      .container_id = text_in(undo, "container"),
                      .netns = record.netns,
                      .ifname = text_in(undo, "ifname"),
                      .args = text_in(undo, "args"),
                      .path = {},
                      .config = text_in(undo, "config")};
  if (const Value* path = undo.find("path"); path != nullptr && path->is_array())
    for (const Value& directory : *path->as_array())
      if (directory.is_string()) execution.path.push_back(*directory.as_string());
  std::optional<cni::AddResult> result = TRY(result_of_program(record));
  if (!result.has_value()) return execution;
  // CHECK and DEL need the result of the whole chain.
  Value config = TRY(parsed(execution.config, record));
  config.set("prevResult", cni::to_value(*result, version_or_latest(text_in(undo, "version"))));
  execution.config = doc::to_json(config);
  return execution;
}

namespace {

// A namespace that is not at its path is passed as none: a plugin must not enter another one that has the path now.
Result<void> pass_own_netns(os::Kernel& kernel, const Attachment& record, Execution& execution) {
  if (execution.netns.empty()) return {};
  const attach::NetnsRef ref = attach::netns_ref_of(record);
  attach::Namespaces spaces(kernel);
  spaces.open({ref});
  const attach::NetnsPlace& place = spaces.place_of(ref);
  if (place.error.has_value()) return fail(*place.error);
  if (place.state != attach::NetnsState::kThere) execution.netns.clear();
  return {};
}

}  // namespace

ProgramsUndone undo_programs(RunningPlugins& plugins, const std::vector<Attachment>& records) {
  ProgramsUndone undone;
  for (auto record = records.rbegin(); record != records.rend(); ++record) {
    Result<Execution> execution = execution_of(*record, cni::Command::kDel);
    Result<void> done;
    if (!execution.has_value()) {
      done = fail(execution.error());
    } else {
      done = pass_own_netns(plugins.kernel(), *record, *execution);
      if (done.has_value()) done = execute(plugins, *execution);
    }
    if (done.has_value())
      undone.done.push_back(*record);
    else
      undone.failures.push_back({*record, std::move(done.error())});
  }
  return undone;
}

Result<ProgramsUndone> give_back_programs(Engine& engine, const std::vector<Attachment>& records) {
  ProgramsUndone undone = undo_programs(engine.running_plugins(), records);
  TRY(engine.records().forget_programs(undone.done));
  Engine::Turn turn = TRY(engine.turn(kTurnWait));
  for (const Attachment& one : undone.done) TRY(turn.store().forget_attachment(one.pod, one.interface));
  TRY(turn.store().scrub());
  return undone;
}

}  // namespace railbed::agent
