// SPDX-License-Identifier: Apache-2.0
// The meta plugin's sources of a pod's configuration: the pod, its networks, its devices, and the destination of its
// status.
//
// Why interfaces: on a standalone machine this comes from files (manifest_source.h), from the kubelet
// (kubelet_devices.h), in a cluster from a cache of the API server. A source takes and returns values; it is
// independent of Turns, and JSON is parsed on input.
// Threading: any thread, several at once, unless a function says that it is called inside a Turn.
// Failure: NotFound if there is no such pod, network or resource; anything else fails the ADD.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/well_known.h"
#include "doc/value.h"
#include "ipam/assign.h"
#include "kubelet/checkpoint.h"
#include "plan/plan.h"

namespace railbed::agent {

struct PodInfo {
  std::string ns;
  std::string name;
  std::string uid;  // that the runtime and kubelet know; may be empty
  std::map<std::string, std::string> annotations;
  std::string api_uid;  // of its object in the API server, which differs for static pods; empty: there is none
  std::optional<std::set<std::string>> requested;  // resources that its containers ask for; nullopt: not known
  std::string key() const { return ns + "/" + name; }
};

// A NetworkAttachmentDefinition.
struct NetworkInfo {
  std::string ns;
  std::string name;
  doc::Value config;     // the CNI configuration, an object; null: a file of the node with this name has it
  std::string resource;  // "openshift.io/rail0"; empty: it needs no device
  std::string key() const { return ns + "/" + name; }
};

// The text of a definition's spec.config as NetworkInfo::config. Invalid with line and column where it is no JSON
// object.
Result<doc::Value> parse_network_config(const std::string& text);

// By which annotations a pod chooses its networks.
inline constexpr const char* kNetworksKey = kNetworksAnnotation;
inline constexpr const char* kDefaultNetworkKey = kDefaultNetworkAnnotation;
inline constexpr const char* kChoiceKeys[] = {kNetworksKey, kDefaultNetworkKey};

// The annotations of an object; what is no text is passed over.
std::map<std::string, std::string> annotations_of(const doc::Value& object);
// A NetworkAttachmentDefinition. Invalid as parse_network_config.
Result<NetworkInfo> read_network(const std::string& ns, const std::string& name, const doc::Value& definition);

// What interfaces of pods anywhere want of the networks' address ranges, in the order in which they are served.
using AddressClaims = std::vector<ipam::AddressClaim>;

class PodSource {
 public:
  virtual ~PodSource() = default;
  // A `uid` that is not empty must match the pod's.
  virtual Result<PodInfo> pod(const std::string& ns, const std::string& name, const std::string& uid) = 0;
  virtual Result<NetworkInfo> network(const std::string& ns, const std::string& name) = 0;
  // The same for a name that need not be a network's: a file of the node may have it.
  virtual Result<NetworkInfo> network_if_known(const std::string& ns, const std::string& name) {
    return network(ns, name);
  }
  // Whether definitions of this namespace may take what is the node's, beside resources (tenant_definitions.h). Asked
  // only about those that do. Busy: unknown for now.
  virtual Result<bool> may_use_node(const std::string& /*ns*/) { return true; }
  // Whether only ib-kubernetes can write into a pod's annotation that its GUID is configured. Asked only where a
  // network waits for that. Busy: unknown for now.
  virtual Result<bool> reserves_ib_kubernetes() { return true; }
  // Whether all pods of a cluster are known here: one that is not found must not start with fewer networks than its
  // annotation names, unless the configuration says so.
  virtual bool of_cluster() const { return false; }

  // For addresses that must be planned over all pods that the source knows: the same pointer as long as nothing has
  // changed. Null where the agent decides for one pod at a time.
  virtual Result<std::shared_ptr<const AddressClaims>> address_claims() {
    return std::shared_ptr<const AddressClaims>();
  }
  // Whether RDMA-marked VFs of pods get a soft RDMA device where they have none.
  virtual bool soft_rdma() { return false; }
  // The pod's network-status, as it was published before; empty: it has none, or is not known here. Busy: which pods
  // there are is not known yet. Not in a turn.
  virtual Result<std::string> published_status(const std::string& /*ns*/, const std::string& /*name*/,
                                               const std::string& /*uid*/) {
    return std::string();
  }
  // The pod's k8s.v1.cni.cncf.io/network-status, an array; null: it has no networks any more. Called in a turn, in the
  // transaction that records the networks: must not wait for anything.
  virtual Result<void> publish_status(const PodInfo& pod, const std::string& sandbox, const doc::Value& status) = 0;
};

struct Device {
  std::string id;                  // PCI address for VFs
  std::optional<plan::PoolVf> vf;  // what is known of it beyond its id
};

// What a pod's networks want of one resource.
struct DeviceRequest {
  const PodInfo& pod;
  const std::string& resource;
  std::vector<std::string> asked;  // for each network that refers to it: the device that the pod names, empty for any
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;
  // What others must be asked for first, about all devices of the pod; devices() is then given the answer. Called
  // before the turn, so it may wait, to a deadline of its own.
  virtual Result<kubelet::GivenDevices> given_to(const PodInfo&) { return kubelet::GivenDevices{}; }
  // The devices for the pod's networks that refer to a resource, in order. `in_use` has the devices of all sandboxes.
  // Called in a turn: must not wait. NotFound when this source does not know the resource for this pod; Invalid for a
  // device that the pod names and may not have.
  virtual Result<std::vector<Device>> devices(const DeviceRequest& request, const kubelet::GivenDevices& given,
                                              const plan::InUse& in_use) = 0;
  // Whether the device belongs to a resource: only a pod that has it of the resource may have it. Called in a turn.
  virtual Result<bool> offers(const PciAddress& device) = 0;
};

}  // namespace railbed::agent
