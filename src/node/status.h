// SPDX-License-Identifier: Apache-2.0
// The current state of this node, as one value: policies, PFs and VFs by owner, pods with their interfaces, leases.
//
// Why: `status` works without root and while an `up` is running, from the machine's facts and from what the state
// records as done and failed. JSON is a contract: the perf report and scripts read it.
// Threading: plain values and pure functions.
// Failure: read_status, the error of reading the state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doc/value.h"
#include "facts/node_facts.h"
#include "state/store.h"

namespace railbed::node {

struct PolicyStatus {
  std::string policy;  // "namespace/name"
  std::string state;   // "applied", "partly", "shadowed", "no match", …, or "failed"
  std::vector<std::string> pfs;
  std::vector<std::string> shadowed_by;
  std::string detail;
  std::string failed_step;  // plan::Step::id; empty: none
  std::string error;        // with errno and what to do
};

struct InterfaceStatus {
  std::string name;
  std::string network;
  std::string type;
  std::string vf;    // PCI address, or the host interface that it sits on
  std::string pf;    // PCI address
  std::string rail;  // the PF's name
  std::string mac;
  int mtu = 0;
  std::string rdma;
  bool soft = false;
  std::vector<std::string> addresses;
  // "attached", "being attached", "being detached"; "orphaned": after its DEL, it may still be in use.
  std::string state;
};

struct PodStatus {
  std::string name;
  std::string ns;
  std::string container;  // under a container runtime: its sandbox
  std::string netns;      // path
  std::vector<InterfaceStatus> interfaces;
  std::string error;  // of the last attempt to attach it; empty: none
};

struct VfStatus {
  int index = 0;
  std::string pci;
  std::string driver;
  std::string name;   // of its interface here
  std::string owner;  // "namespace/name", "another namespace", or empty: free
};

struct PfStatus {
  std::string pci;
  std::string name;
  int num_vfs = 0;
  int total_vfs = 0;
  bool ours = false;  // changed by railbed
  std::vector<VfStatus> vfs;
  std::optional<double> rate_gbps = {};  // of its port; absent: it is down, or it is unknown

  // The rate of each VF that has an owner, when all of them send; absent where none has one.
  std::optional<double> share_gbps() const;
};

struct Status {
  std::string node;
  std::vector<PolicyStatus> policies;
  std::vector<PfStatus> pfs;  // with SR-IOV
  std::vector<PodStatus> pods;
  std::vector<state::AddressLease> leases;
  std::vector<std::string> held_back;
  std::vector<std::string> interrupted;  // steps of a run that was killed, or that is still at work
  std::string prefix_conflict;           // two prefixes of resource names were said; empty: one, or none
};

// `store` is null where railbed has no state on this machine.
Result<Status> read_status(const facts::NodeFacts& facts, state::Store* store);

doc::Value to_value(const Status& status);

}  // namespace railbed::node
