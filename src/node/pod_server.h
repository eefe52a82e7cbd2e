// SPDX-License-Identifier: Apache-2.0
// Whoever attaches pods for `up` and `down` where a running agent serves this machine.
//
// Why: the agent holds the leases of dhcp, runs plugins that are not ours and counts what it does; a machine
// with an agent has its pods attached by it, whoever asks. Without one, `up` does it itself, through the same
// transaction. Threading: one thread. Failure: what the agent answered.
#pragma once

#include <string>

#include "base/error.h"

namespace railbed::node {

class PodServer {
 public:
  virtual ~PodServer() = default;
  // Makes the pod's networks those that its manifest asks for. Both paths are of an existing namespace.
  virtual Result<void> attach(const std::string& pod, const std::string& netns_path) = 0;
  // Success when it has none.
  virtual Result<void> detach(const std::string& pod, const std::string& netns_path) = 0;
};

}  // namespace railbed::node
