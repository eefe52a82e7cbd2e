// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/begun_records.h"

#include <algorithm>

#include "agent/addresses/address_notes.h"
#include "agent/records/exec_records.h"
#include "attach/identity.h"
#include "attach/namespaces.h"
#include "attach/record.h"

namespace railbed::agent {
namespace {

using state::Attachment;

Result<bool> is_in(os::Kernel& kernel, const os::Netns& netns, const Attachment& record) {
  const Result<attach::Before> before = attach::before_of(record);
  if (!before.has_value()) return false;
  const std::unique_ptr<os::LinkPort> port = TRY(kernel.netns().links(netns));
  const std::vector<os::Link> links = TRY(port->list(os::WithVfs::kNo));
  return std::ranges::any_of(
      links, [&](const os::Link& link) { return attach::is_same_link(link, *before, record.interface); });
}

Result<void> forget(state::Store& store, const Attachment& record) {
  const ipam::Owner owner{record.pod, record.interface.substr(0, record.interface.find('/'))};
  TRY(store.forget_attachment(record.pod, record.interface));
  TRY(store.forget_leases(owner.pod, owner.interface));
  // The files stay: they reserve the address for the container.
  for (const auto& [key, content] : TRY(store.notes(file_notes_of(owner)))) TRY(store.forget_note(key));
  return {};
}

}  // namespace

Result<int> forget_begun(Engine::Turn& turn) {
  state::Store& store = turn.store();
  if (!TRY(store.note(state::kLostItsEnd)).has_value()) return 0;
  std::vector<Attachment> begun = TRY(store.attachments());
  std::erase_if(begun, [](const Attachment& record) {
    return record.status != state::AttachmentStatus::kBegun || is_of_program(record);
  });
  std::vector<attach::NetnsRef> refs;
  for (const Attachment& record : begun) refs.push_back(attach::netns_ref_of(record));
  attach::Namespaces spaces(turn.kernel());
  spaces.open(refs);  // what cannot be reached is left alone by recovery, too
  std::vector<Attachment> living;
  for (size_t i = 0; i < begun.size(); ++i) {
    const attach::NetnsPlace& place = spaces.place_of(refs[i]);
    if (place.state == attach::NetnsState::kThere && TRY(is_in(turn.kernel(), *place.netns, begun[i])))
      living.push_back(std::move(begun[i]));
  }
  if (living.empty()) return 0;
  auto transaction = TRY(state::Transaction::begin(store));
  for (const Attachment& record : living) TRY(forget(store, record));
  TRY(transaction.commit());
  TRY(turn.read_addresses());
  return static_cast<int>(living.size());
}

}  // namespace railbed::agent
