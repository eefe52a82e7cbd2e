// SPDX-License-Identifier: Apache-2.0
// railbed's interfaces in a sandbox: attach, release, check. The single path for all callers.
//
//   plugin.cc        one plugin as a runtime calls it: one interface, or one change of it
//   meta_attach.cc   all networks of a pod that railbed implements itself, together
//
// Differences between the callers are in the fields of SandboxAttachment. `railbed up` without an agent calls
// attach::attach_pod() itself, the transaction with which this also ends: it plans the addresses of all pods in
// advance, and has neither programs to execute nor DHCP.
//
// ADD is an InterfaceTransaction. Its bring() does, in this order:
//   1. Third-party IPAM plugins are executed, outside of a Turn: they may request addresses from the agent.
//   2. In one Turn: devices are chosen (the caller's choice), addresses are reserved in one transaction of the store,
//      host-local's files are written, and attach::Transaction creates all interfaces or none. After a failure the
//      addresses are released in the same Turn.
//   3. DHCP servers are queried, outside of a Turn: the interface exists and is up by now.
//   4. In the last Turn (the same one without DHCP), the results are set on the interfaces, and the last records are
//      written. The caller adds its own in that Turn, in the same transaction of the store, and commits all.
//
// Threading: any thread, not inside a Turn. Requests for one container are serialized: its lock is taken here for steps
// 2 to 4, ipam_lock() for all.
// Failure: the specification's codes. Completed steps are undone here or by the caller, as AfterFailure says; what
// could not be undone stays recorded.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/addresses/addresses.h"
#include "agent/addresses/backends.h"
#include "agent/addresses/foreign_ipam.h"
#include "agent/pod/default_routes.h"
#include "agent/pod/reservations.h"
#include "agent/records/meta_records.h"
#include "attach/attach.h"
#include "cni/request.h"

namespace railbed::agent {

// For all interfaces of one request; a VF that falls back from a namespace takes its time.
inline constexpr std::chrono::seconds kAttachTime{60};

struct SandboxInterface {
  attach::InterfaceRequest interface;  // but for addresses and routes, which are found here
  AddressRequest addresses;            // not for a chained one
  std::optional<ForeignIpam> program;  // the addresses come from an IPAM plugin that is not ours
  DroppedDefaults dropped;
  std::string title;  // in front of what goes wrong; empty: nothing
};

struct AttachedInterface {
  attach::InterfaceResult interface;
  cni::AddResult answer;
};

// A pod from manifests, the addresses of which are reserved for it.
struct ReservedPod {
  Reservations& reservations;
  PodSource& source;
  std::string pod;  // "namespace/name"
};

enum class AfterFailure : uint8_t {
  kUndo,      // what was done is undone here
  kToCaller,  // the caller undoes all of the sandbox
};

struct SandboxAttachment {
  const cni::Request& request;  // container, namespace, whose times are counted
  std::vector<SandboxInterface> interfaces;
  bool soft_rdma = false;   // RDMA-marked VFs without an RDMA device get a soft one
  bool others_stay = true;  // interfaces of the sandbox that are not among these
  AfterFailure after_failure = AfterFailure::kUndo;

  std::optional<SandboxNote> note;      // written with the first records, in their transaction
  std::optional<ReservedPod> reserved;  // whose reserved addresses the interfaces get; nullopt: none are reserved
  // In the first turn, before anything is reserved: devices, and what depends on them. May be empty.
  std::function<Result<void>(Engine::Turn&, std::vector<SandboxInterface>&)> choose_devices;
};

// Attaches all interfaces of one request, or none. An interface that is as it shall be, from an earlier ADD, is not
// touched. What was done is undone, as AfterFailure says, when bring() or commit() fails, by roll_back(), and by the
// destructor of a transaction that none of these ended.
//
//   InterfaceTransaction attaching(backends, std::move(wanted));
//   const std::vector<AttachedInterface> made = TRY(attaching.bring());
//   if (Result<void> put = put_own_records(attaching.turn(), made); !put) return
//   fail(attaching.roll_back(put.error())); TRY(attaching.commit());
class InterfaceTransaction {
 public:
  // What both refer to outlives the transaction.
  InterfaceTransaction(Backends& backends, SandboxAttachment wanted);
  ~InterfaceTransaction();
  InterfaceTransaction(const InterfaceTransaction&) = delete;
  InterfaceTransaction& operator=(const InterfaceTransaction&) = delete;

  // The interfaces in their order.
  Result<std::vector<AttachedInterface>> bring();
  // Between bring() and commit(): the caller's records are written here, and nothing waits.
  Engine::Turn& turn();
  Result<void> commit();
  // For a caller whose own records fail: `why` with what could not be undone.
  Error roll_back(Error why);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// The turn that is held, or the next one: steps that follow one another share a turn, and let it go before something
// that takes its time.
class HeldTurn {
 public:
  explicit HeldTurn(Engine& engine) : engine_(engine) {}
  Result<Engine::Turn*> get();
  bool held() const { return turn_.has_value(); }
  void end() { turn_.reset(); }
  // Waits for devices and removes interfaces without the turn. This must outlive the policy.
  attach::WaitPolicy wait_policy();

 private:
  Engine& engine_;
  std::optional<Engine::Turn> turn_;
};

struct InterfacesToGiveBack {
  std::string key;                   // state::Sandbox::key()
  std::vector<std::string> records;  // the last one made first: "net1/tuning", "net1"
  std::vector<ipam::Owner> owners;   // whose addresses and leases go, once no record is left of their interface
};
struct NotGivenBack {
  std::string interface;  // empty: of the sandbox
  Error why;
};
// All is tried. Nothing there is success.
std::vector<NotGivenBack> give_back_interfaces(Backends& backends, HeldTurn& turn, const InterfacesToGiveBack& gone);

// What a CHECK is about.
struct CheckScope {
  std::string record;      // "net1", "net1/tuning": it must be there; empty: all of the container
  std::string program_of;  // with `record`: the interface whose executed IPAM plugin is asked, too
};
// Interfaces are looked at in a turn, then the programs that were executed are asked. Returns how many records there
// were.
Result<size_t> check_interfaces(Backends& backends, const cni::Request& request, const CheckScope& scope);

}  // namespace railbed::agent
