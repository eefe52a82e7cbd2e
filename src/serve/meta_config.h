// SPDX-License-Identifier: Apache-2.0
// The configuration of the meta plugin: the keys of Multus, and `unknownPod`.
//
// Threading: pure. Failure: code 7 with line, column and key.
#pragma once

#include <string>
#include <vector>

#include "cni/config.h"

namespace railbed::serve {

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
  bool unknown_pod_fails = false;
};

cni::Outcome<MetaConfig> read_meta_config(const cni::PluginConfig& config);

}  // namespace railbed::serve
