// SPDX-License-Identifier: Apache-2.0
// Third-party IPAM types for railbed's main plugins: executed as the CNI specification requires.
//
// Why a record: as for every executed program, what its DEL needs is in the store before its ADD runs (exec_records.h),
// under its own name next to the interface's. The addresses and routes that it returns are attached, compared and
// checked like any others.
// Threading: not inside a Turn, and not under the container's lock: the program may request addresses from the agent.
// ipam_lock() serializes requests for one container.
// Failure: as exec.h's.
#pragma once

#include "agent/addresses/addresses.h"
#include "agent/engine.h"
#include "agent/records/exec_records.h"

namespace railbed::agent {

// The plugin's ipam.type if railbed does not implement it; otherwise nullopt.
std::optional<std::string> foreign_ipam(const doc::Value& plugin);

std::unique_ptr<Engine::ContainerLock> ipam_lock(Engine& engine, const std::string& container);

struct ForeignIpam {
  std::string key;                     // state::Sandbox::key()
  std::string network;                 // for the interface's record
  Execution call;                      // ADD of the IPAM type, with the whole configuration of the main plugin
  std::string version;                 // of the configuration
  std::optional<MetaSandbox> sandbox;  // absent: the runtime itself called the main plugin
};
struct ForeignAddresses {
  Addresses addresses;
  state::Attachment record;  // complete; the caller puts it once the interface exists
};
// An interface that already has addresses keeps them. After a failure DEL has been run; if that failed too, the record
// stays for the pod's DEL.
Result<ForeignAddresses> acquire_foreign(Engine& engine, const ForeignIpam& wanted);

// Whether acquire_foreign() wrote this record for that interface.
bool is_foreign_ipam(const state::Attachment& record, const std::string& ifname);
// The interface whose executed IPAM plugin the record is about; nullopt for another record.
std::optional<std::string> interface_of_foreign_ipam(const state::Attachment& record);

// Its interface; nullopt for other records.
std::optional<std::string> interface_of_foreign_ipam(const state::Attachment& record);

// Runs DEL for what acquire_foreign() recorded of this interface. No record is success.
Result<void> release_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname);
// The same after an ADD that failed: an interface that is still recorded keeps its addresses.
Result<void> undo_foreign_ipam(Engine& engine, const std::string& key, const std::string& ifname);

}  // namespace railbed::agent
