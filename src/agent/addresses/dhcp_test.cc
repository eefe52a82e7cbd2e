// SPDX-License-Identifier: Apache-2.0
// The client against a server of a few lines, on a clock that advances only in waits.
#include "agent/addresses/dhcp.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/dhcp_lease.h"
#include "agent/test_waits.h"
#include "ipam/dhcp_packet.h"
#include "os/fake/disk.h"
#include "os/fake/kernel.h"
#include "os/fake/packets.h"

namespace railbed::agent {
namespace {

using namespace std::string_literals;
using ipam::DhcpPacket;
using ipam::DhcpType;
using std::chrono::milliseconds;
using std::chrono::seconds;

const MacAddress kServerMac{{2, 0, 0, 0, 0, 9}};
const std::string kNetns = "/run/netns/pod";

class DhcpServer {
 public:
  std::vector<os::UdpPacket> answer(const os::UdpPacket& sent, MacAddress to) {
    DhcpPacket packet = *ipam::read_dhcp(sent.payload);
    DhcpType type = *packet.type();
    heard.push_back(type);
    last = sent;
    last_to = to;
    last_packet = packet;
    if (silent > 0) {
      --silent;
      return {};
    }
    if (type == DhcpType::kRelease) return {};
    DhcpType kind = type == DhcpType::kDiscover ? DhcpType::kOffer : refuse ? DhcpType::kNak : DhcpType::kAck;
    DhcpPacket reply{.from_server = true, .exchange = packet.exchange, .yours = address, .mac = packet.mac};
    reply.options = options;
    reply.options[53] = std::string(1, static_cast<char>(kind));
    if (kind == DhcpType::kNak) reply.options[56] = "not\nyours";
    os::UdpPacket udp{.source = IpAddress::from_v4(0x0a000002), .source_port = 67, .destination_port = 68};
    udp.source_mac = kServerMac;
    // Packets of other exchanges and for other interfaces arrive first, and must be ignored.
    DhcpPacket other = reply;
    other.exchange ^= 1;
    other.yours = IpAddress::from_v4(0x0a000063);
    DhcpPacket stranger = reply;
    stranger.mac = kServerMac;
    std::vector<os::UdpPacket> packets;
    for (const DhcpPacket& one : {other, stranger, packet, reply}) {
      packets.push_back(udp);
      packets.back().payload = ipam::to_bytes(one);
    }
    packets.insert(packets.begin(), udp);  // and one that is no DHCP packet at all
    return packets;
  }

  std::map<uint8_t, std::string> options{{1, "\xff\xff\xff\0"s},
                                         {3, "\x0a\0\0\1"s},
                                         {54, "\x0a\0\0\2"s},
                                         {51, "\0\0\x03\xe8"s}};  // 1000 s: T1 500 s, T2 875 s
  IpAddress address = IpAddress::from_v4(0x0a000009);
  int silent = 0;
  bool refuse = false;
  std::vector<DhcpType> heard;
  os::UdpPacket last;
  DhcpPacket last_packet;
  MacAddress last_to;
};

struct DhcpRig {
  DhcpRig() {
    EXPECT_TRUE(kernel.netns().create("pod").has_value());
    pod = *kernel.netns().open(kNetns);
    auto host = *kernel.links();
    EXPECT_TRUE(host->create({.kind = "dummy", .name = IfName{"net1"}, .netns = pod.get()}).has_value() ||
                host->create({.kind = "macvlan",
                              .name = IfName{"net1"},
                              .netns = pod.get(),
                              .parent = host->find(IfName{"eth0"}, os::WithVfs::kNo)->index})
                    .has_value());
    packets.on_send([this](const os::UdpPacket& sent, MacAddress to) { return server.answer(sent, to); });
    restart();
  }
  void restart() {
    engine = std::make_unique<Engine>(kernel, *store, *blocks, records);
    dhcp = std::make_unique<Dhcp>(*engine, packets);
    EXPECT_TRUE(dhcp->restore().has_value());
  }
  Result<cni::AddResult> acquire(doc::Value ipam = doc::Value::object(), seconds wait = seconds(30)) {
    return dhcp->acquire({.owner = owner,
                          .container_id = "c1",
                          .network = "lan",
                          .netns_path = kNetns,
                          .ipam = std::move(ipam),
                          .cni_args = {{"K8S_POD_NAME", "a"}}},
                         kernel.clock().now() + wait);
  }
  void pass(seconds time) { kernel.clock().wait_until(kernel.clock().now() + time); }
  bool is_up() {
    auto inside = *kernel.netns().links(*pod);
    return inside->find(IfName{"net1"}, os::WithVfs::kNo)->up;
  }
  size_t notes() { return store->notes(kLeaseNotes)->size(); }

