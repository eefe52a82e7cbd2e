// SPDX-License-Identifier: Apache-2.0
// One network, asked for as a runtime asks a plugin and as the meta plugin's default network: the same interface, the
// same answer, the same failure, and nothing left of either.
#include "agent/pod/interfaces.h"

#include <algorithm>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "doc/json.h"

namespace railbed::agent {
namespace {

class InterfacesTest : public RequestTest {
 protected:
  enum class Way : uint8_t { kPlugin, kMeta };

  Result<std::string> ask(Way way, cni::Command command, const std::string& config) {
    cni::Request request{.command = command,
                         .type = way == Way::kMeta ? "railbed" : "macvlan",
                         .container_id = "c1",
                         .netns = "/run/netns/a",
                         .ifname = "eth0",
                         .args = {{"K8S_POD_NAMESPACE", "ns"}, {"K8S_POD_NAME", "a"}},
                         .args_text = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a",
                         .path = {"/opt/cni/bin"},
                         .config = config};
    if (way == Way::kMeta)
      request.config = R"({"cniVersion":"1.1.0","name":"pods","type":"railbed","delegates":[)" + config + "]}";
    auto read = cni::read_plugin_config(request.config);
    if (!read.has_value()) return std::unexpected(read.error());
    return way == Way::kMeta ? meta_request(backends, meta, request, *read) : plugin_request(backends, request, *read);
  }

  // What ADD, CHECK and a second ADD say, and what they leave in the store and in the pod; then DEL, which leaves
  // nothing.
  std::string story(Way way, const std::string& config) {
    auto added = ask(way, cni::Command::kAdd, config);
    std::string text = added.has_value() ? without_mac(*added) : plain(added.error());
    if (added.has_value()) {
      auto checked = ask(way, cni::Command::kCheck, config);
      text += checked.has_value() ? "\nchecked" : "\n" + plain(checked.error());
      auto again = ask(way, cni::Command::kAdd, config);
      text += again.has_value() && *again == *added ? "\nthe same again" : "\nanother";
    }
    const auto records = store->attachments();
    const auto leases = store->all_leases();
    for (const state::Attachment& one : *records)
      text += fmt::format("\nrecord {} {} {} of {}", one.pod, one.interface, one.type, one.network);
    for (const state::AddressLease& one : *leases)
      text += fmt::format("\nlease {} {} {}", one.address, one.pod, one.interface);
    text += "\n" + inside();
    auto deleted = ask(way, cni::Command::kDel, config);
    EXPECT_TRUE(deleted.has_value()) << plain(deleted.error());
    EXPECT_TRUE(store->attachments()->empty() && store->all_leases()->empty() && store->pods()->empty()) << text;
    EXPECT_EQ(inside(), "");
    return text;
  }

  // The fake kernel counts its addresses on.
  static std::string without_mac(const std::string& answer) {
    std::string text;
    for (size_t at = 0; at < answer.size();) {
      size_t end = std::min(answer.find('\n', at), answer.size());
      std::string line = answer.substr(at, end - at);
      if (line.find("\"mac\"") == std::string::npos) text += line + "\n";
      at = end + 1;
    }
    return text;
  }
  // The meta plugin says which of the pod's networks it is.
  static std::string plain(const Error& error) {
    const std::string title = "network n (eth0): ";
    std::string message = error.story();
    if (message.starts_with(title)) message.erase(0, title.size());
    return fmt::format("{}: {}; {}", cni::code_of(error), message, cni::hint_of(error));
  }

