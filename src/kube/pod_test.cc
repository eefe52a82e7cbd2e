// SPDX-License-Identifier: Apache-2.0
#include "kube/pod.h"

#include <gtest/gtest.h>

#include "kube/object.h"

namespace railbed::kube {
namespace {

TEST(Pod, SaysWhereItRunsAndWhetherItHasEnded) {
  struct Case {
    const char* text;
    const char* node;
    bool ended;
  };
  for (const Case& one : {
           Case{R"({"spec": {"nodeName": "n1"}, "status": {"phase": "Running"}})", "n1", false},
           Case{R"({"spec": {"nodeName": "n1"}, "status": {"phase": "Succeeded"}})", "n1", true},
           Case{R"({"spec": {"nodeName": "n1"}, "status": {"phase": "Failed"}})", "n1", true},
           Case{R"({"spec": {}, "status": {"phase": "Pending"}})", "", false},
           Case{R"({"spec": {"nodeName": 7}, "status": {"phase": "Unknown"}})", "", false},
           Case{R"({"spec": null, "status": []})", "", false},
           Case{"{}", "", false},
       }) {
    const doc::Value pod = parse_object(one.text).value();
    EXPECT_EQ(node_of_pod(pod), one.node) << one.text;
    EXPECT_EQ(has_ended(pod), one.ended) << one.text;
  }
}

}  // namespace
}  // namespace railbed::kube
