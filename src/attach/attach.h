// SPDX-License-Identifier: Apache-2.0
// A pod's secondary networks: attaching, detaching, and finishing what a killed process left.
//
// Why one transaction: interfaces of a pod are attached all or not at all. The planned changes and how to undo them are
// in the store before the first change; a failure undoes in reverse; what cannot be undone now stays in the store and
// is retried by the next attach, detach or recover. Hardware is identified by its PCI address, never by a name: names
// change, also while it is in a pod.
//
// An interface costs as few messages as the kernel allows: one that moves and renames it (or creates it inside the
// pod), one that brings it up, one per address and route; changed VF settings are sent in one message; links are listed
// once on the host and once in the pod, regardless of the number of interfaces.
//
// This relies on kernel guarantees: when a namespace ends, its virtual links end with it, and its hardware returns to
// the initial namespace under its last name.
//
// Threading: one call at a time per store (two at once could choose the same address; the kernel serializes moves
// anyway); while one leaves the exclusive section to wait for a device (wait_policy.h), another may run, for another
// pod.
// Failure: NotFound if the namespace or the device does not exist, Conflict if a device or name is in use, Invalid for
// an impossible configuration, Unsupported for unknown plugin types and settings, Exhausted without addresses, Timeout
// if a device has not returned; the messages name pod, interface and network.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "attach/result.h"
#include "attach/wait_policy.h"
#include "cni/add_result.h"
#include "ipam/assign.h"
#include "os/ports/kernel.h"
#include "plan/step.h"
#include "state/store.h"

namespace railbed::attach {

// Records of executed plugins have types that begin with this; the functions here leave them alone.
inline constexpr std::string_view kProgramPrefix = "exec:";

struct InterfaceRequest {
  IfName name;          // inside the pod
  std::string network;  // "namespace/name"
  api::NetworkConfig config;
  api::NetworkSelection selection;
  std::optional<plan::PoolVf> device;  // of the network's resource
  std::string resource;
  // Decided by the caller, who has them taken where they are handed out; their leases are put with the attachment.
  std::vector<ipam::Assigned> addresses;
  bool addresses_later = false;  // a DHCP server gives them, once the interface is there
  std::vector<Route> routes;     // of the network's "ipam", or what a server or a plugin answered
  // The interface is already in the pod, made by another request or another plugin, and `config` has one chained plugin
  // that changes it. Such a change has its own record, record_name(), and its own undo.
  bool chained = false;
  std::optional<cni::AddResult> previous;  // prevResult, for chained ones

  // "net1", or "net1/tuning".
  std::string record_name() const;
};

struct PodRequest {
  std::string pod;         // state::Sandbox::key()
  std::string netns_path;  // exists
  std::vector<InterfaceRequest> interfaces;
  bool soft_rdma = false;  // RDMA-marked VFs without an RDMA device get a soft one
  // Leaves interfaces of the pod alone that are not in `interfaces`, because a CNI request concerns only one.
  bool others_stay = false;
  // Devices that cannot be had now, because VFs are being made or re-bound: Busy. May be empty.
  std::function<bool(PciAddress)> is_changing;
};

struct PodReport {
  std::vector<InterfaceResult> interfaces;  // as wanted, in that order
  int kept = 0;                             // attached before and left unchanged
  int attached = 0;
  int detached = 0;                // had changed, or are no longer wanted
  std::vector<std::string> notes;  // for people: what could not be restored exactly
};

// Brings the pod's interfaces to the wanted state, in phases. Interfaces that are already right are not touched.
//
//   Transaction attaching = TRY(Transaction::begin(kernel, store, request, wait));
//   PodReport report = TRY(attaching.bring());
//   TRY(attaching.open_records());   // only for a caller that writes records of its own
//   if (Result<void> put = put_own_records(store, report); !put) return fail(attaching.roll_back(put.error()));
//   TRY(attaching.commit());
//
// What was attached is undone when bring(), open_records() or commit() fails, by roll_back(), and by the destructor of
// a transaction that none of these ended; what cannot be undone now stays recorded.
class Transaction {
 public:
  // Reads and compares, detaches what has changed, rejects what a check can reject, and records how to undo the rest.
  // `request` outlives the transaction.
  static Result<Transaction> begin(os::Kernel& kernel, state::Store& store, const PodRequest& request,
                                   const WaitPolicy& wait);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // Changes the machine. The last records are written, and seen by others after commit().
  Result<PodReport> bring();
  // From here to commit() the caller may write to the store, in one of its transactions with the last records. Nothing
  // may wait meanwhile.
  Result<void> open_records();
  Result<void> commit();
  // For a caller whose own records fail: undoes everything new, and returns `why` with what could not be undone.
  Error roll_back(Error why);

