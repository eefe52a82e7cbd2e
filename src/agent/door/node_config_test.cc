// SPDX-License-Identifier: Apache-2.0
#include "agent/door/node_config.h"

#include <gtest/gtest.h>

#include "os/fake/disk.h"

namespace railbed::agent {
namespace {

const char* const kFolder = "/etc/cni/net.d";
const char* const kBridge =
    R"({"cniVersion":"1.0.0","name":"pods","plugins":[{"type":"bridge"},{"type":"portmap","capabilities":{"portMappings":true,"bandwidth":false}}]})";

std::string path(std::string_view name) {
  return std::string(kFolder) + "/" + std::string(name);
}

TEST(NodeConfig, TakesTheFirstConfigurationThatIsNoneOfAllNetworks) {
  struct Case {
    std::vector<ConfigFile> files;
    std::string chosen;  // empty: none
  };
  const ConfigFile bridge{"10-bridge.conflist", kBridge};
  const ConfigFile multus{"00-multus.conf", R"({"name":"m","type":"multus","delegates":[]})"};
  const Case cases[] = {
      {{}, ""},
      {{bridge}, "10-bridge.conflist"},
      {{bridge, multus}, "10-bridge.conflist"},
      {{{"00-multus.conf", R"({"name":"m","type":"multus-shim"})"}}, ""},
      {{bridge, {"05-single.conf", R"({"name":"a","type":"ptp"})"}}, "05-single.conf"},
      {{bridge, {"05-text.txt", R"({"name":"a","type":"ptp"})"}}, "10-bridge.conflist"},
      {{bridge, {"05-broken.conf", R"({"name":)"}}, "10-bridge.conflist"},
      {{bridge, {"05-empty.conflist", R"({"name":"a","plugins":[]})"}}, "10-bridge.conflist"},
      {{bridge, {"05-list.conf", kBridge}}, "10-bridge.conflist"},  // a list in a file of one plugin
      {{bridge, {std::string(kNodeConfigName), node_config(kFolder, bridge)}}, "10-bridge.conflist"},
  };
  for (const Case& one : cases) {
    const auto chosen = default_network(one.files);
    EXPECT_EQ(chosen ? chosen->name : "", one.chosen);
  }
}

TEST(NodeConfig, DeclaresWhatTheDefaultNetworkDeclares) {
  EXPECT_EQ(node_config(kFolder, {"10-bridge.conflist", kBridge}), R"({
  "cniVersion": "1.0.0",
  "name": "railbed",
  "type": "railbed",
  "capabilities": {
    "portMappings": true
  },
  "clusterNetwork": "/etc/cni/net.d/10-bridge.conflist"
}
)");
  EXPECT_EQ(node_config("/etc/cni/net.d", {"5.conf", R"({"type":"ptp"})"}), R"({
  "cniVersion": "0.4.0",
  "name": "railbed",
  "type": "railbed",
  "clusterNetwork": "/etc/cni/net.d/5.conf"
}
)");
}

TEST(NodeConfig, SortsBeforeMultusAndIsNoneOfItsFiles) {
  EXPECT_LT(kNodeConfigName, "00-multus.conf");
  EXPECT_LT(kNodeConfigName, "00-multus.conflist");
  EXPECT_FALSE(kNodeConfigName.ends_with(".conf") || kNodeConfigName.ends_with(".conflist"));
}

TEST(NodeConfig, WaitsForADefaultNetworkAndFollowsIt) {
  os::FakeDisk disk;
  ASSERT_TRUE(disk.make_directories(kFolder, 0755).has_value());
  NodeConfig config(disk, kFolder);
  const Result<void> none = config.keep();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_EQ(none.error().message, "/etc/cni/net.d has no configuration of a default network yet; pods wait for it");
  disk.put(path("10-bridge.conflist"), kBridge);
  ASSERT_TRUE(config.keep().has_value());
  EXPECT_EQ(disk.files()[path(kNodeConfigName)], node_config(kFolder, {"10-bridge.conflist", kBridge}));
  const int changes = disk.changes();
  ASSERT_TRUE(config.keep().has_value());
  EXPECT_EQ(disk.changes(), changes) << "nothing has changed";
  disk.put(path("05-calico.conflist"), kBridge);
  ASSERT_TRUE(config.keep().has_value());
  EXPECT_EQ(disk.files()[path(kNodeConfigName)], node_config(kFolder, {"05-calico.conflist", kBridge}));
}

TEST(NodeConfig, IsNotWrittenAgainWhereItWasTakenAway) {
  os::FakeDisk disk;
  disk.put(path("10-bridge.conflist"), kBridge);
  NodeConfig config(disk, kFolder);
  ASSERT_TRUE(config.keep().has_value());
  ASSERT_TRUE(remove_node_config(disk, kFolder).has_value());
  ASSERT_TRUE(config.keep().has_value());
  EXPECT_FALSE(disk.files().contains(path(kNodeConfigName)));
  EXPECT_TRUE(remove_node_config(disk, kFolder).has_value()) << "already gone";
}

// Cilium with cni.exclusive, which renames all files but its own.
TEST(NodeConfig, ReportsThatCiliumTookItAway) {
  os::FakeDisk disk;
  disk.put(path("10-bridge.conflist"), kBridge);
  const std::string ours = path(kNodeConfigName), backup = ours + std::string(kCiliumBackup);
  disk.put(backup, "of another time");
  NodeConfig config(disk, kFolder);
  ASSERT_TRUE(config.keep().has_value());
  EXPECT_TRUE(config.not_ready().empty());
  ASSERT_TRUE(disk.remove(ours).has_value());
  disk.put(backup, node_config(kFolder, {"10-bridge.conflist", kBridge}));
  const Result<void> taken = config.keep();
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().code, Code::kConflict);
  EXPECT_EQ(taken.error().message, "Cilium has renamed /etc/cni/net.d/00-a-railbed.json, so no pod gets its networks");
  EXPECT_EQ(taken.error().hint, "set cni.exclusive=false in Cilium's Helm values, then restart this agent");
  EXPECT_EQ(config.not_ready(), std::vector{taken.error().message});
  NodeConfig restarted(disk, kFolder);
  ASSERT_TRUE(restarted.keep().has_value());
  EXPECT_TRUE(disk.files().contains(ours));
  EXPECT_TRUE(restarted.not_ready().empty());
}

TEST(NodeConfig, ReportsAFullDisk) {
  os::FakeDisk disk;
  disk.put(path("10-bridge.conflist"), kBridge);
  NodeConfig config(disk, kFolder);
  disk.refuse(ENOSPC);
  EXPECT_FALSE(config.keep().has_value());
  disk.refuse(0);
  EXPECT_TRUE(config.keep().has_value());
  EXPECT_TRUE(disk.files().contains(path(kNodeConfigName)));
}

}  // namespace
}  // namespace railbed::agent
