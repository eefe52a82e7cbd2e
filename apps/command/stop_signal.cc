// SPDX-License-Identifier: Apache-2.0
#include "command/stop_signal.h"

#include <csignal>
#include <cstdint>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "os/real/service_manager.h"

namespace railbed {

namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

void watch(std::stop_source source, int wake) {
  sigset_t set = stop_signals();
  int signals = signalfd(-1, &set, SFD_CLOEXEC);
  while (signals >= 0) {
    pollfd waiting[] = {{.fd = signals, .events = POLLIN, .revents = 0}, {.fd = wake, .events = POLLIN, .revents = 0}};
    if (poll(waiting, 2, -1) < 0) continue;
    if (waiting[1].revents != 0) break;
    signalfd_siginfo info;
    if (read(signals, &info, sizeof info) != sizeof info) continue;
    if (source.stop_requested()) {
      signal(static_cast<int>(info.ssi_signo), SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
      raise(static_cast<int>(info.ssi_signo));
    }
    source.request_stop();
    // The process must stop even if nothing reads this, and a full disk below it must not end this thread.
    (void)os::write_without_waiting(STDERR_FILENO, "\nrailbed: stopping after the current step (again: immediately)\n");
  }
  if (signals >= 0) close(signals);
}

}  // namespace

StopSignal::StopSignal() : wake_(eventfd(0, EFD_CLOEXEC)) {
  sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread(watch, source_, wake_);
}

StopSignal::~StopSignal() {
  uint64_t one = 1;
  if (write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  close(wake_);
  sigset_t set = stop_signals();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace railbed
