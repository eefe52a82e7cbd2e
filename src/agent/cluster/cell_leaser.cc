// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cell_leaser.h"

#include <algorithm>
#include <bit>

#include "base/fnv1a.h"
#include "base/log.h"
#include "doc/text.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

using api::AddressCell;
using api::CellOffsets;
using ipam::CellChoice;
using ipam::CellMap;
using ipam::CellWant;

constexpr int kCellTries = 8;    // of one cell, against other writers
constexpr int kMostCells = 256;  // of one lease()

CellOffsets offsets_at(const CellMap& map, const IpAddress& base) {
  const auto found = map.find(base);
  return found != map.end() ? found->second : CellOffsets{0};
}

CellOffsets without(CellOffsets offsets, CellOffsets gone) {
  return static_cast<CellOffsets>(offsets & ~gone);
}

// The API server is there, and will not have this written: a right is missing (403), a policy or the definition of the
// kind forbids it (403, or 422, which is what policies say that give no reason).
bool is_refusal(const Error& error) {
  return error.code == Code::kDenied || error.code == Code::kInvalid;
}

}  // namespace

// By network_name, as far as it was seen.
CellMap CellLeaser::not_ours(const std::string& network_name) const {
  CellMap out;
  for (const auto* all : {&taken_, &given_beside_})
    if (const auto found = all->find(network_name); found != all->end())
      for (const auto& [base, offsets] : found->second) out[base] |= offsets;
  return out;
}

CellLeaser::CellLeaser(Dependencies deps, Settings settings)
    : deps_(deps), settings_(std::move(settings)), api_(deps.client) {}

Result<std::map<std::string, CellMap>> CellLeaser::stored() {
  std::map<std::string, CellMap> out;
  const auto work = [&](state::Store& store, const CellBook::InUse&) -> Result<void> {
    out = TRY(stored_cells(store));
    return {};
  };
  TRY(deps_.book.in_turn(work));
  return out;
}

Result<CellMap> CellLeaser::used(const std::string& network_name) {
  CellMap out;
  const std::string pool = cell_pool(network_name);
  const auto work = [&](state::Store& store, const CellBook::InUse& in_use) -> Result<void> {
    const std::map<std::string, CellMap> all = TRY(stored_cells(store));
    const auto own = all.find(network_name);
    if (own == all.end()) return {};
    for (const auto& [base, offsets] : own->second)
      for (uint64_t i = 0; i < api::kCellSize; ++i)
        if ((offsets >> i & 1U) != 0 && in_use(pool, *base.plus(i))) out[base] |= static_cast<CellOffsets>(1U << i);
    return {};
  };
  TRY(deps_.book.in_turn(work));
  return out;
}

Result<void> CellLeaser::put(const Key& key, CellOffsets offsets) {
  return deps_.book.in_turn([&](state::Store& store, const CellBook::InUse&) -> Result<void> {
    auto transaction = TRY(state::Transaction::begin(store));
    TRY(store_cell(store, key.first, {key.second, offsets}));
    return transaction.commit();
  });
}

void CellLeaser::remember(const AddressCell& cell) {
  const Key key{cell.network_name, cell.base};
  if (const CellOffsets others = unavailable(cell); others != 0)
    taken_[cell.network_name][cell.base] = others;
  else
    taken_[cell.network_name].erase(cell.base);
  if (!cell.uid.empty())
    known_[key] = cell;
  else
    known_.erase(key);
}

// What this node cannot lease of the cell.
CellOffsets CellLeaser::unavailable(const AddressCell& cell) const {
  if (api::is_being_deleted(cell)) return without(api::kWholeCell, held_by(cell, settings_.owner));
  return held_by_others(cell, settings_.owner);
}

// An earlier boot of this machine may have had another name. Where a Node has that name, it may be a clone's.
Result<void> CellLeaser::forget_former_names(const std::vector<AddressCell>& cells, std::stop_token stop) {
  settings_.owner.former_names.clear();
  settings_.owner.own_name_only = false;
  const api::CellHolder& own = settings_.owner.holder;
  std::set<std::string> asked;
  for (const AddressCell& cell : cells)
    for (const api::CellLease& lease : cell.leases) {
      if (lease.holder.system_uuid != own.system_uuid || lease.holder.boot_id == own.boot_id ||
          lease.holder.node == own.node || !asked.insert(lease.holder.node).second)
        continue;
      const kube::Answer<doc::Value> node = deps_.client.get(kube::kNodes, {"", lease.holder.node}, stop);
      if (!node && node.error().code == Code::kNotFound) settings_.owner.former_names.insert(lease.holder.node);
    }
  return {};
}

