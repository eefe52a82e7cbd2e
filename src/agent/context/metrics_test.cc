// SPDX-License-Identifier: Apache-2.0
#include "agent/context/metrics.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

cni::Request add() {
  cni::Request request;
  request.command = cni::Command::kAdd;
  request.type = "macvlan";
  return request;
}

TEST(Metrics, CountRequestsFailuresAndWhatIsInFlight) {
  Metrics metrics;
  RequestStory story;
  const std::function<Reply(const cni::Request&)> good = [&](const cni::Request&) {
    EXPECT_NE(metrics.text().find("railbed_requests_in_flight 1"), std::string::npos);
    return Reply{.result = "{}"};
  };
  metrics.metered(add(), story, good);
  EXPECT_GT(story.seconds[static_cast<size_t>(Phase::kTotal)], 0);
  metrics.metered(add(), story, [](const cni::Request&) {
    return Reply{.result = cni::fail_with(cni::kExhausted, "full"), .version = "1.0.0"};
  });
  cni::Request odd = add();
  odd.type = "made-up-by-a-client";
  metrics.metered(odd, story, [](const cni::Request&) { return Reply{.result = fail(Code::kInternal, "a defect")}; });
  EXPECT_THROW(
      metrics.metered(add(), story, [](const cni::Request&) -> Reply { throw std::runtime_error("a defect"); }),
      std::runtime_error);
  metrics.took("sriov", Phase::kKernel, 0.0015);
  const std::string text = metrics.text();
  for (const char* line : {"railbed_requests_in_flight 0\n", "railbed_request_seconds_count{command=\"ADD\"} 3\n",
                           "railbed_attach_seconds_count{phase=\"total\",type=\"macvlan\"} 2\n",
                           "railbed_attach_seconds_bucket{phase=\"kernel\",type=\"sriov\",le=\"0.001\"} 0\n",
                           "railbed_attach_seconds_bucket{phase=\"kernel\",type=\"sriov\",le=\"0.002\"} 1\n",
                           "railbed_failures_total{code=\"102\",type=\"macvlan\"} 1\n",
                           "railbed_failures_total{code=\"104\",type=\"other\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("made-up"), std::string::npos);
}

TEST(Metrics, AskHowThingsStand) {
  Metrics metrics;
  EXPECT_EQ(metrics.text().find("railbed_addresses"), std::string::npos);
  metrics.node_counts(
      [] { return NodeCounts{.pools = {{"rail0", 250, 4}}, .vfs_free = 3, .vfs_attached = 4, .pending_dels = 2}; });
  const std::string text = metrics.text();
  for (const char* line :
       {"railbed_addresses{pool=\"rail0\",state=\"free\"} 250\n",
        "railbed_addresses{pool=\"rail0\",state=\"taken\"} 4\n", "railbed_vfs{state=\"attached\"} 4\n",
        "railbed_vfs{state=\"missing\"} 0\n", "railbed_pending_dels 2\n", "railbed_attachments 0\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(Metrics, ReportPhasesByTheirNames) {
  Metrics metrics;
  std::string names;
  for (Phase phase : kPhases) {
    metrics.took("sriov", phase, 1);
    names += std::string(phase_name(phase)) + " ";
    EXPECT_NE(metrics.text().find(
                  fmt::format("railbed_attach_seconds_count{{phase=\"{}\",type=\"sriov\"}} 1\n", phase_name(phase))),
              std::string::npos);
  }
  EXPECT_EQ(names, "prepare wait addresses kernel lease exec total ");
}

}  // namespace
}  // namespace railbed::agent
