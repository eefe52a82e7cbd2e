// SPDX-License-Identifier: Apache-2.0
#include "drain/waves.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include "base/format.h"
#include "drain/groups.h"

namespace railbed::drain {
namespace {

constexpr size_t kShownNodes = 4;
// Evictions wait so long for an agent that has not withdrawn its VFs.
constexpr std::chrono::seconds kPatience{60};

bool is_pending(const NodeView& node, const PoolView& pool, Time now) {
  if (node.change.empty() || is_active(node.state)) return false;
  return node.state.phase != Phase::kBlocked || now >= node.state.since + pool.again_after;
}

// A node that was given up queues again behind those that wait since.
Time queued_since(const NodeView& node) {
  return node.state.phase == Phase::kBlocked ? std::max(node.state.since, node.wanted_since) : node.wanted_since;
}

// Also of a node whose pods were evicted with their group: it waits for its slot, empty.
bool needs_eviction(const NodeView& node) {
  return !node.state.units.empty() || std::ranges::any_of(node.pods, is_in_the_way);
}

// Whether a pod could still start on VFs of this node that will change.
bool offers_old_vfs(const NodeView& node, Time now) {
  if (!node.ready || node.cordoned || node.withdrawn) return false;
  if (node.state.phase == Phase::kIdle || node.state.phase == Phase::kBlocked) return true;
  return now < node.state.since + kPatience;
}

// Why it counts against the bound although it is not being changed; empty: it does not.
std::string why_unavailable(const NodeView& node, const PoolView& pool, Time now) {
  if (!node.others.empty()) return fmt::format("{} (maintained by {})", node.name, fmt::join(node.others, ", "));
  if (node.ready && !node.cordoned) return "";
  if (pool.ignore_unavailable_after.has_value() && now - node.unavailable_since >= *pool.ignore_unavailable_after)
    return "";
  return fmt::format("{} ({} since {})", node.name, node.ready ? "cordoned" : "not ready",
                     time_text(node.unavailable_since));
}

std::string shown(const std::vector<std::string>& names) {
  const size_t count = std::min(names.size(), kShownNodes);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(count), ", "));
  if (names.size() > count) text += fmt::format(" and {} more", names.size() - count);
  return text;
}

std::vector<std::string> sorted_texts(const std::set<std::string_view>& names) {
  return {names.begin(), names.end()};
}

class WaveMaker {
 public:
  WaveMaker(const std::vector<PoolView>& pools, Time now) : pools_(pools), now_(now) {}

  Waves run() {
    for (const PoolView& pool : pools_)
      for (const NodeView& node : pool.nodes) note(pool, node);
    for (const PoolView& pool : pools_) fill(pool);
    order_groups();
    withdraw_elsewhere();
    hold_evictions();
    return std::move(out_);
  }

 private:
  struct Place {
    const PoolView* pool;
    const NodeView* node;
  };
  struct Busy {
    std::string_view node;
    std::set<std::string_view> units;
  };

  // What is in progress already, and which groups run where.
  void note(const PoolView& pool, const NodeView& node) {
    out_.nodes[node.name];
    if (is_active(node.state)) {
      moving_.insert(node.state.resources.begin(), node.state.resources.end());
      for (const std::string& spread : node.state.spreads) busy_[spread] = {node.name, {}};
    }
    if (node.state.phase != Phase::kIdle && node.state.phase != Phase::kBlocked)
      ordered_.insert(node.state.units.begin(), node.state.units.end());
    if (!is_active(node.state) && !is_pending(node, pool, now_)) return;
    for (const AffectedPod& pod : node.pods) {
      if (!is_in_the_way(pod) || !is_group(pod.unit)) continue;
      std::vector<Place>& places = places_[pod.unit];
      if (places.empty() || places.back().node != &node) places.push_back({&pool, &node});
      if (node.state.phase != Phase::kWithdrawn) continue;
      const auto [clock, is_new] = withdrawn_since_.try_emplace(pod.unit, node.state.since);
      if (!is_new) clock->second = std::min(clock->second, node.state.since);
    }
  }

