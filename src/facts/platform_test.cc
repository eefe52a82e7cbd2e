// SPDX-License-Identifier: Apache-2.0
#include "facts/platform.h"

#include <gtest/gtest.h>

#include "facts/fixture.h"

namespace railbed::facts {
namespace {

using testing_fixture::facts_of;

TEST(Platform, IsReadFromDmi) {
  const struct {
    const char* dmi;
    const char* platform;
  } rows[] = {
      {"sys_vendor = Amazon EC2\nproduct_name = p5.48xlarge\n", "AWS"},
      {"sys_vendor = Microsoft Corporation\nchassis_asset_tag = 7783-7084-3265-9085-8269-3286-77\n", "Azure"},
      {"sys_vendor = Microsoft Corporation\nchassis_asset_tag = 1234\n", ""},  // Hyper-V
      {"sys_vendor = Google\nproduct_name = Google Compute Engine\n", "Google Cloud"},
      {"sys_vendor = IBM:Cloud Compute Server 1.0\nproduct_name = gx3-64x320x4l4\n", "IBM Cloud"},
      {"sys_vendor = QEMU\nchassis_vendor = IBM:Cloud Compute Server 1.0:gx3-64x320x4l4\n", "IBM Cloud"},
      {"sys_vendor = IBM\nproduct_name = System x3650\n", ""},
      {"sys_vendor = Supermicro\nproduct_name = SYS-821GE-TNHR\n", ""},
      {"sys_vendor = QEMU\n", ""},
  };
  for (const auto& row : rows)
    EXPECT_EQ(facts_of(fmt::format("[/sys/class/dmi/id]\n{}", row.dmi)).platform, row.platform) << row.dmi;
}

TEST(Platform, IsReadFromProviderIds) {
  EXPECT_EQ(platform_of("aws:///us-east-1a/i-0abc"), "AWS");
  EXPECT_EQ(platform_of("azure:///subscriptions/x"), "Azure");
  EXPECT_EQ(platform_of("gce://project/zone/name"), "Google Cloud");
  EXPECT_EQ(platform_of("ibm://account///cluster/node"), "IBM Cloud");
  EXPECT_EQ(platform_of("ibmvpc://name"), "IBM Cloud");
  for (const char* bare : {"", "baremetalhost:///openshift-machine-api/worker-0", "kind://docker/kind/kind-worker",
                           "openstack:///3b6e", "vsphere://42", "metal3://x", "awsome://x"})
    EXPECT_EQ(platform_of(bare), "") << bare;
}

}  // namespace
}  // namespace railbed::facts
