// SPDX-License-Identifier: Apache-2.0
// A cluster of 120 machines over one API server, with everything that goes wrong in one: no address is given twice, and
// none is lost forever.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agent/cluster/test_cells.h"
#include "ipam/cell_leases.h"

namespace railbed::agent {
namespace {

using std::chrono::hours;

constexpr int kMachines = 120;
constexpr int64_t kDay = 86400;

struct Op {
  uint32_t kind = 0;
  uint32_t machine = 0;
  uint32_t argument = 0;
};
std::ostream& operator<<(std::ostream& out, const Op& op) {
  return out << op.kind << "/" << op.machine << "/" << op.argument;
}

struct Machine {
  Machine(kube::fake::ApiServer& server, int number)
      : own(server, fmt::format("node{}", number), fmt::format("uuid-{}", number)) {
    own.nodes = kMachines;
    own.leaser->nodes(kMachines);
  }
  CellMachine own;
  bool runs = true;
  bool has_node = true;
  bool tainted = false;
  std::map<std::string, std::pair<std::string, IpAddress>> pods;  // what each has
};

class Simulation {
 public:
  Simulation() {
    ranges_ = {one_range("10.0.0.0/26"), one_range("10.0.0.32/27"), one_range("10.1.0.0/20", "rail1"),
               one_range("fd00::/64", "rail1"), one_range("10.0.0.0/26", "rail2")};
    ranges_[0].range_sets[0][0].gateway = ipam::ip("10.0.0.33");
    ranges_[4].range_sets[0][0].excluded = {ipam::prefix("10.0.0.0/29"), ipam::prefix("10.0.0.20/32")};
  }

  void run(const Op& op) {
    // Most of what happens, happens to few machines: they meet each other.
    Machine& machine = of_number(op.argument % 3 != 0 ? op.machine % 8 : op.machine % kMachines);
    if (!machine.runs && op.kind % 32 != 20) power_on(machine);
    switch (op.kind % 32) {
      case 12:
        return end_pod(machine, op.argument);
      case 13:
        return end_all_pods(machine);
      case 14:
        return (void)machine.own.leaser->sync({});
      case 15:
        return give_back(machine);
      case 16:
        return machine.own.start_agent();
      case 17:
        return reboot(machine);
      case 18:
        machine.own.way.trouble =
            machine.own.way.trouble == Way::Trouble::kNone ? Way::Trouble::kAway : Way::Trouble::kNone;
        return;
      case 19:
        machine.has_node = !machine.has_node;
        return;
      case 20:
        return pass(hours(6) * (1 + op.argument % 6));
      case 21:
        return reuse_name(machine, of_number((op.machine + 1 + op.argument % 7) % 8));
      case 22:
        machine.own.node += "-renamed";
        return machine.own.start_agent();
      case 23:
        snapshot_ = server_.objects();
        return;
      case 24:
        return restore();
      case 25:
        return out_of_service(machine);
      case 26:
        return release(machine);
      case 27:
        machine.own.clock.wall_beside += hours(static_cast<int>(op.argument % 41) - 20);
        return;
      case 28:
        return machine.own.way.deliver_late();
      case 29:
      case 30:
      case 31:
        return in_trouble(machine, op);
      default:
        return add(machine, op.argument);
    }
  }

  // Everybody is there again and wants nothing.
  void settle() {
    for (const auto& [number, one] : machines_) {
      Machine& machine = *one;
      if (!machine.runs) power_on(machine);
      machine.own.way.trouble = Way::Trouble::kNone;
      machine.own.way.deliver_late();
      machine.has_node = true;
      machine.tainted = false;
      end_all_pods(machine);
    }
    pass(hours(60));
    for (int i = 0; i < 2; ++i)
      for (const auto& [number, one] : machines_) {
        RC_ASSERT(one->own.leaser->sync({}).has_value());
        give_back(*one);
      }
    RC_ASSERT(cells_in(server_) == "");
  }

  uint64_t given() const { return given_; }

 private:
  using Given = std::pair<std::string, IpAddress>;  // pool, address

  // Made when something happens to it first: until then a machine has no cells.
  Machine& of_number(int number) {
    std::unique_ptr<Machine>& machine = machines_[number];
    if (machine != nullptr) return *machine;
    machine = std::make_unique<Machine>(server_, number);
    machine->own.clock.advance(passed_);
    (void)machine->own.leaser->sync({});
    return *machine;
  }

