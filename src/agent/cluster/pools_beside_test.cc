// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/pools_beside.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "agent/cluster/test_rights.h"
#include "ipam/pools.h"
#include "ipam/test_ranges.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "kube/kinds.h"

namespace railbed::agent {
namespace {

using api::CellOffsets;
using doc::Value;
using kube::fake::ApiServer;
using kube::fake::FakeClock;

constexpr const char* kPools = "/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/ippools/";

// What whereabouts 0.9 does with its pools: pkg/storage/kubernetes/ipam.go, pkg/allocate, pkg/reconciler.
struct Whereabouts09 {
  ApiServer& server;
  FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}}};

  // The lowest address that its pool says is free, of a range that may be narrower than the pool; nullopt: again later.
  std::optional<IpAddress> add(const std::string& network, const char* range, const std::string& pod,
                               const std::string& container, uint64_t first = 1, uint64_t last = 254) {
    const IpPrefix subnet = ipam::prefix(range);
    auto object = client.get(kube::kIpPools, {"kube-system", api::ip_pool_name(network, subnet)});
    if (!object) {
      (void)client.create(kube::kIpPools, api::new_ip_pool("kube-system", network, subnet));
      return std::nullopt;  // "k8s pool initialized": it tries again
    }
    const api::IpPool pool = api::read_ip_pool(*object).value();
    for (uint64_t place = first; place <= last; ++place) {
      if (pool.allocations.contains(place)) continue;
      if (between) between();
      api::apply_change(*object, {.put = {{place, {container, pod}}}, .drop = {}});
      if (!client.update(kube::kIpPools, *object)) return std::nullopt;  // its patch tests the resourceVersion
      return pool.range.address.plus(place);
    }
    return std::nullopt;
  }
  void take(const std::string& name, const std::function<bool(const api::IpPoolAllocation&)>& which) {
    auto object = client.get(kube::kIpPools, {"kube-system", name});
    if (!object) return;
    api::IpPoolChange change;
    const api::IpPool pool = api::read_ip_pool(*object).value();
    for (const auto& [place, one] : pool.allocations)
      if (which(one)) change.drop.insert(place);
    api::apply_change(*object, change);
    (void)client.update(kube::kIpPools, *object);
  }
  // DEL: the allocation of this container.
  void del(const std::string& name, const std::string& container) {
    take(name, [&](const auto& one) { return one.id == container; });
  }
  // The reconciler: "pod ref missing for Allocations" is passed over, what is of no pod that lives goes.
  void reconcile(const std::string& name, const std::set<std::string>& living) {
    take(name, [&](const auto& one) { return !one.pod_ref.empty() && !living.contains(one.pod_ref); });
  }
  std::function<void()> between;  // its read and its write
};

struct Pools : ::testing::Test {
  ApiServer server;
  FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}}};
  PoolShare share{client, {.holder = {"n1", "u1", "b"}}};
  PoolShare other{client, {.holder = {"n2", "u2", "b"}}};
  Whereabouts09 whereabouts{server};

  void TearDown() override { EXPECT_EQ(beyond_the_role(server), ""); }
  void put(const std::string& name, const char* range, const std::string& allocations = "{}") {
    server.put(kPools + name,
               kube::parse_object(fmt::format(
                                      R"({{"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool",
        "metadata": {{"name": "{}", "namespace": "kube-system"}}, "spec": {{"range": "{}", "allocations": {}}}}})",
                                      name, range, allocations))
                   .value());
  }
  // "16 u1, 17 ai/llm-0": who has what in the pool.
  std::string shown(const std::string& name) {
    const auto all = server.objects();
    const auto found = all.find(kPools + name);
    if (found == all.end()) return "no pool";
    const api::IpPool pool = api::read_ip_pool(found->second).value();
    std::string out;
    for (const auto& [place, one] : pool.allocations)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", place,
                         ipam::is_ours(one) ? one.id.substr(12, one.id.rfind('/') - 12) : one.pod_ref);
    return out;
  }
  std::string beside(Whereabouts how, const std::set<std::string>& pods_here = {}) {
    const auto pools = pools_beside(client, how, pods_here, {});
    if (!pools.has_value()) return pools.error().to_string();
    std::string out;
    for (const PoolBeside& one : *pools) out += fmt::format("{} {}\n", one.name, one.addresses);
    return out;
  }
  CellOffsets reserved(PoolShare& by, const char* base, CellOffsets offsets, const std::string& network = "") {
    const auto got = by.reserve(network, {ipam::ip(base), offsets}, {});
    EXPECT_TRUE(got.has_value()) << got.error().to_string();
    return got.value_or(0);
  }
};