  os::FakeKernel kernel;
  std::unique_ptr<os::Netns> pod;
  std::unique_ptr<state::Store> store = state::memory_store();
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  os::FakeDisk disk;
  DurableRecords records{disk, kDurableRecords, kernel.boot_id()};
  os::FakePackets packets{kernel.clock()};
  DhcpServer server;
  ipam::Owner owner{"default/a@c1", "net1"};
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Dhcp> dhcp;
};

using Types = std::vector<DhcpType>;

TEST(Dhcp, TakesWhatTheServerGives) {
  DhcpRig rig;
  auto result = rig.acquire();
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  ASSERT_EQ(result->addresses.size(), 1u);
  EXPECT_EQ(result->addresses[0].address.to_string(), "10.0.0.9/24");
  EXPECT_EQ(result->addresses[0].gateway->to_string(), "10.0.0.1");
  EXPECT_TRUE(result->routes.empty()) << "the server's router is no default route of a further network";
  EXPECT_EQ(
      rig.dhcp->take_dropped(),
      (std::vector<std::pair<ipam::Owner, std::string>>{
          {rig.owner, "DHCP server 10.0.0.2 offered routes that are not inside ipam.routes; dropped: 0.0.0.0/0"}}));
  EXPECT_TRUE(rig.is_up());
  EXPECT_EQ(rig.server.heard, (Types{DhcpType::kDiscover, DhcpType::kRequest}));
  EXPECT_EQ(rig.server.last_packet.options.at(61), "\0c1/lan/net1"s);
  EXPECT_EQ(rig.server.last_packet.options.at(55), "\3\1"s);
  EXPECT_EQ(rig.notes(), 1u);
  EXPECT_EQ(rig.packets.sockets(), 0);
  EXPECT_TRUE(rig.dhcp->check(rig.owner).has_value());
  // A second call answers without asking the server.
  EXPECT_EQ(*rig.acquire(), *result);
  EXPECT_EQ(rig.server.heard.size(), 2u);
}

// Who answers first on a rail must not get the pod's services, nor the halves of everything.
TEST(Dhcp, TakesOnlyRoutesInsideThoseThatTheNetworkLists) {
  const auto route = [](const char* destination) { return Route{.destination = *IpPrefix::parse(destination)}; };
  ipam::DhcpLease lease;
  for (const char* offered : {"10.96.0.0/12", "0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/0", "172.16.5.0/24", "172.16.0.0/16",
                              "172.0.0.0/8", "10.97.0.1/32"})
    lease.routes.push_back(route(offered));
  struct Case {
    const char* interface;
    std::vector<const char*> listed;
    const char* taken;
  };
  const Case cases[] = {
      {"net1", {}, ""},
      {"net1", {"172.16.0.0/12"}, "172.16.5.0/24 172.16.0.0/16"},
      {"net1", {"172.16.5.0/24"}, "172.16.5.0/24"},
      {"net1", {"0.0.0.0/0"}, "10.96.0.0/12 0.0.0.0/0 172.16.5.0/24 172.16.0.0/16 172.0.0.0/8 10.97.0.1/32"},
      {"net1", {"0.0.0.0/1"}, "10.96.0.0/12 0.0.0.0/1 10.97.0.1/32"},
      {"net1", {"not a prefix", "fd00::/8"}, ""},
      {"eth0", {}, "10.96.0.0/12 0.0.0.0/1 128.0.0.0/1 0.0.0.0/0 172.16.5.0/24 172.16.0.0/16 172.0.0.0/8 10.97.0.1/32"},
  };
  for (const Case& one : cases) {
    doc::Value ipam = doc::Value::object();
    doc::Value& routes = ipam.set("routes", doc::Value::array());
    for (const char* listed : one.listed) {
      doc::Value item = doc::Value::object();
      item.set("dst", listed);
      routes.push(std::move(item));
    }
    std::string taken;
    const DhcpRoutes all = routes_of(lease, ipam, one.interface);
    for (const Route& each : all.taken) taken += (taken.empty() ? "" : " ") + each.destination.to_string();
    EXPECT_EQ(taken, one.taken) << one.interface;
    EXPECT_EQ(all.taken.size() + all.dropped.size(), lease.routes.size());
    EXPECT_EQ(result_of(lease, ipam, one.interface).routes.size(), all.taken.size());
  }
}

// In pieces of 255 bytes (RFC 3396), of a packet that came in fragments.
TEST(Dhcp, FiveHundredRoutesOfAServerAreDroppedInOneLine) {
  DhcpRig rig;
  for (int i = 0; i < 500; ++i)
    rig.server.options[121] +=
        "\x18\x0a"s + static_cast<char>(1 + i / 250) + static_cast<char>(i % 250) + "\x0a\0\0\x07"s;
  auto result = rig.acquire();
  ASSERT_TRUE(result.has_value()) << result.error().to_string();
  EXPECT_TRUE(result->routes.empty());
  const auto dropped = rig.dhcp->take_dropped();
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_EQ(dropped.front().second,
            "DHCP server 10.0.0.2 offered routes that are not inside ipam.routes; dropped: 10.1.0.0/24, 10.1.1.0/24, "
            "10.1.2.0/24, 10.1.3.0/24, 10.1.4.0/24, 10.1.5.0/24, 10.1.6.0/24, 10.1.7.0/24 and 492 more");
}

TEST(Dhcp, SendsAndAsksWhatTheConfigurationSays) {
  DhcpRig rig;
  auto item = [](std::vector<std::pair<const char*, doc::Value>> members) {
    doc::Value object = doc::Value::object();
    for (auto& [key, value] : members) object.set(key, value);
    return object;
  };
  doc::Value ipam = doc::Value::object();
  ipam.set("provide", doc::Value::Array{item({{"option", "host-name"}, {"fromArg", "K8S_POD_NAME"}}),
                                        item({{"option", "60"}, {"value", "railbed"}})});
  ipam.set("request", doc::Value::Array{item({{"skipDefault", true}}), item({{"option", "121"}})});
  ipam.set("priority", 50);
  ipam.set("routes", doc::Value::Array{item({{"dst", "0.0.0.0/0"}})});
  auto result = rig.acquire(ipam);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(rig.server.last_packet.options.at(12), "a");
  EXPECT_EQ(rig.server.last_packet.options.at(60), "railbed");
  EXPECT_EQ(rig.server.last_packet.options.at(55), "\x79");
  EXPECT_EQ(result->routes[0].metric, 50);
  // A server may give another address to a client that says something else of itself, so a later agent says the same.
  rig.restart();
  rig.pass(seconds(600));
  rig.server.last_packet = {};
  rig.dhcp->work();
  EXPECT_EQ(rig.server.last_packet.options.at(12), "a");
  EXPECT_EQ(rig.server.last_packet.options.at(60), "railbed");
  EXPECT_EQ(rig.server.last_packet.options.at(55), "\x79");
  ipam.set("request", doc::Value::Array{item({{"option", "gateway"}})});
  rig.owner.interface = "net2";
  EXPECT_EQ(rig.acquire(ipam).error().story(),
            "network lan: ipam type dhcp: ipam.request: \"gateway\" is not a known DHCP option");
}

TEST(Dhcp, AsksAgainUntilItsTimeIsUp) {
  DhcpRig rig;
  rig.server.silent = 3;
  ASSERT_TRUE(rig.acquire().has_value());
  EXPECT_EQ(rig.server.heard, (Types{DhcpType::kDiscover, DhcpType::kDiscover, DhcpType::kDiscover, DhcpType::kDiscover,
                                     DhcpType::kRequest}));
  DhcpRig deaf;
  deaf.server.silent = 1000;
  auto begin = deaf.kernel.clock().now();
  auto none = deaf.acquire();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kTimeout);
  EXPECT_EQ(none.error().story(), "network lan: interface net1 got no DHCP lease: no server answered");
  EXPECT_EQ(deaf.kernel.clock().now() - begin, seconds(30));
  EXPECT_EQ(deaf.server.heard.size(), 5u);  // after 0, 1, 3, 7 and 15 s
  EXPECT_EQ(deaf.notes(), 0u);
  DhcpRig refused;
  refused.server.refuse = true;
  EXPECT_EQ(refused.acquire().error().story(),
            "network lan: interface net1 got no DHCP lease: the server refused: \"not?yours\"");
  DhcpRig maskless;
  maskless.server.options.erase(1);
  EXPECT_EQ(maskless.acquire().error().story(),
            "network lan: interface net1 got no DHCP lease: the DHCP server gave no subnet "
            "mask (option 1) with 10.0.0.9");
}

TEST(Dhcp, RenewsWithItsServerThenWithAny) {
  DhcpRig rig;
  ASSERT_TRUE(rig.acquire().has_value());
  auto since = rig.kernel.clock().now();
  EXPECT_EQ(rig.dhcp->work(), since + seconds(500));
  EXPECT_EQ(rig.server.heard.size(), 2u);
  rig.pass(seconds(500));
  rig.dhcp->work();
  ASSERT_EQ(rig.server.heard.size(), 3u);
  EXPECT_EQ(rig.server.last.source.to_string(), "10.0.0.9");
  EXPECT_EQ(rig.server.last.destination.to_string(), "10.0.0.2");
  EXPECT_EQ(rig.server.last_to, kServerMac);
  EXPECT_EQ(rig.server.last_packet.client.to_string(), "10.0.0.9");
  EXPECT_FALSE(rig.server.last_packet.options.contains(54));
  // After the renewal the lease is complete again. Then the server falls silent: each retry waits half of the time
  // left.
  since = rig.kernel.clock().now();
  EXPECT_EQ(rig.dhcp->work(), since + seconds(500));
  rig.server.silent = 1000;
  rig.pass(seconds(500));
  auto next = rig.dhcp->work();
  EXPECT_EQ(rig.server.heard.size(), 4u);
  EXPECT_GT(next, since + seconds(680));
  EXPECT_LT(next, since + seconds(700));
  rig.kernel.clock().wait_until(since + seconds(875));
  rig.dhcp->work();
  EXPECT_EQ(rig.server.last.destination.to_string(), "255.255.255.255");
  EXPECT_EQ(rig.server.last_to, os::kToAll);
  EXPECT_TRUE(rig.dhcp->check(rig.owner).has_value());
  rig.server.silent = 0;
  rig.kernel.clock().wait_until(rig.dhcp->work());
  rig.dhcp->work();
  EXPECT_TRUE(rig.is_up());
  EXPECT_GT(rig.dhcp->work(), rig.kernel.clock().now() + seconds(400));
}

TEST(Dhcp, AnEndedLeaseTakesTheInterfaceDown) {
  DhcpRig rig;
  ASSERT_TRUE(rig.acquire().has_value());
  rig.server.silent = 1000;
  rig.pass(seconds(1001));
  EXPECT_EQ(rig.dhcp->work(), os::Deadline::max());
  EXPECT_FALSE(rig.is_up());
  EXPECT_EQ(rig.dhcp->check(rig.owner).error().message,
            "the DHCP lease of 10.0.0.9 for interface net1 of default/a@c1 has ended");

  for (bool other_address : {false, true}) {
    DhcpRig refused;
    ASSERT_TRUE(refused.acquire().has_value());
    if (other_address)
      refused.server.address = IpAddress::from_v4(0x0a000077);
    else
      refused.server.refuse = true;
    refused.pass(seconds(500));
    refused.dhcp->work();
    EXPECT_FALSE(refused.is_up());
    EXPECT_FALSE(refused.dhcp->check(refused.owner).has_value());
    ASSERT_TRUE(refused.dhcp->release(refused.owner).has_value());
    EXPECT_EQ(refused.notes(), 0u);
  }
}

TEST(Dhcp, AnAgentThatStartsAgainGoesOnRenewing) {
  DhcpRig rig;
  auto first = rig.acquire();
  ASSERT_TRUE(first.has_value());
  auto since = rig.kernel.clock().now();
  rig.restart();
  EXPECT_TRUE(rig.dhcp->check(rig.owner).has_value());
  EXPECT_EQ(*rig.acquire(), *first);
  EXPECT_EQ(rig.dhcp->work(), since + seconds(500));
  rig.pass(seconds(600));
  rig.restart();
  rig.dhcp->work();
  EXPECT_EQ(rig.server.last_packet.options.at(61), "\0c1/lan/net1"s);
  EXPECT_EQ(rig.dhcp->work(), rig.kernel.clock().now() + seconds(500));
}

TEST(Dhcp, StartsWithTheLeasesOfAnEarlierAgentAndStopsWithoutWaitingForTheNextRenewal) {
  DhcpRig rig;
  ASSERT_TRUE(rig.acquire().has_value());
  Dhcp later(*rig.engine, rig.packets);
  ASSERT_TRUE(later.start().has_value());
  EXPECT_TRUE(later.check(rig.owner).has_value());
  ASSERT_TRUE(eventually([&] { return later.asleep(); }));
  std::atomic<bool> stopped = false;
  const std::jthread end([&] {
    later.stop();
    stopped = true;
  });
  EXPECT_TRUE(eventually([&] { return stopped.load(); })) << "it sleeps on, until the renewal in 500 s";
}

TEST(Dhcp, GivesTheLeaseBack) {
  DhcpRig rig;
  ASSERT_TRUE(rig.acquire().has_value());
  ASSERT_TRUE(rig.dhcp->release(rig.owner).has_value());
  EXPECT_EQ(rig.server.heard.back(), DhcpType::kRelease);
  EXPECT_EQ(rig.server.last_packet.client.to_string(), "10.0.0.9");
  EXPECT_EQ(rig.server.last_to, kServerMac);
  EXPECT_EQ(rig.notes(), 0u);
  EXPECT_EQ(rig.dhcp->work(), os::Deadline::max());
  size_t heard = rig.server.heard.size();
  ASSERT_TRUE(rig.dhcp->release(rig.owner).has_value());
  EXPECT_EQ(rig.server.heard.size(), heard);
  EXPECT_FALSE(rig.dhcp->check(rig.owner).has_value());

  // Without a namespace no server can be informed, and nothing stays behind.
  DhcpRig gone;
  ASSERT_TRUE(gone.acquire().has_value());
  gone.packets.remove_netns(kNetns);
  ASSERT_TRUE(gone.dhcp->release(gone.owner).has_value());
  EXPECT_EQ(gone.notes(), 0u);
  DhcpRig dropped;
  ASSERT_TRUE(dropped.acquire().has_value());
  dropped.packets.remove_netns(kNetns);
  dropped.pass(seconds(500));
  EXPECT_EQ(dropped.dhcp->work(), os::Deadline::max());
  EXPECT_EQ(dropped.notes(), 0u);
}

TEST(Dhcp, ALeaseThatIsReleasedWhileItIsRenewedStaysReleased) {
  DhcpRig rig;
  ASSERT_TRUE(rig.acquire().has_value());
  bool once = true;
  rig.packets.on_send([&](const os::UdpPacket& sent, MacAddress to) {
    if (std::exchange(once, false)) {
      EXPECT_TRUE(rig.dhcp->release(rig.owner).has_value());
    }
    return rig.server.answer(sent, to);
  });
  rig.pass(seconds(500));
  EXPECT_EQ(rig.dhcp->work(), os::Deadline::max());
  EXPECT_FALSE(rig.dhcp->check(rig.owner).has_value());
  EXPECT_EQ(rig.notes(), 0u);
}

TEST(Dhcp, ManyThatAreDueWaitTogether) {
  DhcpRig rig;
  for (int i = 0; i < 50; ++i) {
    rig.owner.pod = fmt::format("default/p{}@c{}", i, i);
    ASSERT_TRUE(rig.acquire().has_value());
  }
  rig.server.silent = 1000;
  rig.pass(seconds(500));
  auto begin = rig.kernel.clock().now();
  rig.dhcp->work();
  EXPECT_EQ(rig.server.heard.size(), 150u);
  EXPECT_EQ(rig.kernel.clock().now() - begin, seconds(4));
}

TEST(Dhcp, TheThreadStopsWhenRequested) {
  DhcpRig rig;
  ASSERT_TRUE(rig.dhcp->start().has_value());
  ASSERT_TRUE(rig.acquire().has_value());
  rig.dhcp->stop();
}

}  // namespace
}  // namespace railbed::agent
