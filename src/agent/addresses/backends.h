// SPDX-License-Identifier: Apache-2.0
// What the handlers of CNI requests need; the caller that runs the agent owns it.
//
// Why: one value is passed on instead of six. A copy belongs to one request and has its story.
// Threading: the members are safe for any thread; a copy is used by the request's thread.
// Failure: none.
#pragma once

#include "agent/addresses/address_supply.h"
#include "agent/addresses/dhcp.h"
#include "agent/addresses/host_local.h"
#include "agent/context/request_context.h"
#include "agent/context/status_memory.h"

namespace railbed::agent {

struct Backends : RequestContext {
  Dhcp& dhcp;
  HostLocal& host_local;
  StatusMemory& statuses;
  AddressSupply* supply = nullptr;  // null: this node cannot get more addresses
};

}  // namespace railbed::agent
