// SPDX-License-Identifier: Apache-2.0
// Requests of foreign main plugins: standard input, output, and the state afterwards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/address_notes.h"
#include "agent/addresses/addresses.h"
#include "agent/addresses/ipam.h"
#include "agent/addresses/resolv_conf.h"
#include "agent/test_requests.h"
#include "doc/json.h"

namespace railbed::agent {
namespace {

using std::chrono::milliseconds;

struct IpamRig : RequestRig {
  std::string ask(cni::Command command, const std::string& type, const std::string& config,
                  const std::string& container = "c1", std::map<std::string, std::string> args = {}) {
    cni::Request request{.command = command,
                         .type = type,
                         .container_id = container,
                         .netns = "/run/netns/pod",
                         .ifname = "eth0",
                         .args = std::move(args),
                         .config = config};
    auto parsed = cni::read_plugin_config(config);
    if (!parsed.has_value()) return "config: " + parsed.error().story();
    auto answer = ipam_request(backends, request, *parsed);
    if (!answer.has_value()) return fmt::format("{}: {}", cni::code_of(answer.error()), answer.error().story());
    if (answer->empty()) return "done";
    auto result = cni::read_result(*answer, "1.0.0");
    if (!result.has_value()) return "result: " + result.error().story();
    std::string text;
    for (const cni::Address& one : result->addresses)
      text += fmt::format("{}@{} ", one.address, one.gateway ? one.gateway->to_string() : "");
    for (const Route& one : result->routes)
      text += fmt::format("{}>{} ", one.destination, one.gateway ? one.gateway->to_string() : "");
    for (const std::string& one : result->dns.nameservers) text += "dns " + one + " ";
    for (const std::string& one : result->dns.search) text += "search " + one + " ";
    EXPECT_TRUE(result->interfaces.empty());
    return text;
  }
  std::string add(const std::string& type, const std::string& config, const std::string& container = "c1",
                  std::map<std::string, std::string> args = {}) {
    return ask(cni::Command::kAdd, type, config, container, std::move(args));
  }
  std::string del(const std::string& type, const std::string& config, const std::string& container = "c1") {
    return ask(cni::Command::kDel, type, config, container);
  }
  size_t leases() { return store->all_leases()->size(); }
};

std::string with(const std::string& ipam, const std::string& more = "") {
  return R"({"cniVersion":"1.0.0","name":"lan","type":"bridge","ipam":)" + ipam + more + "}";
}

const std::string kHostLocal = with(
    R"({"type":"host-local","ranges":[[{"subnet":"10.1.0.0/29"}],[{"subnet":"fd00::/64"}]],
        "routes":[{"dst":"0.0.0.0/0"},{"dst":"192.168.0.0/16","gw":"10.1.0.9"}]})");
const std::string kWhereabouts = with(R"({"type":"whereabouts","range":"10.2.0.0/29","gateway":"10.2.0.1"})");

TEST(IpamRequest, HostLocalAnswersAsTheOriginalDoes) {
  IpamRig rig;
  const std::string expected = "10.1.0.2/29@10.1.0.1 fd00::2/64@fd00::1 0.0.0.0/0> 192.168.0.0/16>10.1.0.9 ";
  EXPECT_EQ(rig.add("host-local", kHostLocal), expected);
  EXPECT_EQ(rig.add("host-local", kHostLocal), expected);
  EXPECT_EQ(rig.disk.files().at("/var/lib/cni/networks/lan/10.1.0.2"), "c1\r\neth0");
  EXPECT_EQ(rig.add("host-local", kHostLocal, "c2").substr(0, 11), "10.1.0.3/29");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "host-local", kHostLocal), "done");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "host-local", kHostLocal, "c3"),
            "100: network lan: no address is recorded for container c3, interface eth0");
  EXPECT_EQ(rig.del("host-local", kHostLocal), "done");
  EXPECT_EQ(rig.del("host-local", kHostLocal), "done");
  EXPECT_EQ(rig.leases(), 2u);
  EXPECT_FALSE(rig.disk.files().contains("/var/lib/cni/networks/lan/10.1.0.2"));
  EXPECT_EQ(rig.ask(cni::Command::kStatus, "host-local", kHostLocal), "done");
}

