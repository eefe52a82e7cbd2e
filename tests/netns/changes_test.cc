// SPDX-License-Identifier: Apache-2.0
// Chained plugins as separate requests, CHECK, and DEL of what the originals attached, on the real kernel and on the
// fake one.
#include <algorithm>

#include <gmock/gmock.h>

#include "attach/attach.h"
#include "attach/namespaces.h"
#include "attach/test_networks.h"
#include "scratch.h"

namespace railbed::attach {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

class ChangesTest : public ContractTest {
 protected:
  os::Deadline soon() { return kernel_->clock().now() + std::chrono::seconds(60); }
  Result<PodReport> attach(InterfaceRequest interface) {
    return attach_with_addresses(*kernel_, *store_,
                                 {.pod = "default/a@c1",
                                  .netns_path = "/run/netns/pod",
                                  .interfaces = {std::move(interface)},
                                  .others_stay = true},
                                 soon());
  }
  Result<DetachReport> detach(const std::string& record) {
    return detach_interface(*kernel_, *store_, "default/a@c1", record, soon());
  }
  std::string check(const std::string& record) {
    return message(check_interface(*kernel_, *store_, "default/a@c1", record, soon()));
  }
  // Links, addresses, routes of every table and rules of the pod, without those that the kernel adds by itself.
  std::vector<std::string> pod_state() {
    std::vector<std::string> lines;
    std::map<int, std::string> names;
    auto links = inside_->list(os::WithVfs::kNo);
    for (const os::Link& one : *links) {
      names[one.index.value] = one.name.value;
      if (one.name.value == "lo") continue;
      lines.push_back(fmt::format("{} {} mtu {} {} {}{}{} queue {}{}", one.name, one.kind, one.mtu,
                                  one.up ? "up" : "down", fmt::join(one.hw_address, ":"),
                                  one.promiscuous ? " promisc" : "", one.all_multicast ? " allmulti" : "", one.tx_queue,
                                  one.master ? " port" : ""));
    }
    auto addresses = inside_->addresses();
    for (const os::LinkAddress& one : *addresses)
      if (names[one.link.value] != "lo" && !one.prefix.to_string().starts_with("fe80"))
        lines.push_back(fmt::format("{} {}", names[one.link.value], one.prefix));
    auto routes = inside_->all_routes();
    for (const std::string& line : routes_in(*routes)) lines.push_back(line);
    auto rules = inside_->rules();
    for (const os::Rule& rule : *rules) lines.push_back(fmt::format("from {} table {}", rule.source, rule.table));
    std::ranges::sort(lines);
    return lines;
  }
  static std::vector<std::string> routes_in(const std::vector<Route>& routes) {
    std::vector<std::string> lines;
    for (const Route& one : routes) {
      std::string to = one.is_default() ? "default" : one.destination.to_string();
      if (to.starts_with("fe80") || to.starts_with("ff00")) continue;
      lines.push_back(fmt::format("route {}{}{}", to, one.gateway.has_value() ? " via " + one.gateway->to_string() : "",
                                  one.table.has_value() ? fmt::format(" table {}", *one.table) : ""));
    }
    return lines;
  }
  void make_master() {
    make_veth("v0", "v1");
    for (const char* name : {"v0", "v1"}) ASSERT_EQ(message(host_->change(link(*host_, name).index, {.up = true})), "");
  }
  static cni::AddResult previous() {
    cni::AddResult result;
    result.interfaces = {{.name = "net1", .sandbox = "/run/netns/pod"}};
    result.addresses = {{*IpPrefix::parse("10.5.0.2/24"), *IpAddress::parse("10.5.0.1"), 0},
                        {*IpPrefix::parse("fd05::2/64"), *IpAddress::parse("fd05::1"), 0}};
    return result;
  }
  std::unique_ptr<state::Store> store_ = state::memory_store();
};

INSTANTIATE_TEST_SUITE_P(Kernels, ChangesTest, testing::Values(On::kReal, On::kFake),
                         [](const auto& param) { return param.param == On::kReal ? "real" : "fake"; });

constexpr const char* kMacvlan = R"({"type":"macvlan","master":"v0","bcqueuelen":2000,"ipam":{"type":"static",
    "addresses":[{"address":"10.5.0.2/24","gateway":"10.5.0.1"},{"address":"fd05::2/64","gateway":"fd05::1"}],
    "routes":[{"dst":"10.77.0.0/16"},{"dst":"0.0.0.0/0"}]}})";

