// SPDX-License-Identifier: Apache-2.0
// ADD of the meta plugin: attaches all networks of a sandbox, once meta_pod.h has determined them.
//
// First the chains with third-party plugins, sequentially (plugin_chain.h); then all others in one transaction
// (interfaces.h).
// Threading: not inside a Turn; the caller has exclusive access to the sandbox.
// Failure: some networks are attached then: give_back_sandbox() follows.
#pragma once

#include "agent/pod/meta.h"
#include "agent/pod/meta_pod.h"
#include "cni/config.h"
#include "cni/request.h"

namespace railbed::agent {

// One ADD, read.
struct MetaAdd {
  const cni::Request& request;
  const cni::PluginConfig& config;
  const MetaConfig& meta_config;
  PodNetworks pod;
};

// The answer is the default network's result; an empty one where there is no default network.
Result<cni::AddResult> attach_sandbox(Backends& backends, Meta& meta, MetaAdd add);

}  // namespace railbed::agent
