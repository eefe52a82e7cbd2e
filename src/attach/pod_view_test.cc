// SPDX-License-Identifier: Apache-2.0
#include "attach/pod_view.h"

#include <gtest/gtest.h>

#include "os/fake/kernel.h"

namespace railbed::attach {
namespace {

class PodViewTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(kernel_.netns().create("pod").has_value());
    pod_ = kernel_.netns().open("/run/netns/pod").value();
    links_ = kernel_.netns().links(*pod_).value();
    view_.emplace(*pod_, *links_);
  }

  os::FakeKernel kernel_;
  std::unique_ptr<os::Netns> pod_;
  std::unique_ptr<os::LinkPort> links_;
  std::optional<PodView> view_;
};

TEST_F(PodViewTest, GivesNoTableTwice) {
  EXPECT_EQ(view_->free_table(), 100);
  EXPECT_EQ(view_->free_table(), 101);
}

// A VRF without routes has its table all the same.
TEST_F(PodViewTest, GivesNoTableThatAVrfHas) {
  for (const int table : {100, 102})
    ASSERT_TRUE(
        links_->create({.kind = "vrf", .name = IfName{"red" + std::to_string(table)}, .table = table}).has_value());
  EXPECT_EQ(view_->free_table(), 101);
  EXPECT_EQ(view_->free_table(), 103);
  EXPECT_EQ(view_->vrf_table("red102", 0), 102);
  const Result<int> blue = view_->vrf_table("blue", 0);
  ASSERT_TRUE(blue.has_value()) << blue.error().to_string();
  EXPECT_EQ(*blue, 1);  // as the original plugin numbers them
  EXPECT_EQ(view_->vrf_table("blue", 0), 1);
}

}  // namespace
}  // namespace railbed::attach
