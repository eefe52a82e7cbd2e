// SPDX-License-Identifier: Apache-2.0
// One contract, in a file and in memory.
#include "state/store.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace railbed::state {
namespace {

const PciAddress kPf{0, 1, 0, 0};
const PciAddress kOtherPf{0, 2, 0, 0};

IpAddress address(const char* text) {
  return *IpAddress::parse(text);
}

class StoreContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string_view(GetParam()) == "memory") {
      store_ = memory_store();
      return;
    }
    directory_ = testing::TempDir() + fmt::format("railbed-state-{}", getpid());
    auto opened = open_store({.directory = directory_, .boot_id = "b"});
    ASSERT_TRUE(opened.has_value()) << opened.error().to_string();
    store_ = std::move(*opened);
  }
  void TearDown() override {
    store_.reset();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }
  std::unique_ptr<Store> store_;
  std::string directory_;
};

TEST_P(StoreContract, KeepsTheFirstBaselineOfAPf) {
  PfBaseline first{.pf = kPf, .pf_name = "ens1f0", .autoprobe = true, .mtu = 1500, .up = true};
  PfBaseline later{.pf = kPf, .pf_name = "ens1f0", .num_vfs = 4, .autoprobe = false, .mtu = 9000};
  later.vfs = {
      {.index = VfIndex{0}, .driver = "igbvf", .mtu = 1500, .admin_mac = *MacAddress::parse("02:00:00:00:00:01")},
      {.index = VfIndex{1}}};
  ASSERT_TRUE(store_->put_baseline(first).has_value());
  ASSERT_TRUE(store_->put_baseline(later).has_value());
  EXPECT_EQ(*store_->baseline(kPf), first);
  EXPECT_EQ(*store_->baseline(kOtherPf), std::nullopt);
  EXPECT_EQ(*store_->baselines(), std::vector{first});
  ASSERT_TRUE(store_->forget_baseline(kPf).has_value());
  EXPECT_TRUE(store_->baselines()->empty());
  ASSERT_TRUE(store_->put_baseline(later).has_value());
  EXPECT_EQ(*store_->baseline(kPf), later);
}

TEST_P(StoreContract, KeepsStepsInOrderAndReplacesByid) {
  StepRecord a{.id = "z", .pf = kPf, .policy = "p", .description = "create 4 VFs"};
  StepRecord b{.id = "a", .pf = kOtherPf, .description = "bind"};
  ASSERT_TRUE(store_->put_step(a).has_value());
  ASSERT_TRUE(store_->put_step(b).has_value());
  a.status = StepRecord::Status::kFailed;
  a.error = "write: EBUSY";
  ASSERT_TRUE(store_->put_step(a).has_value());
  EXPECT_EQ(*store_->steps(), (std::vector{a, b}));
  ASSERT_TRUE(store_->forget_steps(kPf).has_value());
  EXPECT_EQ(*store_->steps(), std::vector{b});
}

TEST_P(StoreContract, KeepsPodsByName) {
  PodRecord b{.pod = "default/b", .netns = "/run/netns/b", .netns_name = "b"};
  PodRecord a{.pod = "default/a", .netns = "/run/netns/a", .netns_name = "a", .netns_ours = false};
  ASSERT_TRUE(store_->put_pod(b).has_value());
  ASSERT_TRUE(store_->put_pod(a).has_value());
  b.netns = "/run/netns/other";
  ASSERT_TRUE(store_->put_pod(b).has_value());
  EXPECT_EQ(*store_->pods(), (std::vector{a, b}));
  ASSERT_TRUE(store_->forget_pod("default/a").has_value());
  ASSERT_TRUE(store_->forget_pod("default/none").has_value());
  EXPECT_EQ(*store_->pods(), std::vector{b});
}

TEST_P(StoreContract, KeepsAttachmentsInOrderByPodAndInterface) {
  Attachment ten{.pod = "default/a", .interface = "net10", .undo = R"({"mtu":1500})"};
  Attachment two{.pod = "default/a", .interface = "net2", .status = AttachmentStatus::kDetaching};
  ASSERT_TRUE(store_->put_attachment(ten).has_value());
  ASSERT_TRUE(store_->put_attachment(two).has_value());
  ten.status = AttachmentStatus::kAttached;
  ten.result = "{\"text\":\"with \\u0000 and 'quotes'\"}";
  ASSERT_TRUE(store_->put_attachment(ten).has_value());
  EXPECT_EQ(*store_->attachments(), (std::vector{ten, two}));
  ASSERT_TRUE(store_->forget_attachment("default/a", "net10").has_value());
  EXPECT_EQ(*store_->attachments(), std::vector{two});
}

