// SPDX-License-Identifier: Apache-2.0
// Reads and writes AddressCells in the API server, safe against lost answers, late answers and concurrent writers.
//
// Why: agents lease and release, the operator and administrators end leases of others, and all of them write the same
// objects. If the answer to a create or update is lost, it may have been carried out, or may still be. The object is
// then read back, and the caller decides whether it contains what was to be written. Every write is based on an object
// that was read, with its uid and resourceVersion. There may be tens of thousands of cells: they are read page by page.
// Threading: any thread; each call blocks on the API server.
// Failure: the client's; if reading back also failed, it is unknown whether the write happened.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/address_cell.h"
#include "base/error.h"
#include "base/ip.h"
#include "doc/value.h"
#include "kube/client.h"

namespace railbed::cells {

// The cell of these addresses where none is leased: there is no object.
api::AddressCell unleased(const std::string& network_name, const IpAddress& base);
// There is an object, and what it says cannot be read: CellApi::get() has it leased to somebody unknown.
bool is_unreadable(const api::AddressCell& cell);

class CellApi {
 public:
  // `client` outlives this.
  explicit CellApi(kube::Client& client) : client_(client) {}

  // Each cell with these labels (empty: each one), as the object and what it says.
  using Each = std::function<kube::Visit(const doc::Value& object, Result<api::AddressCell> cell)>;
  Result<void> each(const std::string& labels, const Each& each, std::stop_token stop);
  // All cells with a lease of this machine, and all of a network_name. What cannot be read is skipped: get() reports
  // it.
  Result<std::vector<api::AddressCell>> held_by(const std::string& system_uuid, std::stop_token stop);
  Result<std::vector<api::AddressCell>> of_network(const std::string& network_name, std::stop_token stop);
  // unleased() where there is no object; is_unreadable() where it cannot be read.
  kube::Answer<api::AddressCell> get(const std::string& network_name, const IpAddress& base, std::stop_token stop);

  struct Written {
    bool done = false;     // otherwise somebody else was first
    api::AddressCell now;  // as it is stored
  };
  // Whether an object that is stored came about by this write, or by one that did the same.
  using IsDone = std::function<bool(const api::AddressCell& now)>;
  // `next` was made of `before`; without leases the object is deleted. `is_done` is asked where no answer came, or a
  // repetition may have been refused.
  kube::Answer<Written> store(const api::AddressCell& before, const api::AddressCell& next, const IsDone& is_done,
                              std::stop_token stop);

 private:
  kube::Answer<doc::Value> write(const api::AddressCell& before, const api::AddressCell& next, std::stop_token stop);

  kube::Client& client_;
};

}  // namespace railbed::cells
