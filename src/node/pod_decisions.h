// SPDX-License-Identifier: Apache-2.0
// Which pods are detached and attached, decided over values: the desired state of the manifests, and the current one of
// the state and the machine.
//
// Why: `plan` prints these steps and `up` applies the same ones. Everything that is removed is detached before the
// steps on PFs, so that its devices and addresses are free for them and for other pods; everything new is attached
// afterwards. An interface keeps its VF and its address, also if it is re-attached.
// Threading: pure functions.
// Failure: of one pod is in its step, and in `problems`; the others continue.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "attach/attach.h"
#include "node/pod_server.h"
#include "node/pods_there.h"
#include "node/resolved.h"

namespace railbed::node {

struct PodDecisions {
  std::vector<plan::PodStep> steps;  // in their order
  // All interfaces of each pod that is to be attached, by pod. With an agent, which decides itself: none.
  std::map<std::string, std::vector<attach::InterfaceRequest>> requests;
  bool soft_rdma = false;
  std::map<std::string, Error> problems;        // of the steps that have one, by pod
  std::vector<plan::HeldBack> held_back;        // MTUs that wait until a pod is re-attached
  std::vector<state::AddressLease> new_leases;  // of pods on other nodes
  std::vector<state::AddressLease> old_leases;  // of pods that are in no manifest any more
  std::set<RecordId> leaving;                   // what the steps before those on PFs give back
};

struct PodQuestion {
  const PodsThere& there;
  PodsBy by = PodsBy::kThisProcess;
  std::set<std::string> disturbed;  // pods that lose their VFs to steps on PFs: detached as a whole, re-attached
  std::set<RecordId> leaving;       // goes in any case
  // Whether the steps before those on PFs were carried out already: then what is still there is not free for others.
  bool detached = false;
};

// A namespace of a pod's name that somebody else has made.
Error foreign_namespace(const std::string& name);

PodDecisions decide_pods(const Resolved& now, const PodQuestion& question);

}  // namespace railbed::node
