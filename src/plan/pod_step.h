// SPDX-License-Identifier: Apache-2.0
// The steps of a plan for pods: what is detached before PFs are changed, and what is attached afterwards.
//
// Why: `up` detaches and attaches interfaces of pods in addition to its steps on PFs; readers of a plan must see them
// in their order. A changed interface is two steps: it is detached, so that its VF and its address are free for the
// steps in between, then re-attached. node/pod_decisions.h decides which steps exist.
// Threading: plain values.
// Failure: none; a pod that cannot be attached has a step with a `problem`, which is not applied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace railbed::plan {

enum class PodAction : uint8_t {
  kRecover,  // what a killed run, or a namespace that has ended, left is given back
  kDetach,
  kAttach,  // the only one that comes behind the steps on PFs
};
std::string_view pod_action_name(PodAction action);  // "Recover", "Detach", "Attach"

struct PodInterface {
  std::string interface;  // "net1"
  std::string network;    // "namespace/name"
  std::string device;     // "VF 0 of eth1", "hd0"; empty: it needs none, or an agent chooses it
  std::string why;        // what differs: "MTU 3000 instead of 1500"; empty where the step's reason says all
  friend bool operator==(const PodInterface&, const PodInterface&) = default;
};

struct PodStep {
  std::string id;   // stable within a plan: "llm/a/detach"
  std::string pod;  // "namespace/name", or with a runtime's container: state::Sandbox::key()
  PodAction action = PodAction::kAttach;
  std::string reason;
  std::vector<PodInterface> interfaces;
  bool whole_pod = false;  // kDetach: with the pod's network namespace, where railbed made it
  bool disturbs = false;   // the pod loses interfaces that it has, if only for a moment
  std::string problem;     // why it cannot be done: reported, with the step left out
  friend bool operator==(const PodStep&, const PodStep&) = default;
};

// One line for people: "detach net2 (MTU 3000 instead of 1500), to re-attach it".
std::string describe(const PodStep& step);

}  // namespace railbed::plan
