// SPDX-License-Identifier: Apache-2.0
#include "agent/engine.h"

namespace railbed::agent {

Engine::Engine(os::Kernel& kernel, state::Store& store, ipam::BlockSource& blocks)
    : kernel_(kernel), store_(store), addresses_(blocks) {}

Result<Engine::Turn> Engine::turn(std::chrono::milliseconds wait) {
  {
    std::unique_lock lock(turn_mutex_);
    if (!turn_free_.wait_for(lock, wait, [&] { return !taken_; }))
      return fail(Error{.code = Code::kBusy,
                        .message = fmt::format("other requests kept this one waiting for {} ms", wait.count()),
                        .hint = "the runtime will ask again; `railbed attachments` shows what is under way"});
    taken_ = true;
  }
  Turn turn(*this);
  turn.hold_ = TRY(store_.hold(wait).hint("`railbed up` or `down` is changing this machine; ask again later"));
  if (!loaded_ || turn.hold_->changed()) {
    addresses_.load(TRY(store_.all_leases()));
    loaded_ = true;
  }
  return turn;
}

Engine::Turn::~Turn() {
  if (engine_ == nullptr) return;
  hold_.reset();
  {
    std::lock_guard lock(engine_->turn_mutex_);
    engine_->taken_ = false;
  }
  engine_->turn_free_.notify_one();
}

Result<void> Engine::Turn::read_addresses() {
  engine_->addresses_.load(TRY(engine_->store_.all_leases()));
  return {};
}

std::unique_ptr<Engine::ContainerLock> Engine::container(const std::string& id) {
  std::unique_lock lock(containers_mutex_);
  container_free_.wait(lock, [&] { return !containers_.contains(id); });
  containers_.insert(id);
  return std::make_unique<ContainerLock>(*this, id);
}

Engine::ContainerLock::~ContainerLock() {
  {
    std::lock_guard lock(engine_.containers_mutex_);
    engine_.containers_.erase(id_);
  }
  engine_.container_free_.notify_all();
}

}  // namespace railbed::agent
