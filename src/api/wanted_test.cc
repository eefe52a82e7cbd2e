// SPDX-License-Identifier: Apache-2.0
#include "api/wanted.h"

#include <gtest/gtest.h>

namespace railbed::api {
namespace {

std::string refusal_of(std::string_view text) {
  const Result<Wanted> read = read_wanted(text);
  return read.has_value() ? "" : read.error().story();
}

TEST(Wanted, IsReadAsItIsWritten) {
  const Wanted wanted{.resource_prefix = "nvidia.com"};
  EXPECT_EQ(to_text(wanted), R"({"resourcePrefix":"nvidia.com","version":1})");
  EXPECT_EQ(read_wanted(to_text(wanted)).value(), wanted);
}

TEST(Wanted, HasWhatTheOperatorsConfigurationAsksFor) {
  const Wanted wanted{.resource_prefix = "a", .log_level = 0, .left_alone = true};
  EXPECT_EQ(to_text(wanted), R"({"leftAlone":true,"logLevel":0,"resourcePrefix":"a","version":1})");
  EXPECT_EQ(read_wanted(to_text(wanted)).value(), wanted);
}

// A newer operator may add members: an agent of this version does what it knows.
TEST(Wanted, PassesOverMembersOfTomorrow) {
  const auto read =
      read_wanted(R"({"pools":[{"name":"rdma/shared","kind":"shared"}],"version":1,"resourcePrefix":"a"})");
  EXPECT_EQ(read.value().resource_prefix, "a");
}

TEST(Wanted, ThatIsWrongIsRefusedWithTheReason) {
  const struct {
    const char* text;
    const char* refusal;
  } cases[] = {
      {R"({"resourcePrefix":"nvidia.com"})", "version is missing"},
      {R"({"version":1})", "resourcePrefix is missing"},
      {R"({"version":2,"resourcePrefix":"nvidia.com"})",
       "its version is 2, this agent reads version 1: upgrade the agent"},
      {R"({"version":0})", "its version is 0, this agent reads version 1: upgrade the agent"},
      {R"({"version":1,"resourcePrefix":""})",
       "resourcePrefix: \"\" is not a valid resource prefix: lower-case letters, digits, '-' and '.', at most 244"},
      {R"({"version":1,"resourcePrefix":"nvidia.com/"})",
       "resourcePrefix: \"nvidia.com/\" is not a valid resource prefix: lower-case letters, digits, '-' and '.', at "
       "most 244"},
      {R"({"version":1,"resourcePrefix":"x.kubernetes.io"})",
       "resourcePrefix: \"x.kubernetes.io\" is not a valid resource prefix: it is reserved for Kubernetes"},
  };
  for (const auto& one : cases) EXPECT_EQ(refusal_of(one.text), one.refusal) << one.text;
  for (const char* text :
       {"", "[]", "1", "{", R"({"version":"1","resourcePrefix":"a"})", R"({"version":1.5})",
        R"({"version":1,"resourcePrefix":7})", R"({"version":1,"resourcePrefix":"a","logLevel":3})",
        R"({"version":1,"resourcePrefix":"a","logLevel":-1})", R"({"version":1,"resourcePrefix":"a","logLevel":"2"})",
        R"({"version":1,"resourcePrefix":"a","leftAlone":1})", R"({"version":1,"version":1,"resourcePrefix":"a"})"})
    EXPECT_NE(refusal_of(text), "") << text;
  EXPECT_EQ(refusal_of(std::string(kLongestWanted + 1, ' ')), "it has 65537 bytes, at most 65536 are read");
}

TEST(Wanted, IsOfANodeStateOrAbsent) {
  Metadata meta;
  EXPECT_EQ(wanted_in(meta).value(), std::nullopt);
  const std::string key(kWantedAnnotation);
  meta.annotations[key] = doc::given(doc::Value(to_text({.resource_prefix = "a"})));
  EXPECT_EQ(wanted_in(meta).value(), Wanted{.resource_prefix = "a"});
  meta.annotations[key] = doc::given(doc::Value("{}"));
  EXPECT_EQ(wanted_in(meta).error().story(), "annotation railbed.dev/wanted: version is missing");
  meta.annotations[key] = doc::given(doc::Value(1));
  EXPECT_EQ(wanted_in(meta).error().story(), "annotation railbed.dev/wanted: it is not text");
}

TEST(ResourcePrefix, IsANameOfTheDns) {
  for (const char* right : {"openshift.io", "nvidia.com", "intel.com", "a", "rdma", "my-kubernetes.io", "requests"})
    EXPECT_EQ(why_no_prefix(right), "") << right;
  for (const char* wrong : {"", "Nvidia.com", "nvidia_com", "nvidia.com/sriov", ".com", "a..b", "-a", "kubernetes.io",
                            "device.kubernetes.io", "requests.nvidia.com", "nvidia.com\n", "*"})
    EXPECT_NE(why_no_prefix(wrong), "") << wrong;
  EXPECT_EQ(why_no_prefix(std::string(244, 'a')), "");
  EXPECT_NE(why_no_prefix(std::string(245, 'a')), "");
}

}  // namespace
}  // namespace railbed::api
