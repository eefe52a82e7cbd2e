// SPDX-License-Identifier: Apache-2.0
#include "attach/namespaces.h"

#include <algorithm>
#include <set>

#include "attach/attach.h"

namespace railbed::attach {
namespace {

constexpr std::chrono::milliseconds kEndWait{1000};
constexpr std::chrono::milliseconds kEndStep{10};

bool is_unknown(const NetnsPlace& place) {
  return place.state == NetnsState::kUnknown;
}

}  // namespace

NetnsRef netns_ref_of(const state::Attachment& record) {
  NetnsRef ref{.path = record.netns, .identity = std::nullopt, .nsid = std::nullopt};
  if (const Result<Before> before = before_of(record); before.has_value()) {
    ref.identity = before->netns;
    ref.nsid = before->nsid;
  }
  return ref;
}

Result<NetnsRef> netns_ref_of(os::Kernel& kernel, const os::Netns& netns) {
  NetnsRef ref{.path = netns.path(), .identity = TRY(kernel.netns().identity(netns)), .nsid = std::nullopt};
  Result<os::Nsid> nsid = kernel.netns().number(netns);
  if (!nsid.has_value() && nsid.error().code == Code::kUnsupported) return ref;
  ref.nsid = TRY(std::move(nsid).context("recording the identity of network namespace {}", netns.path()));
  return ref;
}

Result<NetnsRef> netns_ref_at(os::Kernel& kernel, const std::string& path) {
  return netns_ref_of(kernel, *TRY(kernel.netns().open(path)));
}

namespace {

Result<state::Attachment> numbered(state::Attachment record, const NetnsRef& ref) {
  record.undo = TRY(with_netns(record.undo, ref.identity, ref.nsid));
  return record;
}

}  // namespace

Result<void> number_old_records(os::Kernel& kernel, state::Store& store, const Namespaces& spaces) {
  const std::vector<state::Attachment> records = TRY(store.attachments());
  std::map<std::pair<std::string, std::string>, NetnsRef> at_path;  // by pod and path
  std::vector<state::Attachment> changed;
  for (const state::Attachment& record : records) {
    const NetnsRef ref = netns_ref_of(record);
    if (!spaces.knows(ref) || spaces.place_of(ref).state != NetnsState::kThere) continue;
    const os::Netns& netns = *spaces.place_of(ref).netns;
    const Result<NetnsRef> now = ref.nsid.has_value() ? ref : netns_ref_of(kernel, netns);
    if (!now.has_value() || !now->nsid.has_value()) continue;  // the next start tries again
    if (!ref.nsid.has_value()) changed.push_back(TRY(numbered(record, *now)));
    if (netns.path() == record.netns) at_path.emplace(std::pair(record.pod, record.netns), *now);
  }
  for (const state::Attachment& record : records) {
    const auto found = at_path.find({record.pod, record.netns});
    if (!record.type.starts_with(kProgramPrefix) || found == at_path.end()) continue;
    if (!netns_ref_of(record).nsid.has_value()) changed.push_back(TRY(numbered(record, found->second)));
  }
  if (changed.empty()) return {};
  auto transaction = TRY(state::Transaction::begin(store));
  for (const state::Attachment& record : changed) TRY(store.put_attachment(record));
  return transaction.commit();
}

bool is_that_namespace(const NetnsRef& ref, const os::NetnsIdentity& there) {
  return !ref.identity.has_value() || *ref.identity == there;
}

NetnsPlace Namespaces::at_path(const NetnsRef& ref) const {
  NetnsPlace place;
  if (ref.path.empty()) return place;
  Result<std::unique_ptr<os::Netns>> opened = kernel_.netns().open(ref.path);
  if (!opened.has_value()) {
    if (opened.error().code != Code::kNotFound) place.error = std::move(opened.error());
    return place;
  }
  const Result<os::NetnsIdentity> there = kernel_.netns().identity(**opened);
  if (!there.has_value()) {
    place.error = there.error();
  } else if (is_that_namespace(ref, *there)) {
    place.state = NetnsState::kThere;
    place.netns = std::move(*opened);
  }
  return place;
}

void Namespaces::open(const std::vector<NetnsRef>& refs) {
  for (const NetnsRef& ref : refs)
    if (!places_.contains(ref)) places_.emplace(ref, at_path(ref));
}

bool Namespaces::all_known() const {
  return std::ranges::none_of(places_, [](const auto& one) { return is_unknown(one.second); });
}

void Namespaces::ask_for_ends() {
  const Result<std::set<os::Nsid>> given = kernel_.netns().numbers();
  if (!given.has_value()) return;  // nothing is proven
  for (auto& [ref, place] : places_)
    if (is_unknown(place) && !place.error.has_value() && ref.nsid.has_value() && !given->contains(*ref.nsid))
      place.state = NetnsState::kEnded;
}

// A runtime keeps its names in one folder.
std::vector<std::string> Namespaces::folders() const {
  std::set<std::string> all;
  for (const auto& [ref, place] : places_)
    if (const size_t slash = ref.path.rfind('/'); slash != std::string::npos && slash > 0)
      if (!ref.path.starts_with("/proc/")) all.insert(ref.path.substr(0, slash));
  return {all.begin(), all.end()};
}

Result<void> Namespaces::find() {
  std::map<os::NetnsIdentity, std::shared_ptr<os::Netns>> wanted;
  std::set<os::Nsid> numbers;
  for (const auto& [ref, place] : places_) {
    if (!is_unknown(place) || !ref.identity.has_value() || ref.identity->of_file) continue;
    wanted.emplace(*ref.identity, nullptr);
    if (ref.nsid.has_value()) numbers.insert(*ref.nsid);
  }
  if (wanted.empty()) return {};
  std::map<os::Nsid, os::NetnsIdentity> holders;
  size_t missing = wanted.size();
  const auto look_at = [&](std::unique_ptr<os::Netns> netns, const os::NetnsIdentity& who) -> Result<bool> {
    if (const auto found = wanted.find(who); found != wanted.end()) {
      found->second = std::move(netns);
      return --missing > 0;
    }
    if (const auto number = TRY(kernel_.netns().number_if_any(*netns)); number.has_value())
      if (numbers.contains(*number)) holders.emplace(*number, who);
    return true;
  };
  TRY(kernel_.netns().visit(folders(), look_at));
  for (auto& [ref, place] : places_) {
    if (!is_unknown(place) || !ref.identity.has_value()) continue;
    if (const auto found = wanted.find(*ref.identity); found != wanted.end() && found->second != nullptr) {
      place = {.state = NetnsState::kThere, .netns = found->second, .error = std::nullopt};
    } else if (ref.nsid.has_value() && holders.contains(*ref.nsid)) {
      place.state = NetnsState::kEnded;  // its number belongs to another one
    }
  }
  return {};
}

void Namespaces::look(os::Deadline deadline, const std::stop_token& stop) {
  ask_for_ends();
  if (const Result<void> found = find(); !found.has_value())
    for (auto& [ref, place] : places_)
      if (is_unknown(place) && !place.error.has_value()) place.error = found.error();
  const auto may_end = [](const auto& one) {
    return is_unknown(one.second) && !one.second.error.has_value() && one.first.nsid.has_value();
  };
  os::Clock& clock = kernel_.clock();
  const os::Deadline end = std::min(deadline, clock.now() + kEndWait);
  while (std::ranges::any_of(places_, may_end) && clock.now() < end && !stop.stop_requested()) {
    clock.wait_until(clock.now() + kEndStep);
    ask_for_ends();
  }
}

}  // namespace railbed::attach