  void fill(const PoolView& pool) {
    PoolTurns& turns = out_.pools[pool.name];
    turns.allowed = nodes_allowed(pool.bound, pool.nodes.size());
    std::vector<const NodeView*> pending;
    std::set<std::string_view> down;
    bool restarts_empty = false;
    for (const NodeView& node : pool.nodes) {
      if (is_active(node.state) && node.state.slot) {
        turns.counted.push_back(node.name);
        restarts_empty = restarts_empty || (node.needs_restart && node.state.spreads.empty() && !needs_eviction(node));
      } else if (std::string why = why_unavailable(node, pool, now_); !why.empty()) {
        turns.counted.push_back(std::move(why));
        down.insert(node.name);
      }
      if (is_pending(node, pool, now_)) pending.push_back(&node);
    }
    std::ranges::sort(pending, {}, [](const NodeView* node) { return std::tuple(queued_since(*node), node->name); });
    bool has_waiting = false;
    bool has_gone = false;
    for (const NodeView* node : pending) {
      const bool itself = down.contains(node->name);  // a cordoned node takes the slot that it has already
      const size_t used = turns.counted.size() - (itself ? 1 : 0);
      const bool reserved = !needs_eviction(*node) && !restarts_empty && turns.allowed > 0;
      Turn turn = turn_of(pool, *node, used < turns.allowed || reserved, turns);
      if (turn.slot && turn.kind != Turn::Kind::kWait) {
        if (!itself) turns.counted.push_back(node->name);
        restarts_empty = restarts_empty || !needs_eviction(*node);
      }
      has_waiting = has_waiting || turn.kind == Turn::Kind::kWait;
      has_gone = has_gone || turn.kind != Turn::Kind::kWait;
      out_.nodes[node->name] = std::move(turn);
    }
    const bool in_progress =
        std::ranges::any_of(pool.nodes, [](const NodeView& node) { return is_active(node.state); });
    turns.blocked = has_waiting && !has_gone && !in_progress;
  }

  Turn turn_of(const PoolView& pool, const NodeView& node, bool has_slot, const PoolTurns& turns) {
    const bool evicts = needs_eviction(node);
    std::string reason = cannot_start(pool, node);
    if (reason.empty() && (evicts || node.needs_restart) && !has_slot)
      reason = turns.counted.empty()
                   ? fmt::format("pool {} allows no node to be unavailable (maxUnavailable)", pool.name)
                   : fmt::format("waits for a slot of pool {}: {} of {} in use: {}", pool.name, turns.counted.size(),
                                 turns.allowed, shown(turns.counted));
    if (!reason.empty()) return {.kind = Turn::Kind::kWait, .reason = std::move(reason)};
    if (!evicts) return {.kind = Turn::Kind::kChange, .slot = node.needs_restart};
    return start(node);
  }

  std::string cannot_start(const PoolView& pool, const NodeView& node) const {
    if (!node.others.empty())
      return fmt::format("waits for {}, which maintains this node", fmt::join(node.others, ", "));
    if (!node.ready) return fmt::format("not ready since {}", time_text(node.unavailable_since));
    if (!node.held.empty()) return node.held;
    for (const AffectedPod& pod : node.pods)
      if (is_in_the_way(pod) && !is_evictable(pod) && pod.kind != PodClass::kEnding)
        return fmt::format("pod {} {}", pod.key(), pod.reason);
    for (const AffectedPod& pod : node.pods) {
      if (!is_in_the_way(pod)) continue;
      if (std::string reason = completion_of(pool, pod); !reason.empty()) return reason;
      const auto busy = pod.spread.empty() ? busy_.end() : busy_.find(pod.spread);
      if (busy != busy_.end() && !busy->second.units.contains(pod.unit) && !ordered_.contains(pod.unit))
        return fmt::format("waits for node {}, where another pod of {} is evicted", busy->second.node, pod.spread);
    }
    return "";
  }

  // A group may end by itself for a while; its clock starts with the first of its nodes that is withdrawn.
  std::string completion_of(const PoolView& pool, const AffectedPod& pod) const {
    if (pool.wait_for_completion.count() == 0 || !is_group(pod.unit) || ordered_.contains(pod.unit)) return "";
    const auto clock = withdrawn_since_.find(pod.unit);
    const Time end = (clock == withdrawn_since_.end() ? now_ : clock->second) + pool.wait_for_completion;
    if (now_ >= end) return "";
    return fmt::format("waits for {} to complete, until {}", pod.unit,
                       clock == withdrawn_since_.end() ? "its time limit" : time_text(end));
  }

