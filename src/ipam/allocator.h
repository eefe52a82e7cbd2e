// SPDX-License-Identifier: Apache-2.0
// Addresses for the long-lived agent: assign() with an index of the allocated addresses.
//
// Why: assign() examines every allocated address, which is right for a plan and too slow for 100,000 addresses a
// second. This keeps, by pool and range, the allocated addresses and the next search position, so that allocating and
// releasing cost the same in a /29, a /8 and a /64. The result is the same as assign()'s for the same allocated
// addresses: lowest free first. The caller writes the result to the store in the same exclusive section, and calls
// release() if that fails.
//
// Addresses come from blocks: parts of a range that this node may use. The source of blocks is an interface: on a
// single machine the whole range, in a cluster what the API server leased to this node.
//
// Threading: one thread at a time.
// Failure: as assign()'s.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ipam/assign.h"

namespace railbed::ipam {

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // The parts of `pool`'s `range` that this node may hand out, in the order in which to use them.
  virtual Result<std::vector<IpRange>> blocks(const std::string& pool, const api::IpamRange& range) = 0;
};
// Every range as a whole, for a machine that is alone.
std::unique_ptr<BlockSource> whole_ranges();

class Allocator {
 public:
  explicit Allocator(BlockSource& blocks);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Replaces all that is taken by these leases.
  void load(const std::vector<state::AddressLease>& leases);

  // How often load() was called. It forgets what take() added, so the caller of take() must repeat it when this
  // changes.
  uint64_t loads() const { return loads_; }

  // Gives what ipam::assign() would give, and keeps it taken.
  Result<std::vector<Assigned>> allocate(const api::IpamConfig& config, const std::string& network,
                                         const std::vector<std::string>& requested, const Owner& owner);
  // Frees all addresses of this owner, if it has any.
  void release(const Owner& owner);
  // Marks an address that another program gave out (a host-local file of another plugin).
  void take(const std::string& pool, const IpAddress& address, const Owner& owner);
  // Frees the address, of any owner.
  void give_back(const std::string& pool, const IpAddress& address);
  // Addresses that interfaces of this machine have without a lease, in whichever pool: no other pod gets them. Replaces
  // those of an earlier call.
  void set_in_use(std::map<IpAddress, Owner> in_use);
  // Until the next call, no address of a pool is given out: the error says why. nullopt: they are again.
  void refuse(std::optional<Error> why) { refused_ = std::move(why); }
  // Whether it is not known what interfaces of this machine have.
  bool refuses() const { return refused_.has_value(); }
  // Whether an interface of this machine has the address, with a lease or without one.
  bool is_taken(const std::string& pool, const IpAddress& address) const;
  // The owner of the address.
  std::optional<Owner> holder(const std::string& pool, const IpAddress& address) const;

  struct Usage {
    std::string pool;
    uint64_t taken = 0;
    uint64_t free = 0;  // in the ranges requested so far; UINT64_MAX where there are more
  };
  std::vector<Usage> usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  uint64_t loads_ = 0;
  std::optional<Error> refused_;
};

}  // namespace railbed::ipam
