// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/meta_config.h"

#include <algorithm>

#include "cni/fields.h"
#include "doc/diagnostic.h"

namespace railbed::agent {
namespace {

using cni::Fields;
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

cni::Outcome<void> set_if(const Fields& fields, std::string_view key, std::string& out) {
  std::string text = TRY_CNI(fields.text(key));
  if (!text.empty()) out = std::move(text);
  return {};
}

cni::Outcome<void> set_path(const Fields& fields, std::string_view key, std::string& out) {
  TRY_CNI(set_if(fields, key, out));
  if (const Value* value = fields.find(key); value != nullptr && !out.empty() && out.front() != '/')
    return fields.wrong(*value, key, "an absolute path is needed");
  return {};
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    size_t end = std::min(text.find(separator, start), text.size());
    std::string part = text.substr(start, end - start);
    std::erase(part, ' ');
    if (!part.empty()) parts.push_back(std::move(part));
    start = end + 1;
  }
  return parts;
}

// A key with a typing error would silently do nothing.
cni::Outcome<void> refuse_unknown(const Fields& fields, const Value& object) {
  for (const Value::Member& member : *object.as_object()) {
    if (member.key.starts_with("cni.dev/") || std::ranges::find(kKnown, member.key) != std::end(kKnown) ||
        std::ranges::find(kWithoutMeaning, member.key) != std::end(kWithoutMeaning))
      continue;
    std::string near = doc::nearest(member.key, {std::begin(kKnown), std::end(kKnown)});
    if (!near.empty())
      return fields.wrong(member.value, member.key, fmt::format("is not a key; did you mean {}?", near));
  }
  return {};
}

cni::Outcome<void> read_networks(const Fields& fields, MetaConfig& out) {
  if (const Value::Array* delegates = TRY_CNI(fields.array("delegates"))) {
    for (const Value& one : *delegates)
      if (!one.is_object()) return fields.wrong(one, "delegates", "each is an object");
    out.delegates = *delegates;
  }
  TRY_CNI(set_if(fields, "clusterNetwork", out.cluster_network));
  out.default_networks = TRY_CNI(fields.texts("defaultNetworks"));
  if (!out.delegates.empty() && (!out.cluster_network.empty() || !out.default_networks.empty()))
    return fields.wrong(*fields.find("delegates"), "delegates",
                        "stands instead of clusterNetwork and defaultNetworks, not beside them");
  return {};
}

}  // namespace

cni::Outcome<MetaConfig> read_meta_config(const cni::PluginConfig& config) {
  MetaConfig out;
  const Fields fields(config.object, "", cni::kInvalidConfig);
  TRY_CNI(refuse_unknown(fields, config.object));
  TRY_CNI(set_path(fields, "confDir", out.conf_dir));
  TRY_CNI(set_path(fields, "cniDir", out.cache_dir));
  std::string bin_dir;
  TRY_CNI(set_path(fields, "binDir", bin_dir));
  if (!bin_dir.empty()) out.bin_dirs = {bin_dir};
  TRY_CNI(read_networks(fields, out));
  out.namespace_isolation = TRY_CNI(fields.flag("namespaceIsolation"));
  std::string globals;
  TRY_CNI(set_if(fields, "globalNamespaces", globals));
  if (!globals.empty()) out.global_namespaces = split(globals, ',');
  if (fields.find("systemNamespaces") != nullptr) out.system_namespaces = TRY_CNI(fields.texts("systemNamespaces"));
  TRY_CNI(set_if(fields, "multusNamespace", out.multus_namespace));
  out.retry_delete_on_error = TRY_CNI(fields.flag("retryDeleteOnError"));
  TRY_CNI(set_path(fields, "readinessindicatorfile", out.readiness_file));
  std::string unknown = TRY_CNI(fields.text("unknownPod"));
  if (unknown != "" && unknown != "default-network-only" && unknown != "fail")
    return fields.wrong(*fields.find("unknownPod"), "unknownPod", "is \"default-network-only\" or \"fail\"");
  if (unknown.empty()) out.kubeconfig = TRY_CNI(fields.text("kubeconfig"));
  out.unknown_pod_fails = unknown == "fail" || !out.kubeconfig.empty();
  if (const auto most = TRY_CNI(fields.number("maxNetworks"))) {
    if (*most < 1 || *most > kMostNetworks)
      return fields.wrong(*fields.find("maxNetworks"), "maxNetworks", fmt::format("is 1 to {}", kMostNetworks));
    out.max_networks = static_cast<size_t>(*most);
  }
  return out;
}

std::vector<std::string> program_path(const MetaConfig& config, const cni::Request& request) {
  std::vector<std::string> path = config.bin_dirs;
  for (const std::string& directory : request.path)
    if (std::ranges::find(path, directory) == path.end()) path.push_back(directory);
  return path;
}

}  // namespace railbed::agent
