// SPDX-License-Identifier: Apache-2.0
// ADDs of an agent that serves a node of a cluster: from what the node has leased, and from what it gets meanwhile.
#include "agent/addresses/address_supply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/addresses/ipam.h"
#include "agent/pod/plugin.h"
#include "agent/test_requests.h"
#include "ipam/stored_blocks.h"

namespace railbed::agent {
namespace {

// Leases blocks in the order in which they are given.
class Blocks : public AddressSupply {
 public:
  Blocks(Engine& engine, std::vector<IpRange> blocks, std::optional<Error> why_not)
      : engine_(engine), blocks_(std::move(blocks)), why_not_(std::move(why_not)) {}

  Supplied more(std::vector<AddressNeed> needs, std::chrono::steady_clock::time_point) override {
    asked.push_back(std::move(needs));
    Result<Engine::Turn> turn = engine_.turn(std::chrono::milliseconds(0));
    EXPECT_TRUE(turn.has_value()) << "other pods go on meanwhile";
    if (turn.has_value() && asked.size() <= blocks_.size())
      (void)turn->store().put_block({"whereabouts", blocks_[asked.size() - 1]});
    return {nullptr, why_not_};
  }
  std::vector<std::vector<AddressNeed>> asked;

 private:
  Engine& engine_;
  std::vector<IpRange> blocks_;
  std::optional<Error> why_not_;
};

IpRange range(const char* first, const char* last) {
  return {*IpAddress::parse(first), *IpAddress::parse(last)};
}

constexpr const char* kRange = R"("ipam":{"type":"whereabouts","range":"10.2.0.0/24"})";

// Both ways on which an ADD comes to addresses: as the main plugin's own, and for an executed one that asks for them.
enum class SupplyWay : uint8_t { kPlugin, kIpam };

class SupplyTest : public RequestTest, public testing::WithParamInterface<SupplyWay> {
 protected:
  ipam::StoredBlocks leased_{*store, ipam::WithoutBlocks::kNothing};
  Engine of_cluster_{kernel, *store, leased_, durable, OtherNodes::kOfCluster};
  Dhcp dhcp_{of_cluster_, packets};

  std::string add(AddressSupply* supply, const std::string& ipam = kRange, const std::string& more = "") {
    Backends of_node{{of_cluster_, metrics}, dhcp_, host_local, meta.statuses(), supply};
    const bool is_ipam = GetParam() == SupplyWay::kIpam;
    const std::string config =
        R"({"cniVersion":"1.0.0","name":"lan","type":"macvlan","master":"eth1",)" + ipam + more + "}";
    const cni::Request request{.command = cni::Command::kAdd,
                               .type = is_ipam ? "whereabouts" : "macvlan",
                               .container_id = "c1",
                               .netns = "/run/netns/a",
                               .ifname = "eth0",
                               .config = config};
    const auto read = cni::read_plugin_config(config);
    const auto answer = is_ipam ? ipam_request(of_node, request, *read) : plugin_request(of_node, request, *read);
    if (!answer.has_value()) return fmt::format("{}: {}", cni::code_of(answer.error()), answer.error().story());
    return fmt::format("{}", cni::read_result(*answer, "1.0.0")->addresses.at(0).address);
  }
};

TEST_P(SupplyTest, IsNotAskedForWhatIsLeased) {
  ASSERT_TRUE(store->put_block({"whereabouts", range("10.2.0.16", "10.2.0.31")}).has_value());
  Blocks supply(of_cluster_, {}, std::nullopt);
  EXPECT_EQ(add(&supply), "10.2.0.16/24");
  EXPECT_TRUE(supply.asked.empty());
}

TEST_P(SupplyTest, IsAskedWhereNothingIsLeased) {
  Blocks supply(of_cluster_, {range("10.2.0.32", "10.2.0.47")}, std::nullopt);
  EXPECT_EQ(add(&supply), "10.2.0.32/24");
  ASSERT_EQ(supply.asked.size(), 1u);
  ASSERT_EQ(supply.asked[0].size(), 1u);
  EXPECT_EQ(fmt::format("{}", supply.asked[0][0].config.range_sets.at(0).at(0).addresses), "10.2.0.1-10.2.0.254");
}

TEST_P(SupplyTest, IsAskedOnceMoreWhereAnotherPodWasFaster) {
  Blocks supply(of_cluster_, {range("10.2.0.255", "10.2.0.255"), range("10.2.0.32", "10.2.0.47")}, std::nullopt);
  EXPECT_EQ(add(&supply), "10.2.0.32/24");
  EXPECT_EQ(supply.asked.size(), 2u);
}

TEST_P(SupplyTest, SaysWhyThereIsNothing) {
  Blocks none(of_cluster_, {}, Error{.code = Code::kExhausted, .message = "all are leased to others"});
  EXPECT_EQ(add(&none), "102: all are leased to others");
  EXPECT_EQ(none.asked.size(), 1u);
  EXPECT_TRUE(store->all_leases()->empty() && store->attachments()->empty());
  Blocks silent(of_cluster_, {}, std::nullopt);
  EXPECT_EQ(add(&silent),
            "102: network lan: this node has no block of 10.2.0.1-10.2.0.254 of 10.2.0.0/24 (pool whereabouts)");
  EXPECT_EQ(silent.asked.size(), 2u);
  EXPECT_THAT(add(nullptr), testing::StartsWith("102: network lan: this node has no block of"));
}

TEST_P(SupplyTest, ReceivesTheAddressThatThePodAsksFor) {
  Blocks supply(of_cluster_, {range("10.2.0.77", "10.2.0.77")}, std::nullopt);
  EXPECT_EQ(add(&supply, kRange, R"(,"args":{"cni":{"ips":["10.2.0.77"]}})"), "10.2.0.77/24");
  ASSERT_EQ(supply.asked.size(), 1u);
  EXPECT_EQ(fmt::format("{}", fmt::join(supply.asked[0].at(0).by_name, " ")), "10.2.0.77");
}

TEST_P(SupplyTest, IsNotAskedForWhatNoLeaseWouldFix) {
  Blocks supply(of_cluster_, {}, std::nullopt);
  EXPECT_THAT(add(&supply, R"("ipam":{"type":"whereabouts","range":"10.2.0.0/24","node_slice_size":"/26"})"),
              testing::HasSubstr("network lan: node_slice_size is not supported: it divides the range among the nodes, "
                                 "but railbed leases addresses of the whole range"));
  EXPECT_TRUE(supply.asked.empty());
}

INSTANTIATE_TEST_SUITE_P(Each, SupplyTest, testing::Values(SupplyWay::kPlugin, SupplyWay::kIpam));

}  // namespace
}  // namespace railbed::agent
