// SPDX-License-Identifier: Apache-2.0
#include "check/read/carriers.h"

#include <utility>

#include <gtest/gtest.h>

namespace railbed::check {
namespace {

TEST(Makers, AreKindsThatMayMakeNetworksOrResources) {
  const std::pair<const char*, const char*> others[] = {
      {"build.openshift.io", "BuildConfig"},       {"build.openshift.io", "Build"},
      {"image.openshift.io", "ImageStream"},       {"route.openshift.io", "Route"},
      {"apps.openshift.io", "DeploymentConfig"},   {"quota.openshift.io", "ClusterResourceQuota"},
      {"oauth.openshift.io", "OAuthClient"},       {"imageregistry.operator.openshift.io", "Config"},
      {"samples.operator.openshift.io", "Config"}, {"", "ConfigMap"}};
  for (const auto& [group, kind] : others) EXPECT_EQ(why_it_makes(group, kind, false), "") << group << " " << kind;
  EXPECT_EQ(why_it_makes("argoproj.io", "Application", false), "applies other files");
  EXPECT_EQ(why_it_makes("example.com", "RailSet", false), "is of a kind that is not known");
}

}  // namespace
}  // namespace railbed::check
