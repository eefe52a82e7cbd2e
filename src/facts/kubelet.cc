// SPDX-License-Identifier: Apache-2.0
#include "facts/kubelet.h"

#include <memory>
#include <vector>

#include "doc/members.h"
#include "doc/yaml.h"

namespace railbed::facts {

std::optional<Kubelet> parse_kubelet(const std::string& text) {
  doc::Diagnostics problems;
  const std::vector<doc::Value> all =
      doc::parse_yaml(std::make_shared<doc::Source>(doc::Source{kKubeletConfig, text}), problems);
  if (all.empty() || doc::text_in(all.front(), "kind") != "KubeletConfiguration") return std::nullopt;
  const doc::Value& config = all.front();
  Kubelet out{.cpu_manager = doc::text_in(config, "cpuManagerPolicy"),
              .topology_manager = doc::text_in(config, "topologyManagerPolicy"),
              .topology_scope = doc::text_in(config, "topologyManagerScope"),
              .memory_manager = doc::text_in(config, "memoryManagerPolicy"),
              .reserved_cpus = doc::text_in(config, "reservedSystemCPUs"),
              .taints = {}};
  if (const doc::Value::Array* taints = doc::list_in(config, "registerWithTaints"))
    for (const doc::Value& one : *taints)
      if (one.is_object())
        out.taints.push_back({.key = doc::text_in(one, "key"),
                              .value = doc::text_in(one, "value"),
                              .effect = doc::text_in(one, "effect")});
  return out;
}

std::optional<Kubelet> read_kubelet(Attributes& attributes) {
  // Most users may not look into the kubelet's folder. That is no problem of the node, so nothing is noted.
  if (!attributes.exists(kKubeletConfig)) return std::nullopt;
  const std::optional<std::string> text = attributes.text(kKubeletConfig);
  return text ? parse_kubelet(*text) : std::nullopt;
}

}  // namespace railbed::facts
