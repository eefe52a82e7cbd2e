// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_keeper.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "base/log.h"
#include "doc/text.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kVfLook{5'000};    // VFs change without a notification
constexpr milliseconds kAskAgain{1'000};  // while an ADD waits
constexpr milliseconds kBurst{20};
constexpr size_t kConflictsReported = 16;
constexpr const char* kAddressesEvent = "addresses";

// Whether it would be the same a second later.
bool is_final(const Error& error) {
  return error.code == Code::kExhausted || error.code == Code::kConflict || error.code == Code::kDenied ||
         error.code == Code::kInvalid || error.code == Code::kNotFound;
}

bool is_of_api_server(const Error& error) {
  return error.code != Code::kExhausted && error.code != Code::kConflict;
}

// The set gives one of the addresses that are asked for by name.
bool gives_by_name(const ipam::CellWant& want, const std::vector<IpAddress>& by_name) {
  return std::ranges::any_of(by_name, [&](const IpAddress& address) {
    return std::ranges::any_of(want.ranges,
                               [&](const api::IpamRange& range) { return range.addresses.contains(address); });
  });
}

// Each of both, with the larger number of addresses.
std::vector<ipam::CellWant> larger_of(std::vector<ipam::CellWant> all, const std::vector<ipam::CellWant>& more) {
  for (const ipam::CellWant& one : more) {
    const auto same = std::ranges::find_if(all, [&](const ipam::CellWant& want) {
      return std::tie(want.network_name, want.ranges, want.gateways) ==
             std::tie(one.network_name, one.ranges, one.gateways);
    });
    if (same == all.end())
      all.push_back(one);
    else
      same->addresses = std::max(same->addresses, one.addresses);
  }
  return all;
}

}  // namespace

CellKeeper::CellKeeper(Dependencies deps, Settings settings) : deps_(std::move(deps)), settings_(std::move(settings)) {}

void CellKeeper::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const milliseconds rest = pass(stop);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, rest, [&] { return woken_; });
    // Of a burst of changes one round comes; an ADD does not wait for that.
    if (waiting_.empty()) changed_.wait_for(lock, stop, kBurst, [&] { return !waiting_.empty(); });
  }
  hurry();
}

void CellKeeper::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

void CellKeeper::hurry() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
}

kube::Instant CellKeeper::after(milliseconds period) {
  kube::Clock& clock = deps_.client.clock();
  return clock.now() + period * 4 / 5 + milliseconds(int64_t(clock.random() * 0.4 * double(period.count())));
}

milliseconds CellKeeper::pass(const std::stop_token& stop) {
  bool asked = false;
  {
    const std::lock_guard lock(mutex_);
    woken_ = false;
    asked = std::ranges::any_of(waiting_, [](const TaskPtr& task) { return !task->answered; });
  }
  if (share_ != nullptr) share_->look_again();
  kube::Clock& clock = deps_.client.clock();
  const bool again = asked && pause_ > milliseconds(0) && clock.now() >= tried_ + kAskAgain;
  if (clock.now() >= next_sync_ || again) {
    tried_ = clock.now();
    if (const Result<void> done = sync(stop); !done.has_value()) failed(done.error());
  }
  if (can_ask()) serve(stop);
  if (can_ask()) lease_wanted(stop);
  if (can_ask() && clock.now() >= next_give_back_) give_back(stop);
  if (!counted_) count_cells();
  const std::lock_guard lock(mutex_);
  const bool waits = std::ranges::any_of(waiting_, [](const TaskPtr& task) { return !task->answered; });
  const auto until = std::chrono::ceil<milliseconds>(next_sync_ - clock.now());
  return std::clamp(until, milliseconds(1), waits ? kAskAgain : kVfLook);
}

void CellKeeper::failed(const Error& error) {
  pause_ = std::clamp(pause_ * 2, settings_.first_pause, settings_.longest_pause);
  next_sync_ = after(pause_);
  std::vector<TaskPtr> final;
  {
    const std::lock_guard lock(mutex_);
    const bool is_new = !snapshot_.error || snapshot_.error->story() != error.story();
    snapshot_.error = error;
    if (is_new) log::warn(fmt::format("addresses of ranges that nodes share: {}", doc::printable(error.story())));
    if (is_final(error))
      for (const TaskPtr& task : waiting_)
        if (!task->answered) {
          task->why_not = error;
          task->answered = true;
        }
  }
  deps_.events.happened(kAddressesEvent, "leases", error.story());
  changed_.notify_all();
}

