// SPDX-License-Identifier: Apache-2.0
#include "state/kept_rows.h"

#include "state/sandbox.h"

namespace railbed::state {

const Attachment* KeptRows::find(const std::string& pod, const std::string& interface, Number& number) const {
  auto of_pod = by_pod_.find(pod);
  if (of_pod == by_pod_.end()) return nullptr;
  auto found = of_pod->second.find(interface);
  if (found == of_pod->second.end()) return nullptr;
  number = found->second;
  return &rows_.at(number);
}

void KeptRows::put(Number number, const Attachment& attachment) {
  forget(number);
  rows_[number] = attachment;
  by_pod_[attachment.pod][attachment.interface] = number;
  if (std::string container = Sandbox::of_key(attachment.pod).container; !container.empty())
    by_container_[std::move(container)].insert(attachment.pod);
  if (!attachment.device.empty()) by_device_[attachment.device].insert(number);
}

void KeptRows::forget(Number number) {
  auto row = rows_.find(number);
  if (row == rows_.end()) return;
  auto of_pod = by_pod_.find(row->second.pod);
  of_pod->second.erase(row->second.interface);
  if (of_pod->second.empty()) {
    forget_sandbox(of_pod->first);
    by_pod_.erase(of_pod);
  }
  if (auto with = by_device_.find(row->second.device); with != by_device_.end()) {
    with->second.erase(number);
    if (with->second.empty()) by_device_.erase(with);
  }
  rows_.erase(row);
}

void KeptRows::forget_sandbox(const std::string& key) {
  auto sandboxes = by_container_.find(Sandbox::of_key(key).container);
  if (sandboxes == by_container_.end()) return;
  sandboxes->second.erase(key);
  if (sandboxes->second.empty()) by_container_.erase(sandboxes);
}

std::vector<std::string> KeptRows::sandboxes_of(const std::string& container) const {
  auto found = by_container_.find(container);
  if (found == by_container_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

std::vector<Attachment> KeptRows::all() const {
  std::vector<Attachment> all;
  for (const auto& [number, row] : rows_) all.push_back(row);
  return all;
}

std::vector<Attachment> KeptRows::numbered(const std::set<Number>& numbers) const {
  std::vector<Attachment> some;
  for (Number number : numbers) some.push_back(rows_.at(number));
  return some;
}

std::vector<Attachment> KeptRows::of(const std::string& pod) const {
  auto found = by_pod_.find(pod);
  if (found == by_pod_.end()) return {};
  std::set<Number> numbers;
  for (const auto& [interface, number] : found->second) numbers.insert(number);
  return numbered(numbers);
}

std::vector<Attachment> KeptRows::with(const std::string& device) const {
  auto found = by_device_.find(device);
  return found == by_device_.end() ? std::vector<Attachment>{} : numbered(found->second);
}

const AddressLease* KeptRows::lease(const std::string& pool, const IpAddress& address) const {
  auto found = leases_.find({pool, address});
  return found == leases_.end() ? nullptr : &found->second;
}

void KeptRows::put(const AddressLease& lease) {
  LeaseKey key(lease.pool, lease.address);
  leases_by_pod_[lease.pod].insert(key);
  leases_.insert_or_assign(std::move(key), lease);
}

void KeptRows::forget(const AddressLease& lease) {
  LeaseKey key(lease.pool, lease.address);
  if (auto of_pod = leases_by_pod_.find(lease.pod); of_pod != leases_by_pod_.end()) {
    of_pod->second.erase(key);
    if (of_pod->second.empty()) leases_by_pod_.erase(of_pod);
  }
  leases_.erase(key);
}

std::vector<AddressLease> KeptRows::leases() const {
  std::vector<AddressLease> all;
  for (const auto& [key, lease] : leases_) all.push_back(lease);
  return all;
}

std::vector<AddressLease> KeptRows::leases_of(const std::string& pod) const {
  std::vector<AddressLease> some;
  auto found = leases_by_pod_.find(pod);
  if (found == leases_by_pod_.end()) return some;
  for (const LeaseKey& key : found->second) some.push_back(leases_.at(key));
  return some;
}

void KeptRows::put(const AddressBlock& block) {
  blocks_[block.pool].push_back(block.addresses);
}

void KeptRows::forget(const AddressBlock& block) {
  std::erase(blocks_[block.pool], block.addresses);
}

std::vector<IpRange> KeptRows::blocks(const std::string& pool) const {
  auto found = blocks_.find(pool);
  return found == blocks_.end() ? std::vector<IpRange>{} : found->second;
}

bool only_progress(const Attachment& before, Attachment after) {
  after.status = before.status;
  after.result = before.result;
  return before == after;
}

}  // namespace railbed::state