TEST_F(Pools, ThatOthersUseAreBeside) {
  EXPECT_EQ(beside(Whereabouts::kRefuse), "") << "no whereabouts, no pools";
  put("10.0.0.0-24", "10.0.0.0/24", R"({"1": {"id": "c", "podref": "ai/llm-0"}})");
  put("rail1-10.1.0.0-24", "10.1.0.0/24", R"({"1": {"id": "c", "podref": "ai/llm-1"}})");
  put("10.2.0.0-24", "10.2.0.0/24");
  put("10.3.0.0-24", "10.3.0.0/24", R"({"1": {"id": "railbed.dev/n2/u2/10.3.0.1", "podref": ""}})");
  put("broken", "10.4.0.0", R"({"1": {"id": "c", "podref": "ai/llm-0"}})");
  EXPECT_EQ(beside(Whereabouts::kRefuse, {"ai/llm-1"}), "kube-system/10.0.0.0-24 10.0.0.0-10.0.0.255\n");
  EXPECT_EQ(beside(Whereabouts::kShare), "");
}

TEST_F(Pools, InNodeSlicesAreAlwaysBeside) {
  server.put("/apis/whereabouts.cni.cncf.io/v1alpha1/namespaces/kube-system/nodeslicepools/fast",
             kube::parse_object(R"({"kind": "NodeSlicePool", "metadata": {"name": "fast", "namespace": "kube-system"},
                                    "spec": {"range": "10.0.0.0/16", "sliceSize": "/22"}})")
                 .value());
  for (const Whereabouts how : {Whereabouts::kRefuse, Whereabouts::kShare})
    EXPECT_EQ(beside(how), "kube-system/fast (node_slice_size) 10.0.0.0-10.0.255.255\n");
}

TEST_F(Pools, OfAnApiServerThatDoesNotAnswerAreAnError) {
  server.before = [](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.target.find("/ippools") == std::string::npos) return std::nullopt;
    return kube::refused(request.to_string(), 403, R"({"kind": "Status", "message": "ippools is forbidden"})");
  };
  EXPECT_NE(beside(Whereabouts::kRefuse).find("ippools of whereabouts: "), std::string::npos)
      << beside(Whereabouts::kRefuse);
  EXPECT_FALSE(share.reserve("", {ipam::ip("10.0.0.0"), 1}, {}).has_value());
}

TEST_F(Pools, OfANetworkAreMadeOnce) {
  ASSERT_TRUE(share.prepare("rail0", {ipam::range("10.0.0.0/24"), ipam::range("10.0.0.0/24")}, {}).has_value());
  EXPECT_EQ(shown("rail0-10.0.0.0-24"), "");
  EXPECT_EQ(reserved(share, "10.0.0.16", 0x0003, "rail0"), 0x0003);
  ASSERT_TRUE(other.prepare("rail0", {ipam::range("10.0.0.0/24")}, {}).has_value());
  EXPECT_EQ(shown("rail0-10.0.0.0-24"), "16 n1/u1, 17 n1/u1") << "it was there";
}

