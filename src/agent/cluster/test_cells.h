// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of leased addresses: machines with their state, their clock and their connection to one API
// server.
//
// Threading: one thread.
// Failure: none.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "agent/cluster/cell_leaser.h"
#include "ipam/allocator.h"
#include "ipam/test_ranges.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "state/store.h"

namespace railbed::agent {

// The way from one machine to the API server, and what happens to requests on it.
class Way : public kube::Transport {
 public:
  explicit Way(kube::fake::ApiServer& server) : server_(server) {}

  enum class Trouble : uint8_t {
    kNone,
    kAway,    // nothing arrives
    kLost,    // carried out, without an answer
    kLate,    // carried out when deliver_late() says so
    kServer,  // carried out, and answered with 504
  };
  Trouble trouble = Trouble::kNone;
  int spared = 0;  // how many requests go through before the trouble
  int requests = 0;

  kube::Answer<kube::Response> send(const kube::Request& request, std::stop_token stop) override {
    ++requests;
    if (trouble == Trouble::kNone || spared-- > 0) return server_.send(request, stop);
    switch (trouble) {
      case Trouble::kNone:
      case Trouble::kAway:
        return std::unexpected(kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "connection refused"));
      case Trouble::kLost:
        (void)server_.send(request, stop);
        break;
      case Trouble::kLate:
        if (request.method != kube::Method::kGet) late.push_back(request);
        break;
      case Trouble::kServer:
        (void)server_.send(request, stop);
        return std::unexpected(kube::refused(request.to_string(), 504, ""));
    }
    return std::unexpected(kube::unanswered(Code::kIo, kube::Delivery::kUnknown, "the connection was cut"));
  }
  kube::Answer<std::unique_ptr<kube::ByteStream>> open(const kube::Request&, std::stop_token) override {
    return std::unexpected(kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "no watch here"));
  }

  std::deque<kube::Request> late;
  void deliver_late() {
    for (; !late.empty(); late.pop_front()) (void)server_.send(late.front(), {});
  }

 private:
  kube::fake::ApiServer& server_;
};

class TwoClocks : public kube::fake::FakeClock {
 public:
  // A machine that was set back, or stopped by its hypervisor, differs in these.
  std::chrono::seconds wall_beside{0};
  kube::WallTime wall() const override { return FakeClock::wall() + wall_beside; }
};

constexpr int64_t kQuietSeconds = 43200;

// A machine of the cluster; a boot of it has `Boot`, an agent `Agent`, each gone with its end.
class CellMachine : public CellBook {
 public:
  CellMachine(kube::fake::ApiServer& server, std::string name, std::string uuid)
      : node(std::move(name)), way(server), uuid_(std::move(uuid)) {
    boot();
  }

  std::string node;
  TwoClocks clock;
  Way way;
  std::unique_ptr<state::Store> store;
  std::unique_ptr<CellBlocks> blocks;
  std::unique_ptr<ipam::Allocator> addresses;
  std::unique_ptr<kube::Client> client;
  std::unique_ptr<PoolShare> share;
  std::unique_ptr<CellLeaser> leaser;
  uint64_t nodes = 1;
  bool shares = false;  // from the next start_agent() on: what is leased is reserved in whereabouts' pools

  const std::string& uuid() const { return uuid_; }
  std::string boot_id() const { return fmt::format("{}-boot-{}", uuid_, boots_); }

  void boot() {
    ++boots_;
    store = state::memory_store();
    start_agent();
  }
  void start_agent() {
    ++agents_;
    client = std::make_unique<kube::Client>(way, clock, kube::ClientSettings{.retry = {.tries = 1}});
    blocks = std::make_unique<CellBlocks>(*store, clock, kQuietSeconds);
    addresses = std::make_unique<ipam::Allocator>(*blocks);
    addresses->load(store->all_leases().value());
    share =
        shares ? std::make_unique<PoolShare>(*client, PoolShare::Settings{"kube-system", {node, uuid_, ""}}) : nullptr;
    leaser = std::make_unique<CellLeaser>(
        CellLeaser::Dependencies{*client, *this, *blocks, share.get()},
        CellLeaser::Settings{
            .owner = {.holder = {node, uuid_, boot_id()}, .quiet_seconds = kQuietSeconds, .former_names = {}},
            .process = fmt::format("{}.{}", boot_id(), agents_)});
    leaser->nodes(nodes);
    (void)resume_cells(*store, *blocks);
  }

  Result<void> in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) override {
    return work(*store, [this](const std::string& pool, const IpAddress& address) {
      return addresses->is_taken(pool, address);
    });
  }

  // As an ADD: what is there is given, else one more is leased and it is tried again.
  Result<IpAddress> add(const api::IpamConfig& config, const std::string& pod,
                        const std::vector<std::string>& requested = {}) {
    const ipam::Owner owner{pod, "net1"};
    if (share != nullptr) share->look_again();  // as a round of the keeper does
    for (int tried = 0;; ++tried) {
      auto given = addresses->allocate(config, "ns/net", requested, owner);
      if (given.has_value()) {
        const ipam::Assigned& one = given->front();
        TRY(store->put_lease({one.pool, one.address.address, pod, "net1"}));
        return one.address.address;
      }
      if (tried == 1) return fail(given.error());
      if (requested.empty()) {
        TRY(leaser->lease_more(ipam::wants_of(config, 0).front(), 1, {}));
      } else {
        TRY(leaser->prepare(ipam::wants_of(config, 0).front(), {}));
        TRY(leaser->lease_address(config.network_name, ipam::ip(requested.front().c_str()), {}));
      }
    }
  }
  void del(const std::string& pod) {
    addresses->release({pod, "net1"});
    (void)store->forget_leases(pod, "net1");
  }

 private:
  std::string uuid_;
  int boots_ = 0;
  int agents_ = 0;
};

inline api::IpamConfig one_range(const char* subnet, const std::string& network_name = "") {
  api::IpamConfig config = ipam::whereabouts({{ipam::range(subnet)}});
  config.network_name = network_name;
  return config;
}

// What the API server has: "10.0.0.16 node1 ffff, …".
inline std::string cells_in(const kube::fake::ApiServer& server) {
  std::string out;
  for (const auto& [path, object] : server.objects())
    if (const auto cell = api::read_address_cell(object); cell.has_value()) {
      out += fmt::format("{}{}", out.empty() ? "" : ", ", cell->base);
      for (const api::CellLease& lease : cell->leases)
        out += fmt::format(" {} {:04x}", lease.holder.node, lease.offsets);
    }
  return out;
}

}  // namespace railbed::agent
