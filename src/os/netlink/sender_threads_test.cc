// SPDX-License-Identifier: Apache-2.0
#include "os/netlink/sender_threads.h"

#include <cerrno>
#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include "os/netlink/link_codec.h"
#include "os/netlink/netlink_socket.h"

namespace railbed::os {
namespace {

constexpr int kPatienceMs = 60'000;

bool ends(const SenderThreads::Sent& sent) {
  pollfd ended{.fd = sent.fd(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, kPatienceMs) == 1 && sent.has_ended();
}

// A socket on which a request waits until somebody reads from the other end.
struct FullSocket {
  FullSocket() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    near = Descriptor(ends[0]);
    far = Descriptor(ends[1]);
    const std::string filling(1024, 'x');
    while (::send(near.get(), filling.data(), filling.size(), MSG_DONTWAIT) > 0) ++waiting;
  }
  void drain() {
    char buffer[2048];
    for (; waiting > 0; --waiting) (void)!::recv(far.get(), buffer, sizeof buffer, 0);
  }
  Descriptor near, far;
  int waiting = 0;
};

const std::vector<uint8_t> kRequest(64, 1);

TEST(SenderThreads, NoMoreAreUnderWayThanMayBe) {
  SenderThreads threads(2);
  FullSocket full;
  auto first = threads.send(full.near.get(), kRequest);
  auto second = threads.send(full.near.get(), kRequest);
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ(threads.send(full.near.get(), kRequest), nullptr);
  EXPECT_FALSE(first->has_ended());
  full.drain();
  ASSERT_TRUE(ends(*first));
  ASSERT_TRUE(ends(*second));
  // A thread that has reported its end may need a moment more.
  std::shared_ptr<const SenderThreads::Sent> third;
  for (auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
       third == nullptr && std::chrono::steady_clock::now() < end; std::this_thread::yield())
    third = threads.send(full.near.get(), kRequest);
  ASSERT_NE(third, nullptr);
  EXPECT_TRUE(ends(*third));
  EXPECT_EQ(third->sys_errno(), 0);
}

TEST(SenderThreads, TheSocketMayBeClosedMeanwhile) {
  SenderThreads threads;
  FullSocket full;
  auto sent = threads.send(full.near.get(), kRequest);
  ASSERT_NE(sent, nullptr);
  full.near = Descriptor();
  full.drain();
  EXPECT_TRUE(ends(*sent));
  EXPECT_EQ(sent->sys_errno(), 0);
}

TEST(SenderThreads, WhatTheSystemCallSaysIsKept) {
  SenderThreads threads;
  FullSocket full;
  full.drain();
  full.far = Descriptor();
  auto sent = threads.send(full.near.get(), kRequest);
  ASSERT_NE(sent, nullptr);
  EXPECT_TRUE(ends(*sent));
  EXPECT_EQ(sent->sys_errno(), EPIPE);
  EXPECT_EQ(threads.send(-1, kRequest), nullptr);
}

// --- NetlinkSocket::ask_until(), with a query that any user may make

class AskUntil : public testing::TestWithParam<size_t> {
 protected:
  std::expected<void, NetlinkFailure> ask(NetlinkRequest request, const NetlinkSocket::Enough& enough) {
    return socket_.ask_until(request, threads_, RTNLGRP_LINK, enough);
  }
  NetlinkSocket socket_ = NetlinkSocket::open(NETLINK_ROUTE).value();
  SenderThreads threads_{GetParam()};
};
// Zero threads: the caller waits for the answer itself.
INSTANTIATE_TEST_SUITE_P(Threads, AskUntil, testing::Values(0, 1));

TEST_P(AskUntil, EndsWithTheKernelsAnswerWhereNothingIsAnnounced) {
  for (int round = 0; round < 3; ++round) {
    auto asked = ask(encode_find_link(IfName{"lo"}, WithVfs::kNo), [](const NetlinkMessage&) { return false; });
    EXPECT_TRUE(asked.has_value()) << errno_name(asked.error().sys_errno);
  }
}

TEST_P(AskUntil, ReportsWhyTheKernelRefused) {
  auto asked = ask(encode_find_link(IfIndex{2'000'000'000}, WithVfs::kNo), [](const NetlinkMessage&) { return false; });
  ASSERT_FALSE(asked.has_value());
  EXPECT_EQ(asked.error().sys_errno, ENODEV);
}

TEST_P(AskUntil, TheSocketIsOfUseAfterAnAnswerThatNoOneWaitedFor) {
  for (int round = 0; round < 3; ++round) {
    auto asked = ask(encode_find_link(IfName{"lo"}, WithVfs::kNo), [](const NetlinkMessage&) { return true; });
    EXPECT_TRUE(asked.has_value());
    auto request = encode_find_link(IfIndex{1}, WithVfs::kNo);
    auto found = socket_.ask(request);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(decode_link(found->front())->name.value, "lo");
  }
}

}  // namespace
}  // namespace railbed::os
