// SPDX-License-Identifier: Apache-2.0
// ADD of the meta plugin: all networks of a sandbox made, once it is known what they are (meta_pod.h).
//
// First the chains with plugins that are not ours, one after another (plugin_chain.h); then all others in one
// transaction (interfaces.h). Threading: not in a turn; the caller has the sandbox for itself. Failure: some networks
// are made then: give_back_sandbox() follows.
#pragma once

#include "agent/pod/meta.h"
#include "agent/pod/meta_pod.h"

namespace railbed::agent {

// One ADD, read.
struct MetaAdd {
  const cni::Request& request;
  const cni::PluginConfig& config;
  const MetaConfig& meta_config;
  PodNetworks pod;
};

// The answer is the default network's result; an empty one where there is no default network.
cni::Outcome<cni::AddResult> attach_sandbox(Backends& backends, Meta& meta, MetaAdd add);

}  // namespace railbed::agent