  void add(Machine& machine, uint32_t argument) {
    const api::IpamConfig& config = ranges_[argument / 3 % ranges_.size()];
    const std::string pod = fmt::format("ns/p{}", ++pods_);
    std::vector<std::string> requested;
    if (argument % 11 == 0) requested = {fmt::format("10.0.0.{}", argument / 11 % 64)};
    const Result<IpAddress> address = machine.own.add(config, pod, requested);
    if (!address.has_value()) return;
    const Given given{ipam::pool_of(config, ""), *address};
    for (const auto& [number, other] : machines_)
      for (const auto& [name, has] : other->pods)
        if (has == given && !contested_.contains(given))
          RC_FAIL(fmt::format("{} is given to {} on {}, and {} on {} has it", *address, pod, machine.own.node, name,
                              other->own.node));
    machine.pods[pod] = given;
    ++given_;
  }

  void end_pod(Machine& machine, uint32_t argument) {
    if (machine.pods.empty()) return;
    auto pod = machine.pods.begin();
    std::advance(pod, argument % machine.pods.size());
    machine.own.del(pod->first);
    const Given given = pod->second;
    machine.pods.erase(pod);
    const auto has_it = [&](const auto& one) { return one.second == given; };
    if (std::ranges::none_of(machines_, [&](const auto& of) { return std::ranges::any_of(of.second->pods, has_it); }))
      contested_.erase(given);
  }
  void end_all_pods(Machine& machine) {
    while (!machine.pods.empty()) end_pod(machine, 0);
  }

  static void give_back(Machine& machine) {
    for (int i = 0; i < 2; ++i) (void)machine.own.leaser->give_back({}, {});
  }

  void power_off(Machine& machine) {
    machine.runs = false;
    machine.pods.clear();
  }
  static void power_on(Machine& machine) {
    machine.runs = true;
    machine.tainted = false;
    machine.own.way.trouble = Way::Trouble::kNone;
    machine.own.boot();
  }
  void reboot(Machine& machine) {
    power_off(machine);
    const Way::Trouble trouble = machine.own.way.trouble;
    power_on(machine);
    machine.own.way.trouble = trouble;
  }

  // Another machine is installed under the name.
  void reuse_name(Machine& old, Machine& next) {
    if (&old == &next) return;
    reboot(next);
    next.own.node = old.own.node;
    next.has_node = true;
    old.has_node = false;
    next.own.start_agent();
  }

  void in_trouble(Machine& machine, const Op& op) {
    const Way::Trouble before = machine.own.way.trouble;
    constexpr Way::Trouble kinds[] = {Way::Trouble::kLost, Way::Trouble::kLate, Way::Trouble::kServer};
    machine.own.way.trouble = kinds[op.kind % 3];
    machine.own.way.spared = static_cast<int>(op.argument % 4);
    switch (op.argument / 4 % 4) {
      case 0:
        (void)machine.own.leaser->sync({});
        break;
      case 1:
        give_back(machine);
        break;
      default:
        add(machine, op.argument);
    }
    machine.own.way.trouble = before;
  }

  void pass(std::chrono::seconds period) {
    for (std::chrono::seconds passed{0}; passed < period; passed += hours(6)) {
      passed_ += hours(6);
      for (const auto& [number, machine] : machines_) machine->own.clock.advance(hours(6));
      operator_looks(hours(6) / std::chrono::seconds(1));
      for (const auto& [number, machine] : machines_)
        if (machine->runs && machine->own.way.trouble == Way::Trouble::kNone)
          RC_ASSERT(machine->own.leaser->sync({}).has_value());
    }
  }

  std::map<std::string, ipam::CellNode> nodes() const {
    std::map<std::string, ipam::CellNode> out;
    for (const auto& [number, one] : machines_)
      if (one->has_node)
        out[one->own.node] = {.system_uuid = one->own.uuid(),
                              .boot_id = one->own.boot_id(),
                              .out_of_service = one->tainted,
                              .ready = one->runs};
    return out;
  }

  void operator_looks(int64_t passed) {
    const std::map<std::string, ipam::CellNode> known = nodes();
    for (const auto& [path, object] : server_.objects()) {
      api::AddressCell cell = api::read_address_cell(object).value();
      const api::AddressCell before = cell;
      std::vector<api::CellLease> left;
      for (api::CellLease& lease : cell.leases) {
        const auto node = known.find(lease.holder.node);
        const ipam::LeaseVerdict verdict = ipam::judge(
            lease,
            {.node = node != known.end() ? &node->second : nullptr, .seconds = lease.gone_seconds > 0 ? passed : 0},
            {.after_seconds = kDay});
        if (verdict.fate == ipam::LeaseFate::kCounts) lease.gone_seconds = verdict.gone_seconds;
        if (verdict.fate == ipam::LeaseFate::kEnds)
          ended(lease);
        else
          left.push_back(lease);
      }
      cell.leases = std::move(left);
      put(path, before, cell);
    }
  }

