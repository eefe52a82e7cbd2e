// SPDX-License-Identifier: Apache-2.0
#include "agent/leftovers/in_use.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "attach/namespaces.h"

namespace railbed::agent {
namespace {

// When the machine was started, in seconds since 1970; 0 where that is not known.
int64_t booted_seconds(os::Kernel& kernel) {
  const Result<std::string> text = kernel.files().read("/proc/stat");
  constexpr std::string_view kKey = "\nbtime ";
  const size_t at = text.has_value() ? text->find(kKey) : std::string::npos;
  int64_t seconds = 0;
  if (at != std::string::npos) std::from_chars(text->data() + at + kKey.size(), text->data() + text->size(), seconds);
  return seconds;
}
// How far the time of a file and that of the boot may be apart the wrong way, since clocks are set.
constexpr int64_t kClockMayBeOff = 600;

// What was written of a namespace that is at its path lasts as long as the namespace, as what an interface shows.
Result<void> tie_to(os::Kernel& kernel, const os::Netns& netns, std::vector<NodeAddress>& written) {
  const os::NetnsIdentity who = TRY(kernel.netns().identity(netns));
  const Result<os::Nsid> nsid = kernel.netns().number(netns);
  if (!nsid.has_value() && nsid.error().code != Code::kUnsupported) return fail(Error(nsid.error()));
  for (NodeAddress& one : written) {
    one.namespace_number = who.number;
    one.file.clear();
    if (nsid.has_value()) one.nsid = *nsid;
  }
  return {};
}

// Addresses with the namespaces of the pods that have leases of them. Another namespace that has the address, too, is
// of a pod that a state which was rolled back does not know.
using Leased = std::set<std::pair<IpAddress, uint64_t>>;
Result<Leased> leased_in(state::Store& store) {
  std::multimap<std::string, uint64_t> namespaces;
  for (const state::Attachment& record : TRY(store.attachments()))
    if (const auto who = attach::netns_ref_of(record).identity) namespaces.emplace(record.pod, who->number);
  Leased leased;
  for (const state::AddressLease& lease : TRY(store.all_leases()))
    for (auto [at, end] = namespaces.equal_range(lease.pod); at != end; ++at) leased.emplace(lease.address, at->second);
  return leased;
}

}  // namespace

Result<void> add_written(os::Kernel& kernel, const std::vector<WrittenAddress>& written, NodeAddresses& found) {
  const auto own = TRY(kernel.netns().open_own());
  const int64_t booted = booted_seconds(kernel);
  std::map<std::string, std::vector<NodeAddress>> by_path;
  for (const WrittenAddress& one : written)
    if (!is_of_one_link(one.address))
      by_path[one.netns].push_back({.address = one.address,
                                    .netns = one.netns,
                                    .interface = one.interface,
                                    .nsid = std::nullopt,
                                    .file = one.written_seconds < booted - kClockMayBeOff ? "" : one.file});
  for (auto& [path, of_one] : by_path) {
    std::unique_ptr<os::Netns> netns;
    if (auto opened = kernel.netns().open(path); opened.has_value()) netns = *std::move(opened);
    if (netns != nullptr && TRY(kernel.netns().leads_to(path, *own))) continue;
    if (netns != nullptr) TRY(tie_to(kernel, *netns, of_one));
    std::erase_if(of_one, [](const NodeAddress& one) { return one.namespace_number == 0 && one.file.empty(); });
    count_in(std::move(of_one), found);
  }
  return {};
}

// Outside of turns: a namespace may be slow to answer, and pods that need no address of a pool come and go meanwhile.
// What these pods got by then has a lease.
Result<void> InUse::find() {
  const std::vector<WrittenAddress> written =
      TRY(written_addresses(disk_, pods_).context("reading which addresses the runtime's containers have"));
  NodeAddresses found = TRY(node_addresses(engine_.kernel()));
  TRY(add_written(engine_.kernel(), written, found));
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  const Leased leased = TRY(leased_in(turn.store()));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  for (const NodeAddress& one : found.all)
    if (!leased.contains({one.address, one.namespace_number})) TRY(put_in_use(turn.store(), one));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  TRY(turn.store().put_note(kNamespaces, fmt::format("{}", fmt::join(found.namespaces, " "))));
  TRY(turn.store().put_note(kLooked, std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now).count())));
  TRY(turn.store().forget_note(state::kLostItsEnd));
  TRY(turn.store().forget_note(kLooking));
  odd_ = std::move(found.odd);
  return transaction.commit();
}