Result<void> CellKeeper::sync(const std::stop_token& stop) {
  if (leaser_ == nullptr) {
    ipam::CellOwner owner = TRY(cell_owner(deps_.client, settings_.node, settings_.machine, stop));
    owner.quiet_seconds = settings_.quiet_seconds;
    if (settings_.share_with_whereabouts_in)
      share_ = std::make_unique<PoolShare>(deps_.client,
                                           PoolShare::Settings{*settings_.share_with_whereabouts_in, owner.holder});
    leaser_ = std::make_unique<CellLeaser>(
        CellLeaser::Dependencies{.client = deps_.client,
                                 .book = deps_.book,
                                 .blocks = deps_.blocks,
                                 .share = share_.get(),
                                 .look_beside = [this](const std::stop_token& token) { return look_beside(token); }},
        CellLeaser::Settings{std::move(owner), settings_.process});
  }
  const kube::Answer<uint64_t> nodes = deps_.client.count(kube::kNodes, stop);
  if (!nodes) return fail(static_cast<const Error&>(nodes.error()));
  leaser_->nodes(std::max<uint64_t>(1, *nodes));
  counted_ = false;
  next_beside_ = {};
  TRY(look_beside(stop));
  Result<void> done = leaser_->sync(stop);
  take_conflicts();
  if (!done.has_value() && done.error().code == Code::kNotFound)
    done.error().hint = "the API server has no AddressCell definition: `kubectl apply --server-side -f deploy/crds/`";
  TRY(std::move(done));
  pause_ = milliseconds(0);
  next_sync_ = after(settings_.sync_period);
  leased_for_.reset();  // what was lost is leased again
  deps_.events.over(kAddressesEvent, "leases");
  const std::lock_guard lock(mutex_);
  if (snapshot_.error) log::info("addresses of ranges that nodes share: the API server answers again");
  snapshot_.error.reset();
  snapshot_.nodes = *nodes;
  return {};
}

Result<void> CellKeeper::look_beside(const std::stop_token& stop) {
  kube::Clock& clock = deps_.client.clock();
  if (!deps_.pools || clock.now() < next_beside_) return {};
  deps_.blocks.beside(TRY(deps_.pools(deps_.client, stop).context("pools of whereabouts")));
  next_beside_ = clock.now() + settings_.beside_period;
  return {};
}

void CellKeeper::take_conflicts() {
  for (const std::string& lost : leaser_->take_lost()) {
    log::warn(doc::printable(lost));
    deps_.events.happened(kAddressesEvent, "lost", lost);
    if (deps_.report) deps_.report("AddressLeaseLost", lost);
  }
  for (std::string& conflict : leaser_->take_conflicts()) {
    log::warn(doc::printable(conflict));
    deps_.events.happened(kAddressesEvent, "conflict", conflict);
    if (deps_.report) deps_.report("AddressConflict", conflict);
    const std::lock_guard lock(mutex_);
    ++snapshot_.conflict_count;
    snapshot_.conflicts.push_back(std::move(conflict));
    if (snapshot_.conflicts.size() > kConflictsReported) snapshot_.conflicts.erase(snapshot_.conflicts.begin());
  }
}

// --- what ADDs wait for

CellKeeper::Supplied CellKeeper::more(std::vector<AddressNeed> needs, std::chrono::steady_clock::time_point deadline) {
  auto task = std::make_shared<Task>();
  task->needs = std::move(needs);
  std::unique_lock lock(mutex_);
  waiting_.push_back(task);
  std::erase_if(kept_, [](const std::weak_ptr<Task>& one) { return one.expired(); });
  kept_.push_back(task);
  woken_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, deadline, [&] { return task->answered || ends_; });
  std::erase(waiting_, task);
  if (task->answered) return {task, task->why_not};
  return {task, silence()};
}

// With the mutex held: why nothing came before the deadline.
Error CellKeeper::silence() const {
  if (Result<void> heard = deps_.blocks.heard_lately(); !heard.has_value() && deps_.blocks.last_heard()) {
    Error error = std::move(heard).error();
    if (snapshot_.error) error.message += "; " + snapshot_.error->story();
    return error;
  }
  const std::optional<CellsHeard> heard = deps_.blocks.last_heard();
  const std::string since =
      heard ? fmt::format("its last list of this node's leases is {} s old",
                          std::chrono::duration_cast<seconds>(deps_.client.clock().now() - heard->since_boot).count())
            : std::string("it has not listed this node's leases since boot");
  return {.code = Code::kBusy,
          .message = fmt::format("this node has no free leased address, and leasing another one from the API server "
                                 "timed out; {}{}",
                                 since, snapshot_.error ? ": " + snapshot_.error->story() : ""),
          .hint = "run `railbed status` for the API server's state; the runtime will retry the pod"};
}