TEST(IpamRequest, PhasesAreCounted) {
  IpamRig rig;
  rig.add("whereabouts", kWhereabouts);
  EXPECT_EQ(rig.counted(Phase::kWait, "whereabouts"), 1);
  EXPECT_EQ(rig.counted(Phase::kAddresses, "whereabouts"), 1);
  rig.add("dhcp", with(R"({"type":"dhcp"})"));  // fails: the namespace does not exist
  EXPECT_EQ(rig.counted(Phase::kLease, "dhcp"), 1);
}

TEST(IpamRequest, DelFreesWhatWhereaboutsGaveTheContainerBeforeTheSwitch) {
  IpamRig rig;
  rig.kernel.put_file(
      "/pools/a.json",
      R"({"apiVersion":"whereabouts.cni.cncf.io/v1alpha1","kind":"IPPool","metadata":{"name":"10.2.0.0-29"},)"
      R"("spec":{"range":"10.2.0.0/29","allocations":{"2":{"id":"old","podref":"ns/p","ifname":"eth0"}}}})");
  auto pools = pools_in_directory(rig.kernel.files(), "/pools");
  {
    auto turn = rig.engine.turn(milliseconds(0));
    ASSERT_TRUE(adopt(*turn, *pools, rig.disk));
  }
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts), "10.2.0.3/29@10.2.0.1 ");
  EXPECT_EQ(rig.del("whereabouts", kWhereabouts, "old"), "done");
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "c2"), "10.2.0.2/29@10.2.0.1 ");
}

TEST(IpamRequest, WhatTheOriginalGaveIsGivenBack) {
  IpamRig rig;
  const std::string dir = "/data/lan";
  const std::string config = with(R"({"type":"host-local","subnet":"10.1.0.0/29","dataDir":"/data"})");
  ASSERT_TRUE(rig.disk.make_directories(dir, 0755).has_value());
  rig.disk.put(dir + "/10.1.0.2", "old\r\neth0");
  rig.disk.put(dir + "/10.1.0.3", "old\r\neth1");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "host-local", config, "old"), "done");
  EXPECT_EQ(rig.add("host-local", config), "10.1.0.4/29@10.1.0.1 ");
  EXPECT_EQ(rig.del("host-local", config, "old"), "done");
  EXPECT_FALSE(rig.disk.files().contains(dir + "/10.1.0.2"));
  EXPECT_TRUE(rig.disk.files().contains(dir + "/10.1.0.3"));
  EXPECT_EQ(rig.add("host-local", config, "c2"), "10.1.0.2/29@10.1.0.1 ");
}

TEST(IpamRequest, RequestsChangeTheConfigurationAsTheOriginalsDo) {
  IpamRig rig;
  const std::string both = R"(,"args":{"cni":{"ips":["10.1.0.4"]}},"runtimeConfig":{"ips":["10.1.0.4","fd00::7"]})";
  std::string asked = kHostLocal.substr(0, kHostLocal.size() - 1) + both + "}";
  EXPECT_EQ(rig.add("host-local", asked).substr(0, 41), "10.1.0.4/29@10.1.0.1 fd00::7/64@fd00::1 0");
  EXPECT_EQ(rig.add("host-local", kHostLocal, "c2", {{"IP", "10.1.0.6"}}).substr(0, 11), "10.1.0.6/29");
  const std::string ranges = R"(,"runtimeConfig":{"ipRanges":[[{"subnet":"10.9.0.0/29"}]]})";
  EXPECT_EQ(rig.add("host-local", with(R"({"type":"host-local","subnet":"10.8.0.0/29"})", ranges), "c3"),
            "10.9.0.2/29@10.9.0.1 10.8.0.2/29@10.8.0.1 ");
  EXPECT_EQ(rig.add("host-local", with(R"({"type":"host-local"})", ranges), "c4"), "10.9.0.3/29@10.9.0.1 ");

  const std::string fixed = R"({"type":"static","addresses":[{"address":"10.3.0.5/24","gateway":"10.3.0.1"}],
      "dns":{"nameservers":["1.1.1.1"],"search":["a.org"]}})";
  EXPECT_EQ(rig.add("static", with(fixed)), "10.3.0.5/24@10.3.0.1 dns 1.1.1.1 search a.org ");
  EXPECT_EQ(
      rig.add("static", with(fixed), "c2", {{"IP", "10.4.0.5/24, fd01::5/64,10.4.1.5/24"}, {"GATEWAY", "10.4.0.1"}}),
      "10.3.0.5/24@10.3.0.1 10.4.0.5/24@10.4.0.1 fd01::5/64@ 10.4.1.5/24@ dns 1.1.1.1 search a.org ");
  EXPECT_EQ(rig.add("static", with(fixed, R"(,"args":{"cni":{"ips":["10.5.0.5/24"]}})"), "c3"),
            "10.5.0.5/24@ dns 1.1.1.1 search a.org ");
  EXPECT_EQ(rig.add("static",
                    with(fixed, R"(,"args":{"cni":{"ips":["10.5.0.5/24"]}},"runtimeConfig":{"ips":["10.6.0.5/24"]})")),
            "10.6.0.5/24@ dns 1.1.1.1 search a.org ");
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "c5", {{"IP", "10.7.0.5/24"}}), "10.2.0.2/29@10.2.0.1 10.7.0.5/24@ ");
}

