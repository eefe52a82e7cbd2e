// SPDX-License-Identifier: Apache-2.0
#include "controller/policy_set.h"

#include <gtest/gtest.h>

#include "controller/test_cluster.h"

namespace railbed::controller {
namespace {

// Whatever else is written, its status above all, is no reason to look at its nodes again.
TEST(PolicySet, APolicyAsksTheSameWhileItsSpecAndAnnotationsAreTheSame) {
  const doc::Value before = testing::policy("rail0", R"("numVfs": 4)");
  EXPECT_TRUE(asks_the_same(before, before));

  doc::Value written = before;
  written.set("status", doc::Value::object()).set("summary", "1 of 1");
  written.find("metadata")->set("resourceVersion", "2");
  EXPECT_TRUE(asks_the_same(before, written));

  EXPECT_FALSE(asks_the_same(before, testing::policy("rail0", R"("numVfs": 5)")));

  doc::Value annotated = before;
  annotated.find("metadata")->set("annotations", doc::Value::object()).set("railbed.dev/allow-host-pf", "true");
  EXPECT_FALSE(asks_the_same(before, annotated));
  EXPECT_FALSE(asks_the_same(annotated, before));
  EXPECT_TRUE(asks_the_same(annotated, annotated));
}

}  // namespace
}  // namespace railbed::controller