TEST_P(StoreContract, KnowsTheSandboxesOfAContainer) {
  for (const auto& [pod, interface] :
       {std::pair{"ns/b@c1", "net1"}, {"ns/a@c1", "net1"}, {"ns/a@c1", "net2"}, {"ns/a@c2", "net1"}, {"ns/c", "net1"}})
    ASSERT_TRUE(store_->put_attachment({.pod = pod, .interface = interface}).has_value());
  EXPECT_EQ(*store_->sandboxes_of("c1"), (std::vector<std::string>{"ns/a@c1", "ns/b@c1"}));
  ASSERT_TRUE(store_->forget_attachment("ns/a@c1", "net1").has_value());
  ASSERT_TRUE(store_->forget_attachment("ns/b@c1", "net1").has_value());
  EXPECT_EQ(*store_->sandboxes_of("c1"), std::vector<std::string>{"ns/a@c1"});
  ASSERT_TRUE(store_->forget_attachment("ns/a@c1", "net2").has_value());
  EXPECT_EQ(*store_->sandboxes_of("c1"), std::vector<std::string>{});
}

TEST_P(StoreContract, GivesAnAddressOfAPoolToOne) {
  AddressLease a{"rail0", address("10.0.0.10"), "default/a", "net1"};
  AddressLease b{"rail0", address("10.0.0.9"), "default/b", "net1"};
  AddressLease other{"rail1", address("10.0.0.10"), "default/b", "net2"};
  for (const AddressLease& lease : {a, b, other, a}) ASSERT_TRUE(store_->put_lease(lease).has_value());
  Result<void> twice = store_->put_lease({"rail0", a.address, "default/c", "net1"});
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().code, Code::kConflict);
  EXPECT_EQ(twice.error().message, "address 10.0.0.10 of pool rail0 belongs to pod default/a, interface net1");
  EXPECT_EQ(*store_->leases("rail0"), (std::vector{b, a}));  // by address, not by text
  EXPECT_EQ(*store_->all_leases(), (std::vector{b, a, other}));
  ASSERT_TRUE(store_->forget_leases("default/b", "net1").has_value());
  EXPECT_EQ(*store_->all_leases(), (std::vector{a, other}));
}

TEST_P(StoreContract, KeepsNotes) {
  EXPECT_EQ(*store_->note("manifests"), std::nullopt);
  ASSERT_TRUE(store_->put_note("manifests", "one").has_value());
  ASSERT_TRUE(store_->put_note("manifests", "two").has_value());
  EXPECT_EQ(*store_->note("manifests"), "two");
}

TEST_P(StoreContract, UndoesATransactionThatIsNotCommitted) {
  ASSERT_TRUE(store_->put_note("key", "before").has_value());
  {
    Transaction open = std::move(*Transaction::begin(*store_));
    ASSERT_TRUE(store_->put_note("key", "inside").has_value());
    ASSERT_TRUE(store_->put_attachment({.pod = "p", .interface = "net1"}).has_value());
    EXPECT_EQ(*store_->note("key"), "inside");
    EXPECT_EQ(store_->begin().error().message, "state: begin() inside begin()");
  }
  EXPECT_EQ(*store_->note("key"), "before");
  EXPECT_TRUE(store_->attachments()->empty());
  Transaction open = std::move(*Transaction::begin(*store_));
  ASSERT_TRUE(store_->put_note("key", "after").has_value());
  ASSERT_TRUE(open.commit().has_value());
  EXPECT_EQ(*store_->note("key"), "after");
}

TEST_P(StoreContract, KeepsBlocksInTheirOrder) {
  AddressBlock high{"p", {address("10.0.0.64"), address("10.0.0.127")}};
  AddressBlock low{"p", {address("10.0.0.0"), address("10.0.0.63")}};
  AddressBlock other{"q", {address("fd00::"), address("fd00::ff")}};
  for (const AddressBlock& block : {high, low, other, high}) ASSERT_TRUE(store_->put_block(block).has_value());
  EXPECT_EQ(*store_->blocks("p"), (std::vector{high.addresses, low.addresses}));
  EXPECT_EQ(*store_->blocks("q"), std::vector{other.addresses});
  EXPECT_TRUE(store_->blocks("r")->empty());
  ASSERT_TRUE(store_->forget_block(high).has_value());
  EXPECT_EQ(*store_->blocks("p"), std::vector{low.addresses});
  {
    auto transaction = Transaction::begin(*store_);
    ASSERT_TRUE(store_->put_block(high).has_value());
  }
  EXPECT_EQ(*store_->blocks("p"), std::vector{low.addresses});
}

TEST_P(StoreContract, FindsNotesByTheirBeginning) {
  for (const char* key : {"a/2", "a/1", "a", "b/1", "a0"}) ASSERT_TRUE(store_->put_note(key, key).has_value());
  using Notes = std::vector<Store::Note>;
  EXPECT_EQ(*store_->notes("a/"), (Notes{{"a/1", "a/1"}, {"a/2", "a/2"}}));
  ASSERT_TRUE(store_->forget_note("a/1").has_value());
  ASSERT_TRUE(store_->forget_note("a/1").has_value());
  EXPECT_EQ(*store_->notes("a/"), (Notes{{"a/2", "a/2"}}));
  EXPECT_EQ(*store_->note("a"), "a");
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Values("memory", "sqlite"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace railbed::state