TEST(IpamRequest, CheckOfStaticLooksAtWhatIsThere) {
  IpamRig rig;
  const std::string fixed = R"({"type":"static","addresses":[{"address":"10.3.0.5/24"}]})";
  auto config = [&](const char* address) {
    return with(fixed, fmt::format(R"(,"prevResult":{{"cniVersion":"1.0.0","ips":[{{"address":"{}"}}]}})", address));
  };
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "static", config("10.3.0.5/24")), "done");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "static", config("10.3.0.6/24")),
            "100: network lan: address 10.3.0.5/24 is no longer on interface eth0");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "static", with(fixed)), "7: CHECK requires prevResult");
}

TEST(IpamRequest, SaysWhatIsWrong) {
  IpamRig rig;
  EXPECT_EQ(rig.add("static", kHostLocal), "7: network lan has ipam type \"host-local\", but \"static\" was called");
  EXPECT_THAT(rig.add("whereabouts", with(R"({"type":"whereabouts","range":"10.2.0.0/99"})")),
              testing::HasSubstr("network lan: its ipam block is wrong: "));
  EXPECT_THAT(rig.add("host-local", kHostLocal, "c1", {{"IP", "10.99.0.1"}}),
              testing::HasSubstr("the requested address 10.99.0.1 cannot be given from"));
  EXPECT_THAT(rig.add("static", with(R"({"type":"static"})", R"(,"runtimeConfig":{"ips":"10.0.0.1/8"})")),
              testing::HasSubstr("runtimeConfig.ips must be a list of addresses"));
  // The failed request leaves nothing behind.
  EXPECT_EQ(rig.leases(), 0u);
  EXPECT_TRUE(rig.store->notes(kRequestNotes)->empty());
}

TEST(IpamRequest, AFailureOfASecondAddKeepsTheFirst) {
  IpamRig rig;
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts), "10.2.0.2/29@10.2.0.1 ");
  EXPECT_THAT(rig.add("whereabouts", kWhereabouts, "c1", {{"IP", "nonsense"}}), testing::HasSubstr("CNI_ARGS IP"));
  EXPECT_EQ(rig.leases(), 1u);
  EXPECT_EQ(rig.add("host-local", kHostLocal, "c3").substr(0, 11), "10.1.0.2/29");
  EXPECT_THAT(rig.add("host-local", kHostLocal, "c3", {{"IP", "10.99.0.1"}}), testing::HasSubstr("cannot be given"));
  EXPECT_TRUE(rig.disk.files().contains("/var/lib/cni/networks/lan/10.1.0.2"));
}

TEST(IpamRequest, DelNeedsNoPodName) {
  IpamRig rig;
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "c1", {{"K8S_POD_NAMESPACE", "default"}, {"K8S_POD_NAME", "a"}}),
            "10.2.0.2/29@10.2.0.1 ");
  EXPECT_EQ(rig.store->all_leases()->front().pod, "default/a@c1");
  EXPECT_EQ(rig.ask(cni::Command::kCheck, "whereabouts", kWhereabouts), "done");
  EXPECT_EQ(rig.del("whereabouts", kWhereabouts), "done");
  EXPECT_EQ(rig.leases(), 0u);
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "c2"), "10.2.0.2/29@10.2.0.1 ");
}

