// SPDX-License-Identifier: Apache-2.0
#include "controller/cell_release.h"

#include <algorithm>
#include <bit>
#include <set>

#include "base/command.h"
#include "base/well_known.h"
#include "cells/cell_api.h"
#include "controller/cell_reclaim.h"
#include "controller/node_states.h"
#include "doc/diagnostic.h"
#include "doc/members.h"
#include "doc/text.h"
#include "ipam/cells.h"
#include "kube/kinds.h"

namespace railbed::controller {

using api::AddressCell;
using api::CellLease;
using doc::Value;

namespace {

constexpr int kTries = 5;  // others write other leases of the same cell
constexpr const char* kGivesBack = "a running machine releases its addresses itself when its pods are deleted";

Command release_command(const std::string& node_or_machine) {
  return Command{"railbed", "addresses", "release"}.operand(node_or_machine);
}

Command cell_command(std::string_view verb, const std::string& cell) {
  return Command{"kubectl", verb, "addresscell"}.operand(cell);
}

bool is_of(const CellLease& lease, const std::string& who) {
  return lease.holder.node == who || lease.holder.system_uuid == who;
}

// But for the operator's count, which is no sign of life.
bool is_same(CellLease one, CellLease other) {
  one.gone_seconds = other.gone_seconds = 0;
  return one == other;
}

Error unknown(const AddressesListed& listed, const std::string& who) {
  std::set<std::string> names;
  for (const ListedCell& one : listed.cells)
    for (const CellLease& lease : one.cell.leases) names.insert({lease.holder.node, lease.holder.system_uuid});
  const std::string near = doc::nearest(who, {names.begin(), names.end()});
  return {.code = Code::kNotFound,
          .message = fmt::format("no node and no machine \"{}\" has leased addresses{}", doc::printable(who),
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near)),
          .hint = "railbed addresses list shows the leases"};
}

Result<void> refuse_what_runs(const ReleasePlan& plan, const CellNodes& nodes, const std::string& who) {
  const auto named = nodes.find(who);
  if (named != nodes.end() && named->second.ready) {
    std::set<std::string> others;
    for (const ReleasePlan::Lease& one : plan.leases)
      if (one.lease.holder.system_uuid != named->second.system_uuid) others.insert(one.lease.holder.system_uuid);
    std::string hint = kGivesBack;
    if (!others.empty()) hint = fmt::format("another machine had this name: {}", release_command(*others.begin()));
    return fail(Error{.code = Code::kConflict,
                      .message = fmt::format("Node {} is Ready: its machine, {}, is running and may have allocated its "
                                             "addresses to pods",
                                             who, named->second.system_uuid),
                      .hint = std::move(hint)});
  }
  for (const auto& [name, node] : nodes) {
    const bool has_lease = std::ranges::any_of(plan.leases, [&](const ReleasePlan::Lease& one) {
      return node.system_uuid == one.lease.holder.system_uuid ||
             (node.system_uuid.empty() && name == one.lease.holder.node);
    });
    if (!has_lease || !node.ready) continue;
    std::string what =
        node.system_uuid.empty()
            ? fmt::format("Node {} is Ready, but its machine is not known yet", name)
            : fmt::format("machine {} is running: it is Node {}, which is Ready", node.system_uuid, name);
    return fail(Error{.code = Code::kConflict, .message = std::move(what), .hint = kGivesBack});
  }
  return {};
}

std::string texts_of(const std::vector<IpRange>& ranges) {
  std::vector<std::string> out;
  for (const IpRange& range : ranges)
    out.push_back(range.first == range.last ? range.first.to_string() : range.to_string());
  return fmt::format("{}", fmt::join(out, ", "));
}

// Who had the offsets first.
std::string holders_of(const AddressCell& cell, api::CellOffsets offsets) {
  std::set<std::string> names;
  for (const CellLease& lease : cell.leases)
    if ((lease.offsets & offsets) != 0) names.insert(doc::printable(lease.holder.node));
  return fmt::format("{}", fmt::join(names, ", "));
}

// What no agent writes about a cell, but who has its token or more may have.
void add_odd(const Value& object, const AddressCell& cell, std::vector<std::string>& odd) {
  const std::string name = api::cell_name(cell.network_name, cell.base);
  for (const CellLease& lease : cell.leases)
    if (lease.overlapping != 0)
      odd.push_back(fmt::format("AddressCell {}: node {} (machine {}) claims {}, leased to {}; to remove the claim: {}",
                                name, doc::printable(lease.holder.node), doc::printable(lease.holder.system_uuid),
                                texts_of(ipam::ranges_of(cell.base, lease.overlapping)),
                                holders_of(cell, lease.overlapping), release_command(lease.holder.node)));
  const Value& metadata = *doc::object_in(object, "metadata");
  if (api::is_being_deleted(cell))
    odd.push_back(
        fmt::format("AddressCell {} is being deleted, and its leases end with it; no node leases more of it", name));
  if (const Value::Array* finalizers = doc::list_in(metadata, "finalizers");
      finalizers != nullptr && !finalizers->empty())
    odd.push_back(fmt::format("AddressCell {} has finalizers; to remove them: {}", name, cell_command("edit", name)));
  if (const Value::Array* owners = doc::list_in(metadata, "ownerReferences"); owners != nullptr && !owners->empty())
    odd.push_back(
        fmt::format("AddressCell {} has ownerReferences: its leases end when Kubernetes deletes the owner; to remove "
                    "them: {}",
                    name, cell_command("edit", name)));
}

// Without what of the lease is to be released. False: it is not there any more.
Result<bool> take_out(AddressCell& cell, const ReleasePlan::Lease& wanted, ReleasePlan::What what) {
  // A holder may have several leases, and each is in the plan.
  auto lease = std::ranges::find_if(cell.leases, [&](const CellLease& one) { return is_same(one, wanted.lease); });
  if (lease == cell.leases.end()) lease = std::ranges::find(cell.leases, wanted.lease.holder, &CellLease::holder);
  if (lease == cell.leases.end()) return false;
  if (what == ReleasePlan::What::kOverlaps) {
    if (lease->overlapping == 0) return false;
    lease->overlapping = 0;
    if (lease->offsets != 0) return true;
  } else if (!is_same(*lease, wanted.lease)) {
    return fail(Error{.code = Code::kConflict,
                      .message = fmt::format("machine {} of node {} has just written its lease of cell {}: it is "
                                             "running",
                                             lease->holder.system_uuid, lease->holder.node,
                                             api::cell_name(cell.network_name, cell.base)),
                      .hint = "switch it off first"});
  }
  cell.leases.erase(lease);
  api::give_offsets_to_the_first(cell.leases);
  return true;
}

// False: somebody else wrote the cell in between.
Result<bool> try_release(cells::CellApi& api, const ReleasePlan::Lease& wanted, ReleasePlan::What what,
                         std::stop_token stop) {
  const AddressCell cell = TRY(api.get(wanted.cell.network_name, wanted.cell.base, stop).result());
  const std::string name = api::cell_name(cell.network_name, cell.base);
  if (cells::is_unreadable(cell))
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("the current AddressCell {} cannot be read", name),
                      .hint = "run `railbed addresses list` for the reason"});
  AddressCell next = cell;
  if (!TRY(take_out(next, wanted, what))) return true;
  const auto is_done = [&](const AddressCell& now) {
    return !cells::is_unreadable(now) && std::ranges::none_of(now.leases, [&](const CellLease& one) {
      return what == ReleasePlan::What::kOverlaps ? one.holder == wanted.lease.holder && one.overlapping != 0
                                                  : is_same(one, wanted.lease);
    });
  };
  return TRY(api.store(cell, next, is_done, std::move(stop)).result()).done;
}

}  // namespace

