// SPDX-License-Identifier: Apache-2.0
#include "controller/cell_reclaim.h"

#include <algorithm>
#include <bit>

#include "cells/cell_api.h"
#include "doc/members.h"
#include "kube/kinds.h"

namespace railbed::controller {

using api::AddressCell;
using api::CellLease;
using doc::Value;
using ipam::CellNode;
using ipam::LeaseFate;
using kube::milliseconds;
using std::chrono::duration_cast;
using std::chrono::seconds;

namespace {

constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";
// Counting is written to each lease, so it is done as seldom as the end of a lease may come late by.
constexpr int kLooksUntilTheEnd = 24;
constexpr milliseconds kShortestPeriod = seconds(10);
constexpr milliseconds kLongestPeriod = seconds(3600);

milliseconds period_of(const ReclaimSettings& settings) {
  if (settings.period) return *settings.period;
  if (!settings.rules.after_seconds) return kLongestPeriod;
  return std::clamp<milliseconds>(seconds(*settings.rules.after_seconds / kLooksUntilTheEnd), kShortestPeriod,
                                  kLongestPeriod);
}

// Its machine runs, or no report says that it does not.
bool is_there(const CellNode& node) {
  return node.ready || !node.out_of_service;
}

// The name of a lease may be any text.
bool no_node_has(const kube::ApiError& error) {
  return error.code == Code::kInvalid && error.delivery == kube::Delivery::kNotSent;
}

std::string reason_of(const kube::ObjectPtr& node, const CellLease& lease) {
  if (node == nullptr) return "NodeGone";
  return cell_node_of(*node).system_uuid == lease.holder.system_uuid ? "OutOfService" : "NameTaken";
}

}  // namespace

CellNode cell_node_of(const Value& node) {
  const auto any_of = [&](std::string_view path, const auto& is_it) {
    const Value* list = doc::at(node, path);
    return list != nullptr && list->is_array() && std::ranges::any_of(*list->as_array(), is_it);
  };
  CellNode out;
  out.system_uuid = doc::text_at(node, "status.nodeInfo.systemUUID");
  out.boot_id = doc::text_at(node, "status.nodeInfo.bootID");
  out.ready = any_of("status.conditions", [](const Value& one) {
    return doc::text_in(one, "type") == "Ready" && doc::text_in(one, "status") == "True";
  });
  out.out_of_service =
      any_of("spec.taints", [](const Value& one) { return doc::text_in(one, "key") == kOutOfService; });
  return out;
}

std::set<std::string> machines_gone_by(const kube::Change& node) {
  std::set<std::string> out;
  const CellNode before = node.before != nullptr ? cell_node_of(*node.before) : CellNode();
  const CellNode after = node.after != nullptr ? cell_node_of(*node.after) : CellNode();
  if (before.system_uuid != after.system_uuid) out.insert(before.system_uuid);
  if (!is_there(after) && (node.before == nullptr || is_there(before))) out.insert(after.system_uuid);
  out.erase("");
  return out;
}

CellReclaimer::CellReclaimer(Dependencies deps, ReclaimSettings settings)
    : deps_(std::move(deps)), rules_(settings.rules), period_(period_of(settings)) {}

void CellReclaimer::concern(const std::set<std::string>& machines) {
  const std::lock_guard lock(mutex_);
  concerned_.insert(machines.begin(), machines.end());
}

ReclaimStatus CellReclaimer::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Result<milliseconds> CellReclaimer::look(std::stop_token stop) {
  const bool all = deps_.clock.now() >= list_due_;
  std::set<std::string> machines;
  {
    const std::lock_guard lock(mutex_);
    machines.swap(concerned_);
  }
  Round round;
  Result<void> listed;
  if (all) {
    listed = list("", round, stop);
  } else {
    for (const std::string& machine : machines) {
      listed = list(api::cell_holder_label(machine), round, stop);
      if (!listed.has_value()) break;
    }
  }
  if (!listed.has_value() && !round.error) round.error = listed.error();
  report(round);
  const bool complete = all && listed.has_value() && deps_.may_write();
  if (complete) {
    list_due_ = deps_.clock.now() + period_;
    seen_ = std::move(round.seen);
  } else {
    for (auto& [key, seen] : round.seen) seen_.insert_or_assign(key, seen);
  }
  const std::lock_guard lock(mutex_);
  if (complete) {
    status_.cells = round.cells;
    status_.unreadable = round.unreadable;
    status_.without_node = round.without_node;
  }
  status_.error = round.error ? round.error->story() : "";
  if (round.error) {
    concerned_.merge(machines);
    return fail(*round.error);
  }
  return std::max(milliseconds(0), duration_cast<milliseconds>(list_due_ - deps_.clock.now()));
}

Result<void> CellReclaimer::list(const std::string& labels, Round& round, std::stop_token stop) {
  const auto look_at_one = [&](const Value&, const Result<AddressCell>& cell) {
    if (stop.stop_requested() || !deps_.may_write()) return kube::Visit::kEnough;
    ++round.cells;
    // Its owner is unknown: its addresses stay as they are, and the agents say so at an ADD.
    if (cell.has_value())
      look_at(*cell, round, stop);
    else
      ++round.unreadable;
    return kube::Visit::kGoOn;
  };
  return cells::CellApi(deps_.reader).each(labels, look_at_one, stop);
}

void CellReclaimer::look_at(const AddressCell& cell, Round& round, std::stop_token stop) {
  Next next{.cell = cell, .ended = {}, .changed = cell.leases.empty()};
  next.cell.leases.clear();
  std::map<LeaseKey, Seen> counted;
  const std::string name = api::cell_name(cell.network_name, cell.base);
  for (CellLease lease : cell.leases) {
    const LeaseKey key{name, lease.holder.node, lease.holder.system_uuid, lease.holder.boot_id};
    Result<Judged> judged = this->judged(key, lease, round, stop);
    if (!judged.has_value()) {
      if (!round.error) round.error = judged.error();
      next.cell.leases.push_back(std::move(lease));  // nothing is known of it now
      continue;
    }
    const ipam::LeaseVerdict& verdict = judged->verdict;
    next.changed = next.changed || verdict.fate != LeaseFate::kStays;
    if (verdict.fate == LeaseFate::kEnds) {
      next.ended.emplace_back(std::move(lease), *std::move(judged));
      continue;
    }
    if (verdict.fate == LeaseFate::kCounts) {
      lease.gone_seconds = verdict.gone_seconds;
      if (verdict.gone_seconds > 0) counted[key] = {verdict.gone_seconds, deps_.clock.now()};
    }
    next.cell.leases.push_back(std::move(lease));
  }
  api::give_offsets_to_the_first(next.cell.leases);
  if (!next.changed || !store(cell, next, round, stop)) return;
  for (const auto& [key, seen] : counted) round.seen[key] = seen;
  for (const auto& [lease, judged] : next.ended) {
    EndedLeases& all = round.ended[{lease.holder.node, lease.holder.system_uuid, reason_of(judged.node, lease)}];
    all.holder = lease.holder;
    all.node = judged.node;
    all.reason = reason_of(judged.node, lease);
    all.why = judged.verdict.why;
    ++all.cells;
    all.addresses += static_cast<size_t>(std::popcount(lease.offsets));
  }
}

// By the cache first; where that would change anything, by the API server.
Result<CellReclaimer::Judged> CellReclaimer::judged(const LeaseKey& key, const CellLease& lease, Round& round,
                                                    std::stop_token stop) {
  const kube::Instant now = deps_.clock.now();
  const auto judge = [&](const kube::ObjectPtr& node, int64_t elapsed) {
    const CellNode known = node != nullptr ? cell_node_of(*node) : CellNode();
    return ipam::judge(lease, {.node = node != nullptr ? &known : nullptr, .seconds = elapsed}, rules_);
  };
  const auto is_gone = [&](const kube::ObjectPtr& node) {
    return node == nullptr || cell_node_of(*node).system_uuid != lease.holder.system_uuid;
  };
  const kube::ObjectPtr cached = deps_.node(lease.holder.node);
  if (!is_gone(cached) && judge(cached, 0).fate == LeaseFate::kStays) return Judged{{}, cached};

  const kube::ObjectPtr node = TRY(node_now(lease.holder.node, round, stop));
  if (!is_gone(node)) return Judged{judge(node, 0), node};
  ++round.without_node;
  // A lease that was written meanwhile, by its holder or another operator, and a time without a look begin a new count.
  const auto known = seen_.find(key);
  const bool counts =
      known != seen_.end() && known->second.gone_seconds == lease.gone_seconds && now - known->second.at <= 2 * period_;
  const auto elapsed = counts ? duration_cast<seconds>(now - known->second.at) : seconds(0);
  ipam::LeaseVerdict verdict = judge(node, elapsed.count());
  round.seen[key] = counts ? known->second : Seen{lease.gone_seconds, now};
  // Between two lists, too, a machine can be looked at: that is no reason to write.
  if (verdict.fate == LeaseFate::kCounts && lease.gone_seconds > 0 && now - round.seen[key].at < period_ * 9 / 10)
    verdict = {};
  return Judged{std::move(verdict), node};
}

CellReclaimer::NodeNow CellReclaimer::node_now(const std::string& name, Round& round, std::stop_token stop) {
  const auto known = round.nodes.find(name);
  if (known != round.nodes.end()) return known->second;
  kube::Answer<Value> node = deps_.writer.get(kube::kNodes, {"", name}, stop);
  NodeNow now;
  if (node)
    now = std::make_shared<const Value>(*std::move(node));
  else if (node.error().code != Code::kNotFound && !no_node_has(node.error()))
    now = fail(static_cast<const Error&>(node.error()));
  return round.nodes.emplace(name, std::move(now)).first->second;
}

// Whether it is stored. Where somebody else was first, the next look sees what is right then.
bool CellReclaimer::store(const AddressCell& cell, const Next& next, Round& round, std::stop_token stop) {
  if (!deps_.may_write()) return false;
  const auto is_done = [&](const AddressCell& now) {
    return now.leases == next.cell.leases && now.uid == (next.cell.leases.empty() ? "" : cell.uid);
  };
  const auto stored = cells::CellApi(deps_.writer).store(cell, next.cell, is_done, std::move(stop));
  if (stored && !stored->done) return false;
  deps_.wrote("AddressCell " + api::cell_name(cell.network_name, cell.base), stored ? nullptr : &stored.error());
  if (!stored && !round.error) round.error = static_cast<const Error&>(stored.error());
  return stored.has_value();
}

void CellReclaimer::report(Round& round) {
  for (const auto& [key, ended] : round.ended) {
    {
      const std::lock_guard lock(mutex_);
      status_.ended[ended.reason] += ended.cells;
    }
    deps_.ended(ended);  // who hears of it finds it counted
  }
}

}  // namespace railbed::controller
