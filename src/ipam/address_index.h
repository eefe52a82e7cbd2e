// SPDX-License-Identifier: Apache-2.0
// The allocated addresses, by pool, as runs of neighbouring addresses.
//
// Why runs: the first free address after an allocated one is the end of its run, regardless of its length; sixty
// thousand addresses that were allocated lowest first are one run.
// Threading: one thread at a time.
// Failure: none.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ipam/range_search.h"

namespace railbed::ipam {

struct AddressHash {
  size_t operator()(const IpAddress& address) const;
};
struct OwnerHash {
  size_t operator()(const Owner& owner) const;
};

class TakenPool;
// The addresses of each owner.
using Holdings = std::unordered_map<Owner, std::vector<std::pair<TakenPool*, IpAddress>>, OwnerHash>;

class TakenPool : public TakenView {
 public:
  explicit TakenPool(const Holdings& holdings) : holdings_(holdings) {}
  const Owner* holder(const IpAddress& address) const override;
  std::vector<IpAddress> held_by(const Owner& owner) const override;
  std::optional<IpAddress> first_free(const IpAddress& from) const override;
  Held held_in(const std::vector<IpRange>& ranges, size_t most) const override;

  // `owner` must be a key of the holdings. False when somebody has the address.
  bool take(const IpAddress& address, const Owner& owner);
  void give_back(const IpAddress& address);
  uint64_t size() const { return holders_.size(); }
  // How many addresses of these ranges (as merged() makes them) are taken; saturates.
  uint64_t taken_of(const std::vector<IpRange>& ranges) const;

 private:
  using Runs = std::map<IpAddress, IpAddress>;  // first → last, both taken
  Runs::const_iterator run_from(const IpAddress& address) const;

  const Holdings& holdings_;
  std::unordered_map<IpAddress, const Owner*, AddressHash> holders_;
  Runs runs_;
};

class AddressIndex {
 public:
  void clear();
  TakenPool& pool(const std::string& name);
  // False when somebody has the address.
  bool take(const std::string& pool, const IpAddress& address, const Owner& owner);
  void release(const Owner& owner);
  void give_back(const std::string& pool, const IpAddress& address);
  const std::map<std::string, TakenPool>& pools() const { return pools_; }

 private:
  Holdings holdings_;
  std::map<std::string, TakenPool> pools_;
};

}  // namespace railbed::ipam
