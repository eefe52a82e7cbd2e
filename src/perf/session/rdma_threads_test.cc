// SPDX-License-Identifier: Apache-2.0
// Bandwidth by several threads, each with its own group of queue pairs, with devices in memory (fake_verbs.h).
#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "perf/session/test_rdma.h"

namespace railbed::perf {
namespace {

using testing::HasSubstr;

template <typename Fixture>
class Threads : public Fixture {
 protected:
  static TestSpec threaded(int64_t qps, int64_t threads) {
    TestSpec wanted = Fixture::spec(TestKind::kBandwidth);
    wanted.sizes_bytes = {4096};
    wanted.qps = qps;
    wanted.threads = threads;
    return wanted;
  }
};
using ThreadsTest = Threads<RdmaTest>;
using SimulatedThreadsTest = Threads<SimulatedRdmaTest>;

TEST_F(ThreadsTest, EachHasItsOwnGroup) {
  const auto result = measured(threaded(5, 2));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->bandwidth[0].messages, 250);
  EXPECT_GT(result->bandwidth[0].average_gbps, 0);
  EXPECT_EQ(result->client.threads, 2);
  EXPECT_FALSE(result->client.thread_domains);
  // Who only answers needs one. Depth 8, and one more for the warm-up.
  EXPECT_EQ(result->server.threads, 1);
  EXPECT_EQ(fake().completion_queues, (std::vector<int>{2 * 9, 3 * 9, 5 * 9}));
  std::map<std::thread::id, int> pairs_of;
  for (const auto& [pair, threads] : fake().posted_by) {
    EXPECT_EQ(threads.size(), 1u) << "of queue pair " << pair;
    ++pairs_of[*threads.begin()];
  }
  EXPECT_EQ(pairs_of.size(), 2u);
  EXPECT_EQ(fake().posted_by.size(), 5u);
}

TEST_F(SimulatedThreadsTest, BothWaysAndForATime) {
  TestSpec wanted = threaded(4, 4);
  wanted.bidirectional = true;
  wanted.iterations = 0;
  wanted.duration_ms = 50;
  const auto result = measured(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_GT(result->bandwidth[0].messages, 0);
  EXPECT_GT(*result->bandwidth[0].reverse_average_gbps, 0);
  EXPECT_GE(result->bandwidth[0].duration_s, 0.05);
  EXPECT_EQ(result->client.threads, 4);
  EXPECT_EQ(result->server.threads, 4);
}

TEST_F(ThreadsTest, AreInDomainsOfTheirOwnWhereTheDeviceHasThem) {
  change([](FakeVerbs& verbs) { verbs.devices[0].has_thread_domains = true; });
  const auto result = measured(threaded(4, 2));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_TRUE(result->client.thread_domains);
  EXPECT_TRUE(result->server.thread_domains);
  EXPECT_EQ(fake().in_thread_domains, std::vector<bool>(8, true));
}

// Each verb both ways by the work request API, where the device has it: the same messages as by ibv_post_send.
TEST_F(ThreadsTest, MessagesGoByWorkRequestsWhereTheDeviceHasThem) {
  const auto by = [&](const TestSpec& wanted, bool api) {
    reset();
    change([&](FakeVerbs& verbs) { verbs.devices[0].has_work_requests = api; });
    const auto result = measured(wanted);
    EXPECT_TRUE(result) << result.error().to_string();
    if (result) {
      EXPECT_EQ(result->client.post, api ? "ibv_wr" : "ibv_post_send");
    }
    std::vector<std::pair<uint64_t, unsigned>> messages;  // of the client and the server, each in its order
    for (const FakeVerbs::Posted& one : fake().posted) {
      EXPECT_EQ(one.by_work_request, api);
      messages.emplace_back(one.offset << 32 | one.bytes, one.flags << 8 | one.opcode);
    }
    std::ranges::sort(messages);
    return messages;
  };
  for (const std::string_view name : verb_names())
    for (const TestKind kind : {TestKind::kBandwidth, TestKind::kLatency}) {
      TestSpec wanted = spec(kind);
      wanted.sizes_bytes = {8};
      wanted.verb = *verb_from(name);
      wanted.inline_bytes = kind == TestKind::kLatency && traits_of(wanted.verb).sends_data ? 8 : -1;
      SCOPED_TRACE(fmt::format("{} {}", name, name_of(kind)));
      const auto plain = by(wanted, false);
      EXPECT_FALSE(plain.empty());
      EXPECT_EQ(by(wanted, true), plain);
    }
}

// A device may have fewer of them than threads: what goes without is measured, and reported.
TEST_F(ThreadsTest, GoWithoutDomainsWhereThereAreNoMore) {
  change([](FakeVerbs& verbs) {
    verbs.devices[0].has_thread_domains = true;
    verbs.devices[0].most_thread_domains = 1;
  });
  const auto result = measured(threaded(4, 2));
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_FALSE(result->client.thread_domains);
  EXPECT_EQ(fake().in_thread_domains, (std::vector<bool>{true, true, false, false, false, false, false, false}));
  change([](FakeVerbs& verbs) {
    verbs.devices[0].most_thread_domains = 1000;
    verbs.faults["alloc_parent_domain"] = {.sys_errno = EOPNOTSUPP, .after = 0};
  });
  EXPECT_EQ(why_not(threaded(4, 2)), "measured");
}

// One that fails ends the others, whether it has begun or not.
TEST_F(ThreadsTest, OneThatFailsEndsTheTest) {
  for (const int after : {0, 3, 60}) {
    change([&](FakeVerbs& verbs) { verbs.faults["post_send"] = {.sys_errno = ENOMEM, .after = after}; });
    TestSpec wanted = threaded(4, 3);
    wanted.iterations = 0;
    wanted.duration_ms = 60'000;
    EXPECT_THAT(why_not(wanted), HasSubstr("ENOMEM (Cannot allocate memory)")) << after;
    change([](FakeVerbs& verbs) { verbs.faults.clear(); });
  }
}

class StallingThreads : public ThreadsTest {
 protected:
  StallingThreads() { stall_ = milliseconds(300); }
};

TEST_F(StallingThreads, AreNotWaitedFor) {
  change([](FakeVerbs& verbs) { verbs.completes = false; });
  EXPECT_THAT(why_not(threaded(4, 2)), HasSubstr("no traffic for "));
}

}  // namespace
}  // namespace railbed::perf
