// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace railbed::perf {
namespace {

const IpAddress kLoopback = IpAddress::from_v4(0x7f000001);

int option(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket.fd(), level, name, &value, &size), 0);
  return value;
}

struct SocketTest : ::testing::Test {
  Result<Listener> listener = Listener::open(kLoopback, 0);
  Result<Socket> socket = Socket::connect("127.0.0.1", listener->port(), Deadline::after(std::chrono::seconds(30)));
};

TEST_F(SocketTest, NoticesADeadPeerWithinTwelveSeconds) {
  ASSERT_TRUE(socket.has_value());
  ASSERT_TRUE(socket->set_keepalive().has_value());
  EXPECT_EQ(option(*socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  const int first_s = option(*socket, IPPROTO_TCP, TCP_KEEPIDLE);
  const int next_s = option(*socket, IPPROTO_TCP, TCP_KEEPINTVL);
  EXPECT_EQ(first_s + option(*socket, IPPROTO_TCP, TCP_KEEPCNT) * next_s, 12) << "where nothing is sent";
  EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 12000) << "where something is";
}

TEST_F(SocketTest, SendsSmallMessagesAtOnce) {
  ASSERT_TRUE(socket.has_value());
  EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_NODELAY), 0);
  ASSERT_TRUE(socket->set_no_delay().has_value());
  EXPECT_EQ(option(*socket, IPPROTO_TCP, TCP_NODELAY), 1);
}

TEST_F(SocketTest, ConnectsFromTheAddressThatWasAskedForOrNotAtAll) {
  const auto from = [&](const char* address) {
    const auto made = Socket::connect("127.0.0.1", listener->port(), Deadline::after(std::chrono::seconds(30)),
                                      *IpAddress::parse(address));
    return made ? made->local_address()->to_string() : made.error().to_string();
  };
  EXPECT_EQ(from("127.0.0.2"), "127.0.0.2");
  EXPECT_EQ(from("192.0.2.1"), fmt::format("connecting to 127.0.0.1 port {}: bind to 192.0.2.1: EADDRNOTAVAIL (Cannot "
                                           "assign requested address)",
                                           listener->port()));
}

// A process whose standard input is closed gets 0 for its next descriptor.
TEST(Socket, MayBeDescriptorZero) {
  const int kept = ::dup(0);
  ::close(0);
  {
    const Result<Listener> first = Listener::open(kLoopback, 0);
    EXPECT_TRUE(first.has_value()) << first.error().message;
  }
  if (kept >= 0) {
    ::dup2(kept, 0);
    ::close(kept);
  }
}

TEST(Socket, SaysWhichOptionItsKernelRefuses) {
  const Socket none;
  const auto reported = [](const Result<void>& result) { return result ? "done" : result.error().message; };
  EXPECT_EQ(reported(none.set_keepalive()), "setsockopt keepalive: EBADF (Bad file descriptor)");
  EXPECT_EQ(reported(none.set_no_delay()), "setsockopt TCP_NODELAY: EBADF (Bad file descriptor)");
  EXPECT_EQ(reported(none.set_blocking(std::chrono::seconds(1))), "fcntl: EBADF (Bad file descriptor)");
  // A socket that is none of TCP's has only the first of the options.
  const Socket other(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(reported(other.set_keepalive()), "setsockopt keepalive: EOPNOTSUPP (Operation not supported)");
}

}  // namespace
}  // namespace railbed::perf
