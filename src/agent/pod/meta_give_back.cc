// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_give_back.h"

#include <set>

#include "agent/failures.h"
#include "agent/pod/interfaces.h"
#include "agent/pod/meta_multus.h"
#include "agent/pod/plugin.h"
#include "agent/records/exec_records.h"
#include "agent/records/meta_records.h"
#include "agent/records/records.h"

namespace railbed::agent {
namespace {

using state::Attachment;

class SandboxGiver {
 public:
  SandboxGiver(Backends& backends, Meta& meta, const std::string& key, Programs programs)
      : backends_(backends), meta_(meta), key_(key), programs_(programs), turn_(backends.engine) {}

  Result<void> run() {
    Engine::Turn* turn = this->turn();
    if (turn == nullptr) return failures_.outcome();
    records_ = TRY(turn->store().attachments_of(key_));
    if (programs_ == Programs::kStay) std::erase_if(records_, is_of_program);
    note_ = TRY(sandbox_note(turn->store(), key_));
    // Works on runs of records of one kind, from the last one on: railbed's own together, executed ones together.
    for (size_t end = records_.size(); end > 0;) {
      size_t begin = end;
      bool program = is_of_program(records_[end - 1]);
      while (begin > 0 && is_of_program(records_[begin - 1]) == program) --begin;
      std::vector<Attachment> group(records_.begin() + static_cast<std::ptrdiff_t>(begin),
                                    records_.begin() + static_cast<std::ptrdiff_t>(end));
      if (program)
        undo(group);
      else
        detach(group);
      end = begin;
    }
    if (!failures_.any() && !something_stays()) {
      release_rest();
      if (!failures_.any()) forget();
    }
    return failures_.outcome();
  }

 private:
  template <typename T>
  bool reported(Result<T> outcome, const std::string& where = "") {
    if (outcome.has_value()) return false;
    failures_.add(where, std::move(outcome.error()));
    return true;
  }

  // Null after a failure that is reported.
  Engine::Turn* turn() {
    Result<Engine::Turn*> held = turn_.get();
    return reported(held) ? nullptr : *held;
  }

  void detach(const std::vector<Attachment>& group) {
    std::set<std::string> interfaces;
    for (const Attachment& one : group) interfaces.insert(one.interface.substr(0, one.interface.find('/')));
    InterfacesToGiveBack gone{.key = key_, .records = {}, .owners = {}};
    for (auto one = group.rbegin(); one != group.rend(); ++one) gone.records.push_back(one->interface);
    for (const std::string& one : interfaces) gone.owners.push_back({key_, one});
    for (NotGivenBack& one : give_back_interfaces(backends_, turn_, gone))
      failures_.add(one.interface, std::move(one.why));
  }

  void undo(const std::vector<Attachment>& group) {
    turn_.end();  // programs take their time
    for (const Attachment& one : group) backends_.note_interface(one.network, one.device);
    Result<ProgramsUndone> undone = give_back_programs(backends_.engine, group);
    if (!undone.has_value()) return failures_.add("", std::move(undone.error()));
    for (ProgramsUndone::Failure& one : undone->failures) failures_.add("", std::move(one.why));
  }

  bool something_stays() {
    Engine::Turn* turn = this->turn();
    if (turn == nullptr) return true;
    const auto left = turn->store().attachments_of(key_);
    return reported(left) || !left->empty();
  }

  // An earlier DEL may have forgotten an interface and not come to its addresses.
  void release_rest() {
    Engine::Turn* turn = this->turn();
    if (turn == nullptr) return;
    reported(release_addresses_of(*turn, backends_.host_local, key_));
  }

  void forget() {
    if (note_.has_value())
      for (const std::string& file : note_->device_info) reported(meta_.device_info().remove(file));
    Engine::Turn* turn = this->turn();
    if (turn != nullptr) reported(forget_records(*turn));
  }

  Result<void> forget_records(Engine::Turn& turn) {
    auto transaction = TRY(state::Transaction::begin(turn.store()));
    state::Sandbox sandbox = state::Sandbox::of_key(key_);
    size_t slash = sandbox.pod.find('/');
    if (slash != std::string::npos) {
      PodInfo pod{.ns = sandbox.pod.substr(0, slash), .name = sandbox.pod.substr(slash + 1)};
      if (note_.has_value()) pod.uid = note_->pod_uid;
      TRY(meta_.pods().publish_status(pod, key_, doc::Value()));
      TRY(meta_.reservations().reserve(turn, meta_.pods(), sandbox.pod));
    }
    TRY(forget_sandbox_note(turn.store(), key_));
    TRY(forget_pod_if_empty(turn.store(), key_));
    return transaction.commit();
  }

  Backends& backends_;
  Meta& meta_;
  const std::string& key_;
  const Programs programs_;
  std::vector<Attachment> records_;
  std::optional<SandboxNote> note_;
  Failures failures_;
  HeldTurn turn_;
};

}  // namespace

Result<void> give_back_sandbox(Backends& backends, Meta& meta, const std::string& key, Programs programs) {
  return SandboxGiver(backends, meta, key, programs).run();
}

Result<void> give_back_multus(Backends& backends, os::Disk& disk, const cni::Request& request,
                              const MetaConfig& config) {
  MultusPod pod = TRY(multus_pod(disk, config.cache_dir, request.container_id, request.ifname));
  Failures failures;
  for (auto one = pod.attachments.rbegin(); one != pod.attachments.rend(); ++one) {
    for (size_t i = one->list.plugins.size(); i-- > 0;) {
      const doc::Value* type = one->list.plugins[i].find("type");
      if (type == nullptr || !type->is_string()) continue;
      std::string input = cni::plugin_input(one->list, i, one->result, one->capability_args);
      Result<void> done;
      if (is_native(*type->as_string())) {
        cni::Request single = request;
        single.type = *type->as_string();
        single.ifname = one->ifname;
        single.config = input;
        single.path = program_path(config, request);
        Result<cni::PluginConfig> read = cni::read_plugin_config(input);
        Result<std::string> gone =
            read.has_value() ? plugin_request(backends, single, *read) : std::unexpected(read.error());
        if (!gone.has_value()) done = fail(std::move(gone.error()));
      } else {
        done = execute(backends.engine.running_plugins(), {.command = cni::Command::kDel,
                                                           .type = *type->as_string(),
                                                           .container_id = request.container_id,
                                                           .netns = request.netns,
                                                           .ifname = one->ifname,
                                                           .args = one->args.empty() ? request.args_text : one->args,
                                                           .path = program_path(config, request),
                                                           .config = input});
      }
      if (!done.has_value()) failures.add(one->ifname, std::move(done.error()));
    }
  }
  if (!failures.any())
    for (const std::string& file : pod.files) TRY(disk.remove(file));
  return failures.outcome();
}

}  // namespace railbed::agent
