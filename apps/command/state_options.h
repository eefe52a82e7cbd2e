// SPDX-License-Identifier: Apache-2.0
// The options that say where the state is and how long to wait for it. Threading: one thread.
#pragma once

#include <string>

#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed {

struct StateOptions {
  std::string directory = "/run/railbed";
  double wait_s = 0;  // for another railbed that holds the lock

  // Opens and locks the state. Busy names the process that has the lock.
  Result<std::unique_ptr<state::Store>> open(const os::Kernel& kernel) const;
  // For use beside other processes: each of them takes the lock only while it changes something.
  Result<std::unique_ptr<state::Store>> share(const os::Kernel& kernel, const std::string& command) const;
  // Opens the state without its lock and for reading only; null when there is none.
  Result<std::unique_ptr<state::Store>> look(const os::Kernel& kernel) const;
};

}  // namespace railbed