TEST_P(ChangesTest, TuningIsPutBack) {
  make_master();
  ASSERT_EQ(message(attach(wanted("net1", {kMacvlan}))), "");
  std::vector<std::string> before = pod_state();
  std::string filter = *kernel_->netns().sysctl(*pod_, "net/ipv4/conf/net1/arp_filter");
  auto report = attach(chained("net1", R"({"type":"tuning","mtu":1300,"mac":"02:00:00:00:00:99","promisc":true,
      "allmulti":true,"txQLen":77,"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1"}})"));
  ASSERT_EQ(message(report), "");
  os::Link net1 = link(*inside_, "net1");
  EXPECT_EQ(net1.mtu, 1300);
  EXPECT_EQ(net1.mac()->to_string(), "02:00:00:00:00:99");
  EXPECT_EQ(report->interfaces.at(0).mac, "02:00:00:00:00:99");
  EXPECT_EQ(report->interfaces.at(0).mtu, 1300);
  EXPECT_TRUE(net1.promiscuous && net1.all_multicast);
  EXPECT_EQ(net1.tx_queue, 77);
  EXPECT_EQ(*kernel_->netns().sysctl(*pod_, "net/ipv4/conf/net1/arp_filter"), "1");
  EXPECT_EQ(check("net1"), "");
  EXPECT_EQ(check("net1/tuning"), "");

  ASSERT_EQ(message(inside_->change(net1.index, {.promiscuous = false})), "");
  EXPECT_THAT(check("net1/tuning"), HasSubstr("its promiscuous mode is false, not true"));
  ASSERT_EQ(message(detach("net1/tuning")), "");
  EXPECT_EQ(pod_state(), before);
  EXPECT_EQ(*kernel_->netns().sysctl(*pod_, "net/ipv4/conf/net1/arp_filter"), filter);
  EXPECT_EQ(message(detach("net1/tuning")), "");
  EXPECT_THAT(check("net1/tuning"), HasSubstr("unknown to railbed"));
  ASSERT_EQ(message(detach("net1")), "");
  EXPECT_TRUE(store_->attachments()->empty());
}

TEST_P(ChangesTest, SourceRoutingAsARequestOfItsOwn) {
  make_master();
  ASSERT_EQ(message(attach(wanted("net1", {kMacvlan}))), "");
  std::vector<std::string> before = pod_state();
  InterfaceRequest sbr = chained("net1", R"({"type":"sbr"})");
  sbr.previous = previous();
  auto report = attach(sbr);
  if (!report.has_value() && report.error().code == Code::kUnsupported) GTEST_SKIP() << message(report);
  ASSERT_EQ(message(report), "");
  std::vector<std::string> now = pod_state();
  EXPECT_THAT(now,
              IsSupersetOf({"from 10.5.0.2/32 table 100", "from fd05::2/128 table 101", "route 10.5.0.0/24 table 100",
                            "route 10.77.0.0/16 via 10.5.0.1 table 100", "route default via 10.5.0.1 table 100",
                            "route fd05::/64 table 101", "route default via fd05::1 table 101"}));
  EXPECT_EQ(std::ranges::count(now, "route 10.5.0.0/24"), 0);
  EXPECT_EQ(std::ranges::count(now, "route default via 10.5.0.1"), 0);
  EXPECT_EQ(check("net1/sbr"), "");
  ASSERT_EQ(message(detach("net1/sbr")), "");
  EXPECT_EQ(pod_state(), before);
}

TEST_P(ChangesTest, SourceRoutingOfAPodThatHasLostItsAddresses) {
  make_master();
  ASSERT_EQ(message(attach(wanted("net1", {kMacvlan}))), "");
  InterfaceRequest sbr = chained("net1", R"({"type":"sbr"})");
  sbr.previous = previous();
  auto report = attach(sbr);
  if (!report.has_value() && report.error().code == Code::kUnsupported) GTEST_SKIP() << message(report);
  ASSERT_EQ(message(report), "");
  IfIndex net1 = link(*inside_, "net1").index;
  for (const char* one : {"10.5.0.2/24", "fd05::2/64"})
    ASSERT_EQ(message(inside_->remove_address({net1, *IpPrefix::parse(one)})), "");
  EXPECT_EQ(message(detach("net1/sbr")), "");
  EXPECT_EQ(message(detach("net1")), "");
  EXPECT_TRUE(store_->attachments()->empty());
}

TEST_P(ChangesTest, SourceRoutingInAList) {
  make_master();
  auto report = attach(wanted("net1", {kMacvlan, R"({"type":"sbr","table":77,"addSourceHints":true})"}));
  if (!report.has_value() && report.error().code == Code::kUnsupported) GTEST_SKIP() << message(report);
  ASSERT_EQ(message(report), "");
  EXPECT_THAT(pod_state(), IsSupersetOf({"from 10.5.0.2/32 table 77", "from fd05::2/128 table 77",
                                         "route default via 10.5.0.1 table 77", "route fd05::/64 table 77"}));
  EXPECT_EQ(std::ranges::count(pod_state(), "route 10.5.0.0/24"), 0);
  EXPECT_EQ(check("net1"), "");
  ASSERT_EQ(message(detach("net1")), "");
  EXPECT_THAT(pod_state(), ElementsAre());
}

