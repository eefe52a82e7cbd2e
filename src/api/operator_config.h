// SPDX-License-Identifier: Apache-2.0
// SriovOperatorConfig and SriovNetworkPoolConfig: how the SR-IOV operator is set up, and on how many nodes of a group
// it may change something at once.
//
// Why: users of that operator have these objects, and expect them to count. What railbed makes of each field is decided
// above (controller/config_effects.h, controller/pools.h). Fields of versions that this one does not know are named,
// not refused: an object with one counts, and its condition says which of them does nothing. Spec: the kinds' published
// definitions, src/schema/data/sriov.yaml. Threading: pure functions over plain values. Failure: diagnostics; nothing
// is read of an object with errors.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/objects.h"
#include "base/error.h"
#include "base/kinds.h"
#include "doc/diagnostic.h"

namespace railbed::api {

// The only object of the kind that counts.
inline constexpr std::string_view kOperatorConfigName = "default";

// The gates that releases of the SR-IOV operator have or had.
inline constexpr std::string_view kFeatureGates[] = {
    "parallelNicConfig",        "resourceInjectorMatchCondition",   "metricsExporter",
    "manageSoftwareBridges",    "blockDevicePluginUntilConfigured", "mellanoxFirmwareReset",
    "dynamicResourceAllocation"};

struct SriovOperatorConfig {
  Metadata meta;
  std::map<std::string, std::string> daemon_variables;  // configDaemonEnvVars
  std::map<std::string, std::string> daemon_selector;   // configDaemonNodeSelector; empty: all nodes
  std::string configuration_mode;                       // "daemon", "systemd"; empty: the former
  bool disable_drain = false;
  std::vector<std::string> disabled_plugins;
  std::optional<bool> injector, webhook, ovs_offload, cdi;
  std::map<std::string, bool> feature_gates;
  std::optional<int> log_level;      // 0 to 2
  std::vector<std::string> unknown;  // fields of the spec that this version does not know
  friend bool operator==(const SriovOperatorConfig&, const SriovOperatorConfig&) = default;
};

// spec.maxUnavailable: a number of nodes, or a percentage of those of the pool.
struct MaxUnavailable {
  int number = 0;
  bool percent = false;
  std::string to_string() const;  // "2", "10%"
  friend bool operator==(const MaxUnavailable&, const MaxUnavailable&) = default;
};
// Invalid, with the reason: a negative number, a text without %, more than 100 %.
Result<MaxUnavailable> parse_max_unavailable(const doc::Value& value);

struct SriovNetworkPoolConfig {
  Metadata meta;
  std::optional<MaxUnavailable> max_unavailable;  // nothing: no limit
  NodeTerm node_selector;                         // is_selected() (placement.h); absent: all nodes
  std::string rdma_mode;                          // "shared", "exclusive"; empty: as it is
  // ovsHardwareOffloadConfig, which makes it a pool of another sort: one that says nothing of nodes of its own.
  std::string ovs_offload;
  std::map<std::string, std::string> ovs_other_config;
  std::vector<std::string> unknown;

  std::string key() const { return meta.ns.value + "/" + meta.name.value; }
  friend bool operator==(const SriovNetworkPoolConfig&, const SriovNetworkPoolConfig&) = default;
};

// Of objects that were compared with their schema (compare.h).
SriovOperatorConfig read_operator_config(const doc::Value& object, doc::Diagnostics& out);
SriovNetworkPoolConfig read_pool_config(const doc::Value& object, doc::Diagnostics& out);
// Compared and read; nothing when the object has errors.
std::optional<SriovOperatorConfig> parse_operator_config(const doc::Value& object, doc::Diagnostics& diagnostics);
std::optional<SriovNetworkPoolConfig> parse_pool_config(const doc::Value& object, doc::Diagnostics& diagnostics);

}  // namespace railbed::api
