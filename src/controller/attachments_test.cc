// SPDX-License-Identifier: Apache-2.0
#include "controller/attachments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "doc/json.h"
#include "graph/examples.h"

namespace railbed::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

StoredNetwork network(std::string name, std::string uid, std::string target = "llm") {
  return {.uid = std::move(uid),
          .network = graph::examples::network(std::move(name), "rail0", std::move(target)),
          .kind_uid = "kind1"};
}

std::string member(const doc::Value& object, std::initializer_list<std::string_view> path) {
  const doc::Value* at = &object;
  for (std::string_view key : path) {
    at = at->find(key);
    if (at == nullptr) return "";
  }
  return at->as_string() ? *at->as_string() : doc::to_json(*at);
}

// The API server: writes become what is stored.
StoredAttachment stored(const doc::Value& object, int number = 0) {
  return {.ns = member(object, {"metadata", "namespace"}),
          .name = member(object, {"metadata", "name"}),
          .uid = fmt::format("nad{}", number),
          .resource_version = std::to_string(100 + number),
          .network_uid = member(object, {"metadata", "labels", kNetworkUidLabel}),
          .kind_uid = member(object, {"metadata", "annotations", kNetworkKindUid}),
          .owner_ref = member(object, {"metadata", "annotations", "sriovnetwork.openshift.io/owner-ref"}),
          .resource = member(object, {"metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName"}),
          .config = member(object, {"spec", "config"})};
}

const std::set<std::string> kNamespaces{"op", "llm", "other"};

AttachmentWrites writes(const std::vector<StoredNetwork>& networks,
                        const std::vector<StoredAttachment>& attachments = {},
                        const std::set<std::string>& kinds = {"kind1"}) {
  return attachment_writes(networks, attachments, kNamespaces, "openshift.io", kinds);
}

TEST(Attachments, HaveALabelElsewhereAndAnOwnerAtHome) {
  const AttachmentWrites elsewhere = writes({network("rail0", "u1")});
  ASSERT_EQ(elsewhere.applies.size(), 1u);
  EXPECT_EQ(
      doc::to_json(elsewhere.applies.front()),
      R"({"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition","metadata":{"name":"rail0","namespace":"llm",)"
      R"("annotations":{"k8s.v1.cni.cncf.io/resourceName":"openshift.io/rail0",)"
      R"("sriovnetwork.openshift.io/owner-ref":"SriovNetwork.sriovnetwork.openshift.io/op/rail0",)"
      R"("railbed.dev/network-kind-uid":"kind1"},)"
      R"("labels":{"railbed.dev/network-uid":"u1"}},"spec":{"config":)"
      R"("{\n    \"cniVersion\": \"1.0.0\",\n    \"name\": \"rail0\",\n    \"type\": \"sriov\",\n    \"vlan\": 0,\n    \"vlanQoS\": 0,\n)"
      R"(    \"ipam\": {}\n}"}})");
  const AttachmentWrites home = writes({network("rail0", "u1", "")});
  EXPECT_EQ(member(home.applies.front(), {"metadata", "namespace"}), "op");
  EXPECT_EQ(
      member(home.applies.front(), {"metadata", "ownerReferences"}),
      R"([{"apiVersion":"sriovnetwork.openshift.io/v1","kind":"SriovNetwork","name":"rail0","uid":"u1","controller":true}])");
  EXPECT_THAT(home.outcomes, ElementsAre(AttachmentWrites::NetworkOutcome{"u1", "NetworkReady", ""}));
}

TEST(Attachments, AreNotWrittenTwice) {
  const auto first = writes({network("rail0", "u1")});
  const AttachmentWrites again = writes({network("rail0", "u1")}, {stored(first.applies.front())});
  EXPECT_THAT(again.applies, IsEmpty());
  EXPECT_THAT(again.deletions, IsEmpty());
  StoredAttachment edited = stored(first.applies.front());
  edited.config += " ";
  EXPECT_EQ(writes({network("rail0", "u1")}, {edited}).applies.size(), 1u) << "what others change is put right";
}

TEST(Attachments, AreSweptWhenTheirNetworkIsGoneOrMoved) {
  const StoredAttachment old = stored(writes({network("rail0", "u1")}).applies.front(), 7);
  const AttachmentWrites::Deletion deletion{"llm", "rail0", "nad7", "107"};
  EXPECT_THAT(writes({}, {old}).deletions, ElementsAre(deletion));
  const AttachmentWrites moved = writes({network("rail0", "u1", "other")}, {old});
  EXPECT_THAT(moved.deletions, ElementsAre(deletion));
  EXPECT_EQ(moved.applies.size(), 1u);
  // Deleted and made again under its name: the definition stays, and gets the new UID.
  const AttachmentWrites again = writes({network("rail0", "u2")}, {old});
  EXPECT_THAT(again.deletions, IsEmpty());
  EXPECT_EQ(member(again.applies.front(), {"metadata", "labels", kNetworkUidLabel}), "u2");
}