Result<void> CellLeaser::sync(std::stop_token stop) {
  const CellsHeard heard{.since_boot = deps_.client.clock().now(), .wall = deps_.client.clock().wall()};
  const std::vector<AddressCell> listed = TRY(api_.held_by(settings_.owner.holder.system_uuid, stop));
  TRY(forget_former_names(listed, stop));
  std::map<Key, CellOffsets> mine;
  for (const auto& [network_name, cells] : TRY(stored()))
    for (const auto& [base, offsets] : cells) mine[{network_name, base}] = offsets;
  for (const AddressCell& cell : listed) {
    const Key key{cell.network_name, cell.base};
    const auto stored_here = mine.extract(key);
    const CellOffsets offsets = stored_here.empty() ? CellOffsets{0} : stored_here.mapped();
    remember(cell);
    const CellOffsets used_here = TRY(keep_used(cell, offsets));
    TRY(hold_as_far_as_allowed(cell, offsets | used_here, stop));
  }
  for (const auto& [key, offsets] : mine) {
    const AddressCell cell = TRY(api_.get(key.first, key.second, stop).result());
    TRY(hold_as_far_as_allowed(cell, offsets, stop));
    TRY(label_again(cell, offsets, stop));
  }
  settings_.owner.former_names.clear();  // the name may be another machine's soon
  TRY(reserve_held(stop));
  TRY(lease_used(stop));
  deps_.blocks.heard(heard);
  return deps_.book.in_turn(
      [&](state::Store& store, const CellBook::InUse&) -> Result<void> { return store_heard(store, heard); });
}

// A cell with a lease of this machine that the list did not have: its label was removed. A state that was lost could
// not be compared with it.
Result<void> CellLeaser::label_again(const AddressCell& cell, CellOffsets offsets, std::stop_token stop) {
  if (held_by(cell, settings_.owner) != offsets || needs_write(cell, settings_.owner))
    return {};  // it was written just now
  const Result<cells::CellApi::Written> written = write(cell, offsets, std::move(stop));
  if (written.has_value()) remember(written->now);
  if (!written.has_value() && !is_refusal(written.error())) return fail(written.error());
  return {};
}

// Which of them somebody on this machine uses.
Result<CellOffsets> CellLeaser::used_of(const AddressCell& cell, CellOffsets offsets) {
  CellOffsets used = 0;
  const auto work = [&](state::Store&, const CellBook::InUse& in_use) -> Result<void> {
    for (uint64_t i = 0; i < api::kCellSize; ++i)
      if ((offsets >> i & 1U) != 0 && in_use(cell_pool(cell.network_name), *cell.base.plus(i)))
        used |= static_cast<CellOffsets>(1U << i);
    return {};
  };
  TRY(deps_.book.in_turn(work));
  return used;
}

// Leases of this boot that the state has no more, since it was lost: where an interface has the address, they stay.
Result<CellOffsets> CellLeaser::keep_used(const AddressCell& cell, CellOffsets stored) {
  const CellOffsets unknown = without(ipam::held_by(cell, settings_.owner), stored);
  CellOffsets used = 0;
  if (unknown == 0) return used;
  const auto work = [&](state::Store& store, const CellBook::InUse& in_use) -> Result<void> {
    for (uint64_t i = 0; i < api::kCellSize; ++i)
      if ((unknown >> i & 1U) != 0 && in_use(cell_pool(cell.network_name), *cell.base.plus(i)))
        used |= static_cast<CellOffsets>(1U << i);
    if (used == 0) return {};
    auto transaction = TRY(state::Transaction::begin(store));
    TRY(store_cell(store, cell.network_name, {cell.base, static_cast<CellOffsets>(stored | used)}));
    return transaction.commit();
  };
  TRY(deps_.book.in_turn(work));
  return used;
}