 private:
  class Work;
  explicit Transaction(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

// The same in one call, for a caller without records of its own.
Result<PodReport> attach_pod(os::Kernel& kernel, state::Store& store, const PodRequest& request,
                             const WaitPolicy& wait);

struct DetachReport {
  int detached = 0;
  int orphaned = 0;  // stay recorded until their namespace has ended (give_back.h), which is no failure
  std::vector<std::string> notes;
};

// Returns everything that the pod has; nothing to do is success. Fails when an interface could not be returned; the
// others are, and that one stays recorded.
Result<DetachReport> detach_pod(os::Kernel& kernel, state::Store& store, const std::string& pod,
                                const WaitPolicy& wait);

// Detaches one record of the pod: "net1", or "net1/tuning". Nothing to do is success.
Result<DetachReport> detach_interface(os::Kernel& kernel, state::Store& store, const std::string& pod,
                                      const std::string& record_name, const WaitPolicy& wait);

// Whether the interface is still as it was made: it exists with its MAC, MTU, addresses and routes, its chained
// settings and its RDMA device. NotFound without a record; Conflict names the first difference.
Result<void> check_interface(os::Kernel& kernel, state::Store& store, const std::string& pod,
                             const std::string& record_name, os::Deadline deadline);

// An interface that an original plugin attached before this machine was switched over, as described by its DEL.
struct ForeignInterface {
  std::string type;  // "macvlan", "sriov", …
  std::string container_id;
  IfName name;
  std::string netns_path;  // empty: gone
  doc::Value config;       // the plugin's configuration
  std::optional<cni::AddResult> previous;
};
// Undoes it like the original's own DEL, from the files that the original left, which stay. If nothing is left, that is
// success. A device that is recorded in `ours` now belongs to another pod and is never touched.
Result<DetachReport> detach_foreign(os::Kernel& kernel, const ForeignInterface& interface, const WaitPolicy& wait,
                                    state::Store* ours = nullptr);

struct RecoveryReport {
  std::vector<std::string> undone;    // "default/a net1": was being attached
  std::vector<std::string> finished;  // was being detached, or its namespace is gone
  std::vector<std::string> notes;
  struct Failure {
    std::string pod;
    std::string interface;
    Error error;
  };
  std::vector<Failure> failures;         // still recorded
  std::vector<std::string> unreachable;  // "default/a net1": its namespace is not at its path, and has not ended
  bool empty() const { return undone.empty() && finished.empty() && failures.empty(); }
};

// Whether recover() looks through the machine for namespaces that are not at their path, which may take a second. What
// an earlier process began in one that is not looked for stays as it is.
enum class LookForNamespaces : bool { kNo, kYes };

// Undoes or finishes what killed processes and ended namespaces left, in all pods.
Result<RecoveryReport> recover(os::Kernel& kernel, state::Store& store, const WaitPolicy& wait,
                               LookForNamespaces look = LookForNamespaces::kYes);

// The known plugin types, main ones first.
std::vector<std::string> supported_types();

}  // namespace railbed::attach
