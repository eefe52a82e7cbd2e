// SPDX-License-Identifier: Apache-2.0
// Gets this node more addresses of shared ranges while an ADD waits.
//
// Why: in a cluster an ADD chooses among the addresses that the node has already leased, without a query. If none of
// them is free, or the pod requests a specific address, more must be leased, which waits for the API server: outside of
// a Turn, so that other pods continue. On a standalone machine there is no AddressSupply.
// Threading: any thread, not inside a Turn.
// Failure: Supplied::why_not; the caller still chooses again, since some of the needed addresses may be available.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "api/ipam.h"
#include "base/error.h"
#include "base/ip.h"

namespace railbed::agent {

// How long an ADD waits for addresses, and how often it chooses again.
inline constexpr std::chrono::seconds kSupplyWait{10};
inline constexpr int kSupplyTries = 2;

// Of one interface.
struct AddressNeed {
  api::IpamConfig config;          // of whereabouts, with ranges
  std::vector<IpAddress> by_name;  // that the pod asks for
  friend bool operator==(const AddressNeed&, const AddressNeed&) = default;
};

class AddressSupply {
 public:
  virtual ~AddressSupply() = default;
  // While it lives, no other caller counts on the addresses that were leased for its owner.
  using Kept = std::shared_ptr<const void>;
  struct Supplied {
    Kept kept;
    std::optional<Error> why_not;
  };
  // Returns when the node has what is needed, when that cannot be, or at `deadline`.
  virtual Supplied more(std::vector<AddressNeed> needs, std::chrono::steady_clock::time_point deadline) = 0;
};

// Whether more addresses may help against an error of begin_addresses().
inline bool more_may_help(const Error& error) {
  return error.code == Code::kExhausted || error.code == Code::kConflict || error.code == Code::kBusy;
}

}  // namespace railbed::agent