// Addresses that interfaces got before this node leased any: from an agent with --alone.
Result<void> CellLeaser::lease_used(std::stop_token stop) {
  const std::map<std::string, CellMap> cells = TRY(stored());
  std::vector<std::pair<std::string, IpAddress>> given;
  const auto work = [&](state::Store& store, const CellBook::InUse&) -> Result<void> {
    for (const state::AddressLease& lease : TRY(store.all_leases()))
      if (const std::optional<std::string> network_name = network_name_of(lease.pool))
        if (!TRY(store.attachments_of(lease.pod)).empty()) given.emplace_back(*network_name, lease.address);
    return {};
  };
  TRY(deps_.book.in_turn(work));
  for (const auto& [network_name, address] : given) {
    const Key key{network_name, ipam::cell_of(address)};
    const auto own = static_cast<CellOffsets>(1U << *address.minus(key.second));
    const auto known = cells.find(network_name);
    if (known != cells.end() && (offsets_at(known->second, key.second) & own) != 0) continue;
    const AddressCell cell = TRY(api_.get(network_name, key.second, stop).result());
    remember(cell);
    const bool leased = TRY(try_cell(key, own, stop));
    if (leased || !reported_conflicts_.emplace(network_name, address).second) continue;
    const AddressCell now = TRY(api_.get(network_name, key.second, stop).result());
    report_conflict(now, address);
  }
  return {};
}

void CellLeaser::report_conflict(const AddressCell& cell, const IpAddress& address) {
  for (const api::CellLease& lease : cell.leases) {
    if ((lease.offsets >> *address.minus(cell.base) & 1U) == 0) continue;
    // Another machine may have been given the name of this one's Node.
    const bool has_our_name = lease.holder.node == settings_.owner.holder.node;
    const std::string machine = has_our_name ? fmt::format(", the machine {},", lease.holder.system_uuid) : "";
    conflicts_.push_back(fmt::format(
        "{} of network_name \"{}\" is in use on this node, but according to the API server node {}{} has leased it",
        address, cell.network_name, lease.holder.node, machine));
  }
}

// This node has exactly these addresses of the cell from then on. Whether a write without an answer was carried out is
// known by its claim; others may have written since.
Result<cells::CellApi::Written> CellLeaser::write(const AddressCell& before, CellOffsets offsets,
                                                  std::stop_token stop) {
  const std::string written_as = claim();
  const AddressCell next = TRY(ipam::with_mine(before, settings_.owner, offsets, written_as));
  const auto is_done = [&](const AddressCell& now) {
    if (next.leases.empty()) return now.uid != before.uid;
    return std::ranges::find(now.leases, written_as, &api::CellLease::claim) != now.leases.end();
  };
  return api_.store(before, next, is_done, std::move(stop)).result();
}

// Whether a lease of this machine has another name, and a write of this node would change it.
bool CellLeaser::has_other_names(const AddressCell& cell) const {
  const ipam::CellOwner& owner = settings_.owner;
  return std::ranges::any_of(cell.leases, [&](const api::CellLease& lease) {
    const bool same_boot = lease.holder.boot_id == owner.holder.boot_id && !owner.own_name_only;
    return lease.holder.system_uuid == owner.holder.system_uuid && lease.holder.node != owner.holder.node &&
           (same_boot || owner.former_names.contains(lease.holder.node));
  });
}

// A policy of the cluster may keep an agent from leases under another name: they are the operator's then, and the write
// is to be made without them.
bool CellLeaser::leaves_other_names(const Error& error, const AddressCell& cell) {
  if (!is_refusal(error) || !has_other_names(cell)) return false;
  settings_.owner.former_names.clear();
  settings_.owner.own_name_only = true;
  remember(cell);
  return true;
}

// The state has addresses before the API server has their lease never: somebody else took it away, or the API server's
// data are older now.
void CellLeaser::report_lost(const AddressCell& cell, CellOffsets offsets) {
  const CellOffsets lost = without(offsets, held_by(cell, settings_.owner) | held_by_others(cell, settings_.owner));
  if (lost == 0) return;
  lost_.push_back(fmt::format(
      "the API server no longer has this node's lease of {} addresses of the AddressCell {} (network_name \"{}\"): another "
      "client changed or deleted the object, or an older backup was restored; {}",
      std::popcount(lost), api::cell_name(cell.network_name, cell.base), cell.network_name,
      api::is_being_deleted(cell) ? "the object is being deleted, so they are not leased again"
                                  : "leasing them again"));
}