TEST(IpamRequest, GcFreesWhatIsNotValidInThisNetworkOnly) {
  IpamRig rig;
  auto named = [](std::string config, const std::string& name) {
    return config.replace(config.find("\"lan\""), 5, "\"" + name + "\"");
  };
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "stays"), "10.2.0.2/29@10.2.0.1 ");
  EXPECT_EQ(rig.add("whereabouts", kWhereabouts, "goes"), "10.2.0.3/29@10.2.0.1 ");
  EXPECT_EQ(rig.add("whereabouts", named(kWhereabouts, "other"), "elsewhere"), "10.2.0.4/29@10.2.0.1 ");
  EXPECT_THAT(rig.ask(cni::Command::kGc, "whereabouts", kWhereabouts), testing::HasSubstr("valid-attachments"));
  const std::string list = R"(,"cni.dev/valid-attachments":[{"containerID":"stays","ifname":"eth0"}]})";
  EXPECT_EQ(rig.ask(cni::Command::kGc, "whereabouts", kWhereabouts.substr(0, kWhereabouts.size() - 1) + list, ""),
            "done");
  std::vector<std::string> left;
  std::vector<state::AddressLease> leases = *rig.store->all_leases();
  for (const state::AddressLease& one : leases) left.push_back(one.pod);
  EXPECT_EQ(left, (std::vector<std::string>{"@stays", "@elsewhere"}));

  ASSERT_TRUE(rig.disk.make_directories("/var/lib/cni/networks/lan", 0755).has_value());
  rig.disk.put("/var/lib/cni/networks/lan/10.1.0.2", "old\r\neth0");
  rig.disk.put("/var/lib/cni/networks/lan/10.1.0.3", "stays\r\neth0");
  EXPECT_EQ(rig.add("host-local", kHostLocal, "goes").substr(0, 11), "10.1.0.4/29");
  EXPECT_EQ(rig.ask(cni::Command::kGc, "host-local", kHostLocal.substr(0, kHostLocal.size() - 1) + list, ""), "done");
  EXPECT_FALSE(rig.disk.files().contains("/var/lib/cni/networks/lan/10.1.0.2"));
  EXPECT_TRUE(rig.disk.files().contains("/var/lib/cni/networks/lan/10.1.0.3"));
  EXPECT_FALSE(rig.disk.files().contains("/var/lib/cni/networks/lan/10.1.0.4"));
}

TEST(Addresses, AnInterfaceThatIsAttachedKeepsItsAddress) {
  IpamRig rig;
  Engine::Turn turn = std::move(*rig.engine.turn(milliseconds(0)));
  AddressRequest request{.network = "lan", .owner = {"default/a@c1", "net1"}};
  request.ipam = cni::read_plugin_config(kHostLocal)->object.find("ipam")[0];
  auto addresses = addresses_for(turn, rig.host_local, request);
  ASSERT_TRUE(addresses.has_value()) << addresses.error().to_string();
  EXPECT_FALSE(addresses->dhcp);
  ASSERT_TRUE(rig.store->put_attachment({.pod = "default/a@c1", .interface = "net1"}).has_value());
  ASSERT_TRUE(release_addresses(turn, rig.host_local, {request.owner}).has_value());
  EXPECT_EQ(rig.leases(), 2u);
  ASSERT_TRUE(rig.store->forget_attachment("default/a@c1", "net1").has_value());
  ASSERT_TRUE(release_addresses(turn, rig.host_local, {request.owner}).has_value());
  EXPECT_EQ(rig.leases(), 0u);
  request.ipam = doc::Value();
  EXPECT_TRUE(addresses_for(turn, rig.host_local, request)->assigned.empty());
  request.ipam = doc::Value::object();
  request.ipam.set("type", "dhcp");
  EXPECT_TRUE(addresses_for(turn, rig.host_local, request)->dhcp);
}

