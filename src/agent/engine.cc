// SPDX-License-Identifier: Apache-2.0
#include "agent/engine.h"

#include <algorithm>

namespace railbed::agent {

namespace {
constexpr std::chrono::milliseconds kTurnsAfterStop{500};
constexpr int kRemovalsAtOnce = 8;
}  // namespace

Engine::Engine(os::Kernel& kernel, state::Store& store, ipam::BlockSource& blocks, DurableRecords& records,
               OtherNodes other_nodes, size_t most_plugins, PluginPolicy policy)
    : kernel_(kernel),
      store_(store),
      addresses_(blocks),
      records_(records),
      other_nodes_(other_nodes),
      running_plugins_(kernel, most_plugins, RunningPlugins::kWait, stopping_.get_token(), std::move(policy)) {}

Result<Engine::Turn> Engine::turn(std::chrono::milliseconds wait) {
  {
    std::unique_lock lock(turn_mutex_);
    const auto deadline = std::chrono::steady_clock::now() + wait;
    // The end may be moved while this waits.
    while (taken_ && turn_free_.wait_until(lock, std::min(deadline, last_turn_)) != std::cv_status::timeout) {
    }
    if (taken_ && std::chrono::steady_clock::now() >= last_turn_)
      return fail(Code::kBusy, "the agent is stopping while other requests were in progress");
    if (taken_)
      return fail(Error{.code = Code::kBusy,
                        .message = fmt::format("blocked by other requests for {} ms", wait.count()),
                        .hint = "the runtime will retry; `railbed attachments` shows what is in progress"});
    taken_ = true;
  }
  Turn turn(*this);
  turn.hold_ = TRY(store_.hold(wait).hint("`railbed up` or `down` is changing this machine; retry later"));
  if (!loaded_ || turn.hold_->changed()) {
    addresses_.load(TRY(store_.all_leases()));
    loaded_ = true;
  }
  return turn;
}

void Engine::stop() {
  {
    std::lock_guard lock(turn_mutex_);
    last_turn_ = std::chrono::steady_clock::now() + kTurnsAfterStop;
  }
  turn_free_.notify_all();
  stopping_.request_stop();
}

Engine::Turn::~Turn() {
  if (engine_ == nullptr) return;
  hold_.reset();
  {
    std::lock_guard lock(engine_->turn_mutex_);
    RAILBED_CHECK(engine_->taken_);
    engine_->taken_ = false;
  }
  engine_->turn_free_.notify_one();
}

Result<void> Engine::Turn::read_addresses() {
  engine().addresses_.load(TRY(engine().store_.all_leases()));
  return {};
}

bool Engine::is_changing(PciAddress device) const {
  std::lock_guard lock(changes_mutex_);
  return changing_.contains(device);
}

// Turns of this process take the same lock while it is held here.
Result<std::unique_ptr<Engine::Change>> Engine::change(Turn&, std::set<PciAddress> devices) {
  return std::make_unique<Change>(*this, std::move(devices), TRY(store_.hold(std::chrono::milliseconds(0))));
}

Engine::Change::Change(Engine& engine, std::set<PciAddress> devices, std::unique_ptr<state::Hold> hold)
    : engine_(engine), devices_(std::move(devices)), hold_(std::move(hold)) {
  std::lock_guard lock(engine_.changes_mutex_);
  engine_.changing_.insert(devices_.begin(), devices_.end());
}

Engine::Change::~Change() {
  std::lock_guard lock(engine_.changes_mutex_);
  for (PciAddress device : devices_) {
    const auto changing = engine_.changing_.find(device);
    RAILBED_CHECK(changing != engine_.changing_.end());
    engine_.changing_.erase(changing);
  }
}

std::unique_ptr<Engine::ContainerLock> Engine::container(const std::string& id) {
  std::unique_lock lock(containers_mutex_);
  container_free_.wait(lock, [&] { return !containers_.contains(id); });
  containers_.insert(id);
  return std::make_unique<ContainerLock>(*this, id);
}

std::unique_ptr<Engine::Removal> Engine::removal(std::chrono::milliseconds most) {
  std::unique_lock lock(removals_mutex_);
  removal_free_.wait_for(lock, most, [&] { return removals_ < kRemovalsAtOnce; });
  ++removals_;
  return std::make_unique<Removal>(*this);
}

Engine::Removal::~Removal() {
  {
    std::lock_guard lock(engine_.removals_mutex_);
    --engine_.removals_;
  }
  engine_.removal_free_.notify_one();
}

Engine::ContainerLock::~ContainerLock() {
  {
    std::lock_guard lock(engine_.containers_mutex_);
    engine_.containers_.erase(id_);
  }
  engine_.container_free_.notify_all();
}

}  // namespace railbed::agent
