// SPDX-License-Identifier: Apache-2.0
#include "ipam/address_index.h"

#include <algorithm>
#include <cstring>

namespace railbed::ipam {

size_t AddressHash::operator()(const IpAddress& address) const {
  uint64_t high = 0;
  uint64_t low = 0;
  std::memcpy(&high, address.bytes.data(), 8);
  std::memcpy(&low, address.bytes.data() + 8, 8);
  uint64_t mixed = (high * 0x9e3779b97f4a7c15u) ^ (low * 0xc2b2ae3d27d4eb4fu);
  return mixed ^ (mixed >> 29);
}

size_t OwnerHash::operator()(const Owner& owner) const {
  std::hash<std::string> hash;
  return hash(owner.pod) * 31 + hash(owner.interface);
}

const Owner* TakenPool::holder(const IpAddress& address) const {
  auto found = holders_.find(address);
  return found == holders_.end() ? nullptr : found->second;
}

std::vector<IpAddress> TakenPool::held_by(const Owner& owner) const {
  std::vector<IpAddress> held;
  auto found = holdings_.find(owner);
  if (found == holdings_.end()) return held;
  for (const auto& [pool, address] : found->second)
    if (pool == this) held.push_back(address);
  std::ranges::sort(held);
  return held;
}

// The run that contains the address, or the first run after it.
TakenPool::Runs::const_iterator TakenPool::run_from(const IpAddress& address) const {
  auto next = runs_.upper_bound(address);
  if (next == runs_.begin()) return next;
  auto before = std::prev(next);
  return before->first.family == address.family && !(before->second < address) ? before : next;
}

std::optional<IpAddress> TakenPool::first_free(const IpAddress& from) const {
  auto run = run_from(from);
  if (run == runs_.end() || from < run->first) return from;
  return run->second.plus(1);
}

TakenView::Held TakenPool::held_in(const std::vector<IpRange>& ranges, size_t most) const {
  Held held{.count = taken_of(ranges)};
  for (const IpRange& range : ranges)
    for (auto run = run_from(range.first); run != runs_.end() && !(range.last < run->first); ++run) {
      std::optional<IpAddress> address = std::max(range.first, run->first);
      while (address.has_value() && !(run->second < *address) && !(range.last < *address)) {
        if (held.first.size() == most) return held;
        held.first.emplace_back(*address, *holders_.at(*address));
        address = address->plus(1);
      }
    }
  return held;
}

uint64_t TakenPool::taken_of(const std::vector<IpRange>& ranges) const {
  uint64_t count = 0;
  for (const IpRange& range : ranges)
    for (auto run = run_from(range.first); run != runs_.end() && !(range.last < run->first); ++run) {
      uint64_t here = IpRange{std::max(range.first, run->first), std::min(range.last, run->second)}.size();
      count = count + here < count ? UINT64_MAX : count + here;
    }
  return count;
}

bool TakenPool::take(const IpAddress& address, const Owner& owner) {
  if (!holders_.emplace(address, &owner).second) return false;
  auto next = runs_.upper_bound(address);
  const bool joins_next = next != runs_.end() && next->first.family == address.family && address.plus(1) == next->first;
  IpAddress last = joins_next ? next->second : address;
  if (joins_next) next = runs_.erase(next);
  if (next != runs_.begin()) {
    auto before = std::prev(next);
    if (before->first.family == address.family && before->second.plus(1) == address) {
      before->second = last;
      return true;
    }
  }
  runs_.emplace_hint(next, address, last);
  return true;
}

void TakenPool::give_back(const IpAddress& address) {
  if (holders_.erase(address) == 0) return;
  auto run = std::prev(runs_.upper_bound(address));
  const IpAddress first = run->first;
  const IpAddress last = run->second;
  if (first == address) {
    auto after = runs_.erase(run);
    if (address < last) runs_.emplace_hint(after, *address.plus(1), last);
    return;
  }
  IpAddress before = address;
  for (int i = before.byte_count(); i-- > 0;)
    if (before.bytes[i]-- != 0) break;
  run->second = before;
  if (address < last) runs_.emplace_hint(std::next(run), *address.plus(1), last);
}

void AddressIndex::clear() {
  pools_.clear();
  holdings_.clear();
}

TakenPool& AddressIndex::pool(const std::string& name) {
  return pools_.try_emplace(name, holdings_).first->second;
}

bool AddressIndex::take(const std::string& name, const IpAddress& address, const Owner& owner) {
  TakenPool& taken = pool(name);
  if (taken.holder(address) != nullptr) return false;
  auto held = holdings_.try_emplace(owner).first;
  taken.take(address, held->first);
  held->second.emplace_back(&taken, address);
  return true;
}

void AddressIndex::release(const Owner& owner) {
  auto held = holdings_.find(owner);
  if (held == holdings_.end()) return;
  for (const auto& [taken, address] : held->second) taken->give_back(address);
  holdings_.erase(held);
}

void AddressIndex::give_back(const std::string& name, const IpAddress& address) {
  TakenPool& taken = pool(name);
  const Owner* owner = taken.holder(address);
  if (owner == nullptr) return;
  auto held = holdings_.find(*owner);
  taken.give_back(address);
  std::erase(held->second, std::pair(&taken, address));
  if (held->second.empty()) holdings_.erase(held);
}

}  // namespace railbed::ipam
