// SPDX-License-Identifier: Apache-2.0
// Attaches pods for `up` and `down` through a running agent on this machine.
//
// Why: the agent holds the leases of dhcp, runs third-party plugins and counts its operations; on a machine with an
// agent, the agent attaches the pods for every caller. Without one, `up` does it itself, with the same transaction.
// Threading: one thread.
// Failure: the agent's answer.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace railbed::node {

enum class PodsBy : uint8_t { kThisProcess, kAgent };

class PodServer {
 public:
  virtual ~PodServer() = default;
  // Gives the pod the networks that its manifest asks for. Both functions need the path of an existing namespace.
  virtual Result<void> attach(const std::string& pod, const std::string& netns_path) = 0;
  // A pod without networks is success.
  virtual Result<void> detach(const std::string& pod, const std::string& netns_path) = 0;
};

}  // namespace railbed::node
