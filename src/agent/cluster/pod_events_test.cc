// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/pod_events.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

cni::Request add_of_a_pod() {
  return {.command = cni::Command::kAdd,
          .type = "railbed",
          .args = {{"K8S_POD_NAMESPACE", "ai"}, {"K8S_POD_NAME", "a"}, {"K8S_POD_UID", "u"}}};
}

TEST(PodEvents, ReportsTheCauseCleaned) {
  const kube::Occurrence reported =
      occurrence_of(add_of_a_pod(), cni::error_with(cni::kExhausted, "network ai/rail: no \x1b[31maddress", "widen it"),
                    "uid-of-the-object");
  EXPECT_EQ(reported.type, kube::EventType::kWarning);
  EXPECT_EQ(reported.reason, "NoDeviceOrAddress");
  EXPECT_EQ(reported.action, "Attach");
  EXPECT_EQ(reported.note, "network ai/rail: no \\x1b[31maddress: widen it");
  EXPECT_EQ(reported.object, (kube::Regarding{"v1", "Pod", {.ns = "ai", .name = "a"}, "uid-of-the-object"}));
}

TEST(PodEvents, HasAWordForEachKindOfCause) {
  const std::pair<int, const char*> cases[] = {
      {cni::kInvalidConfig, "InvalidNetworks"}, {cni::kGone, "NetworkNotFound"}, {cni::kTaken, "NetworkConflict"},
      {cni::kExhausted, "NoDeviceOrAddress"},   {cni::kKernel, "AttachFailed"},  {cni::kIo, "AttachFailed"}};
  for (const auto& [code, reason] : cases)
    EXPECT_EQ(occurrence_of(add_of_a_pod(), cni::error_with(code, "x"), "").reason, reason) << code;
}

TEST(PodEvents, IsSilentAboutWhatIsNotThePods) {
  EXPECT_TRUE(is_reported_at_pod(add_of_a_pod(), cni::error_with(cni::kGone, "x")));
  EXPECT_FALSE(is_reported_at_pod(add_of_a_pod(), cni::error_with(cni::kTryAgainLater, "x")));
  cni::Request del = add_of_a_pod();
  del.command = cni::Command::kDel;
  EXPECT_FALSE(is_reported_at_pod(del, cni::error_with(cni::kGone, "x")));
  cni::Request without_pod = add_of_a_pod();
  without_pod.args.clear();
  EXPECT_FALSE(is_reported_at_pod(without_pod, cni::error_with(cni::kGone, "x")));
  cni::Request of_a_plugin = add_of_a_pod();
  of_a_plugin.executed_by = "agent-1";
  EXPECT_FALSE(is_reported_at_pod(of_a_plugin, cni::error_with(cni::kGone, "x")));
}

}  // namespace
}  // namespace railbed::agent
