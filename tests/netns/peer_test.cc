// SPDX-License-Identifier: Apache-2.0
// Who may ask the agent: real processes with user 0 that have no rights, or the files of a container.
#include "os/real/peer.h"

#include <cerrno>
#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.h"

namespace railbed::os {
namespace {

using testing::HasSubstr;

int drop_all_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  return static_cast<int>(::syscall(SYS_capset, &header, none));
}

// As a container with this folder as its root.
int enter_container(const std::string& folder) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return -1;
  if (::mount("container", folder.c_str(), "tmpfs", 0, nullptr) != 0) return -1;
  return ::chroot(folder.c_str()) == 0 && ::chdir("/") == 0 ? 0 : -1;
}

class PeerTest : public ScratchTest {
 protected:
  void SetUp() override {
    ScratchTest::SetUp();
    if (IsSkipped()) return;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("railbed-peer-{}", ::getpid());
    std::filesystem::create_directories(folder_ + "/root");
    auto listener = UnixListener::open(folder_ + "/socket");
    ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
    listener_.emplace(*std::move(listener));
  }
  void TearDown() override {
    listener_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
    ScratchTest::TearDown();
  }

  // What is said of a process that connects, does `before` first, and `afterwards` stays or not.
  enum class Afterwards { kStays, kEnds };
  std::string said_of(const std::function<int()>& before, Afterwards afterwards = Afterwards::kStays) {
    const pid_t child = ::fork();
    if (child == 0) {
      // The socket's path is another one after the container's root was entered: it connects before.
      auto connection = Connection::connect(folder_ + "/socket");
      if (!connection.has_value() || before() != 0) ::_exit(1);
      if (afterwards == Afterwards::kEnds) ::_exit(0);
      (void)connection->write_some("x");
      ::pause();
      ::_exit(0);
    }
    pollfd waiting{listener_->fd(), POLLIN, 0};
    ::poll(&waiting, 1, 10'000);
    auto connection = listener_->accept();
    if (!connection.has_value() || !connection->has_value()) return "no client connected";
    pollfd ready{(*connection)->fd(), POLLIN, 0};
    ::poll(&ready, 1, 10'000);  // `before` is done: a byte, or the end
    if (afterwards == Afterwards::kEnds) ::waitpid(child, nullptr, 0);
    const auto places = trusted_places();
    const Result<void> checked = places.has_value() ? check_peer(**connection, 0, *places) : fail(places.error());
    if (afterwards == Afterwards::kStays) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    return checked.has_value() ? "" : checked.error().message;
  }

  std::string folder_;
  std::optional<UnixListener> listener_;
};

TEST_F(PeerTest, RootOfThisMachineMayAsk) {
  EXPECT_EQ(said_of([] { return 0; }), "");
}

// A runtime with mounts of its own (kubens.service, PrivateMounts=yes) has the machine's root directory.
TEST_F(PeerTest, ARuntimeWithMountsOfItsOwnMayAsk) {
  EXPECT_EQ(said_of([] { return ::unshare(CLONE_NEWNS); }), "");
}

TEST_F(PeerTest, UserZeroWithoutRightsMayNot) {
  EXPECT_EQ(said_of(&drop_all_capabilities),
            "the requesting process lacks CAP_SYS_ADMIN, which container runtimes have");
  EXPECT_EQ(said_of([] { return ::unshare(CLONE_NEWUSER); }),
            "the requesting process is in another user namespace than the agent");
  EXPECT_EQ(said_of([this] { return enter_container(folder_ + "/root"); }),
            "the requesting process is in a container: neither its mounts nor its root directory are the machine's");
  EXPECT_EQ(said_of([] { return ::setuid(65534); }),
            "the requesting process lacks CAP_SYS_ADMIN, which container runtimes have")
      << "the socket's user is that of connect(2)";
}

TEST_F(PeerTest, APeerThatHasEndedIsNone) {
  EXPECT_EQ(said_of([] { return 0; }, Afterwards::kEnds), "the requesting process has exited");
}

}  // namespace
}  // namespace railbed::os