Result<void> InUse::read(Engine::Turn& turn) {
  set_aside_ = TRY(read_in_use(turn.store()));
  return {};
}

void InUse::refuse(Engine::Turn& turn, Error why) {
  why.code = Code::kBusy;  // it is tried again
  why.context.push_back("no addresses are allocated, because the addresses in use are unknown");
  turn.addresses().refuse(std::move(why));
}

Result<bool> InUse::start() {
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  const bool lost = TRY(turn.store().note(state::kLostItsEnd)).has_value();
  if (lost || !TRY(turn.store().note(kLooked)).has_value()) {
    TRY(turn.store().put_note(kLooking, "1"));
    refuse(turn, {.message = "searching the network namespaces of this machine for addresses in use",
                  .hint = "this takes seconds after the state was lost; the runtime will retry the pod"});
    return false;
  }
  TRY(begin(turn));
  return true;
}

Result<void> InUse::begin(Engine::Turn& turn) {
  TRY(read(turn));
  turn.addresses().refuse(std::nullopt);
  reserve_in_use(turn.addresses(), set_aside_);
  started_ = true;  // last: from now on the other thread uses them
  return {};
}

Result<size_t> InUse::look() {
  if (started_) return set_aside_.size();
  Result<void> found = find();
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  if (!found.has_value()) {
    Error why = found.error();
    why.hint = "the agent retries every few seconds";
    refuse(turn, std::move(why));
    return fail(std::move(found.error()));
  }
  TRY(begin(turn));
  return set_aside_.size();
}

// Of an earlier version, whose notes have no nsid: it is asked for while the namespace is where it was.
Result<void> InUse::number_old(Engine::Turn& turn) {
  os::NetnsPort& netns = turn.kernel().netns();
  for (const NodeAddress& one : std::set(set_aside_)) {
    if (one.nsid.has_value() || !one.file.empty()) continue;
    auto opened = netns.open(one.netns);
    if (!opened.has_value() || TRY(netns.identity(**opened)).number != one.namespace_number) continue;
    const Result<os::Nsid> nsid = netns.number(**opened);
    if (!nsid.has_value()) continue;
    NodeAddress with = one;
    with.nsid = *nsid;
    TRY(put_in_use(turn.store(), with));
    set_aside_.erase(one);
    set_aside_.insert(std::move(with));
  }
  return {};
}

Result<bool> InUse::is_still_used(const NodeAddress& one, const std::set<os::Nsid>& given) {
  if (one.file.empty()) return !one.nsid.has_value() || given.contains(*one.nsid);
  const Result<os::FileStamp> there = disk_.stamp(one.file);
  if (!there.has_value() && there.error().code != Code::kNotFound) return fail(Error(there.error()));
  return there.has_value();
}

Result<void> InUse::refresh() {
  if (!started_ || set_aside_.empty()) return {};
  const std::set<os::Nsid> given = TRY(engine_.kernel().netns().numbers());
  Engine::Turn turn = TRY(engine_.turn(kTurnWait));
  auto transaction = TRY(state::Transaction::begin(turn.store()));
  TRY(read(turn));  // a DEL may have given some back
  TRY(number_old(turn));
  for (const NodeAddress& one : std::set(set_aside_)) {
    if (TRY(is_still_used(one, given))) continue;
    TRY(forget_in_use(turn.store(), one));
    set_aside_.erase(one);
  }
  TRY(transaction.commit());
  reserve_in_use(turn.addresses(), set_aside_);
  return {};
}

}  // namespace railbed::agent