TEST_F(Pools, HaveWhatIsLeasedInEachThatMeetsTheCell) {
  put("10.0.0.0-24", "10.0.0.0/24", R"({"17": {"id": "c", "podref": "ai/llm-0"}})");
  put("10.0.0.16-30", "10.0.0.16/30");
  put("10.0.1.0-24", "10.0.1.0/24");
  put("rail1-10.0.0.0-24", "10.0.0.0/24");
  EXPECT_EQ(reserved(share, "10.0.0.16", 0x001f), 0x001d) << "whereabouts has given .17";
  EXPECT_EQ(shown("10.0.0.0-24"), "16 n1/u1, 17 ai/llm-0, 18 n1/u1, 19 n1/u1, 20 n1/u1");
  EXPECT_EQ(shown("10.0.0.16-30"), "0 n1/u1, 2 n1/u1, 3 n1/u1");
  EXPECT_EQ(shown("10.0.1.0-24"), "");
  EXPECT_EQ(shown("rail1-10.0.0.0-24"), "") << "another network_name is other addresses";
  ASSERT_TRUE(share.release("", {ipam::ip("10.0.0.16"), 0x0005}, {}).has_value());
  EXPECT_EQ(shown("10.0.0.0-24"), "17 ai/llm-0, 19 n1/u1, 20 n1/u1");
  EXPECT_EQ(shown("10.0.0.16-30"), "3 n1/u1");
}

TEST_F(Pools, AreListedOnceInARound) {
  put("10.0.0.0-24", "10.0.0.0/24");
  const auto asked = [&](const char* verb) {
    return std::ranges::count_if(server.requests(), [&](const std::string& one) { return one.starts_with(verb); });
  };
  ASSERT_TRUE(share.prepare("", {ipam::range("10.0.0.0/24")}, {}).has_value());
  for (const char* base : {"10.0.0.0", "10.0.0.16", "10.0.0.32"}) EXPECT_EQ(reserved(share, base, 0xffff), 0xffff);
  ASSERT_TRUE(share.release("", {ipam::ip("10.0.0.16"), 0xffff}, {}).has_value());
  ASSERT_TRUE(share.release_rest({{"", {{ipam::ip("10.0.0.0"), 0xffff}}}}, {}).has_value());
  EXPECT_EQ(asked("GET"), 1);
  EXPECT_EQ(asked("PUT"), 5);
  EXPECT_EQ(ipam::entries_in(api::read_ip_pool(server.objects().begin()->second).value()),
            (ipam::CellMap{{ipam::ip("10.0.0.0"), 0xffff}}));
  // A pool that whereabouts makes is seen in the next round.
  put("10.0.0.0-28", "10.0.0.0/28");
  share.look_again();
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0006), 0x0006);
  EXPECT_EQ(shown("10.0.0.0-28"), "1 n1/u1, 2 n1/u1");
}

// The operator takes away what is left of an earlier lease, while the address is leased again: the list is older.
TEST_F(Pools, AreLookedAtAgainWhereAnEntryIsOlderThanTheLease) {
  put("10.0.0.0-24", "10.0.0.0/24", R"({"1": {"id": "railbed.dev/n1/u1/10.0.0.1", "podref": ""}})");
  ASSERT_TRUE(share.prepare("", {ipam::range("10.0.0.0/24")}, {}).has_value());
  put("10.0.0.0-24", "10.0.0.0/24", R"({"1": {"id": "railbed.dev/ended/10.0.0.1", "podref": ""}})");
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0002), 0x0002);
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1");
  put("10.0.0.0-24", "10.0.0.0/24");
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0002), 0x0002);
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1");
}

TEST_F(Pools, AreNotGivenFromByWhereabouts) {
  put("10.0.0.0-24", "10.0.0.0/24");
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x000e), 0x000e);
  EXPECT_EQ(whereabouts.add("", "10.0.0.0/24", "ai/llm-0", "c0"), ipam::ip("10.0.0.4"));
  whereabouts.reconcile("10.0.0.0-24", {});
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1, 2 n1/u1, 3 n1/u1") << "the pod is gone, ours have none";
  whereabouts.del("10.0.0.0-24", "c0");
  whereabouts.del("10.0.0.0-24", "");
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1, 2 n1/u1, 3 n1/u1");
}

// Whereabouts read the pool before we wrote it: its write fails, and ours does where it was first.
TEST_F(Pools, WrittenByBothAtOnceHaveOneOwner) {
  put("10.0.0.0-24", "10.0.0.0/24");
  whereabouts.between = [&] { EXPECT_EQ(reserved(share, "10.0.0.0", 0x0006), 0x0006); };
  EXPECT_EQ(whereabouts.add("", "10.0.0.0/24", "ai/llm-0", "c0"), std::nullopt);
  whereabouts.between = nullptr;
  bool once = false;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kPut && !std::exchange(once, true)) {
      EXPECT_EQ(whereabouts.add("", "10.0.0.0/24", "ai/llm-0", "c0"), ipam::ip("10.0.0.3"));
    }
    return std::nullopt;
  };
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x001e), 0x0016);
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1, 2 n1/u1, 3 ai/llm-0, 4 n1/u1");
}

