// SPDX-License-Identifier: Apache-2.0
// The table of CNI types: no row contradicts itself or another, and what is said of a value.
#include "schema/cni_types.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "doc/json.h"
#include "schema/cni_values.h"

namespace railbed::schema {
namespace {

TEST(CniTypes, HaveEachNameOnce) {
  std::set<std::string_view> names;
  bool foreign = false;
  for (const CniType& type : cni_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_TRUE(type.also_called.empty() || names.insert(type.also_called).second) << type.also_called;
    EXPECT_EQ(find_cni_type(type.name), &type);
    EXPECT_FALSE(foreign && type.ours) << type.name << ": ours come first";
    foreign = !type.ours;
    EXPECT_EQ(type.does.empty(), !type.ours) << type.name;
    EXPECT_EQ(type.ipam != IpamType::kNone, type.ours && type.role == CniRole::kIpam) << type.name;
  }
  EXPECT_TRUE(foreign);
  EXPECT_EQ(find_cni_type("ib-sriov-cni"), find_cni_type("ib-sriov"));
  EXPECT_EQ(find_cni_type(""), nullptr);
  EXPECT_EQ(find_cni_type("made-up"), nullptr);
}

TEST(CniTypes, HaveKeysThatAreDescribedWhole) {
  for (const CniType& type : cni_types()) {
    std::set<std::string_view> names;
    for (const CniKey& key : type.keys) {
      const std::string where = fmt::format("{} {}", type.name, key.name);
      EXPECT_TRUE(names.insert(key.name).second) << where;
      EXPECT_EQ(find_cni_key(type, key.name), &key) << where;
      EXPECT_EQ(key.type == KeyType::kChoice, !key.choices.empty()) << where;
      EXPECT_EQ(key.type == KeyType::kShape, key.shape.starts_with("$")) << where;
      EXPECT_LT(key.min, key.max) << where;
      if (key.reserved.first <= key.reserved.last) {
        EXPECT_EQ(key.type, KeyType::kNumber) << where;
        EXPECT_GE(key.reserved.first, key.min) << where;
        EXPECT_LE(key.reserved.last, key.max) << where;
        EXPECT_FALSE(key.reserved.why.empty()) << where;
      }
    }
    for (const std::string_view key : type.one_of) EXPECT_TRUE(names.contains(key)) << type.name << " " << key;
  }
  EXPECT_EQ(find_cni_key(*find_cni_type("macvlan"), "deviceID"),
            &*std::ranges::find(cni_common_keys(), "deviceID", &CniKey::name));
  EXPECT_EQ(find_cni_key(*find_cni_type("macvlan"), "vlan"), nullptr);
}

TEST(CniTypes, SayWhatIsWrongWithAValue) {
  struct MemberValue {
    const char* type;
    const char* key;
    const char* value;
    const char* problem;
  };
  const MemberValue cases[] = {
      {"sriov", "max_tx_rate", "1000000", ""},
      {"sriov", "max_tx_rate", "1000001", "max_tx_rate must be 0 to 1000000, found 1000001"},
      {"sriov", "vlan", "\"5\"", "vlan must be an integer, found a string \"5\""},
      {"sriov", "mac", "\"\"", ""},
      {"sriov", "mac", "null", ""},
      {"ib-sriov", "guid", "\"02:00:00:00:00:00:00:09\"", ""},
      {"sbr", "table", "252", ""},
      {"sbr", "table", "253", "table 253 is one of the kernel's own"},
      {"sbr", "table", "255", "table 255 is one of the kernel's own"},
      {"sbr", "table", "256", ""},
      {"sbr", "gateways", "[\"10.0.0.1\", 5]", "gateways[1] must be a string, found an integer 5"},
      {"tuning", "mtu", "0", ""},
      {"tuning", "mtu", "1", "mtu 1 is less than the 68 that IPv4 needs"},
      {"tuning", "mtu", "67", "mtu 67 is less than the 68 that IPv4 needs"},
      {"tuning", "mtu", "68", ""},
      {"host-device", "kernelpath", "\"/sys/devices/virtual/net/eth9\"", ""},
      {"host-device", "kernelpath", "\"/sys/devices/../x\"",
       "kernelpath: \"/sys/devices/../x\" is not below /sys/devices/"},
      {"vrf", "vrfname", "null", "vrfname is empty"},
      {"vrf", "vrfname", "\"\"", "vrfname is empty"},
      {"dummy", "ipam", "{\"type\": \"dhcp\"}", ""},
      {"dummy", "ipam", "{}", "ipam is empty"},
      {"dummy", "ipam", "5", "ipam must be an object (keys with values), found an integer 5"},
  };
  for (const MemberValue& one : cases) {
    const std::string text = fmt::format("{{\"{}\": {}}}", one.key, one.value);
    doc::Diagnostics unread;
    const auto config = doc::parse_json(std::make_shared<doc::Source>(doc::Source{"test", text}), unread);
    ASSERT_TRUE(config.has_value()) << text;
    EXPECT_EQ(key_problem(*config, *find_cni_key(*find_cni_type(one.type), one.key)), one.problem) << one.type << text;
  }
}

}  // namespace
}  // namespace railbed::schema
