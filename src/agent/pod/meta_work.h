// SPDX-License-Identifier: Apache-2.0
// The two halves of the meta plugin's work: a sandbox's networks made, and given back.
//
// Threading: not in a turn; the caller has the sandbox for itself. Failure: as meta.h says.
#pragma once

#include "agent/pod/meta.h"
#include "agent/pod/meta_pod.h"

namespace railbed::agent {

inline constexpr std::chrono::seconds kMetaWorkTime{60};

// Makes all networks of `wish`. On failure some are made: give_back_sandbox() follows. The answer is the
// default network's result; an empty one where there is no default network.
cni::Outcome<cni::AddResult> attach_sandbox(Parts& parts, Meta& meta, const cni::Request& request,
                                            const cni::PluginConfig& config, const MetaConfig& meta_config,
                                            PodWish& wish);

// Everything that the store has of this sandbox, the last made first. All is tried; what could not be given
// back stays recorded, and the failures are joined. Nothing there is success.
cni::Outcome<void> give_back_sandbox(Parts& parts, Meta& meta, const std::string& key);

// DEL of a sandbox that Multus attached. Nothing left of it is success.
cni::Outcome<void> give_back_multus(Parts& parts, os::Disk& disk, const cni::Request& request,
                                    const MetaConfig& config);

// Directories with plugins' programs.
std::vector<std::string> program_path(const MetaConfig& config, const cni::Request& request);

}  // namespace railbed::agent
