// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_blocks.h"

#include <algorithm>
#include <sstream>

#include "ipam/assign.h"
#include "ipam/cell_leases.h"

namespace railbed::agent {
namespace {

using std::chrono::seconds;

constexpr std::string_view kCellsNote = "cells of ";  // and the network_name: it has blocks, or had
constexpr const char* kHeardNote = "cells heard";

int64_t seconds_of(auto period) {
  return std::chrono::duration_cast<seconds>(period).count();
}

}  // namespace

std::string cell_pool(const std::string& network_name) {
  api::IpamConfig config;
  config.type = api::IpamType::kWhereabouts;
  config.network_name = network_name;
  return ipam::pool_of(config, "");
}

std::optional<std::string> network_name_of(const std::string& pool) {
  const std::string plain = cell_pool("");
  if (pool == plain) return "";
  const std::string named = cell_pool("x").substr(0, cell_pool("x").size() - 1);
  if (!pool.starts_with(named)) return std::nullopt;
  return pool.substr(named.size());
}

Result<std::map<std::string, ipam::CellMap>> stored_cells(state::Store& store) {
  std::map<std::string, ipam::CellMap> out;
  for (const auto& [key, text] : TRY(store.notes(std::string(kCellsNote)))) {
    const std::string network_name = key.substr(kCellsNote.size());
    ipam::CellMap& cells = out[network_name];
    for (const IpRange& block : TRY(store.blocks(cell_pool(network_name)))) {
      const IpAddress base = ipam::cell_of(block.first);
      cells[base] |= ipam::offsets_in({block}, base);
    }
  }
  return out;
}

Result<void> store_cell(state::Store& store, const std::string& network_name, const ipam::CellChoice& cell) {
  const std::string pool = cell_pool(network_name);
  const std::vector<IpRange> wanted = ipam::ranges_of(cell.base, cell.offsets);
  std::vector<IpRange> kept;
  for (const IpRange& block : TRY(store.blocks(pool))) {
    if (ipam::cell_of(block.first) != cell.base) continue;
    if (std::ranges::find(wanted, block) == wanted.end())
      TRY(store.forget_block({pool, block}));
    else
      kept.push_back(block);
  }
  for (const IpRange& range : wanted)
    if (std::ranges::find(kept, range) == kept.end()) TRY(store.put_block({pool, range}));
  return store.put_note(std::string(kCellsNote) + network_name, "1");
}

Result<void> store_heard(state::Store& store, const CellsHeard& heard) {
  return store.put_note(kHeardNote, fmt::format("{} {}", seconds_of(heard.since_boot.time_since_epoch()),
                                                seconds_of(heard.wall.time_since_epoch())));
}

Result<std::optional<CellsHeard>> stored_heard(state::Store& store) {
  const std::optional<std::string> text = TRY(store.note(kHeardNote));
  int64_t since_boot = 0, wall = 0;
  if (!text.has_value() || !(std::istringstream(*text) >> since_boot >> wall)) return std::optional<CellsHeard>();
  return std::optional(
      CellsHeard{.since_boot = kube::Instant(seconds(since_boot)), .wall = kube::WallTime(seconds(wall))});
}

Result<void> resume_cells(state::Store& store, CellBlocks& blocks) {
  if (const std::optional<CellsHeard> heard = TRY(stored_heard(store))) blocks.heard(*heard);
  return {};
}

CellBlocks::CellBlocks(state::Store& store, kube::Clock& clock, int64_t quiet_seconds)
    : clock_(clock), quiet_seconds_(quiet_seconds), stored_(store, ipam::WithoutBlocks::kNothing) {}

Result<std::vector<IpRange>> CellBlocks::blocks(const std::string& pool, const api::IpamRange& range) {
  if (network_name_of(pool)) TRY(may_give(range.addresses));
  return stored_.blocks(pool, range);
}

void CellBlocks::heard(const CellsHeard& heard) {
  const std::lock_guard lock(mutex_);
  heard_ = heard;
}

std::optional<CellsHeard> CellBlocks::last_heard() const {
  const std::lock_guard lock(mutex_);
  return heard_;
}

void CellBlocks::beside(std::vector<PoolBeside> pools) {
  const std::lock_guard lock(mutex_);
  beside_ = std::move(pools);
}

Result<void> CellBlocks::heard_lately() const {
  const std::lock_guard lock(mutex_);
  return heard_lately_locked();
}

Result<void> CellBlocks::heard_lately_locked() const {
  if (!heard_)
    return fail(Error{.code = Code::kBusy,
                      .message = "this node has not reached the API server since boot and does not know its leased "
                                 "addresses",
                      .hint = "run `railbed status` for the API server's state"});
  const int64_t boot = seconds_of(clock_.now() - heard_->since_boot), wall = seconds_of(clock_.wall() - heard_->wall);
  if (!ipam::may_give(quiet_seconds_, boot, wall))
    return fail(
        Error{.code = Code::kBusy,
              .message = fmt::format("this node has not reached the API server for {} s; other nodes may lease its "
                                     "addresses if it counts as deleted",
                                     std::max(boot, wall)),
              .hint = "run `railbed status` for the API server's state"});
  return {};
}

Result<void> CellBlocks::may_give(const IpRange& range) const {
  const std::lock_guard lock(mutex_);
  TRY(heard_lately_locked());
  for (const PoolBeside& pool : beside_)
    if (pool.addresses.first.family == range.first.family && !(pool.addresses.last < range.first) &&
        !(range.last < pool.addresses.first))
      return fail(Error{.code = Code::kConflict,
                        .message = fmt::format("the range {} overlaps with the IPPool {}, from which whereabouts "
                                               "allocates addresses; the two may allocate the same address",
                                               range, pool.name),
                        .hint = "use a separate range for railbed; or delete the IPPool once no node uses whereabouts "
                                "and its pods are deleted"});
  return {};
}

}  // namespace railbed::agent
