// SPDX-License-Identifier: Apache-2.0
// Addresses for the long-lived agent: assign() with an index of what is taken.
//
// Why: assign() looks at every taken address, which is right for a plan and too slow for 100,000 addresses a second.
// This keeps, by pool and range, what is taken and where to look next, so that taking and giving back cost the same in
// a /29, a /8 and a /64. The answer is the same as assign()'s for the same taken addresses: lowest free first. Whoever
// calls writes the answer to the store in the same turn, and calls release() when that fails.
//
// Addresses come from blocks: parts of a range that this node may use. The source of blocks is an interface:
// on a single machine the whole range, in a cluster what the API server leased to this node.
//
// Threading: one thread at a time. Failure: as assign()'s.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ipam/assign.h"

namespace railbed::ipam {

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  // The parts of `range` of `pool` that this node may hand out, in the order in which they are to be used.
  virtual Result<std::vector<IpRange>> blocks(const std::string& pool, const api::IpamRange& range) = 0;
};
// The whole range: one machine alone.
std::unique_ptr<BlockSource> whole_ranges();

class Allocator {
 public:
  explicit Allocator(BlockSource& blocks);
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  // Forgets everything and takes these as taken.
  void load(const std::vector<state::AddressLease>& leases);

  // How often load() was called: what was told by take() alone must be told again after it.
  uint64_t loads() const { return loads_; }

  // As ipam::assign(). What it gives is taken from now on.
  Result<std::vector<Assigned>> allocate(const api::IpamConfig& config, const std::string& network,
                                         const std::vector<std::string>& requested, const Owner& owner);
  // All addresses of this owner are free again; nothing where it has none.
  void release(const Owner& owner);
  // One that somebody else has taken (a host-local file of another plugin).
  void take(const std::string& pool, const IpAddress& address, const Owner& owner);
  // One that is free again, whoever had it.
  void give_back(const std::string& pool, const IpAddress& address);
  // Who has it.
  std::optional<Owner> holder(const std::string& pool, const IpAddress& address) const;

  struct Usage {
    std::string pool;
    uint64_t taken = 0;
    uint64_t free = 0;  // of the ranges that were asked for so far; UINT64_MAX where it is more
  };
  std::vector<Usage> usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  uint64_t loads_ = 0;
};

}  // namespace railbed::ipam