// The second pool gives what the first one has reserved by then.
TEST_F(Pools, ThatOverlapGiveBackWhatOnlyOneOfThemHas) {
  put("10.0.0.0-24", "10.0.0.0/24");
  put("10.0.0.0-28", "10.0.0.0/28");
  int writes = 0;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kPut && ++writes == 2)
      put("10.0.0.0-28", "10.0.0.0/28", R"({"1": {"id": "c", "podref": "ai/llm-0"}})");
    return std::nullopt;
  };
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0006), 0x0004);
  EXPECT_EQ(shown("10.0.0.0-24"), "2 n1/u1");
  EXPECT_EQ(shown("10.0.0.0-28"), "1 ai/llm-0, 2 n1/u1");
}

TEST_F(Pools, ALostAnswerIsLookedUp) {
  put("10.0.0.0-24", "10.0.0.0/24");
  bool once = false;
  server.lose_answer = [&](const kube::Request& request) {
    return request.method == kube::Method::kPut && !std::exchange(once, true);
  };
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0006), 0x0006);
  EXPECT_TRUE(once);
}

TEST_F(Pools, AreLeftAloneByALateRelease) {
  put("10.0.0.0-24", "10.0.0.0/24");
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x0006), 0x0006);
  // The lease was given back, and another node leases it, before the first one's entry goes.
  EXPECT_EQ(reserved(other, "10.0.0.0", 0x000a), 0x0008) << "it is not available yet";
  ASSERT_TRUE(share.release("", {ipam::ip("10.0.0.0"), 0x0006}, {}).has_value());
  EXPECT_EQ(shown("10.0.0.0-24"), "3 n2/u2");
  EXPECT_EQ(reserved(other, "10.0.0.0", 0x0002), 0x0002);
  ASSERT_TRUE(share.release("", {ipam::ip("10.0.0.0"), 0x0006}, {}).has_value());
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n2/u2, 3 n2/u2") << "a late release";
}

// An earlier version's entry, and one of another machine at an address that this one has leased: the operator puts this
// machine's in their place. Until then they reserve the address as well.
TEST_F(Pools, KeepWhatIsHeldUnderAnotherEntry) {
  put("10.0.0.0-24", "10.0.0.0/24",
      R"({"1": {"id": "railbed.dev/u1/10.0.0.1", "podref": ""}, "2": {"id": "railbed.dev/n2/u2/10.0.0.2", "podref": ""}})");
  const auto held = share.reserve("", {ipam::ip("10.0.0.0"), 0x000e}, {}, PoolShare::Leased::kBeforeTheList);
  EXPECT_EQ(held.value_or(0), 0x000e);
  EXPECT_EQ(shown("10.0.0.0-24"), "1 u1, 2 n2/u2, 3 n1/u1");
  ASSERT_TRUE(share.release_rest({}, {}).has_value());
  EXPECT_EQ(shown("10.0.0.0-24"), "1 u1, 2 n2/u2") << "the operator's";
}

TEST_F(Pools, LoseWhatAnEarlierProcessLeft) {
  put("10.0.0.0-24", "10.0.0.0/24");
  put("rail1-10.1.0.0-24", "10.1.0.0/24");
  EXPECT_EQ(reserved(share, "10.0.0.0", 0x000e), 0x000e);
  EXPECT_EQ(reserved(other, "10.0.0.0", 0x00f0), 0x00f0);
  EXPECT_EQ(reserved(share, "10.1.0.0", 0x0002, "rail1"), 0x0002);
  ASSERT_TRUE(share.release_rest({{"", {{ipam::ip("10.0.0.0"), 0x0002}}}}, {}).has_value());
  EXPECT_EQ(shown("10.0.0.0-24"), "1 n1/u1, 4 n2/u2, 5 n2/u2, 6 n2/u2, 7 n2/u2");
  EXPECT_EQ(shown("rail1-10.1.0.0-24"), "");
}

