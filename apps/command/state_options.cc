// SPDX-License-Identifier: Apache-2.0
#include "command/state_options.h"

#include <cerrno>

namespace railbed {
namespace {

// What helps depends on why the state could not be opened.
Result<std::unique_ptr<state::Store>> with_hint(Result<std::unique_ptr<state::Store>> opened) {
  if (opened.has_value()) return opened;
  const Error& error = opened.error();
  if (error.sys_errno == EROFS)
    return std::move(opened).hint("railbed stores its state in this directory; mount it writable");
  if (error.code == Code::kDenied) return std::move(opened).hint("run it as root");
  if (error.code == Code::kBusy || error.code == Code::kTimeout || error.code == Code::kConflict)
    return std::move(opened).hint("--wait SECONDS waits for the other one");
  return opened;
}

}  // namespace

Result<std::unique_ptr<state::Store>> StateOptions::open(const os::Kernel& kernel) const {
  return with_hint(state::open_store({.directory = directory,
                                      .boot_id = kernel.boot_id(),
                                      .lock_wait = std::chrono::milliseconds(static_cast<int64_t>(wait_s * 1000))}));
}

Result<std::unique_ptr<state::Store>> StateOptions::share(const os::Kernel& kernel, const std::string& command) const {
  return with_hint(state::open_store({.directory = directory,
                                      .boot_id = kernel.boot_id(),
                                      .command = command,
                                      .shared = true,
                                      .lock_wait = std::chrono::milliseconds(static_cast<int64_t>(wait_s * 1000))}));
}

Result<std::unique_ptr<state::Store>> StateOptions::look(const os::Kernel& kernel) const {
  auto store = state::open_store({.directory = directory, .boot_id = kernel.boot_id(), .read_only = true});
  if (!store && store.error().code == Code::kNotFound) return std::unique_ptr<state::Store>();
  return store;
}

}  // namespace railbed
