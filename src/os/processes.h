// SPDX-License-Identifier: Apache-2.0
// Starting programs inside a network namespace, and knowing what this process may do.
//
// Threading: any thread. Failure: NotFound when the program is not in PATH; Denied without CAP_SYS_ADMIN.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "os/netns.h"

namespace railbed::os {

struct ExecRequest {
  std::vector<std::string> command;      // looked up in PATH
  std::vector<std::string> environment;  // "KEY=value", added to this process's
  std::string netns_path;
};

class ProcessPort {
 public:
  virtual ~ProcessPort() = default;
  // Replaces this process by the command inside the namespace, with /sys showing that namespace's devices (a
  // private mount, as `ip netns exec` does). Returns only on failure.
  virtual Result<void> exec_in(const ExecRequest& request) = 0;
  // Names of the capabilities of `wanted` ("CAP_NET_ADMIN", "CAP_SYS_ADMIN") that this process lacks.
  virtual std::vector<std::string> missing_capabilities(const std::vector<std::string>& wanted) const = 0;
  // Loads a kernel module (modprobe); fine when it is built in or loaded already.
  virtual Result<void> load_module(const std::string& name) = 0;
};

std::unique_ptr<ProcessPort> real_processes();

}  // namespace railbed::os
