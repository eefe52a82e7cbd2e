// SPDX-License-Identifier: Apache-2.0
// Searches for free addresses in a range, independent of how the allocated addresses are stored.
//
// Why an interface: a plan has a map of the allocated addresses, the agent an index of 60,000; which addresses may be
// allocated is decided once, here.
// Threading: pure functions over their inputs.
// Failure: none; nothing if the range is full.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "api/requested_addresses.h"
#include "ipam/assign.h"

namespace railbed::ipam {

// What a range can give at all is decided below, for check and for the agent.
using api::gateways_of;
using api::usable;

// The usable addresses of `range` inside `pieces`, as ranges in ascending order that do not touch.
std::vector<IpRange> usable_parts(const api::IpamRange& range, const std::vector<IpAddress>& gateways,
                                  const std::vector<IpRange>& pieces);
// Sorted; ranges that touch or overlap become one.
std::vector<IpRange> merged(std::vector<IpRange> ranges);

// The addresses in use of one pool.
class TakenView {
 public:
  virtual ~TakenView() = default;
  virtual const Owner* holder(const IpAddress& address) const = 0;       // null: free
  virtual std::vector<IpAddress> held_by(const Owner& owner) const = 0;  // ascending
  // The first address from `from` on that is free; nullopt when all are taken to the end of the family's space.
  virtual std::optional<IpAddress> first_free(const IpAddress& from) const = 0;
  struct Held {
    uint64_t count = 0;
    std::vector<std::pair<IpAddress, Owner>> first;
  };
  // How many are held in these ranges (as merged() makes them), and the first `most` of them.
  virtual Held held_in(const std::vector<IpRange>& ranges, size_t most) const = 0;
};

class TakenMap : public TakenView {
 public:
  explicit TakenMap(const std::map<IpAddress, Owner>& taken) : taken_(taken) {}
  const Owner* holder(const IpAddress& address) const override;
  std::vector<IpAddress> held_by(const Owner& owner) const override;
  std::optional<IpAddress> first_free(const IpAddress& from) const override;
  Held held_in(const std::vector<IpRange>& ranges, size_t most) const override;

 private:
  const std::map<IpAddress, Owner>& taken_;
};

// The lowest usable address of `range` inside `piece` that is free and that is none of `besides`.
std::optional<IpAddress> lowest_free(const api::IpamRange& range, const IpRange& piece,
                                     const std::vector<IpAddress>& gateways, const TakenView& taken,
                                     const std::vector<IpAddress>& besides);

}  // namespace railbed::ipam
