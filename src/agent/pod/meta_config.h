// SPDX-License-Identifier: Apache-2.0
// The configuration of the meta plugin: the keys of Multus, `unknownPod` and `maxNetworks`.
//
// Threading: pure. Failure: code 7 with line, column and key.
#pragma once

#include <string>
#include <vector>

#include "agent/pod/sources.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

// For errors about a pod that this agent does not know.
inline constexpr const char* kUnknownPodHint =
    "set unknownPod in the configuration for such pods: \"fail\", or \"default-network-only\" without the networks of "
    "their annotation";

struct MetaConfig {
  std::string conf_dir = "/etc/cni/multus/net.d";
  std::vector<std::string> bin_dirs;              // "binDir", before CNI_PATH; empty: CNI_PATH alone
  std::string cache_dir = "/var/lib/cni/multus";  // "cniDir": what Multus left there
  std::vector<doc::Value> delegates;              // the first is the default network; else the two below
  std::string cluster_network;
  std::vector<std::string> default_networks;
  bool namespace_isolation = false;
  std::vector<std::string> global_namespaces = {"default"};
  std::vector<std::string> system_namespaces = {"kube-system"};
  std::string multus_namespace = "kube-system";
  bool retry_delete_on_error = false;
  std::string readiness_file;
  // What ADD does for a pod that no source of the agent knows. In a cluster such a pod must not start with fewer
  // networks than its annotation names, unless "unknownPod" says so. A configuration with a `kubeconfig` belongs to a
  // cluster, whose pods are unknown here where the agent does not ask the API server.
  enum class UnknownPod : uint8_t { kAsSourceSays, kFails, kDefaultNetworkOnly };
  UnknownPod unknown_pod = UnknownPod::kAsSourceSays;
  std::string kubeconfig;    // empty where there is none, or `unknownPod` decides
  size_t max_networks = 64;  // of one pod: all are made in one turn, for which other pods wait
};

Result<MetaConfig> read_meta_config(const cni::PluginConfig& config);

// Whether a pod that `source` does not know fails its ADD.
bool unknown_pod_fails(const MetaConfig& config, const PodSource& source);
// The kubeconfig of a cluster whose pods `source` does not know; empty: there is none.
std::string unserved_kubeconfig(const MetaConfig& config, const PodSource& source);

// Directories with plugins' programs.
std::vector<std::string> program_path(const MetaConfig& config, const cni::Request& request);

}  // namespace railbed::agent
