// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/hand_over.h"

#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "attach/record.h"
#include "schema/cni_types.h"
#include "state/sandbox.h"

namespace railbed::agent {
namespace {

using state::Attachment;

Result<void> write_alias(os::Kernel& kernel, const Attachment& record) {
  const attach::Before before = TRY(attach::before_of(record));
  auto netns = TRY(kernel.netns().open(record.netns));
  auto links = TRY(kernel.netns().links(*netns));
  const os::Link link = TRY(links->find(IfName{record.interface}, os::WithVfs::kNo));
  return link.alias == before.name ? Result<void>{} : links->change(link.index, {.alias = before.name});
}

// Empty when the original plugin can restore it.
std::string problem_of(os::Kernel& kernel, const Attachment& record, bool of_meta) {
  if (of_meta) return "the meta plugin attached it, so only railbed can release it";
  if (is_of_program(record)) return "";
  if (const schema::CniType* type = schema::find_cni_type(record.type); type != nullptr && type->needs_own_files)
    return "the original plugin has no file for it and would leave the device as the pod configured it";
  if (record.type != "host-device") return "";
  Result<void> reported = write_alias(kernel, record);
  return reported.has_value() ? ""
                              : "the original plugin will not know its name on the host: " + reported.error().story();
}

}  // namespace

Result<HandedOver> hand_over(os::Kernel& kernel, state::Store& store) {
  HandedOver all;
  for (const Attachment& record : TRY(store.attachments())) {
    if (state::Sandbox::of_key(record.pod).container.empty()) continue;
    ++all.interfaces;
    const bool of_meta = TRY(sandbox_note(store, record.pod)).has_value();
    if (std::string problem = problem_of(kernel, record, of_meta); !problem.empty())
      all.problems.push_back(fmt::format("{} {} ({}): {}", record.pod, record.interface, record.type, problem));
  }
  return all;
}

}  // namespace railbed::agent
