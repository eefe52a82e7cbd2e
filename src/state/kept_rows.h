// SPDX-License-Identifier: Apache-2.0
// An in-memory cache of the attachments and addresses in the state file.
//
// Why: the process that holds the store's lock is the only writer, so rows that were read once stay valid. Attaching a
// pod reads them several times; each read from the file costs more than a system call to move an interface. Knowing a
// row's content also lets a write change only what differs. Indexed by pod, by container and by device, so that a
// lookup costs the same with thousands of pods.
// Threading: none of its own; the store serialises.
// Failure: none.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "state/store.h"

namespace railbed::state {

class KeptRows {
 public:
  using Number = int64_t;  // a row's key in the file, in the order of first insertion

  const Attachment* find(const std::string& pod, const std::string& interface, Number& number) const;
  void put(Number number, const Attachment& attachment);
  void forget(Number number);
  std::vector<Attachment> all() const;
  std::vector<Attachment> of(const std::string& pod) const;
  std::vector<std::string> sandboxes_of(const std::string& container) const;
  std::vector<Attachment> with(const std::string& device) const;

  const AddressLease* lease(const std::string& pool, const IpAddress& address) const;
  void put(const AddressLease& lease);
  void forget(const AddressLease& lease);
  std::vector<AddressLease> leases() const;
  std::vector<AddressLease> leases_of(const std::string& pod) const;

  void put(const AddressBlock& block);
  void forget(const AddressBlock& block);
  std::vector<IpRange> blocks(const std::string& pool) const;

 private:
  void forget_sandbox(const std::string& key);  // a sandbox whose last row has been removed
  std::vector<Attachment> numbered(const std::set<Number>& numbers) const;

  using LeaseKey = std::pair<std::string, IpAddress>;
  std::map<Number, Attachment> rows_;
  std::map<std::string, std::map<std::string, Number>> by_pod_;  // pod → interface → number
  std::map<std::string, std::set<std::string>> by_container_;    // the sandboxes' keys
  std::map<std::string, std::set<Number>> by_device_;
  std::map<LeaseKey, AddressLease> leases_;
  std::map<std::string, std::set<LeaseKey>> leases_by_pod_;
  std::map<std::string, std::vector<IpRange>> blocks_;  // by pool
};

// Whether the two differ only in status and result, which change as an attachment proceeds.
bool only_progress(const Attachment& before, Attachment after);

}  // namespace railbed::state
