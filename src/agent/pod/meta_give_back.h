// SPDX-License-Identifier: Apache-2.0
// DEL of the meta plugin: releases a sandbox's networks, from railbed's own records, never from the pod.
//
// In the reverse order of their creation: railbed's interfaces in Turns (interfaces.h), executed programs outside of
// them.
// Threading: not inside a Turn; the caller has exclusive access to the sandbox.
// Failure: everything is tried; what could not be released stays recorded, and the failures are joined.
#pragma once

#include "agent/pod/meta.h"
#include "cni/request.h"

namespace railbed::agent {

// Everything that the store has of this sandbox. Nothing there is success. What is an orphan then (attach/give_back.h)
// stays recorded, and so does the sandbox. With kStay, what executed plugins did is left to a DEL of the runtime.
enum class Programs : uint8_t { kUndo, kStay };
Result<void> give_back_sandbox(Backends& backends, Meta& meta, const std::string& key,
                               Programs programs = Programs::kUndo);

// DEL of a sandbox that Multus attached. Nothing left of it is success.
Result<void> give_back_multus(Backends& backends, os::Disk& disk, const cni::Request& request,
                              const MetaConfig& config);

}  // namespace railbed::agent
