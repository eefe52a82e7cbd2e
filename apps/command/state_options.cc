// SPDX-License-Identifier: Apache-2.0
#include "command/state_options.h"

namespace railbed {

Result<std::unique_ptr<state::Store>> StateOptions::open(const os::Kernel& kernel) const {
  return state::open_store({.directory = directory,
                            .boot_id = kernel.boot_id(),
                            .lock_wait = std::chrono::milliseconds(static_cast<int64_t>(wait_s * 1000))})
      .hint("--wait SECONDS waits for the other one");
}

Result<std::unique_ptr<state::Store>> StateOptions::share(const os::Kernel& kernel, const std::string& command) const {
  return state::open_store({.directory = directory,
                            .boot_id = kernel.boot_id(),
                            .command = command,
                            .shared = true,
                            .lock_wait = std::chrono::milliseconds(static_cast<int64_t>(wait_s * 1000))})
      .hint("--wait SECONDS waits for the other one");
}

Result<std::unique_ptr<state::Store>> StateOptions::look(const os::Kernel& kernel) const {
  auto store = state::open_store({.directory = directory, .boot_id = kernel.boot_id(), .read_only = true});
  if (!store && store.error().code == Code::kNotFound) return std::unique_ptr<state::Store>();
  return store;
}

}  // namespace railbed