TEST(ResolvConf, IsReadAsTheOriginalReadsIt) {
  cni::Dns dns = read_resolv_conf(
      "# comment\n; another\nnameserver 10.0.0.1 extra\n nameserver fd00::1\ndomain example.org\n"
      "search a.org b.org\nsearch c.org\noptions ndots:5 rotate\nnameserver\nsortlist 1\n");
  EXPECT_EQ(dns, (cni::Dns{.nameservers = {"10.0.0.1", "fd00::1"},
                           .domain = "example.org",
                           .search = {"a.org", "b.org", "c.org"},
                           .options = {"ndots:5", "rotate"}}));
  EXPECT_TRUE(read_resolv_conf("").empty());
}

constexpr const char* kRefused =
    "101: network lan: other nodes may allocate addresses of its whereabouts range, too: {}, and this agent does not "
    "use the API server";

// What would say that other nodes use the range, in the configuration or on the machine.
TEST(IpamRequest, RefusesARangeThatOtherNodesMayUse) {
  struct Case {
    const char* members;
    const char* file;
    const char* sign;
  };
  for (const Case& one : {
           Case{R"(,"node_slice_size":"/26")", "", "node_slice_size divides it among the nodes of a cluster"},
           Case{R"(,"kubernetes":{"kubeconfig":"/etc/cni/net.d/w.kubeconfig"})", "",
                "its configuration names a kubeconfig (/etc/cni/net.d/w.kubeconfig)"},
           Case{"", "/var/lib/kubelet/pods/x", "this machine is a node of a cluster (/var/lib/kubelet/pods is there)"},
           Case{"", "/var/lib/kubelet/config.yaml",
                "this machine is a node of a cluster (/var/lib/kubelet/config.yaml is there)"},
           Case{"", "/etc/kubernetes/kubelet.conf",
                "this machine is a node of a cluster (/etc/kubernetes/kubelet.conf is there)"},
       }) {
    SCOPED_TRACE(one.sign);
    const IpRange own{*IpAddress::parse("10.2.0.4"), *IpAddress::parse("10.2.0.5")};
    const std::string config = with(fmt::format(R"({{"type":"whereabouts","range":"10.2.0.0/29"{}}})", one.members));
    IpamRig rig;
    if (*one.file != 0) rig.kernel.put_file(one.file, "");
    const std::string refused = fmt::format(fmt::runtime(kRefused), one.sign);
    EXPECT_EQ(rig.add("whereabouts", config), refused);
    EXPECT_EQ(rig.ask(cni::Command::kStatus, "whereabouts", config), "50" + refused.substr(3));
    EXPECT_EQ(rig.leases(), 0U);
    // What is each node's own is given as ever.
    EXPECT_EQ(rig.add("host-local", kHostLocal).substr(0, 11), "10.1.0.2/29");
    EXPECT_EQ(rig.ask(cni::Command::kStatus, "host-local", kHostLocal), "done");
    // The table of blocks says which part of the range is this node's.
    ASSERT_TRUE(rig.store->put_block({"whereabouts", own}).has_value());
    EXPECT_THAT(rig.add("whereabouts", config), testing::HasSubstr("/29@"));
    EXPECT_EQ(rig.ask(cni::Command::kStatus, "whereabouts", config), "done");
  }
}

TEST(IpamRequest, GivesAWholeRangeWhereNoOtherNodeUsesIt) {
  const std::string config = with(R"({"type":"whereabouts","range":"10.2.0.0/29","node_slice_size":"/30"})");
  IpamRig rig;
  rig.kernel.put_file("/var/lib/kubelet/config.yaml", "");
  Engine alone(rig.kernel, *rig.store, *rig.blocks, rig.durable, OtherNodes::kNone);
  Dhcp dhcp(alone, rig.packets);
  Backends backends{{alone, rig.metrics}, dhcp, rig.host_local, rig.meta.statuses()};
  cni::Request request{
      .command = cni::Command::kAdd, .type = "whereabouts", .container_id = "c1", .ifname = "eth0", .config = config};
  auto parsed = cni::read_plugin_config(config);
  auto answer = ipam_request(backends, request, *parsed);
  ASSERT_TRUE(answer.has_value()) << answer.error().story();
  EXPECT_THAT(*answer, testing::HasSubstr("10.2.0.1/29"));
}

}  // namespace
}  // namespace railbed::agent
