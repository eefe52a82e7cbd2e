// SPDX-License-Identifier: Apache-2.0
// A snapshot by `railbed preflight` of a cluster and of one of its nodes.
//
// Why values: what blocks railbed is decided from them alone (findings.h). Objects are as the API server lists them,
// reduced to the fields that are read.
// Threading: plain values.
// Failure: what could not be read is listed in `unknown`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/door/node_config.h"
#include "doc/value.h"

namespace railbed::preflight {

// A right that deploy/rbac gives to a service account, and that it does not have.
struct MissingRight {
  std::string account;  // "railbed-agent"
  std::string right;    // "list pods", "patch pods/status", "get leases in namespace railbed"
};

struct ClusterLook {
  std::string server;
  std::string ns;                           // of railbed
  std::string version;                      // "v1.36.2"
  std::vector<std::string> groups;          // of the API, with their versions: "apps/v1"
  std::vector<doc::Value> nodes;            // Node
  std::vector<doc::Value> workloads;        // DaemonSet and Deployment of all namespaces
  std::vector<doc::Value> definitions;      // CustomResourceDefinition
  std::vector<doc::Value> pools;            // IPPool and NodeSlicePool of whereabouts
  std::vector<doc::Value> policies;         // SriovNetworkNodePolicy
  std::vector<doc::Value> networks;         // SriovNetwork and SriovIBNetwork
  std::vector<doc::Value> attachments;      // NetworkAttachmentDefinition
  std::vector<doc::Value> config_maps;      // those of Cilium and Multus that are there
  std::vector<doc::Value> roles;            // ClusterRole and Role
  std::vector<doc::Value> bindings;         // ClusterRoleBinding and RoleBinding
  std::optional<doc::Value> own_namespace;  // nothing: it is not there yet
  std::vector<MissingRight> missing_rights;
  std::vector<std::string> unknown;  // "DaemonSet: GET /apis/apps/v1/daemonsets: 403 …"
};

enum class Folder : uint8_t { kWritable, kReadOnly, kMissing };

struct NodeLook {
  std::string name;
  std::string conf_dir, bin_dir;  // of the node's runtime
  Folder conf = Folder::kMissing, bin = Folder::kMissing;
  std::vector<agent::ConfigFile> files;        // of conf_dir
  std::vector<std::string> pfs;                // PCI addresses of functions that can make VFs
  std::optional<std::string> topology_policy;  // of the kubelet; nothing: its configuration was not found
};

}  // namespace railbed::preflight
