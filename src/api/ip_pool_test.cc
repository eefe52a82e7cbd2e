// SPDX-License-Identifier: Apache-2.0
#include "api/ip_pool.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::api {
namespace {

using doc::Value;

Value parsed(const std::string& text) {
  doc::Diagnostics problems;
  auto value = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"pool", text}), problems);
  EXPECT_TRUE(value.has_value()) << doc::render(problems);
  return value ? *value : Value();
}

// As an API server has one of whereabouts 0.9, with a member of a version to come.
constexpr const char* kPool = R"({
  "apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool",
  "metadata": {"name": "rail0-10.0.0.0-24", "namespace": "kube-system", "resourceVersion": "7", "uid": "u"},
  "spec": {"range": "10.0.0.0/24", "allocations": {
    "1": {"id": "1b2c", "ifname": "net1", "podref": "ai/llm-0", "ipamclaimref": "ai/claim"},
    "20": {"id": "3d4e", "podref": "ai/llm-1"},
    "x": {"id": "5f", "podref": "ai/llm-2"}, "-3": {"id": "6a", "podref": "ai/llm-3"}, "9": 1}}})";

TEST(IpPool, SaysWhatWhereaboutsHasGiven) {
  const auto pool = read_ip_pool(parsed(kPool));
  ASSERT_TRUE(pool.has_value());
  EXPECT_EQ(pool->ns, "kube-system");
  EXPECT_EQ(pool->name, "rail0-10.0.0.0-24");
  EXPECT_EQ(pool->addresses().to_string(), "10.0.0.0-10.0.0.255");
  using Allocations = std::map<uint64_t, IpPoolAllocation>;
  EXPECT_EQ(pool->allocations, (Allocations{{1, {"1b2c", "ai/llm-0"}}, {9, {}}, {20, {"3d4e", "ai/llm-1"}}}));
}

TEST(IpPool, WithoutAllocationsIsReadToo) {
  for (const char* spec : {R"({"range": "10.0.0.0/24"})", R"({"range": "10.0.0.0/24", "allocations": null})",
                           R"({"range": "10.0.0.0/24", "allocations": {}})"}) {
    Value object = parsed(fmt::format(R"({{"metadata": {{"name": "p", "namespace": "n"}}, "spec": {}}})", spec));
    const auto pool = read_ip_pool(object);
    ASSERT_TRUE(pool.has_value()) << spec;
    EXPECT_TRUE(pool->allocations.empty());
    apply_change(object, {.put = {{3, {"a", ""}}}, .drop = {}});
    EXPECT_EQ(read_ip_pool(object)->allocations.size(), 1U) << spec;
  }
}

TEST(IpPool, ReportsWhatItCannotRead) {
  const auto why = [](const std::string& text) { return read_ip_pool(parsed(text)).error().to_string(); };
  EXPECT_EQ(why("{}"), "an IPPool without metadata");
  EXPECT_EQ(why(R"({"metadata": {"name": "p", "namespace": "n"}})"), "IPPool n/p: no spec");
  EXPECT_EQ(why(R"({"metadata": {"name": "p", "namespace": "n"}, "spec": {"range": "10.0.0.0"}})"),
            "IPPool n/p: spec.range: \"10.0.0.0\" has no prefix length (a prefix looks like 10.0.0.0/24)");
}

TEST(IpPool, IsOfTheNetworkThatItsNameBeginsWith) {
  const auto network = [](const char* name, const char* range) {
    return network_name_of({.ns = "n", .name = name, .range = IpPrefix::parse(range).value(), .allocations = {}});
  };
  EXPECT_EQ(network("10.0.0.0-24", "10.0.0.0/24"), "");
  EXPECT_EQ(network("rail-0-10.0.0.0-24", "10.0.0.0/24"), "rail-0");
  EXPECT_EQ(network(ip_pool_name("rail", IpPrefix::parse("fd00::/64").value()).c_str(), "fd00::/64"), "rail");
  EXPECT_EQ(network("rail", "10.0.0.0/24"), std::nullopt);
  EXPECT_EQ(network("110.0.0.0-24", "10.0.0.0/24"), std::nullopt);
}

TEST(IpPool, KeepsWhatItDoesNotKnow) {
  Value object = parsed(kPool);
  apply_change(object, {.put = {{20, {"ours", ""}}, {21, {"ours", ""}}}, .drop = {9, 30}});
  EXPECT_EQ(doc::to_json(*object.find("spec")),
            R"({"range":"10.0.0.0/24","allocations":{)"
            R"("1":{"id":"1b2c","ifname":"net1","podref":"ai/llm-0","ipamclaimref":"ai/claim"},)"
            R"("x":{"id":"5f","podref":"ai/llm-2"},"-3":{"id":"6a","podref":"ai/llm-3"},)"
            R"("20":{"id":"ours","podref":""},"21":{"id":"ours","podref":""}}})");
}

TEST(IpPool, IsNamedAsWhereaboutsNamesIt) {
  const auto name = [](const char* network, const char* range) {
    return ip_pool_name(network, IpPrefix::parse(range).value());
  };
  EXPECT_EQ(name("", "192.168.2.225/28"), "192.168.2.224-28");
  EXPECT_EQ(name("rail0", "10.0.0.0/16"), "rail0-10.0.0.0-16");
  EXPECT_EQ(name("", "2001::/116"), "2001---116");
  EXPECT_EQ(name("v6", "fd00:0:0:1::/64"), "v6-fd00-0-0-1---64");
  EXPECT_EQ(doc::to_json(new_ip_pool("kube-system", "rail0", IpPrefix::parse("10.0.0.7/24").value())),
            R"({"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool",)"
            R"("metadata":{"name":"rail0-10.0.0.0-24","namespace":"kube-system"},)"
            R"("spec":{"range":"10.0.0.0/24","allocations":{}}})");
}

}  // namespace
}  // namespace railbed::api
