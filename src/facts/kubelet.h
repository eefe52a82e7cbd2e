// SPDX-License-Identifier: Apache-2.0
// What the kubelet of a node does with processors, memory and NUMA nodes, from its configuration.
//
// Why: VFs have a NUMA node, and the kubelet puts a pod's processors and memory there only under some of its policies.
// Threading: pure functions over the files.
// Failure: nothing where the file is missing, unreadable for this user, or no configuration of a kubelet. Other
// installers keep it elsewhere; a file of that name in /etc/kubernetes may hold keys and is not read.
// Spec: kubelet.config.k8s.io/v1beta1, KubeletConfiguration.
#pragma once

#include <optional>
#include <string>

#include "facts/attributes.h"
#include "facts/node_facts.h"

namespace railbed::facts {

inline constexpr const char* kKubeletConfig = "/var/lib/kubelet/config.yaml";

std::optional<Kubelet> read_kubelet(Attributes& attributes);
// Of the text of a configuration.
std::optional<Kubelet> parse_kubelet(const std::string& text);

}  // namespace railbed::facts
