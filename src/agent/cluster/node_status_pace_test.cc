// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_status_pace.h"

#include <gtest/gtest.h>

#include "kube/object.h"

namespace railbed::agent {
namespace {

using doc::Value;
using kube::Instant;
using std::chrono::seconds;
using Wanted = NodeStatusPace::Wanted;

Value json(const std::string& text) {
  return kube::parse_object(text).value();
}

const Instant kStart{std::chrono::hours(1)};
const Wanted kDone{"u",
                   json(R"({"interfaces":[],"lastSyncError":"","policies":[{"name":"a"}],"syncStatus":"Succeeded"})")};
const Wanted kMoved{
    "u", json(R"({"interfaces":[1],"lastSyncError":"","policies":[{"name":"a"}],"syncStatus":"Succeeded"})")};
const Wanted kBusy{"u", json(R"({"interfaces":[1],"lastSyncError":"","syncStatus":"InProgress"})")};

TEST(NodeStatusPace, WritesNothingThatIsStoredAlready) {
  const NodeStatusPace pace;
  EXPECT_EQ(pace.due(kDone, kDone.status, kStart), std::nullopt);
  Value more = kDone.status;
  more.set("system", json(R"({"rdmaMode":"shared"})"));
  EXPECT_EQ(pace.due(kDone, more, kStart), std::nullopt) << "others have their own keys";
  EXPECT_EQ(pace.due(kDone, kBusy.status, kStart), kStart);
  EXPECT_EQ(pace.due(kDone, Value(), kStart), kStart);
}

TEST(NodeStatusPace, WritesWhatDiffersAfterTheRestAndATurnAtOnce) {
  NodeStatusPace pace;
  pace.wrote(kDone, kDone.status, kStart);
  const Instant soon = kStart + seconds(1);
  EXPECT_EQ(pace.due(kDone, kDone.status, soon), std::nullopt);
  EXPECT_EQ(pace.due(kMoved, kDone.status, soon), kStart + kStatusPause);
  EXPECT_EQ(pace.due(kMoved, kDone.status, kStart + seconds(20)), kStart + seconds(20));
  EXPECT_EQ(pace.due(kBusy, kDone.status, soon), soon);
}

TEST(NodeStatusPace, ANodeStateThatWasMadeAgainGetsTheWholeStatusAtOnce) {
  NodeStatusPace pace;
  pace.wrote(kDone, kDone.status, kStart);
  EXPECT_EQ(pace.due({"v", kDone.status}, Value(), kStart + seconds(1)), kStart + seconds(1));
}

// A definition of the SR-IOV operator's prunes `policies`.
TEST(NodeStatusPace, WhatIsPrunedIsNotWrittenAgainAndAgain) {
  NodeStatusPace pace;
  const Value pruned = json(R"({"interfaces":[],"lastSyncError":"","syncStatus":"Succeeded"})");
  EXPECT_EQ(pace.due(kDone, pruned, kStart), kStart) << "once: this cannot be known yet";
  pace.wrote(kDone, pruned, kStart);
  for (int s = 1; s < 100; ++s) EXPECT_EQ(pace.due(kDone, pruned, kStart + seconds(s)), std::nullopt);
}

TEST(NodeStatusPace, WhatSomebodyElseWroteIsPutRightOnceOurOwnWriteMustBeKnown) {
  NodeStatusPace pace;
  pace.wrote(kDone, kDone.status, kStart);
  EXPECT_EQ(pace.due(kDone, kBusy.status, kStart + seconds(9)), std::nullopt) << "may be from before the write";
  EXPECT_EQ(pace.due(kDone, kBusy.status, kStart + seconds(10)), kStart + seconds(10));
}

TEST(NodeStatusPace, AFailedWriteIsTriedAgainAfterTheRest) {
  NodeStatusPace pace;
  pace.failed(kStart);
  EXPECT_EQ(pace.due(kDone, Value(), kStart + seconds(1)), kStart + kStatusPause);
  pace.wrote(kDone, kDone.status, kStart + kStatusPause);
  EXPECT_EQ(pace.due(kDone, kDone.status, kStart + kStatusPause), std::nullopt);
}

TEST(DrainReportPace, WritesAChangeAtOnceAndNothingTwice) {
  const DrainReportPace::Wanted none{"u", ""}, one{"u", "1"}, two{"u", "2"};
  DrainReportPace pace;
  EXPECT_EQ(pace.due(none, "", kStart), std::nullopt);
  EXPECT_EQ(pace.due(one, "1", kStart), std::nullopt) << "an agent before this one wrote it";
  EXPECT_EQ(pace.due(none, "1", kStart), kStart) << "and its drain has ended since";
  EXPECT_EQ(pace.due(one, "", kStart), kStart);
  pace.wrote(one, "1", kStart);
  const Instant soon = kStart + seconds(1), later = kStart + kStatusPause;
  EXPECT_EQ(pace.due(one, "", soon), std::nullopt) << "the watch has not seen it yet";
  EXPECT_EQ(pace.due(one, "", later), later) << "somebody removed it";
  EXPECT_EQ(pace.due(two, "1", soon), soon);
  EXPECT_EQ(pace.due({"v", "1"}, "", soon), soon) << "another object";
  pace.failed(soon);
  EXPECT_EQ(pace.due(two, "1", soon), soon + kStatusPause);
  pace.wrote(two, "1", later);
  for (int s = 1; s < 100; ++s) EXPECT_EQ(pace.due(two, "1", later + seconds(s)), std::nullopt) << "it does not take";
}

}  // namespace
}  // namespace railbed::agent
