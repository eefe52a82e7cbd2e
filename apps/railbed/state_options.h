// SPDX-License-Identifier: Apache-2.0
// The options that say where the state is and how long to wait for it. Threading: one thread.
#pragma once

#include <string>

#include "os/ports/kernel.h"
#include "state/store.h"

namespace railbed {

struct StateOptions {
  std::string directory = "/run/railbed";
  double wait_s = 0;  // for another railbed that is at work

  // Busy names who holds it.
  Result<std::unique_ptr<state::Store>> open(const os::Kernel& kernel) const;
  // For use beside other processes: whoever changes something takes the lock for that time.
  Result<std::unique_ptr<state::Store>> share(const os::Kernel& kernel, const std::string& command) const;
  // Without its lock and without writing; null when there is none.
  Result<std::unique_ptr<state::Store>> look(const os::Kernel& kernel) const;
};

}  // namespace railbed
