// SPDX-License-Identifier: Apache-2.0
// The only place of the agent that changes the machine: kernel, state and addresses, in one exclusive section (a Turn)
// at a time.
//
// Why Turns: the kernel serializes interface moves anyway, and an attachment's records, addresses and messages belong
// together. A Turn holds the agent's mutex and the lock of the state, so that `railbed up` and `down` can run alongside
// the agent; changes by another process are read when the Turn begins. Long waits (executed plugins, dhcp, a device
// that is not ready yet) happen outside of a Turn.
// Threading: turn() from any thread; a Turn belongs to its thread.
// Failure: Busy with the holder of the lock.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "agent/durable_records.h"
#include "agent/running_plugins.h"
#include "base/check.h"
#include "ipam/allocator.h"
#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed::agent {

// How long a request waits for its turn; the runtime gives a sandbox two minutes.
inline constexpr std::chrono::milliseconds kTurnWait{60'000};

// Who else gives addresses of the ranges that nodes share (addresses/shared_ranges.h).
enum class OtherNodes : uint8_t {
  kAsFound,    // those of a cluster, where something says that this machine is of one
  kOfCluster,  // this agent serves a node of a cluster
  kNone,       // no one: `--alone`
};

class Engine {
 public:
  // All references must outlive the engine. The store must have been opened with `shared`.
  Engine(os::Kernel& kernel, state::Store& store, ipam::BlockSource& blocks, DurableRecords& records,
         OtherNodes other_nodes = OtherNodes::kAsFound, size_t most_plugins = RunningPlugins::kMost,
         PluginPolicy policy = {});

  class Turn {
   public:
    os::Kernel& kernel() { return engine().kernel_; }
    state::Store& store() { return engine().store_; }
    ipam::Allocator& addresses() { return engine().addresses_; }
    DurableRecords& records() { return engine().records_; }
    OtherNodes other_nodes() const { return engine().other_nodes_; }
    bool is_changing(PciAddress device) const { return engine().is_changing(device); }
    // Reads the leases again, after a call that writes them only to the store, such as attach::recover().
    Result<void> read_addresses();
    Turn(Turn&& other) noexcept : engine_(std::exchange(other.engine_, nullptr)), hold_(std::move(other.hold_)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class Engine;
    explicit Turn(Engine& engine) : engine_(&engine) {}
    Engine& engine() const {
      RAILBED_CHECK(engine_ != nullptr);  // the turn is held
      return *engine_;
    }
    Engine* engine_;  // null: moved from
    std::unique_ptr<state::Hold> hold_;
  };
  Result<Turn> turn(std::chrono::milliseconds wait);

  // The agent is about to end: from now on no thread waits long for a turn. Those who have one, or get one soon, end
  // what they began; the others fail with Busy. From any thread.
  void stop();
  // For whatever waits outside of turns.
  std::stop_token stopping() const { return stopping_.get_token(); }

  // Requests for one container run one after another, in any order.
  class ContainerLock;
  std::unique_ptr<ContainerLock> container(const std::string& id);

  // Interfaces of several pods can be removed at once, outside of turns; more than a few would keep a pod waiting whose
  // interfaces are made meanwhile. Where those under way do not come to an end (a kernel that waits for the last
  // reference to an interface forever), the next one goes on after `most`.
  class Removal;
  std::unique_ptr<Removal> removal(std::chrono::milliseconds most = std::chrono::seconds(5));

  // VFs that are made, removed or bound again, which takes seconds: no turn is held meanwhile, so that other pods are
  // attached; these devices are not attached, and no other process changes this machine. Begins within a turn, in which
  // the caller has seen what pods hold. From its end on they are as free as all others.
  class Change;
  Result<std::unique_ptr<Change>> change(Turn& turn, std::set<PciAddress> devices);
  // Any thread. Within a turn, what is not being changed stays so until the turn's end.
  bool is_changing(PciAddress device) const;

  // For work that needs no turn: opening namespaces, running programs, reading files.
  os::Kernel& kernel() { return kernel_; }
  // Outside of turns, too: a plugin may take as long as it likes.
  RunningPlugins& running_plugins() { return running_plugins_; }
  // They wait for the disk, so outside of turns.
  DurableRecords& records() { return records_; }

 private:
  os::Kernel& kernel_;
  state::Store& store_;
  ipam::Allocator addresses_;
  DurableRecords& records_;
  const OtherNodes other_nodes_;
  // Whether a thread has the turn. Not a std::timed_mutex: g++ 12's ThreadSanitizer does not see it being locked.
  std::mutex turn_mutex_;
  std::condition_variable turn_free_;
  bool taken_ = false;
  std::chrono::steady_clock::time_point last_turn_ = std::chrono::steady_clock::time_point::max();  // after stop()
  std::stop_source stopping_;
  RunningPlugins running_plugins_;
  bool loaded_ = false;  // whether addresses_ has been read from the store
  std::mutex containers_mutex_;
  std::condition_variable container_free_;
  std::set<std::string> containers_;
  std::mutex removals_mutex_;
  std::condition_variable removal_free_;
  int removals_ = 0;
  mutable std::mutex changes_mutex_;
  std::multiset<PciAddress> changing_;
};

class Engine::ContainerLock {
 public:
  ContainerLock(Engine& engine, std::string id) : engine_(engine), id_(std::move(id)) {}
  ~ContainerLock();
  ContainerLock(const ContainerLock&) = delete;
  ContainerLock& operator=(const ContainerLock&) = delete;

 private:
  Engine& engine_;
  std::string id_;
};

class Engine::Change {
 public:
  Change(Engine& engine, std::set<PciAddress> devices, std::unique_ptr<state::Hold> hold);
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  os::Kernel& kernel() { return engine_.kernel_; }
  // Writes of turns and of this come one after another.
  state::Store& store() { return engine_.store_; }

 private:
  Engine& engine_;
  const std::set<PciAddress> devices_;
  const std::unique_ptr<state::Hold> hold_;
};

class Engine::Removal {
 public:
  explicit Removal(Engine& engine) : engine_(engine) {}
  ~Removal();
  Removal(const Removal&) = delete;
  Removal& operator=(const Removal&) = delete;

 private:
  Engine& engine_;
};

}  // namespace railbed::agent
