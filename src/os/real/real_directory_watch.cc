// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/inotify.h>
#include <unistd.h>

#include "os/ports/directory_watch.h"
#include "os/real/unix_socket.h"

namespace railbed::os {
namespace {

constexpr uint64_t kNames = 1;
constexpr uint64_t kWoken = 2;
constexpr size_t kEventsBytes = 4096;

class RealDirectoryWatch : public DirectoryWatch {
 public:
  static Result<std::unique_ptr<DirectoryWatch>> open() {
    Descriptor names(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (!names) return fail(system_error(errno, "inotify_init1"));
    auto made = std::make_unique<RealDirectoryWatch>(std::move(names));
    TRY(made->poller_.add(made->names_.get(), kNames, Await::kRead));
    TRY(made->poller_.add(made->waker_.fd(), kWoken, Await::kRead));
    return made;
  }
  explicit RealDirectoryWatch(Descriptor names) : names_(std::move(names)) {}

  Result<void> watch(const std::string& directory) override {
    const uint32_t what = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_ONLYDIR;
    if (::inotify_add_watch(names_.get(), directory.c_str(), what) >= 0) return {};
    return fail(system_error(errno, fmt::format("watch {}", directory)));
  }

  Result<void> next(Deadline deadline) override {
    while (true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      const auto ready = poller_.wait(std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(60000)));
      if (!ready.empty()) {
        waker_.clear();
        drop_events();
        return {};
      }
      if (std::chrono::steady_clock::now() >= deadline)
        return fail(Code::kTimeout, "no name changed before the deadline");
    }
  }

  void wake() override { waker_.wake(); }

 private:
  // Which names they are does not matter: everything is looked at again.
  void drop_events() {
    std::array<char, kEventsBytes> events;
    while (::read(names_.get(), events.data(), events.size()) > 0) {
    }
  }

  Descriptor names_;
  Waker waker_;
  Poller poller_;
};

}  // namespace

Result<std::unique_ptr<DirectoryWatch>> real_directory_watch() {
  return RealDirectoryWatch::open();
}

}  // namespace railbed::os