// As hold_exactly(); a cell that the API server does not let this node write keeps no other from being compared. This
// node has then what the API server says, and no more.
Result<void> CellLeaser::hold_as_far_as_allowed(const AddressCell& cell, CellOffsets offsets, std::stop_token stop) {
  report_lost(cell, offsets);
  Result<void> done = hold_exactly(cell, offsets, std::move(stop));
  if (done.has_value() || !is_refusal(done.error())) return done;
  log::warn(fmt::format("the cell {} of network_name \"{}\" cannot be written: {}", cell.base,
                        doc::printable(cell.network_name), doc::printable(done.error().story())));
  return put({cell.network_name, cell.base}, static_cast<CellOffsets>(offsets & held_by(cell, settings_.owner)));
}

// Makes the API server say that this node has these addresses of the cell and no others.
Result<void> CellLeaser::hold_exactly(AddressCell cell, CellOffsets offsets, std::stop_token stop) {
  for (int tried = 0; tried < kCellTries; ++tried) {
    if (const auto lost = static_cast<CellOffsets>(offsets & held_by_others(cell, settings_.owner)); lost != 0) {
      offsets = without(offsets, lost);
      TRY(drop_lost(cell, lost, offsets));
    }
    if (api::is_being_deleted(cell) && offsets != 0) {
      offsets = TRY(used_of(cell, static_cast<CellOffsets>(offsets & held_by(cell, settings_.owner))));
      TRY(put({cell.network_name, cell.base}, offsets));
    }
    if (ipam::held_by(cell, settings_.owner) == offsets && !ipam::needs_write(cell, settings_.owner)) return {};
    Result<cells::CellApi::Written> stored = write(cell, offsets, stop);
    if (!stored.has_value() && leaves_other_names(stored.error(), cell)) continue;
    cells::CellApi::Written written = TRY(std::move(stored));
    remember(written.now);
    if (written.done) return {};
    cell = std::move(written.now);
  }
  return fail(Code::kBusy, "the cell {} of network_name \"{}\" was changed by other clients {} times in a row",
              cell.base, cell.network_name, kCellTries);
}

Result<void> CellLeaser::drop_lost(const AddressCell& cell, CellOffsets lost, CellOffsets kept) {
  const std::string pool = cell_pool(cell.network_name);
  return deps_.book.in_turn([&](state::Store& store, const CellBook::InUse& in_use) -> Result<void> {
    auto transaction = TRY(state::Transaction::begin(store));
    TRY(store_cell(store, cell.network_name, {cell.base, kept}));
    TRY(transaction.commit());
    for (uint64_t i = 0; i < api::kCellSize; ++i) {
      const IpAddress address = *cell.base.plus(i);
      if ((lost >> i & 1U) == 0 || !in_use(pool, address)) continue;
      report_conflict(cell, address);
      reported_conflicts_.emplace(cell.network_name, address);  // lease_used() finds it, too
    }
    return {};
  });
}

Result<void> CellLeaser::learn_network(const std::string& network_name, std::stop_token stop) {
  const std::vector<AddressCell> all = TRY(api_.of_network(network_name, std::move(stop)));
  taken_[network_name].clear();
  std::erase_if(known_, [&](const auto& one) { return one.first.first == network_name; });
  for (const AddressCell& cell : all) remember(cell);
  return {};
}

// False where another node was first; it is known then what that has.
Result<bool> CellLeaser::try_cell(const Key& key, CellOffsets more, std::stop_token stop) {
  const CellOffsets mine = offsets_at(TRY(stored())[key.first], key.second);
  const auto offsets = static_cast<CellOffsets>(mine | more);
  const auto known = known_.find(key);
  AddressCell cell = known != known_.end() ? known->second : cells::unleased(key.first, key.second);
  for (int tried = 0; tried < kCellTries; ++tried) {
    remember(cell);
    if ((unavailable(cell) & offsets) != 0) return false;
    Result<cells::CellApi::Written> stored = write(cell, offsets, stop);
    if (!stored.has_value() && leaves_other_names(stored.error(), cell)) continue;
    cells::CellApi::Written written = TRY(std::move(stored));
    remember(written.now);
    if (written.done) return keep_reserved(key, mine, more, stop);
    cell = std::move(written.now);
    // A whole cell is not taken where somebody has begun to share it.
    if (more == api::kWholeCell && held_by_others(cell, settings_.owner) != 0) return false;
  }
  return false;
}