TEST_P(ChangesTest, AVrfInAListAndAsARequestOfItsOwn) {
  make_master();
  auto report = attach(wanted("net1", {kMacvlan, R"({"type":"vrf","vrfname":"blue","table":1005})"}));
  if (!report.has_value() && report.error().code == Code::kUnsupported)
    GTEST_SKIP() << "this kernel has no vrf: " << message(report);
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(link(*inside_, "net1").master, link(*inside_, "blue").index);
  EXPECT_THAT(pod_state(), testing::Contains("route 10.77.0.0/16 via 10.5.0.1 table 1005"));
  EXPECT_EQ(check("net1"), "");
  ASSERT_EQ(message(detach("net1")), "");
  EXPECT_THAT(pod_state(), ElementsAre());

  ASSERT_EQ(message(attach(wanted("net1", {kMacvlan}))), "");
  std::vector<std::string> before = pod_state();
  ASSERT_EQ(message(attach(chained("net1", R"({"type":"vrf","vrfname":"blue"})"))), "");
  EXPECT_EQ(link(*inside_, "blue").vrf_table, 1);
  EXPECT_THAT(pod_state(), IsSupersetOf({"net1 fd05::2/64", "route 10.77.0.0/16 via 10.5.0.1 table 1"}));
  ASSERT_EQ(message(detach("net1/vrf")), "");
  EXPECT_EQ(pod_state(), before);
}

TEST_P(ChangesTest, AMasterOfThePod) {
  make_master();
  ASSERT_EQ(message(host_->change(link(*host_, "v0").index, {.name = IfName{"in0"}, .netns = pod_.get()})), "");
  auto report = attach(wanted("net1", {R"({"type":"macvlan","master":"in0","linkInContainer":true,"mode":"bridge"})"}));
  ASSERT_EQ(message(report), "");
  EXPECT_EQ(link(*inside_, "net1").parent, link(*inside_, "in0").index);
  EXPECT_THAT(message(attach(wanted("net2", {R"({"type":"macvlan","master":"in0","linkInContainer":true,
                  "mtu":9000})"}))),
              HasSubstr("its MTU 9000 exceeds the 1500 of its master in0"));
  ASSERT_EQ(message(detach("net1")), "");
  EXPECT_FALSE(has(*inside_, "net1"));
}

// The record's path leads to another namespace by now: nothing in that one belongs to railbed.
TEST_P(ChangesTest, AReusedPathIsAnotherNamespace) {
  make_master();
  ASSERT_EQ(message(attach(wanted("net1", {R"({"type":"macvlan","master":"v0"})"}))), "");
  const std::optional<os::Nsid> ended = netns_ref_of(store_->attachments()->front()).nsid;
  inside_.reset();
  pod_.reset();
  ASSERT_EQ(message(kernel_->netns().remove("pod")), "");
  ASSERT_EQ(message(kernel_->netns().create("pod")), "");
  pod_ = std::move(*kernel_->netns().open("/run/netns/pod"));
  inside_ = std::move(*kernel_->netns().links(*pod_));
  ASSERT_EQ(message(host_->create(
                {.kind = "macvlan", .name = IfName{"net1"}, .netns = pod_.get(), .parent = link(*host_, "v0").index})),
            "");
  EXPECT_THAT(check("net1"), HasSubstr("is another network namespace now"));
  wait_for_end(ended);
  auto recovered = recover(*kernel_, *store_, soon());
  ASSERT_EQ(message(recovered), "");
  EXPECT_THAT(recovered->finished, ElementsAre("default/a@c1 net1"));
  EXPECT_TRUE(has(*inside_, "net1"));
  EXPECT_TRUE(store_->attachments()->empty());
}

TEST_P(ChangesTest, DetachesWhatTheOriginalsMade) {
  make_master();
  make_veth("w0", "w1");
  IfIndex v0 = link(*host_, "v0").index;
  ASSERT_EQ(message(host_->create({.kind = "macvlan", .name = IfName{"net1"}, .netns = pod_.get(), .parent = v0})), "");
  IfIndex w0 = link(*host_, "w0").index;
  ASSERT_EQ(message(host_->change(w0, {.name = IfName{"net2"}, .netns = pod_.get(), .alias = "w0"})), "");
  auto foreign = [&](const char* type, const char* name) {
    return detach_foreign(*kernel_,
                          {.type = type,
                           .container_id = "c1",
                           .name = IfName{name},
                           .netns_path = "/run/netns/pod",
                           .config = json("{}")},
                          soon());
  };
  EXPECT_EQ(foreign("ipvlan", "net1")->detached, 0);  // net1 is no ipvlan
  EXPECT_EQ(foreign("macvlan", "net1")->detached, 1);
  EXPECT_EQ(foreign("macvlan", "net1")->detached, 0);
  EXPECT_FALSE(has(*inside_, "net1"));
  EXPECT_EQ(foreign("host-device", "net2")->detached, 1);
  EXPECT_TRUE(has(*host_, "w0"));
  EXPECT_EQ(foreign("host-device", "net2")->detached, 0);
}

}  // namespace
}  // namespace railbed::attach
