// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/ended_pods.h"

#include <algorithm>

#include "agent/pod/meta_give_back.h"
#include "agent/records/exec_records.h"
#include "agent/records/runtime_containers.h"
#include "attach/held.h"
#include "attach/record.h"
#include "state/sandbox.h"

namespace railbed::agent {

Result<std::map<std::string, EndedPods::Sandbox>> EndedPods::ended() {
  std::map<std::string, Sandbox> sandboxes;
  std::vector<state::Attachment> records;
  {
    Engine::Turn turn = TRY(backends_.engine.turn(kTurnWait));
    records = TRY(turn.store().attachments());
  }
  std::erase_if(records, is_of_earlier_boot);
  if (records.empty()) return sandboxes;
  const std::set<os::Nsid> given = TRY(backends_.engine.kernel().netns().numbers());
  for (const state::Attachment& record : records) {
    Sandbox& sandbox = sandboxes[record.pod];
    sandbox.may_live = sandbox.may_live || !attach::has_ended(backends_.engine.kernel().files(), record, given);
    sandbox.del_came = sandbox.del_came || record.status == state::AttachmentStatus::kDetaching;
    (is_of_program(record) ? sandbox.has_programs : sandbox.has_interfaces) = true;
  }
  std::erase_if(sandboxes, [](const auto& one) {
    const bool of_runtime = !state::Sandbox::of_key(one.first).container.empty();
    return one.second.may_live || (!of_runtime && !one.second.del_came);
  });
  return sandboxes;
}

std::optional<EndedPod> EndedPods::give_back(const std::string& key, const Sandbox& sandbox) {
  const std::string container = state::Sandbox::of_key(key).container;
  const bool programs_stay =
      sandbox.has_programs && !sandbox.del_came && RuntimeContainers::look(disk_).knows(container);
  if (programs_stay && !sandbox.has_interfaces) return std::nullopt;
  const auto lock = backends_.engine.container("meta/" + container);
  const auto done = give_back_sandbox(backends_, meta_, key, programs_stay ? Programs::kStay : Programs::kUndo);
  if (done.has_value() && is_still_held(key)) return std::nullopt;
  return EndedPod{.key = key, .del_came = sandbox.del_came, .failure = done.has_value() ? "" : done.error().message};
}

// What a pod has hidden may have moved on to the next namespace.
bool EndedPods::is_still_held(const std::string& key) {
  Result<Engine::Turn> turn = backends_.engine.turn(kTurnWait);
  if (!turn.has_value()) return false;
  const auto records = turn->store().attachments_of(key);
  return records.has_value() && std::ranges::any_of(*records, attach::is_orphan);
}

Result<std::vector<EndedPod>> EndedPods::settle() {
  std::map<std::string, Sandbox> now_ended = TRY(ended());
  // The interfaces of these may be forgotten already, and their addresses not.
  now_ended.insert(failed_.begin(), failed_.end());
  std::erase_if(not_before_, [&](const auto& one) { return !now_ended.contains(one.first); });
  const os::Deadline now = backends_.engine.kernel().clock().now();
  std::vector<EndedPod> settled;
  for (const auto& [key, sandbox] : now_ended) {
    os::Deadline& not_before = not_before_.try_emplace(key, sandbox.del_came ? now : now + kPatience).first->second;
    if (now < not_before) continue;
    std::optional<EndedPod> pod = give_back(key, sandbox);
    if (!pod.has_value()) continue;
    failed_.erase(key);
    if (!pod->failure.empty()) {
      failed_.emplace(key, sandbox);
      not_before = now + kPatience;
    }
    settled.push_back(*std::move(pod));
  }
  return settled;
}

}  // namespace railbed::agent