  // The machine does not run any more, or gives nothing new; nor do its pods count.
  void ended(const api::CellLease& lease) {
    for (const auto& [number, machine] : machines_) {
      if (machine->own.uuid() != lease.holder.system_uuid || machine->own.boot_id() != lease.holder.boot_id) continue;
      if (!machine->runs) continue;
      // It was cut off, and has not heard of the API server again, even if it could by now.
      for (const api::IpamConfig& config : ranges_) RC_ASSERT(!machine->own.add(config, "ns/late").has_value());
      power_off(*machine);
    }
  }

  void put(const std::string& path, const api::AddressCell& before, const api::AddressCell& cell) {
    if (cell == before) return;
    if (cell.leases.empty())
      server_.erase(path);
    else
      server_.put(path, api::to_value(cell));
  }

  void out_of_service(Machine& machine) {
    power_off(machine);
    machine.has_node = machine.tainted = true;
    operator_looks(0);
  }

  // An administrator who says so has seen to it that no machine with such a lease runs, whatever its Node is called
  // now; the verb refuses it otherwise.
  void release(Machine& machine) {
    const std::string name = machine.own.node;
    const auto of_the_name = [&](const api::CellLease& lease) { return lease.holder.node == name; };
    for (const auto& [path, object] : server_.objects()) {
      const api::AddressCell cell = api::read_address_cell(object).value();
      for (const auto& [number, one] : machines_)
        if (one->runs && std::ranges::any_of(cell.leases, [&](const api::CellLease& lease) {
              return of_the_name(lease) && lease.holder.system_uuid == one->own.uuid();
            }))
          power_off(*one);
      api::AddressCell released = cell;
      std::erase_if(released.leases, of_the_name);
      if (released != cell) put(path, cell, released);
    }
  }

  // Everybody syncs before anything else happens: what is given meanwhile from cells that others have got is what no
  // agent can know.
  void restore() {
    if (!snapshot_) return;
    for (const auto& [path, object] : server_.objects())
      if (!snapshot_->contains(path)) server_.erase(path);
    std::set<std::tuple<std::string, IpAddress, std::string>> kept;  // pool, address, boot
    for (const auto& [path, object] : *snapshot_) {
      server_.put(path, object);
      const api::AddressCell cell = api::read_address_cell(object).value();
      for (const api::CellLease& lease : cell.leases)
        for (uint64_t i = 0; i < api::kCellSize; ++i)
          if ((lease.offsets >> i & 1U) != 0)
            kept.emplace(cell_pool(cell.network_name), *cell.base.plus(i), lease.holder.boot_id);
    }
    for (const auto& [number, machine] : machines_) {
      for (const auto& [pod, given] : machine->pods)
        if (!kept.contains({given.first, given.second, machine->own.boot_id()})) contested_.insert(given);
      if (!machine->runs) continue;
      machine->own.way.trouble = Way::Trouble::kNone;
      RC_ASSERT(machine->own.leaser->sync({}).has_value());
    }
  }

  kube::fake::ApiServer server_;
  std::map<int, std::unique_ptr<Machine>> machines_;  // by number
  hours passed_{0};
  std::vector<api::IpamConfig> ranges_;
  std::optional<std::map<std::string, doc::Value>> snapshot_;
  std::set<Given> contested_;  // given before a restore, and forgotten by it, while a pod has it
  uint64_t pods_ = 0;
  uint64_t given_ = 0;
};

}  // namespace
}  // namespace railbed::agent

namespace rc {
template <>
struct Arbitrary<railbed::agent::Op> {
  static Gen<railbed::agent::Op> arbitrary() {
    return gen::build<railbed::agent::Op>(
        gen::set(&railbed::agent::Op::kind, gen::inRange<uint32_t>(0, 32)),
        gen::set(&railbed::agent::Op::machine, gen::inRange<uint32_t>(0, railbed::agent::kMachines)),
        gen::set(&railbed::agent::Op::argument, gen::inRange<uint32_t>(0, 100000)));
  }
};
}  // namespace rc

namespace railbed::agent {
namespace {

RC_GTEST_PROP(CellsOfACluster, AreGivenOnceAndNeverLost, ()) {
  const auto count = *rc::gen::inRange<size_t>(0, 300);
  const auto ops = *rc::gen::container<std::vector<Op>>(count, rc::gen::arbitrary<Op>());
  Simulation simulation;
  for (const Op& op : ops) simulation.run(op);
  RC_CLASSIFY(simulation.given() > 20, "many addresses");
  simulation.settle();
}

}  // namespace
}  // namespace railbed::agent
