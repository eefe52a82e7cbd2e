// SPDX-License-Identifier: Apache-2.0
#include "api/cluster_labels.h"

#include <gtest/gtest.h>

namespace railbed::api {
namespace {

TEST(ClusterLabels, SayWhoMayActOnANode) {
  constexpr const char* kOptedOut = "the node is labelled railbed.dev/managed=false";
  constexpr const char* kDaemon =
      "the SR-IOV operator's config daemon is on this node: remove the node from its configDaemonNodeSelector, or "
      "remove that operator";
  constexpr const char* kOperator =
      "the SR-IOV operator runs in this cluster; label the node railbed.dev/managed=true to take it over";
  constexpr const char* kTheirs =
      "its node state was written by the SR-IOV operator; label the node railbed.dev/managed=true to take it over";
  const struct {
    NodeOwnership node;
    const char* why;
  } rows[] = {
      {{}, ""},
      {{.has_state = true, .is_ours = true}, ""},
      {{.has_state = true}, kTheirs},
      {{.managed = "true", .has_state = true}, ""},
      {{.managed = "yes", .has_state = true}, kTheirs},
      {{.upstream_operator = true}, kOperator},
      {{.has_state = true, .is_ours = true, .upstream_operator = true}, kOperator},
      {{.managed = "true", .upstream_operator = true}, ""},
      {{.managed = "true", .upstream_daemon = true}, kDaemon},
      {{.has_state = true, .is_ours = true, .upstream_daemon = true, .upstream_operator = true}, kDaemon},
      {{.managed = "false", .has_state = true, .is_ours = true}, kOptedOut},
  };
  for (const auto& row : rows)
    EXPECT_EQ(why_not_managed(row.node), row.why) << row.node.managed << row.node.has_state << row.node.is_ours;
}

}  // namespace
}  // namespace railbed::api