// How many interfaces are being supplied, of whichever ranges: those that overlap share their addresses.
uint64_t CellKeeper::needs_of(const std::string& network_name) const {
  const std::lock_guard lock(mutex_);
  uint64_t count = 0;
  for (const std::weak_ptr<Task>& one : kept_)
    if (const TaskPtr task = one.lock(); task != nullptr)
      count += static_cast<uint64_t>(std::ranges::count_if(
          task->needs, [&](const AddressNeed& need) { return need.config.network_name == network_name; }));
  return count;
}

Result<void> CellKeeper::supply(const Task& task, const std::stop_token& stop) {
  for (const AddressNeed& need : task.needs) {
    for (const ipam::CellWant& want : ipam::wants_of(need.config, 0)) TRY(leaser_->prepare(want, stop));
    for (const IpAddress& address : need.by_name) TRY(leaser_->lease_address(need.config.network_name, address, stop));
    for (const ipam::CellWant& want : ipam::wants_of(need.config, 0))
      if (!gives_by_name(want, need.by_name))
        TRY(leaser_->lease_more(want, std::max<uint64_t>(1, needs_of(want.network_name)), stop));
  }
  return {};
}

void CellKeeper::serve(const std::stop_token& stop) {
  std::vector<TaskPtr> tasks;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(waiting_, std::back_inserter(tasks), [](const TaskPtr& task) { return !task->answered; });
  }
  if (!tasks.empty()) counted_ = false;
  for (const TaskPtr& task : tasks) {
    const Result<void> done = supply(*task, stop);
    {
      const std::lock_guard lock(mutex_);
      task->answered = done.has_value() || is_final(done.error());
      if (!done.has_value()) task->why_not = done.error();
    }
    changed_.notify_all();
    if (done.has_value() || !is_of_api_server(done.error())) continue;
    failed(done.error());
    return;
  }
}

// --- what no caller waits for

void CellKeeper::lease_wanted(const std::stop_token& stop) {
  std::optional<std::vector<ipam::CellWant>> wants = deps_.wants();
  if (wants) wanted_lately_ = larger_of(std::move(wanted_lately_), *wants);
  if (!wants || (wants == leased_for_ && deps_.client.clock().now() < next_try_)) return;
  counted_ = false;
  std::vector<std::string> lacking;
  for (const ipam::CellWant& want : *wants) {
    const Result<void> done = leaser_->lease(want, stop);
    if (done.has_value()) continue;
    if (is_of_api_server(done.error())) return failed(done.error());
    lacking.push_back(done.error().story());
  }
  leased_for_ = std::move(wants);
  next_try_ = lacking.empty() ? kube::Instant::max() : after(settings_.give_back_period);
  const std::lock_guard lock(mutex_);
  snapshot_.lacking = std::move(lacking);
}

void CellKeeper::give_back(const std::stop_token& stop) {
  next_give_back_ = after(settings_.give_back_period);
  std::optional<std::vector<ipam::CellWant>> wants = deps_.wants();
  if (!wants) return;
  {
    // What was leased for an ADD that has not taken it yet.
    const std::lock_guard lock(mutex_);
    for (const std::weak_ptr<Task>& one : kept_)
      if (!one.expired()) return;
  }
  counted_ = false;
  // Where pods come and go, one is often just not there: its addresses were wanted a moment ago, and will be again.
  const std::vector<ipam::CellWant> lately = std::exchange(wanted_lately_, *std::move(wants));
  if (const Result<void> done = leaser_->give_back(lately, stop); !done.has_value()) failed(done.error());
}

void CellKeeper::count_cells() {
  uint64_t cells = 0, addresses = 0;
  const auto work = [&](state::Store& store, const CellBook::InUse&) -> Result<void> {
    for (const auto& [network_name, all] : TRY(stored_cells(store)))
      for (const auto& [base, offsets] : all) {
        ++cells;
        addresses += static_cast<uint64_t>(std::popcount(offsets));
      }
    return {};
  };
  if (!deps_.book.in_turn(work).has_value()) return;
  counted_ = true;
  const std::lock_guard lock(mutex_);
  snapshot_.cells = cells;
  snapshot_.addresses = addresses;
}

CellKeeper::Snapshot CellKeeper::snapshot() const {
  const std::lock_guard lock(mutex_);
  Snapshot out = snapshot_;
  out.waiting = waiting_.size();
  if (const std::optional<CellsHeard> heard = deps_.blocks.last_heard())
    out.heard_seconds = std::chrono::duration_cast<seconds>(deps_.client.clock().now() - heard->since_boot).count();
  return out;
}

}  // namespace railbed::agent
