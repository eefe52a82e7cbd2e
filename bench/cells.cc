// SPDX-License-Identifier: Apache-2.0
// Nodes that lease cells of addresses from one real API server, and give them to bursts of pods with eight networks
// each.
//   bench_cells KUBECONFIG NODES BURSTS PODS   prints calls, calls at ADD, pods, seconds
// What a node does is what its agent does: addresses for the pods of a burst are leased when they are bound, before
// they start; an ADD takes from what is there; what is unused at two looks is released. Ends with 1 where an
// address is given twice.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "agent/cluster/cell_leaser.h"
#include "ipam/allocator.h"
#include "kube/connection.h"
#include "os/ports/file_tree.h"
#include "state/store.h"

using namespace railbed;

namespace {

constexpr int kNetworks = 8;
constexpr int kThreads = 16;  // nodes at work at once

[[noreturn]] void give_up(const Error& error) {
  std::fprintf(stderr, "%s\n", error.to_string().c_str());
  std::_Exit(1);
}

class Counted : public kube::Transport {
 public:
  explicit Counted(kube::Transport& below) : below_(below) {}
  kube::Answer<kube::Response> send(const kube::Request& request, std::stop_token stop) override {
    ++calls;
    return below_.send(request, std::move(stop));
  }
  kube::Answer<std::unique_ptr<kube::ByteStream>> open(const kube::Request& request, std::stop_token stop) override {
    ++calls;
    return below_.open(request, std::move(stop));
  }
  std::atomic<int> calls = 0;

 private:
  kube::Transport& below_;
};

api::IpamConfig network(int number) {
  api::IpamConfig config;
  config.type = api::IpamType::kWhereabouts;
  config.network_name = fmt::format("rail{}", number);
  api::IpamRange range;
  range.subnet = *IpPrefix::parse(fmt::format("10.{}.0.0/16", 60 + number));
  range.addresses = {*IpAddress::parse(fmt::format("10.{}.0.1", 60 + number)),
                     *IpAddress::parse(fmt::format("10.{}.255.254", 60 + number))};
  config.range_sets = {{range}};
  return config;
}

// No address is given to two pods; the test that matters most, at no cost to what is measured.
class Ledger {
 public:
  void given(const std::string& pool, const IpAddress& address) {
    const std::lock_guard lock(mutex_);
    if (!all_.emplace(pool, address).second)
      give_up({.code = Code::kConflict, .message = fmt::format("{} is given twice", address), .hint = ""});
  }
  void returned(const std::string& pool, const IpAddress& address) {
    const std::lock_guard lock(mutex_);
    all_.erase({pool, address});
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<std::string, IpAddress>> all_;
};

class Node : public agent::CellBook {
 public:
  Node(Counted& way, kube::Clock& clock, int number, int nodes, Ledger& ledger)
      : ledger_(ledger),
        client_(way, clock),
        store_(state::memory_store()),
        blocks_(*store_, clock, 43200),
        addresses_(blocks_),
        leaser_({client_, *this, blocks_},
                {.owner = {.holder = {fmt::format("node{}", number), fmt::format("uuid-{}", number), "boot"},
                           .quiet_seconds = 43200,
                           .former_names = {}},
                 .process = fmt::format("boot.{}", number)}) {
    leaser_.nodes(static_cast<uint64_t>(nodes));
    for (int i = 0; i < kNetworks; ++i) configs_.push_back(network(i));
  }

  Result<void> in_turn(const std::function<Result<void>(state::Store&, const InUse&)>& work) override {
    return work(*store_, [this](const std::string& pool, const IpAddress& address) {
      return addresses_.holder(pool, address).has_value();
    });
  }

  void sync() { check(leaser_.sync({})); }

  void pods_are_bound(int pods) {
    wants_.clear();
    for (const api::IpamConfig& config : configs_)
      for (ipam::CellWant& want : ipam::wants_of(config, static_cast<uint64_t>(pods)))
        wants_.push_back(std::move(want));
    for (const ipam::CellWant& want : wants_) check(leaser_.lease(want, {}));
  }
  void add(const std::string& pod) {
    for (const api::IpamConfig& config : configs_) {
      auto given = addresses_.allocate(config, "ns/net", {}, {pod, config.network_name});
      if (!given.has_value()) give_up(given.error());
      const ipam::Assigned& one = given->front();
      check(store_->put_lease({one.pool, one.address.address, pod, config.network_name}));
      ledger_.given(one.pool, one.address.address);
      has_[pod].emplace_back(one.pool, one.address.address);
    }
  }
  void del(const std::string& pod) {
    for (const auto& [pool, address] : has_[pod]) ledger_.returned(pool, address);
    for (const api::IpamConfig& config : configs_) {
      addresses_.release({pod, config.network_name});
      check(store_->forget_leases(pod, config.network_name));
    }
    has_.erase(pod);
  }
  void look() { check(leaser_.give_back(wants_, {})); }
  void leave() {
    for (int i = 0; i < 2; ++i) check(leaser_.give_back({}, {}));
  }

 private:
  static void check(const Result<void>& done) {
    if (!done.has_value()) give_up(done.error());
  }

  Ledger& ledger_;
  kube::Client client_;
  std::unique_ptr<state::Store> store_;
  agent::CellBlocks blocks_;
  ipam::Allocator addresses_;
  agent::CellLeaser leaser_;
  std::vector<api::IpamConfig> configs_;
  std::vector<ipam::CellWant> wants_;
  std::map<std::string, std::vector<std::pair<std::string, IpAddress>>> has_;
};

void on_all(std::vector<std::unique_ptr<Node>>& nodes, const std::function<void(Node&)>& what) {
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (size_t at = next++; at < nodes.size(); at = next++) what(*nodes[at]);
    });
}

int run(kube::Connection& connection, int count, int bursts, int pods) {
  Counted way(connection.transport());
  Ledger ledger;
  std::vector<std::unique_ptr<Node>> nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(std::make_unique<Node>(way, connection.clock(), i, count, ledger));
  const kube::Instant began = connection.clock().now();
  on_all(nodes, [](Node& node) { node.sync(); });
  int at_add = 0;
  for (int burst = 0; burst < bursts; ++burst) {
    on_all(nodes, [&](Node& node) { node.pods_are_bound(pods); });
    const int before = way.calls;
    on_all(nodes, [&](Node& node) {
      for (int pod = 0; pod < pods; ++pod) node.add(fmt::format("ns/p{}.{}", burst, pod));
    });
    at_add += way.calls - before;
    on_all(nodes, [&](Node& node) {
      node.look();
      for (int pod = 0; pod < pods; ++pod) node.del(fmt::format("ns/p{}.{}", burst, pod));
      node.look();
    });
  }
  on_all(nodes, [](Node& node) { node.leave(); });
  fmt::print("calls {}\ncalls_at_add {}\npods {}\nseconds {:.2f}\n", way.calls.load(), at_add, count * bursts * pods,
             std::chrono::duration<double>(connection.clock().now() - began).count());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const auto files = os::real_files("/");
  const auto connection =
      kube::connect({.kubeconfig = argv[1]}, [&](const std::string& path) { return files->read(path); });
  if (!connection) give_up(connection.error());
  return run(**connection, std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
}
