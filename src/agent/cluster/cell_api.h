// SPDX-License-Identifier: Apache-2.0
// AddressCells in the API server: read and written so that a lost answer, a late one, or another writer does no harm.
//
// Why: a create or update whose answer is lost may have been carried out, or will be. The object is read back then, and
// the claim of the write says which. Every write is made of an object that was read, with its uid and resourceVersion.
// Threading: any thread; each call waits for the API server. Failure: the client's; where even reading back failed,
// nothing is known of what was written.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/address_cell.h"
#include "kube/client.h"
#include "kube/kinds.h"

namespace railbed::agent {

using kube::kAddressCells;

class CellApi {
 public:
  // `client` outlives this.
  explicit CellApi(kube::Client& client) : client_(client) {}

  // All cells with a lease of this machine, and all of a network_name. What cannot be read is passed over: get() tells.
  Result<std::vector<api::AddressCell>> held_by(const std::string& system_uuid, std::stop_token stop);
  Result<std::vector<api::AddressCell>> of_network(const std::string& network_name, std::stop_token stop);
  // Without leases where there is no object. One that cannot be read is leased to somebody unknown.
  Result<api::AddressCell> get(const std::string& network_name, const IpAddress& base, std::stop_token stop);

  struct Written {
    bool done = false;     // otherwise somebody else was first
    api::AddressCell now;  // as it is stored
  };
  // `next` was made of `before` with this claim; without leases the object is deleted.
  Result<Written> store(const api::AddressCell& before, const api::AddressCell& next, const std::string& claim,
                        std::stop_token stop);

 private:
  Result<std::vector<api::AddressCell>> list(const std::string& label, std::stop_token stop);

  kube::Client& client_;
};

}  // namespace railbed::agent