// Networks that went with the CustomResourceDefinition of their kind were not deleted on purpose.
TEST(Attachments, AreKeptWhenTheirNetworkWentWithItsKind) {
  const StoredAttachment old = stored(writes({network("rail0", "u1")}).applies.front(), 7);
  const AttachmentWrites::Deletion kept{"llm", "rail0", "nad7", "107"};
  for (const std::set<std::string>& kinds : {std::set<std::string>{"kind2"}, {}}) {
    const AttachmentWrites made = writes({}, {old}, kinds);
    EXPECT_THAT(made.deletions, IsEmpty());
    EXPECT_THAT(made.kept, ElementsAre(kept));
  }
  StoredAttachment earlier = old;  // an earlier version of railbed wrote it
  earlier.kind_uid.clear();
  EXPECT_THAT(writes({}, {earlier}).kept, ElementsAre(kept));
  EXPECT_THAT(writes({}, {earlier}).deletions, IsEmpty());
  // Its network lives, and says itself that it wants another one.
  EXPECT_THAT(writes({network("rail0", "u1", "other")}, {old}, {"kind2"}).deletions, ElementsAre(kept));
  // Made again under its name, of the kind that is there now.
  StoredNetwork again = network("rail0", "u2");
  again.kind_uid = "kind2";
  const AttachmentWrites made = writes({again}, {old}, {"kind2"});
  EXPECT_THAT(made.kept, IsEmpty());
  ASSERT_EQ(made.applies.size(), 1u);
  EXPECT_EQ(member(made.applies.front(), {"metadata", "annotations", kNetworkKindUid}), "kind2");
  // A kind that cannot be looked at changes nothing.
  StoredNetwork unknown = network("rail0", "u1");
  unknown.kind_uid.clear();
  EXPECT_THAT(writes({unknown}, {old}, {}).applies, IsEmpty());
}

TEST(Attachments, OfOthersStay) {
  StoredAttachment by_hand{.ns = "llm",
                           .name = "rail0",
                           .uid = "x",
                           .resource_version = "1",
                           .network_uid = "",
                           .kind_uid = "",
                           .owner_ref = "",
                           .resource = "",
                           .config = "{}"};
  const AttachmentWrites taken = writes({network("rail0", "u1")}, {by_hand});
  EXPECT_THAT(taken.applies, IsEmpty());
  EXPECT_THAT(taken.deletions, IsEmpty());
  EXPECT_THAT(taken.outcomes,
              ElementsAre(AttachmentWrites::NetworkOutcome{
                  "u1", "NameTaken",
                  "llm/rail0 already exists and was not created from this network: rename one of them, or delete the "
                  "definition"}));
  // The SR-IOV operator's for the same network is taken over.
  StoredAttachment upstream = stored(writes({network("rail0", "u1")}).applies.front());
  upstream.network_uid.clear();
  EXPECT_EQ(writes({network("rail0", "u1")}, {upstream}).applies.size(), 1u);
}

TEST(Attachments, SayWhyThereIsNone) {
  EXPECT_THAT(writes({network("rail0", "u1", "nowhere")}).outcomes,
              ElementsAre(AttachmentWrites::NetworkOutcome{"u1", "NamespaceNotFound", "namespace nowhere not found"}));
  StoredNetwork infiniband = network("rail0", "u2");
  infiniband.network.infiniband = true;
  const AttachmentWrites both = writes({network("rail0", "u1"), infiniband});
  EXPECT_EQ(both.applies.size(), 1u);
  EXPECT_THAT(both.outcomes, ElementsAre(AttachmentWrites::NetworkOutcome{"u1", "NetworkReady", ""},
                                         AttachmentWrites::NetworkOutcome{
                                             "u2", "NameTaken", "network op/rail0 already defines llm/rail0"}));
}

// Whatever was there, when all is written there is nothing left to write, and nothing of others was touched.
RC_GTEST_PROP(AttachmentsProperty, ComeToRest, ()) {
  const auto some = [](int count) { return *rc::gen::inRange(0, count); };
  const std::vector<std::string> targets{"", "llm", "other", "nowhere"};
  std::vector<StoredNetwork> before, now;
  for (int i = 0; i < 4; ++i) {
    before.push_back(
        network(fmt::format("n{}", some(3)), fmt::format("u{}", i), targets[static_cast<size_t>(some(4))]));
    now.push_back(network(fmt::format("n{}", some(3)), fmt::format("u{}", some(2) ? i : i + 4),
                          targets[static_cast<size_t>(some(4))]));
  }
  std::map<std::pair<std::string, std::string>, StoredAttachment> cluster;
  const auto list = [&] {
    std::vector<StoredAttachment> all;
    for (const auto& [key, one] : cluster) all.push_back(one);
    return all;
  };
  int number = 0;
  const auto carry_out = [&](const std::vector<StoredNetwork>& networks) {
    const AttachmentWrites done = writes(networks, list());
    for (const auto& one : done.deletions) {
      RC_ASSERT(!cluster.at({one.ns, one.name}).network_uid.empty());
      cluster.erase({one.ns, one.name});
    }
    for (const doc::Value& one : done.applies) {
      const StoredAttachment made = stored(one, ++number);
      cluster[{made.ns, made.name}] = made;
    }
    return done.applies.size() + done.deletions.size();
  };
  if (some(2)) cluster[{"llm", "n0"}] = {.ns = "llm", .name = "n0", .uid = "hand", .resource_version = "1"};
  carry_out(before);
  carry_out(now);
  carry_out(now);  // a name that the sweep has freed is taken in the next round
  RC_ASSERT(carry_out(now) == 0u);
  std::set<std::string> uids;
  for (const StoredNetwork& one : now) uids.insert(one.uid);
  for (const auto& [key, one] : cluster)
    RC_ASSERT((one.network_uid.empty() ? one.uid == "hand" : uids.contains(one.network_uid)));
}

}  // namespace
}  // namespace railbed::controller
