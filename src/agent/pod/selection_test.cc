// SPDX-License-Identifier: Apache-2.0
#include "agent/pod/selection.h"

#include <gtest/gtest.h>

namespace railbed::agent {
namespace {

cni::PluginConfig config_of_members(const std::string& members) {
  auto config =
      cni::read_plugin_config(R"({"cniVersion": "1.0.0", "name": "rail0", "type": "macvlan")" + members + "}");
  EXPECT_TRUE(config.has_value()) << (config.has_value() ? "" : config.error().story());
  return config.value_or(cni::PluginConfig{});
}

constexpr const char* kRuntime =
    R"(, "runtimeConfig": {"mac": "02:00:00:00:00:01", "deviceID": "0000:01:10.0",
  "infinibandGUID": "00:11:22:33:44:55:66:77"})";
constexpr const char* kArgs = R"(, "args": {"cni": {"mac": "02:00:00:00:00:02", "labels": [1]}})";

TEST(Selection, RuntimeConfigWinsOverArgsOverCniArgs) {
  cni::Request request{.ifname = "net1", .args = {{"MAC", "02:00:00:00:00:03"}}};
  struct Case {
    std::string members;
    std::string mac;
  };
  for (const Case& one : {Case{fmt::format("{}{}", kRuntime, kArgs), "02:00:00:00:00:01"},
                          Case{kArgs, "02:00:00:00:00:02"}, Case{"", "02:00:00:00:00:03"}}) {
    auto selection = selection_of(request, config_of_members(one.members));
    ASSERT_TRUE(selection.has_value()) << selection.error().story();
    EXPECT_EQ(selection->mac.value.to_string(), one.mac);
  }
  request.args.clear();
  EXPECT_FALSE(selection_of(request, config_of_members(""))->mac.present);
}

TEST(Selection, ReadsTheRest) {
  auto selection = selection_of({.ifname = "net1"}, config_of_members(fmt::format("{}{}", kRuntime, kArgs)));
  ASSERT_TRUE(selection.has_value());
  EXPECT_EQ(selection->device_id.value, "0000:01:10.0");
  EXPECT_EQ(selection->infiniband_guid.value.value, 0x0011223344556677u);
  EXPECT_EQ(selection->interface.value, "net1");
  EXPECT_NE(selection->cni_args.value.find("labels"), nullptr);
}

TEST(Selection, SaysWhereTheWrongValueIs) {
  struct Case {
    std::string members;
    std::map<std::string, std::string> args;
    int code;
    std::string start;
  };
  const Case cases[] = {
      {R"(, "runtimeConfig": {"mac": "here"})", {}, cni::kInvalidConfig, "runtimeConfig.mac: "},
      {R"(, "args": {"cni": {"mac": "02:00"}})", {}, cni::kInvalidConfig, "args.cni.mac: "},
      {"", {{"MAC", "../../x"}}, cni::kInvalidEnvironment, "CNI_ARGS MAC: "},
      {R"(, "runtimeConfig": {"infinibandGUID": "no-guid"})",
       {},
       cni::kInvalidConfig,
       "runtimeConfig.infinibandGUID: "},
  };
  for (const Case& one : cases) {
    auto selection = selection_of({.args = one.args}, config_of_members(one.members));
    ASSERT_FALSE(selection.has_value()) << one.start;
    EXPECT_EQ(cni::code_of(selection.error()), one.code);
    EXPECT_TRUE(selection.error().story().starts_with(one.start)) << selection.error().story();
  }
}

}  // namespace
}  // namespace railbed::agent
