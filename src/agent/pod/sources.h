// SPDX-License-Identifier: Apache-2.0
// Where the meta plugin learns what a pod wants: the pod, its networks, its devices, and where its status
// goes.
//
// Why interfaces: on a machine of its own this comes from files (manifest_source.h), from kubelet's checkpoint
// (kubelet_checkpoint.h), in a cluster from a cache of the API server. Threading: any thread, several at once. Failure:
// NotFound where there is no such pod, network or resource; anything else fails the ADD.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/engine.h"
#include "ipam/assign.h"
#include "plan/plan.h"
#include "state/store.h"

namespace railbed::agent {

struct PodInfo {
  std::string ns;
  std::string name;
  std::string uid;  // may be empty
  std::map<std::string, std::string> annotations;
  std::string key() const { return ns + "/" + name; }
};

// A NetworkAttachmentDefinition.
struct NetworkInfo {
  std::string ns;
  std::string name;
  std::string config;    // JSON text; empty: a file of the node with this name has it
  std::string resource;  // "openshift.io/rail0"; empty: it needs no device
  std::string key() const { return ns + "/" + name; }
};

class PodSource {
 public:
  virtual ~PodSource() = default;
  // A `uid` that is not empty must match the pod's.
  virtual Result<PodInfo> pod(const std::string& ns, const std::string& name, const std::string& uid) = 0;
  virtual Result<NetworkInfo> network(const std::string& ns, const std::string& name) = 0;

  // Addresses that are decided already for an interface of the pod; nothing where the agent decides. They are
  // free for `sandbox` to take afterwards.
  virtual Result<std::optional<std::vector<ipam::Assigned>>> addresses(Engine::Turn& turn, const PodInfo& pod,
                                                                       const std::string& sandbox,
                                                                       const std::string& interface) {
    (void)turn, (void)pod, (void)sandbox, (void)interface;
    return std::optional<std::vector<ipam::Assigned>>();
  }
  // RDMA-marked VFs of pods get a soft RDMA device where they have none.
  virtual bool soft_rdma() { return false; }
  // The pod's k8s.v1.cni.cncf.io/network-status; empty: it has no networks any more. Must not wait for a network.
  virtual Result<void> publish_status(Engine::Turn& turn, const PodInfo& pod, const std::string& sandbox,
                                      const std::string& json) = 0;
};

struct Device {
  std::string id;                  // PCI address for VFs
  std::optional<plan::PoolVf> vf;  // what is known of it beyond its id
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;
  // The devices for the pod's networks that refer to `resource`, `count` of them, in order. `in_use` has the devices of
  // all sandboxes. Called in a turn. NotFound when this source does not know the resource for this pod.
  virtual Result<std::vector<Device>> devices(const PodInfo& pod, const std::string& resource, size_t count,
                                              const plan::InUse& in_use) = 0;
};

}  // namespace railbed::agent
