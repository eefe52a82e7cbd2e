// SPDX-License-Identifier: Apache-2.0
// Whoever attaches pods for `up` and `down` where a running agent serves this machine.
//
// Why: the agent holds the leases of dhcp, runs plugins that are not ours and counts what it does; a machine
// with an agent has its pods attached by it, whoever asks. Without one, `up` does it itself, through the same
// transaction. Threading: one thread. Failure: what the agent answered.
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
