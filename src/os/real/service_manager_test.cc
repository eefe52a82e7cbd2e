// SPDX-License-Identifier: Apache-2.0
#include "os/real/service_manager.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace railbed::os {
namespace {

// Somebody who takes datagrams, as journald and the service manager do.
class Taker {
 public:
  Taker() {
    std::string name = (std::filesystem::temp_directory_path() / "railbed-sd.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path().copy(address.sun_path, sizeof address.sun_path - 1);
    socket_ = Descriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Taker() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/socket"; }
  std::string next() const {
    char text[65536];
    const ssize_t got = ::recv(socket_.get(), text, sizeof text, 0);
    return got < 0 ? "nothing" : std::string(text, static_cast<size_t>(got));
  }

 private:
  std::string folder_;
  Descriptor socket_;
};

std::string stream_of(int fd) {
  struct stat now{};
  EXPECT_EQ(::fstat(fd, &now), 0);
  return fmt::format("{}:{}", now.st_dev, now.st_ino);
}

TEST(Journal, TakesFieldsAndNoValueBeginsAnother) {
  const JournalField fields[] = {{"MESSAGE", "two\nCODE=0"}, {"CODE", "102"}, {"POD", ""}};
  EXPECT_EQ(journal_entry(fields), std::string("MESSAGE\n\x0a\0\0\0\0\0\0\0", 16) + "two\nCODE=0\nCODE=102\nPOD=\n");
  const Taker journald;
  const auto journal = Journal::of_standard_error(stream_of(STDERR_FILENO), journald.path());
  ASSERT_TRUE(journal.has_value());
  EXPECT_TRUE(journal->send(fields));
  EXPECT_EQ(journald.next(), journal_entry(fields));
}

TEST(Journal, IsUsedOnlyWhereStandardErrorIsTheJournal) {
  struct stat now{};
  ASSERT_EQ(::fstat(STDERR_FILENO, &now), 0);
  for (const std::string& stream :
       {std::string(), std::string("1"), std::string("1:"), std::string(":"), std::string("a:b"),
        fmt::format("{}:{}", now.st_dev, now.st_ino + 1), fmt::format("{}:{}", now.st_dev + 1, now.st_ino),
        stream_of(STDERR_FILENO) + "x", std::string("99999999999999999999999:1")})
    EXPECT_FALSE(Journal::of_standard_error(stream).has_value()) << stream;
}

TEST(Journal, IsNotWaitedFor) {
  const Taker journald;
  const auto journal = Journal::of_standard_error(stream_of(STDERR_FILENO), journald.path());
  ASSERT_TRUE(journal.has_value());
  const JournalField field[] = {{"MESSAGE", "again"}};
  int sent = 0;
  while (sent < 100'000 && journal->send(field)) ++sent;  // until its queue is full
  EXPECT_GT(sent, 0);
  EXPECT_LT(sent, 100'000);
  EXPECT_FALSE(Journal::of_standard_error(stream_of(STDERR_FILENO), "/nowhere/socket")->send(field));
  EXPECT_FALSE(Journal::of_standard_error(stream_of(STDERR_FILENO), std::string(200, 'x'))->send(field));
}

TEST(ServiceManager, IsNotified) {
  const Taker manager;
  EXPECT_TRUE(notify_manager(manager.path(), "READY=1"));
  EXPECT_EQ(manager.next(), "READY=1");
  EXPECT_FALSE(notify_manager("", "READY=1"));
  EXPECT_FALSE(notify_manager("relative", "READY=1"));
  EXPECT_FALSE(notify_manager("@railbed-no-manager", "READY=1"));
}

TEST(WriteWithoutWaiting, DropsWhatNoOneTakes) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Descriptor reader(ends[0]);
  const Descriptor writer(ends[1]);
  EXPECT_TRUE(write_without_waiting(writer.get(), "a line\n"));
  const std::string much(1 << 20, 'x');  // more than a pipe takes
  EXPECT_FALSE(write_without_waiting(writer.get(), much));
  EXPECT_FALSE(write_without_waiting(writer.get(), "no more"));
  reader = Descriptor();
  EXPECT_FALSE(write_without_waiting(writer.get(), "no reader"));  // and no SIGPIPE ends this program
  EXPECT_FALSE(write_without_waiting(-1, "closed"));
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_FALSE(write_without_waiting(full.get(), "a full disk"));
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Descriptor other(ends[0]);
  const Descriptor ours(ends[1]);
  EXPECT_TRUE(write_without_waiting(ours.get(), "a line\n"));
  EXPECT_FALSE(write_without_waiting(ours.get(), std::string(4 << 20, 'x')));
  other = Descriptor();
  EXPECT_FALSE(write_without_waiting(ours.get(), "no reader"));
}

TEST(StandardDescriptors, AreOpenAfterwards) {
  EXPECT_EXIT(
      {
        ::close(STDIN_FILENO);
        ::close(STDERR_FILENO);
        open_standard_descriptors();
        for (int fd = 0; fd < 3; ++fd)
          if (::fcntl(fd, F_GETFD) < 0) std::_Exit(fd + 1);
        std::_Exit(42);
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace railbed::os
