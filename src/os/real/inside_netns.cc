// SPDX-License-Identifier: Apache-2.0
#include "os/real/inside_netns.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include "os/real/descriptor.h"

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

Result<int> socket_inside(const Netns& netns, int domain, int type, int protocol) {
  const Descriptor own(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!own) return fail(system_error(errno, "open /proc/thread-self/ns/net"));
  if (::setns(netns.fd(), CLONE_NEWNET) != 0) return fail(system_error(errno, "setns " + netns.path()));
  const int fd = ::socket(domain, type, protocol);
  const int failure = errno;
  if (::setns(own.get(), CLONE_NEWNET) != 0) {
    std::perror("railbed exits: a thread cannot leave a pod's network namespace");
    std::abort();
  }
  return fd < 0 ? -failure : fd;
}

}  // namespace railbed::os
