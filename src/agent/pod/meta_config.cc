// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_config.h"

#include <algorithm>

#include "base/text.h"
#include "cni/reading.h"
#include "doc/diagnostic.h"

namespace railbed::agent {
namespace {

using doc::Fields;
using doc::Value;

// Keys that Multus reads and that have no meaning here: the agent has its own log and its own sources.
constexpr std::string_view kWithoutMeaning[] = {"logFile",
                                                "logLevel",
                                                "logToStderr",
                                                "logOptions",
                                                "auxiliaryCNIChainName",
                                                "daemonSocketDir",
                                                "socketDir",
                                                "capabilities",
                                                "runtimeConfig",
                                                "prevResult",
                                                "args",
                                                "name",
                                                "type",
                                                "cniVersion",
                                                "ipam",
                                                "dns"};
constexpr std::string_view kKnown[] = {"confDir",
                                       "binDir",
                                       "cniDir",
                                       "delegates",
                                       "clusterNetwork",
                                       "defaultNetworks",
                                       "namespaceIsolation",
                                       "globalNamespaces",
                                       "systemNamespaces",
                                       "multusNamespace",
                                       "retryDeleteOnError",
                                       "readinessindicatorfile",
                                       "kubeconfig",
                                       "unknownPod",
                                       "maxNetworks"};

// More interfaces than this would delay other pods by seconds.
constexpr int kMostNetworks = 256;

// An empty text is as good as none.
void set_if(Fields& fields, std::string_view key, std::string& out) {
  std::string text;
  fields.read(key, text);
  if (!text.empty()) out = std::move(text);
}

void set_path(Fields& fields, std::string_view key, std::string& out) {
  set_if(fields, key, out);
  if (fields.has(key) && !out.empty() && out.front() != '/') fields.wrong(key, "an absolute path is required");
}

// A misspelt key would silently have no effect.
void refuse_unknown(const Fields& fields, const Value& object) {
  for (const Value::Member& member : *object.as_object()) {
    if (member.key.starts_with("cni.dev/") || std::ranges::find(kKnown, member.key) != std::end(kKnown) ||
        std::ranges::find(kWithoutMeaning, member.key) != std::end(kWithoutMeaning))
      continue;
    std::string near = doc::nearest(member.key, {std::begin(kKnown), std::end(kKnown)});
    if (!near.empty()) fields.wrong(member.key, fmt::format("is not a key; did you mean {}?", near));
  }
}

void read_networks(Fields& fields, MetaConfig& out) {
  if (const Value::Array* delegates = fields.list("delegates")) out.delegates = *delegates;
  fields.each("delegates", [](const Fields& /*each is an object*/) {});
  set_if(fields, "clusterNetwork", out.cluster_network);
  fields.read("defaultNetworks", out.default_networks);
  if (!out.delegates.empty() && (!out.cluster_network.empty() || !out.default_networks.empty()))
    fields.wrong("delegates", "cannot be combined with clusterNetwork or defaultNetworks");
}

}  // namespace

Result<MetaConfig> read_meta_config(const cni::PluginConfig& config) {
  MetaConfig out;
  doc::Diagnostics found;
  Fields fields(config.object, "", doc::kNoFamily, found);
  refuse_unknown(fields, config.object);
  set_path(fields, "confDir", out.conf_dir);
  set_path(fields, "cniDir", out.cache_dir);
  std::string bin_dir;
  set_path(fields, "binDir", bin_dir);
  if (!bin_dir.empty()) out.bin_dirs = {bin_dir};
  read_networks(fields, out);
  out.namespace_isolation = cni::read_flag(fields, "namespaceIsolation");
  std::string globals;
  set_if(fields, "globalNamespaces", globals);
  if (!globals.empty()) out.global_namespaces = parts_of(globals, ',');
  fields.read("systemNamespaces", out.system_namespaces);
  set_if(fields, "multusNamespace", out.multus_namespace);
  out.retry_delete_on_error = cni::read_flag(fields, "retryDeleteOnError");
  set_path(fields, "readinessindicatorfile", out.readiness_file);
  std::string unknown;
  fields.read("unknownPod", unknown);
  if (unknown != "" && unknown != "default-network-only" && unknown != "fail")
    fields.wrong("unknownPod", "is \"default-network-only\" or \"fail\"");
  if (unknown.empty()) fields.read("kubeconfig", out.kubeconfig);
  if (unknown == "fail") out.unknown_pod = MetaConfig::UnknownPod::kFails;
  if (unknown == "default-network-only") out.unknown_pod = MetaConfig::UnknownPod::kDefaultNetworkOnly;
  fields.read("maxNetworks", out.max_networks, {.min = 1, .max = kMostNetworks});
  TRY(cni::understood(found, cni::kInvalidConfig));
  return out;
}

bool unknown_pod_fails(const MetaConfig& config, const PodSource& source) {
  if (config.unknown_pod != MetaConfig::UnknownPod::kAsSourceSays)
    return config.unknown_pod == MetaConfig::UnknownPod::kFails;
  return source.of_cluster() || !config.kubeconfig.empty();
}

std::string unserved_kubeconfig(const MetaConfig& config, const PodSource& source) {
  return source.of_cluster() ? "" : config.kubeconfig;
}

std::vector<std::string> program_path(const MetaConfig& config, const cni::Request& request) {
  std::vector<std::string> path = config.bin_dirs;
  for (const std::string& directory : request.path)
    if (std::ranges::find(path, directory) == path.end()) path.push_back(directory);
  return path;
}

}  // namespace railbed::agent