size_t address_count(const CellLease& lease) {
  return static_cast<size_t>(std::popcount(lease.offsets));
}

size_t overlap_count(const CellLease& lease) {
  return static_cast<size_t>(std::popcount(lease.overlapping));
}

Result<AddressesListed> list_addresses(kube::Client& client, std::stop_token stop) {
  AddressesListed out;
  const auto keep = [&](const Value& object, Result<AddressCell> cell) {
    if (!cell.has_value()) {
      out.unreadable.push_back(fmt::format("{}; if no pod uses its addresses: {}", cell.error().story(),
                                           cell_command("delete", kube::key_of(object).name)));
      return kube::Visit::kGoOn;
    }
    add_odd(object, *cell, out.odd);
    out.cells.push_back({*std::move(cell), kube::metadata_text(object, "creationTimestamp")});
    return kube::Visit::kGoOn;
  };
  TRY(cells::CellApi(client).each("", keep, std::move(stop)));
  std::ranges::sort(out.cells, {},
                    [](const ListedCell& one) { return std::pair(one.cell.network_name, one.cell.base); });
  return out;
}

Value to_value(const AddressesListed& listed) {
  Value out = Value::object();
  out.set("apiVersion", kOwnApiVersion);
  out.set("kind", "Addresses");
  Value& cells = out.set("cells", Value::array());
  for (const ListedCell& one : listed.cells) {
    Value& cell = cells.push(Value::object());
    cell.set("name", api::cell_name(one.cell.network_name, one.cell.base));
    doc::put_text(cell, "networkName", one.cell.network_name);
    cell.set("base", one.cell.base.to_string());
    doc::put_text(cell, "since", one.since);
    int64_t held = 0;
    Value& leases = cell.set("leases", Value::array());
    for (const CellLease& lease : one.cell.leases) {
      held += static_cast<int64_t>(address_count(lease));
      Value& row = leases.push(Value::object());
      row.set("node", lease.holder.node);
      row.set("systemUUID", lease.holder.system_uuid);
      row.set("bootID", lease.holder.boot_id);
      row.set("held", static_cast<int64_t>(address_count(lease)));
      Value& ranges = row.set("addresses", Value::array());
      for (const IpRange& range : ipam::ranges_of(one.cell.base, lease.offsets)) ranges.push(range.to_string());
      if (lease.overlapping != 0) {
        Value& claimed = row.set("overlapping", Value::array());
        for (const IpRange& range : ipam::ranges_of(one.cell.base, lease.overlapping)) claimed.push(range.to_string());
      }
      doc::put_number(row, "goneSeconds", lease.gone_seconds);
    }
    cell.set("free", static_cast<int64_t>(api::kCellSize) - held);
  }
  doc::put_texts(out, "unreadable", listed.unreadable);
  doc::put_texts(out, "odd", listed.odd);
  return out;
}