TEST_F(Pools, ThatAreWrittenByOthersAgainAndAgainAreGivenUp) {
  put("10.0.0.0-24", "10.0.0.0/24");
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method == kube::Method::kPut) put("10.0.0.0-24", "10.0.0.0/24");
    return std::nullopt;
  };
  const auto got = share.reserve("", {ipam::ip("10.0.0.0"), 0x0002}, {});
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, Code::kConflict);
  EXPECT_NE(got.error().to_string().find("IPPool kube-system/10.0.0.0-24"), std::string::npos);
}

// Nodes of both kinds, two ranges of which one is within the other, pods that come and go, the reconciler: no address
// belongs to two.
RC_GTEST_PROP(PoolShareProperty, NoAddressIsGivenByBoth, ()) {
  ApiServer server;
  FakeClock clock;
  kube::Client client{server, clock, {.retry = {.tries = 1}}};
  Whereabouts09 whereabouts{server};
  PoolShare share{client, {.holder = {"n1", "u1", "b"}}};
  const std::vector<api::IpamRange> ranges{ipam::range("10.0.0.0/27"), ipam::range("10.0.0.0/28")};
  RC_ASSERT(share.prepare("", ranges, {}).has_value());
  std::map<IpAddress, std::string> given;  // by whereabouts, to which pod
  ipam::CellMap held;
  int pods = 0;
  bool meddles = false;
  server.before = [&](const kube::Request& request) -> std::optional<kube::ApiError> {
    if (request.method != kube::Method::kPut || std::exchange(meddles, false) == false) return std::nullopt;
    const std::string pod = fmt::format("ai/p{}", ++pods);
    const auto address = whereabouts.add("", "10.0.0.0/28", pod, "c-" + pod, 1, 14);
    if (address) given[*address] = pod;
    return std::nullopt;
  };
  for (const auto& [what, argument] : *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
           rc::gen::arbitrary<std::pair<uint32_t, uint32_t>>())) {
    const IpAddress base = ipam::ip(argument % 2 == 0 ? "10.0.0.0" : "10.0.0.16");
    const auto offsets = static_cast<CellOffsets>(argument >> 8);
    switch (what % 5) {
      case 0: {
        const std::string pod = fmt::format("ai/p{}", ++pods);
        const bool narrow = argument % 3 == 0;
        // Its own check against overlapping ranges is not relied upon: it is not replayed where both pools are its.
        const auto address = whereabouts.add("", narrow ? "10.0.0.0/28" : "10.0.0.0/27", pod, "c-" + pod,
                                             narrow ? 1 : 16, narrow ? 14 : 30);
        if (!address) break;
        RC_ASSERT(!given.contains(*address));
        given[*address] = pod;
        break;
      }
      case 1: {
        meddles = argument % 5 == 0;
        const auto got = share.reserve("", {base, offsets}, {});
        if (got.has_value()) held[base] |= *got;
        meddles = false;
        break;
      }
      case 2: {
        const auto mine = static_cast<CellOffsets>(held[base] & offsets);
        held[base] = static_cast<CellOffsets>(held[base] & ~mine);
        RC_ASSERT(share.release("", {base, mine}, {}).has_value());
        break;
      }
      case 3: {
        if (given.empty()) break;
        const auto gone = std::next(given.begin(), argument % given.size());
        for (const char* name : {"10.0.0.0-27", "10.0.0.0-28"}) whereabouts.del(name, "c-" + gone->second);
        given.erase(gone);
        break;
      }
      default: {
        std::set<std::string> living;
        for (const auto& [address, pod] : given) living.insert(pod);
        for (const char* name : {"10.0.0.0-27", "10.0.0.0-28"}) whereabouts.reconcile(name, living);
        RC_ASSERT(share.release_rest({{"", held}}, {}).has_value());
      }
    }
    for (const auto& [address, pod] : given) {
      const auto mine = held.find(ipam::cell_of(address));
      const bool ours = mine != held.end() && (mine->second >> *address.minus(mine->first) & 1U) != 0;
      RC_ASSERT(!ours);  // which evaluates both sides of an ||
    }
  }
}

}  // namespace
}  // namespace railbed::agent
