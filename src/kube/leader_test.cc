// SPDX-License-Identifier: Apache-2.0
#include "kube/leader.h"

#include <gtest/gtest.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"

namespace railbed::kube {
namespace {

using std::chrono::seconds;
constexpr const char* kPath = "/apis/coordination.k8s.io/v1/namespaces/ai/leases/railbed";

LeaseRecord on_server(const fake::ApiServer& server) {
  const auto objects = server.objects();
  const auto found = objects.find(kPath);
  return found != objects.end() ? lease_record(found->second) : LeaseRecord{};
}

// The clock of one candidate: what happens in the world happens while it waits.
class WorldClock : public fake::FakeClock {
 public:
  std::function<void()> meanwhile;
  bool wait(milliseconds period, std::stop_token stop) override {
    if (!FakeClock::wait(period, stop)) return false;
    if (meanwhile) meanwhile();
    return !stop.stop_requested();
  }
};

struct LeaderTest : testing::Test {
  fake::ApiServer server;
  WorldClock clock;
  std::stop_source stop;
  std::vector<std::string> reported;
  LeaderElection election{server,
                          clock,
                          {.lease = {"ai", "railbed"}, .identity = "me"},
                          [this] { reported.emplace_back("leads"); },
                          [this] { reported.emplace_back("lost"); }};
  Instant began = clock.now();

  double at() const { return std::chrono::duration<double>(clock.now() - began).count(); }
  void stop_after(seconds period) {
    if (clock.now() - began >= period) stop.request_stop();
  }
  void put_lease(const std::string& holder, const std::string& renewed, int duration_seconds = 15) {
    doc::Value spec;
    spec.set("holderIdentity", holder);
    spec.set("leaseDurationSeconds", duration_seconds);
    spec.set("renewTime", renewed);
    spec.set("leaseTransitions", 4);
    doc::Value lease = fake::object("Lease", "ai", "railbed");
    lease.set("spec", std::move(spec));
    server.put(kPath, std::move(lease));
  }
};

TEST_F(LeaderTest, MakesTheLeaseRenewsItAndGivesItBack) {
  clock.meanwhile = [&] {
    EXPECT_TRUE(election.leads());
    EXPECT_EQ(on_server(server).holder, "me");
    stop_after(seconds(30));
  };
  election.run(stop.get_token());
  EXPECT_EQ(reported, (std::vector<std::string>{"leads", "lost"}));
  EXPECT_FALSE(election.leads());
  EXPECT_EQ(on_server(server).holder, "");
  EXPECT_EQ(on_server(server).duration, seconds(1));
}

TEST_F(LeaderTest, WaitsForAnothersLeaseToRunOutByItsOwnClock) {
  put_lease("other", "2001-01-01T00:00:00.000000Z");  // a clock that is wrong by decades
  double led_at = 0;
  clock.meanwhile = [&] {
    if (at() < 8 && at() > 5 && on_server(server).renewed.starts_with("2001"))
      put_lease("other", "2002-01-01T00:00:00.000000Z");
    if (led_at == 0 && election.leads()) led_at = at();
    stop_after(seconds(60));
  };
  election.run(stop.get_token());
  EXPECT_GE(led_at, 20) << "15 s after it was renewed last";
  EXPECT_LE(led_at, 27);
  EXPECT_EQ(reported.front(), "leads");
  EXPECT_EQ(on_server(server).transitions, 5);
}

TEST_F(LeaderTest, TakesAReleasedLeaseAtOnce) {
  put_lease("", "2001-01-01T00:00:00.000000Z");
  clock.meanwhile = [&] {
    EXPECT_TRUE(election.leads());
    stop.request_stop();
  };
  election.run(stop.get_token());
  EXPECT_EQ(reported, (std::vector<std::string>{"leads", "lost"}));
}

TEST_F(LeaderTest, LeadsNoMoreBeforeAnotherMayTakeIt) {
  double lost_at = 0;
  double last_renewal = 0;
  clock.meanwhile = [&] {
    if (at() > 5 && !server.before) {
      server.before = [&](const Request&) -> std::optional<ApiError> {
        clock.advance(milliseconds(400));  // each try takes its time
        return unanswered(Code::kTimeout, Delivery::kUnknown, "no answer");
      };
      last_renewal = at();
    }
    if (lost_at == 0 && !election.leads()) lost_at = at();
    stop_after(seconds(40));
  };
  election.run(stop.get_token());
  EXPECT_EQ(reported, (std::vector<std::string>{"leads", "lost"}));
  EXPECT_LE(lost_at - (last_renewal - 2), 11);
  EXPECT_EQ(election.error()->message, "no answer");
}

TEST_F(LeaderTest, TheDeadlineCountsFromBeforeTheRequest) {
  Instant asked{};
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    if (request.method == Method::kGet && asked == Instant{}) {
      asked = clock.now();
      clock.advance(seconds(3));  // a server that is slow to answer
      return std::nullopt;
    }
    if (request.method == Method::kPost) return std::nullopt;
    return unanswered(Code::kIo, Delivery::kUnknown, "cut");
  };
  Instant led_until{};
  clock.meanwhile = [&] {
    if (election.leads()) led_until = clock.now();
    stop_after(seconds(20));
  };
  election.run(stop.get_token());
  EXPECT_NE(led_until, Instant{});
  EXPECT_LT(led_until - asked, seconds(10));
}

TEST_F(LeaderTest, AProcessThatWasStoppedFindsThatItLeadsNoMore) {
  clock.meanwhile = [&] {
    if (at() > 10) return stop.request_stop(), void();
    EXPECT_TRUE(election.leads());
    clock.advance(seconds(11));  // SIGSTOP
    EXPECT_FALSE(election.leads()) << "before it has asked anybody";
  };
  election.run(stop.get_token());
}

TEST_F(LeaderTest, OneOfTwoThatWriteAtOnceLeads) {
  bool taken = false;
  server.before = [&](const Request& request) -> std::optional<ApiError> {
    if (request.method == Method::kPost && !taken) {
      taken = true;
      put_lease("other", "2026-01-01T00:00:00.000000Z");  // between its look and its write
    }
    return std::nullopt;
  };
  clock.meanwhile = [&] {
    EXPECT_FALSE(election.leads());
    stop_after(seconds(5));
  };
  election.run(stop.get_token());
  EXPECT_TRUE(reported.empty());
  EXPECT_EQ(election.holder(), "other");
}

TEST_F(LeaderTest, LosesAtOnceToWhoTookItByForce) {
  clock.meanwhile = [&] {
    if (at() < 4) return;
    put_lease("other", "2026-01-01T00:00:00.000000Z");
    stop_after(seconds(9));
  };
  election.run(stop.get_token());
  EXPECT_EQ(reported, (std::vector<std::string>{"leads", "lost"}));
  EXPECT_EQ(on_server(server).holder, "other") << "not given back, as it was not ours";
}

TEST_F(LeaderTest, ARenewalWhoseAnswerIsLostIsStillOurs) {
  int puts = 0;
  server.lose_answer = [&](const Request& request) { return request.method == Method::kPut && ++puts == 2; };
  clock.meanwhile = [&] {
    EXPECT_TRUE(election.leads());
    stop_after(seconds(20));
  };
  election.run(stop.get_token());
  EXPECT_EQ(reported, (std::vector<std::string>{"leads", "lost"}));
}

}  // namespace
}  // namespace railbed::kube