Result<CellNodes> list_nodes(kube::Client& client, std::stop_token stop) {
  const kube::ObjectList found =
      TRY(client.list(kube::kNodes, {}, node_trim(), std::move(stop)).result().context("Nodes"));
  CellNodes out;
  for (const Value& object : found.objects) out[kube::key_of(object).name] = cell_node_of(object);
  return out;
}

Result<ReleasePlan> plan_release(const AddressesListed& listed, const CellNodes& nodes, const std::string& who) {
  ReleasePlan plan;
  for (const ListedCell& one : listed.cells)
    for (const CellLease& lease : one.cell.leases)
      if (is_of(lease, who)) plan.leases.push_back({one.cell, lease});
  if (plan.leases.empty()) return fail(unknown(listed, who));
  Result<void> refused = refuse_what_runs(plan, nodes, who);
  if (refused.has_value()) return plan;
  std::erase_if(plan.leases, [](const ReleasePlan::Lease& one) { return one.lease.overlapping == 0; });
  if (plan.leases.empty()) return fail(std::move(refused).error());
  plan.what = ReleasePlan::What::kOverlaps;
  return plan;
}

Result<size_t> release(kube::Client& client, const ReleasePlan& plan, std::stop_token stop) {
  cells::CellApi api(client);
  size_t freed = 0;
  for (const ReleasePlan::Lease& one : plan.leases) {
    bool done = false;
    for (int tried = 0; !done && tried < kTries; ++tried)
      done = TRY(try_release(api, one, plan.what, stop).context("{} addresses were released before", freed));
    if (!done)
      return fail(Code::kBusy, "cell {} is written by others again and again; {} addresses were released before",
                  api::cell_name(one.cell.network_name, one.cell.base), freed);
    freed += plan.what == ReleasePlan::What::kOverlaps ? overlap_count(one.lease) : address_count(one.lease);
  }
  return freed;
}

}  // namespace railbed::controller
