// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/restore_records.h"

#include <algorithm>
#include <set>

#include "agent/addresses/address_notes.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"

namespace railbed::agent {
namespace {

using Key = std::pair<std::string, std::string>;  // pod and interface

// Without those that only look begun since the state has lost its end: a record on disk has how the ADD ended.
Result<std::set<Key>> keys_of(state::Store& store) {
  const bool lost = TRY(store.note(state::kLostItsEnd)).has_value();
  std::set<Key> keys;
  for (const state::Attachment& one : TRY(store.attachments()))
    if (!lost || one.status != state::AttachmentStatus::kBegun) keys.emplace(one.pod, one.interface);
  return keys;
}

Result<std::vector<DurableProgram>> missing_in(state::Store& store, const DurableRecords::Content& content,
                                               const std::string& boot_id) {
  const std::set<Key> there = TRY(keys_of(store));
  std::vector<DurableProgram> missing;
  for (const DurableProgram& one : content.programs) {
    if (there.contains({one.record.pod, one.record.interface})) continue;
    missing.push_back(one);
    // Another namespace may have the path by now.
    if (one.boot_id != boot_id) missing.back().record.netns.clear();
  }
  return missing;
}

Result<void> put(state::Store& store, const DurableProgram& program) {
  TRY(store.put_attachment(program.record));
  const std::string& key = program.record.pod;
  if (!program.sandbox.has_value() || TRY(sandbox_note(store, key)).has_value()) return {};
  return put_sandbox_note(store, {.key = key,
                                  .network = program.sandbox->network,
                                  .ifname = program.sandbox->ifname,
                                  .netns = program.record.netns,
                                  .pod_uid = program.sandbox->pod_uid,
                                  .device_info = {}});
}

Result<void> write_missing(state::Store& store, const DurableRecords::Content& content, DurableRecords& records) {
  std::set<Key> on_disk;
  for (const DurableProgram& one : content.programs) on_disk.emplace(one.record.pod, one.record.interface);
  for (const state::Attachment& one : TRY(store.attachments())) {
    if (!is_of_program(one) || on_disk.contains({one.pod, one.interface})) continue;
    std::optional<MetaSandbox> sandbox;
    if (auto note = TRY(sandbox_note(store, one.pod)); note.has_value())
      sandbox = MetaSandbox{.network = note->network, .ifname = note->ifname, .pod_uid = note->pod_uid};
    TRY(records.put_program(one, sandbox));
  }
  return {};
}

}  // namespace

Result<std::vector<DurableProgram>> programs_to_restore(state::Store& store, DurableRecords& records) {
  return missing_in(store, TRY(records.read()), records.boot_id());
}

Result<RestoredRecords> restore_records(state::Store& store, DurableRecords& records) {
  const DurableRecords::Content content = TRY(records.read());
  RestoredRecords restored{.warnings = content.unread};
  const std::vector<DurableProgram> missing = TRY(missing_in(store, content, records.boot_id()));
  if (auto written = write_missing(store, content, records); !written.has_value())
    restored.warnings.push_back(written.error().story());
  auto transaction = TRY(state::Transaction::begin(store));
  for (const DurableProgram& one : missing) {
    TRY(put(store, one));
    ++(is_of_earlier_boot(one.record) ? restored.of_earlier_boots : restored.of_this_boot);
  }
  for (const auto& [path, network] : content.directories) TRY(store.put_note(kDirectoryNotes + path, network));
  TRY(transaction.commit());
  return restored;
}

}  // namespace railbed::agent
