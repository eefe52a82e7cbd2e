// SPDX-License-Identifier: Apache-2.0
#include "os/real/inside_netns.h"

#include <cerrno>
#include <system_error>
#include <thread>

#include <sched.h>

namespace railbed::os {

Result<void> run_inside(const Netns& netns, const std::function<void()>& body) {
  int failure = 0;
  try {
    std::thread([&] {
      if (::setns(netns.fd(), CLONE_NEWNET) != 0)
        failure = errno;
      else
        body();
    }).join();
  } catch (const std::system_error&) {
    return fail(no_thread_error("network namespace " + netns.path()));
  }
  if (failure != 0) return fail(system_error(failure, "setns " + netns.path()));
  return {};
}

}  // namespace railbed::os