  std::string inside() {
    std::string text;
    auto netns = kernel.netns().open("/run/netns/a");
    auto links = kernel.netns().links(**netns);
    const auto all = (*links)->list(os::WithVfs::kNo);
    const auto addresses = (*links)->addresses();
    const auto routes = (*links)->routes();
    for (const os::Link& link : *all) {
      if (link.name.value == "lo") continue;
      text += link.name.value;
      for (const os::LinkAddress& one : *addresses)
        if (one.link == link.index) text += fmt::format(" {}", one.prefix);
      for (const Route& one : *routes)
        if (one.link == link.index && one.gateway.has_value())
          text += fmt::format(" {} via {}", one.destination, *one.gateway);
    }
    return text;
  }
};

// The meta plugin's configuration holds the network's, so that a mistake has another column.
std::string without_columns(const std::string& text) {
  return std::regex_replace(text, std::regex(":1:[0-9]+:"), ":1:N:");
}

std::string macvlan(const std::string& members) {
  return R"({"cniVersion":"1.1.0","name":"n","type":"macvlan","master":"eth1")" + members + "}";
}

TEST_F(InterfacesTest, BothCallersComeToTheSame) {
  install("nv-ipam", R"({"cniVersion":"1.0.0","ips":[{"address":"10.7.0.5/24","gateway":"10.7.0.1"}],)"
                     R"("routes":[{"dst":"0.0.0.0/0"},{"dst":"10.8.0.0/16","gw":"10.7.0.9","priority":7}]})");
  for (const std::string& members : {
           std::string(),
           std::string(R"(,"mtu":1400,"dns":{"nameservers":["10.0.0.53"]})"),
           std::string(R"(,"ipam":{"type":"static","addresses":[{"address":"10.3.0.7/24","gateway":"10.3.0.1"}],)"
                       R"("routes":[{"dst":"0.0.0.0/0"},{"dst":"10.77.0.0/16","gw":"10.3.0.2","mtu":1400}],)"
                       R"("dns":{"nameservers":["10.0.0.54"]}},"dns":{"domain":"example.org"})"),
           std::string(R"(,"ipam":{"type":"whereabouts","range":"10.9.0.0/24","gateway":"10.9.0.1",)"
                       R"("routes":[{"dst":"fd00::/8"}]})"),
           std::string(R"(,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.5.0.0/24"}],[{"subnet":"fd05::/64"}]],)"
                       R"("routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]})"),
           std::string(R"(,"ipam":{"type":"nv-ipam","poolName":"p"})"),
       }) {
    const std::string config = macvlan(members);
    const std::string one = story(Way::kPlugin, config);
    EXPECT_THAT(one, testing::HasSubstr("\nthe same again")) << config;
    EXPECT_THAT(one, testing::HasSubstr("\nchecked")) << config;
    EXPECT_EQ(story(Way::kMeta, config), one) << config;
  }
}

TEST_F(InterfacesTest, BothCallersFailTheSame) {
  install("nv-ipam", {.output = "", .failing = "ADD", .failure = R"({"code":11,"msg":"no pool"})"});
  for (const std::string& members : {
           std::string(R"(,"mode":"sideways")"),
           std::string(R"(,"ipam":{"type":"whereabouts","range":"10.9.0.0"})"),
           std::string(R"(,"ipam":{"type":"static","addresses":[{"address":"10.3.0.7/24"}],)"
                       R"("routes":[{"dst":"10.8.0.0/16","gw":"10.99.0.1"}]})"),
           std::string(R"(,"ipam":{"type":"nv-ipam","poolName":"p"})"),
       }) {
    const std::string config = macvlan(members);
    const std::string one = story(Way::kPlugin, config);
    EXPECT_THAT(one, testing::Not(testing::HasSubstr("record"))) << config;
    EXPECT_EQ(without_columns(story(Way::kMeta, config)), without_columns(one)) << config;
  }
}

// railbed-cni stands under the name of each plugin; a runtime that starts another one than the configuration names has
// mixed them up.
TEST_F(InterfacesTest, AConfigurationOfAnotherPluginIsRefused) {
  const cni::Request request{.command = cni::Command::kAdd, .type = "ipvlan", .config = macvlan("")};
  const auto config = cni::read_plugin_config(request.config);
  ASSERT_TRUE(config.has_value());
  const auto answer = plugin_request(backends, request, *config);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(cni::code_of(answer.error()), cni::kInvalidConfig);
  EXPECT_EQ(answer.error().story(), "called as ipvlan, the configuration is for \"macvlan\"");
}

}  // namespace
}  // namespace railbed::agent