// What was leased just now is this node's from here on, but for what is not available in the pools: its lease goes
// back. False where that is all.
Result<bool> CellLeaser::keep_reserved(const Key& key, CellOffsets mine, CellOffsets more, std::stop_token stop) {
  CellOffsets got = more;
  if (deps_.share != nullptr) got = TRY(deps_.share->reserve(key.first, {key.second, more}, stop));
  const auto kept = static_cast<CellOffsets>(mine | got);
  if (kept != 0) TRY(put(key, kept));
  if (got == more) return true;
  given_beside_[key.first][key.second] |= without(more, got);
  AddressCell now = TRY(api_.get(key.first, key.second, stop).result());
  TRY(hold_exactly(std::move(now), kept, stop));
  return got != 0;
}

// A pool may have been restored, or made again, since.
Result<void> CellLeaser::reserve_held(std::stop_token stop) {
  if (deps_.share == nullptr) return {};
  given_beside_.clear();
  prepared_.clear();
  deps_.share->look_again();
  for (const auto& [network_name, cells] : TRY(stored()))
    for (const auto& [base, offsets] : cells) {
      const CellOffsets got =
          TRY(deps_.share->reserve(network_name, {base, offsets}, stop, PoolShare::Leased::kBeforeTheList));
      if (got == offsets) continue;
      TRY(drop_given({network_name, base}, without(offsets, got), got));
      AddressCell now = TRY(api_.get(network_name, base, stop).result());
      TRY(hold_exactly(std::move(now), got, stop));
    }
  return deps_.share->release_rest(TRY(stored()), stop);
}

Result<void> CellLeaser::drop_given(const Key& key, CellOffsets given, CellOffsets kept) {
  TRY(put(key, kept));
  return deps_.book.in_turn([&](state::Store&, const CellBook::InUse& in_use) -> Result<void> {
    for (uint64_t i = 0; i < api::kCellSize; ++i) {
      const IpAddress address = *key.second.plus(i);
      if ((given >> i & 1U) != 0 && in_use(cell_pool(key.first), address))
        conflicts_.push_back(fmt::format(
            "{} of network_name \"{}\" is in use on this node, but whereabouts has allocated it", address, key.first));
    }
    return {};
  });
}

Result<void> CellLeaser::prepare(const CellWant& want, std::stop_token stop) {
  if (deps_.share == nullptr) return {};
  std::vector<api::IpamRange> missing;
  for (const api::IpamRange& range : want.ranges)
    if (!prepared_.contains(api::ip_pool_name(want.network_name, range.subnet))) missing.push_back(range);
  if (missing.empty()) return {};
  TRY(deps_.share->prepare(want.network_name, missing, std::move(stop)));
  for (const api::IpamRange& range : missing) prepared_.insert(api::ip_pool_name(want.network_name, range.subnet));
  return {};
}

// Whereabouts may give addresses of a range since the last look: then none of it is leased.
Result<void> CellLeaser::look_beside(const std::string& network_name, const IpRange& addresses, Ahead ahead,
                                     std::stop_token stop) {
  if (!deps_.look_beside) return {};
  if (ahead == Ahead::kNo && !TRY(stored())[network_name].empty()) return {};
  TRY(deps_.look_beside(std::move(stop)));
  return deps_.blocks.may_give(addresses);
}

Result<void> CellLeaser::lease(const CellWant& want, std::stop_token stop) {
  return lease(want, Ahead::kYes, std::move(stop));
}

Result<void> CellLeaser::lease(const CellWant& want, Ahead ahead, std::stop_token stop) {
  for (const api::IpamRange& range : want.ranges) TRY(deps_.blocks.may_give(range.addresses));
  if (ipam::usable_of(want, TRY(stored())[want.network_name]) < want.addresses)
    for (const api::IpamRange& range : want.ranges) TRY(look_beside(want.network_name, range.addresses, ahead, stop));
  TRY(prepare(want, stop));
  bool learned = false;
  for (int tried = 0; tried < kMostCells; ++tried) {
    const CellMap mine = TRY(stored())[want.network_name];
    if (ipam::usable_of(want, mine) >= want.addresses) return {};
    const std::optional<CellChoice> next = ipam::next_cell(
        want, {.mine = mine,
               .taken = not_ours(want.network_name),
               .nodes = nodes_,
               .start = fnv1a(fmt::format("{} {}", settings_.owner.holder.system_uuid, want.network_name))});
    bool leased = false;
    if (next) leased = TRY(try_cell({want.network_name, next->base}, next->offsets, stop));
    if (leased) continue;
    // What others have is asked for once, instead of found out cell by cell.
    if (!learned) {
      TRY(learn_network(want.network_name, stop));
      learned = true;
    } else if (!next) {
      return fail(Error{
          .code = Code::kExhausted,
          .message = fmt::format("all addresses of {} are in use or reserved for pods of a node (network_name \"{}\")",
                                 want.ranges.empty() ? IpRange{} : want.ranges.front().addresses, want.network_name),
          .hint = "make the range larger; `kubectl get addresscells` shows the leases"});
    }
  }
  return fail(Code::kBusy, "other nodes leased {} cells first", kMostCells);
}