  Turn start(const NodeView& node) {
    std::set<std::string_view> spreads;
    for (const AffectedPod& pod : node.pods) {
      if (!is_in_the_way(pod)) continue;
      if (is_group(pod.unit)) ordered_.insert(pod.unit);
      if (pod.spread.empty()) continue;
      spreads.insert(pod.spread);
      Busy& busy = busy_[pod.spread];
      if (busy.node.empty()) busy.node = node.name;
      busy.units.insert(pod.unit);
    }
    moving_.insert(node.resources.begin(), node.resources.end());
    return {.kind = Turn::Kind::kGo, .spreads = sorted_texts(spreads), .slot = true};
  }

  // The groups whose eviction begins, or began, on all nodes where they run.
  void order_groups() {
    for (const auto& [unit, places] : places_) {
      if (!ordered_.contains(unit)) continue;
      const bool is_stored = std::ranges::all_of(
          places, [&](const Place& place) { return std::ranges::binary_search(place.node->state.units, unit); });
      for (const Place& place : places) {
        Turn& turn = out_.nodes[place.node->name];
        turn.units.emplace_back(unit);
        turn.may_change = turn.may_change && is_stored;
        if (turn.kind == Turn::Kind::kWait) turn.kind = Turn::Kind::kWithdraw;
      }
    }
  }

  // An evicted pod must not restart where it would be evicted again.
  void withdraw_elsewhere() {
    for (const PoolView& pool : pools_) {
      if (nodes_allowed(pool.bound, pool.nodes.size()) == 0) continue;
      for (const NodeView& node : pool.nodes) {
        Turn& turn = out_.nodes[node.name];
        if (turn.kind != Turn::Kind::kWait) continue;
        const bool waits = pool.wait_for_completion.count() > 0 && node.ready && node.others.empty();
        if (waits || std::ranges::any_of(node.resources, [&](const std::string& one) { return moving_.contains(one); }))
          turn.kind = Turn::Kind::kWithdraw;
      }
    }
  }

  // No eviction before the last node that is to be withdrawn is: its pod would restart there.
  void hold_evictions() {
    std::map<std::string_view, std::string_view> open;  // a node, by resource
    for (const PoolView& pool : pools_)
      for (const NodeView& node : pool.nodes) {
        const Turn::Kind kind = out_.nodes[node.name].kind;
        const bool is_concerned = is_active(node.state) || (kind != Turn::Kind::kNone && kind != Turn::Kind::kWait);
        if (!is_concerned || node.change.empty() || !offers_old_vfs(node, now_)) continue;
        for (const std::string& resource : node.resources) open.try_emplace(resource, node.name);
      }
    for (const PoolView& pool : pools_)
      for (const NodeView& node : pool.nodes)
        for (const std::string& resource : node.resources)
          if (const auto found = open.find(resource); found != open.end())
            out_.nodes[node.name].not_withdrawn = found->second;
  }

  const std::vector<PoolView>& pools_;
  const Time now_;
  Waves out_;
  std::set<std::string_view> ordered_;                     // groups
  std::set<std::string_view> moving_;                      // resources of nodes that are being changed
  std::map<std::string_view, Busy> busy_;                  // by owner
  std::map<std::string_view, std::vector<Place>> places_;  // of groups
  std::map<std::string_view, Time> withdrawn_since_;       // of groups
};

}  // namespace

size_t nodes_allowed(const Bound& bound, size_t nodes) {
  if (bound.number.has_value()) return static_cast<size_t>(std::max(*bound.number, 0));
  if (!bound.percent.has_value()) return std::numeric_limits<size_t>::max();
  const auto percent = static_cast<size_t>(std::clamp(*bound.percent, 0, 100));
  return percent == 0 ? 0 : std::max<size_t>(nodes * percent / 100, 1);
}

Waves waves(const std::vector<PoolView>& pools, Time now) {
  return WaveMaker(pools, now).run();
}

}  // namespace railbed::drain
