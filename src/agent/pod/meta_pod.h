// SPDX-License-Identifier: Apache-2.0
// Everything that a pod's sandbox is to get, before anything is done: the default network, the networks that the
// configuration adds, those of the pod's annotation; each with its chain of plugins.
//
// As Multus reads it; docs/meta.md lists the differences.
// Threading: any thread, not inside a Turn: reads files of the node.
// Failure: code 7 names pod, network and the error; 100 if a network does not exist.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/pod/default_routes.h"
#include "agent/pod/meta_config.h"
#include "agent/pod/sources.h"
#include "api/objects.h"
#include "cni/config.h"
#include "cni/request.h"
#include "os/ports/kernel.h"

namespace railbed::agent {

// One network, as Multus calls it.
struct Delegate {
  std::string ifname;
  std::string name;  // "namespace/name"; the configuration's name for files and inline ones
  bool is_default = false;
  cni::ListConfig list;
  api::NetworkSelection selection;
  std::string resource;
  std::map<std::string, doc::Value> capability_args;
  DroppedDefaults dropped;
  std::optional<Device> device;
  std::string device_info_path;

  // Whether all plugins of the chain are railbed's: then it is attached in one transaction with the pod's other
  // networks.
  bool native() const;
  // Adds the device to the configuration where plugins look for it.
  void set_device(const Device& chosen);
};

struct PodNetworks {
  PodInfo pod;                     // without annotations where it is not known
  bool known = false;              // the source has the pod
  std::vector<Delegate> networks;  // the default network first
  bool wants_status() const { return known; }
};

// Of a plugin's configuration; empty where it says none.
std::string type_of(const doc::Value& plugin);
// Whether the plugin is railbed's own: it works without being executed.
bool is_native(const std::string& type);

// Only the default network: for CHECK, STATUS and GC, which do not name a pod.
Result<std::optional<Delegate>> default_network(os::Kernel& kernel, PodSource& source, const MetaConfig& config,
                                                const cni::PluginConfig& plugin, const std::string& ifname);

Result<PodNetworks> read_pod_networks(os::Kernel& kernel, PodSource& source, const MetaConfig& config,
                                      const cni::PluginConfig& plugin, const cni::Request& request);

}  // namespace railbed::agent