Result<void> CellLeaser::lease_more(CellWant want, uint64_t count, std::stop_token stop) {
  const CellMap in_use = TRY(used(want.network_name));
  want.addresses = ipam::usable_of(want, in_use) + count;
  return lease(want, Ahead::kNo, std::move(stop));
}

Result<void> CellLeaser::lease_address(const std::string& network_name, const IpAddress& address,
                                       std::stop_token stop) {
  TRY(deps_.blocks.may_give({address, address}));
  const Key key{network_name, ipam::cell_of(address)};
  const auto wanted = static_cast<CellOffsets>(1U << *address.minus(key.second));
  if ((offsets_at(TRY(stored())[network_name], key.second) & wanted) != 0) return {};
  TRY(look_beside(network_name, {address, address}, Ahead::kNo, stop));
  const AddressCell cell = TRY(api_.get(network_name, key.second, stop).result());
  remember(cell);
  if (TRY(try_cell(key, wanted, stop))) return {};
  if ((offsets_at(given_beside_[network_name], key.second) & wanted) != 0)
    return fail(Code::kConflict,
                "whereabouts has allocated {} (network_name \"{}\"), or another node has not removed its entry yet",
                address, network_name);
  const auto known = known_.find(key);
  if (known != known_.end() && api::is_being_deleted(known->second))
    return fail(
        Error{.code = Code::kConflict,
              .message = fmt::format("{} (network_name \"{}\") cannot be leased: the AddressCell {} is being deleted",
                                     address, network_name, api::cell_name(network_name, key.second)),
              .hint = "`kubectl get addresscell -o yaml` shows the finalizer that blocks it; request another address"});
  return fail(Error{.code = Code::kConflict,
                    .message = fmt::format("another node has leased {} (network_name \"{}\")", address, network_name),
                    .hint = "`kubectl get addresscells -o yaml` shows the node; request another address"});
}

Result<void> CellLeaser::give_back(const std::vector<CellWant>& wants, std::stop_token stop) {
  std::map<std::string, CellMap> now;
  for (const auto& [network_name, cells] : TRY(stored())) {
    std::vector<CellWant> own;
    std::ranges::copy_if(wants, std::back_inserter(own),
                         [&](const CellWant& want) { return want.network_name == network_name; });
    for (const CellChoice& one : left_over(own, cells, TRY(used(network_name)), nodes_))
      now[network_name][one.base] = one.offsets;
  }
  const std::map<std::string, CellMap> before = std::exchange(left_over_once_, now);
  for (const auto& [network_name, cells] : now)
    for (const auto& [base, offsets] : cells) {
      const auto earlier = before.find(network_name);
      if (earlier == before.end()) continue;
      const auto both = static_cast<CellOffsets>(offsets & offsets_at(earlier->second, base));
      if (both != 0) TRY(give_back({network_name, base}, both, stop));
    }
  return {};
}

Result<void> CellLeaser::give_back(const Key& key, CellOffsets offsets, std::stop_token stop) {
  CellOffsets kept = 0;
  const auto work = [&](state::Store& store, const CellBook::InUse& in_use) -> Result<void> {
    const CellOffsets mine = offsets_at(TRY(stored_cells(store))[key.first], key.second);
    for (uint64_t i = 0; i < api::kCellSize; ++i)
      if (in_use(cell_pool(key.first), *key.second.plus(i))) offsets = without(offsets, CellOffsets(1U << i));
    kept = without(mine, offsets);
    auto transaction = TRY(state::Transaction::begin(store));
    TRY(store_cell(store, key.first, {key.second, kept}));
    return transaction.commit();
  };
  TRY(deps_.book.in_turn(work));
  AddressCell now = TRY(api_.get(key.first, key.second, stop).result());
  TRY(hold_exactly(std::move(now), kept, stop));
  if (deps_.share == nullptr) return {};
  return deps_.share->release(key.first, {key.second, offsets}, std::move(stop));
}

}  // namespace railbed::agent
