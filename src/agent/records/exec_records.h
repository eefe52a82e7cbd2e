// SPDX-License-Identifier: Apache-2.0
// Records of executed plugins: what to run to undo them.
//
// Why: only such a plugin's DEL undoes its work, and that may have to be after a crash, after the manifests have
// changed, after the pod has ended or the machine has rebooted; so all that DEL needs is on disk (durable_records.h)
// and in the store before ADD runs. attach does not touch these records (attach::kProgramPrefix).
//
// After a boot, a record has no namespace.
// Threading: functions that take an Engine: not inside a Turn; the rest are plain values.
// Failure: Invalid for a record that cannot be read; as DurableRecords.
#pragma once

#include "agent/engine.h"
#include "agent/records/exec.h"
#include "attach/namespaces.h"
#include "cni/request.h"
#include "state/store.h"

namespace railbed::agent {

bool is_of_program(const state::Attachment& record);

// Plugin number `position` of the chain of interface `execution.ifname`; kBegun. `version` is the configuration's,
// `netns` is what is at `execution.netns`.
state::Attachment program_record(const std::string& sandbox, const std::string& network, size_t position,
                                 const Execution& execution, const std::string& version,
                                 const attach::NetnsRef& netns = {});
// Whether its ADD was in an earlier boot: the namespace is gone, and DEL waits for the runtime, which knows the
// container.
bool is_of_earlier_boot(const state::Attachment& record);

// Before the program runs: its record, on disk first.
Result<void> begin_program(Engine& engine, const state::Attachment& record, const std::optional<MetaSandbox>& sandbox);
// To be called when the chain has ended well: DEL and CHECK need its result.
void conclude(state::Attachment& record, const cni::AddResult& result);
// The same, and on disk. The caller puts the record into the store
// once all else is made, too.
Result<void> conclude(Engine& engine, state::Attachment& record, const cni::AddResult& result,
                      const std::optional<MetaSandbox>& sandbox);
// The result of the chain; nullopt before it has ended.
Result<std::optional<cni::AddResult>> result_of_program(const state::Attachment& record);

// The call that undoes (kDel) or checks (kCheck) the record.
Result<Execution> execution_of(const state::Attachment& record, cni::Command command);
Result<std::string> version_of(const state::Attachment& record);

// Runs DEL for all records, the last one first, even after failures. `done` gets those that may be forgotten.
struct ProgramsUndone {
  std::vector<state::Attachment> done;
  struct Failure {
    state::Attachment record;
    Error why;
  };
  std::vector<Failure> failures;
};
ProgramsUndone undo_programs(RunningPlugins& plugins, const std::vector<state::Attachment>& records);
// The same, and forgets those that are done, on disk first: of their configurations nothing is left in any file.
Result<ProgramsUndone> give_back_programs(Engine& engine, const std::vector<state::Attachment>& records);

}  // namespace railbed::agent
