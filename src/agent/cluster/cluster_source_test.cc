// SPDX-License-Identifier: Apache-2.0
// An ADD's questions to the cluster: answered from caches, asked once where they are too slow, and what happens while
// the API server is away, slow or wrong.
#include "agent/cluster/cluster_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/cluster/test_cluster.h"
#include "agent/pod/manifest_source.h"
#include "agent/pod/network_status.h"
#include "agent/records/meta_records.h"
#include "doc/json.h"
#include "os/fake/kernel.h"

namespace railbed::agent {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

struct ClusterSourceTest : testing::Test, ClusterRig {
  Switch api;
  // Before any thread asks.
  void SetUp() override {
    server.before = [this](const kube::Request&) { return api(); };
  }
  size_t gets() const {
    size_t count = 0;
    for (const std::string& one : server.requests())
      if (one.starts_with("GET ") && one.find("limit=") == std::string::npos) ++count;
    return count;
  }
  doc::Value status_of(const std::vector<std::string>& names) {
    doc::Value all = doc::Value::array();
    for (const std::string& name : names) {
      doc::Value one = doc::Value::object();
      one.set("name", name);
      all.push(std::move(one));
    }
    return all;
  }
};

TEST_F(ClusterSourceTest, ANamespacesLabelSaysWhetherItMayUseWhatIsTheNodes) {
  EXPECT_TRUE(source.may_use_node("ai").value_or(false)) << "everybody may";
  ClusterSource restricted(pods, networks, asks, writer, *store, {.node = "node1", .restrict_definitions = true});
  const auto may = [&](const std::string& ns) {
    const Result<bool> got = restricted.may_use_node(ns);
    return got.has_value() ? fmt::format("{}", *got) : got.error().story();
  };
  const auto put = [&](const std::string& ns, const std::string& labels) {
    server.put("/api/v1/namespaces/" + ns, kube::parse_object(fmt::format(R"({{"apiVersion": "v1", "kind": "Namespace",
                                                   "metadata": {{"name": "{}", "labels": {}}}}})",
                                                                          ns, labels))
                                               .value());
  };
  put("ai", "{}");
  put("infra", R"({"railbed.dev/host-devices": "allowed"})");
  put("odd", R"({"railbed.dev/host-devices": "true"})");
  EXPECT_EQ(may("ai"), "false");
  EXPECT_EQ(may("infra"), "true");
  EXPECT_EQ(may("odd"), "false");
  EXPECT_THAT(may("gone"), HasSubstr("the labels of namespace gone are unknown: "));
  put("ai", R"({"railbed.dev/host-devices": "allowed"})");
  EXPECT_EQ(may("ai"), "true") << "it is asked for each time";
  api.away = true;
  EXPECT_EQ(may("ai"), "true") << "as it was";
  EXPECT_THAT(may("gone"), HasSubstr("the labels of namespace gone are unknown: "));
}

TEST_F(ClusterSourceTest, APolicyThatDeniesKeepsIbKubernetesWord) {
  const auto reserved = [&] {
    const Result<bool> got = source.reserves_ib_kubernetes();
    return got.has_value() ? fmt::format("{}", *got) : got.error().story();
  };
  const auto put = [&](const std::string& plural, const std::string& spec) {
    server.put("/apis/admissionregistration.k8s.io/v1/" + plural + "/railbed-ib-kubernetes",
               kube::parse_object(fmt::format(R"({{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "Any",
                                                   "metadata": {{"name": "railbed-ib-kubernetes"}}, "spec": {}}})",
                                              spec))
                   .value());
  };
  const std::string bindings = "validatingadmissionpolicybindings";
  EXPECT_EQ(reserved(), "false");
  put(bindings, R"({"policyName": "railbed-ib-kubernetes", "validationActions": ["Deny"]})");
  EXPECT_EQ(reserved(), "false") << "there is no policy";
  put("validatingadmissionpolicies", "{}");
  EXPECT_EQ(reserved(), "true");
  put(bindings, R"({"policyName": "railbed-ib-kubernetes", "validationActions": ["Warn", "Audit"]})");
  EXPECT_EQ(reserved(), "false") << "it only warns";
  put(bindings, R"({"policyName": "another", "validationActions": ["Deny"]})");
  EXPECT_EQ(reserved(), "false");
  put(bindings, R"({"policyName": "railbed-ib-kubernetes", "validationActions": ["Audit", "Deny"]})");
  EXPECT_EQ(reserved(), "true");
  api.away = true;
  EXPECT_EQ(reserved(), "true") << "as it was";
  ClusterSource fresh(pods, networks, asks, writer, *store, {.node = "node1"});
  EXPECT_THAT(fresh.reserves_ib_kubernetes().error().story(),
              HasSubstr("ValidatingAdmissionPolicy railbed-ib-kubernetes: "));
}

TEST_F(ClusterSourceTest, APodAndItsNetworksCostNoRequest) {
  server.put(pod_path("a"), pod_object("a", {{kNetworksKey, "rail"}}));
  doc::Value network = network_object("rail", config_of("eth1"));
  doc::Value annotations = doc::Value::object();
  annotations.set("k8s.v1.cni.cncf.io/resourceName", "openshift.io/rail0");
  network.find("metadata")->set("annotations", std::move(annotations));
  server.put(network_path("rail"), std::move(network));
  follow();
  const auto pod = source.pod("ai", "a", uid(pod_path("a")));
  ASSERT_TRUE(pod.has_value()) << pod.error().to_string();
  EXPECT_EQ(pod->annotations.at(kNetworksKey), "rail");
  EXPECT_EQ(pod->api_uid, uid(pod_path("a")));
  const auto found = source.network("ai", "rail");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->resource, "openshift.io/rail0");
  EXPECT_EQ(doc::to_json(found->config), config_of("eth1"));
  EXPECT_EQ(gets(), 0u);
}

TEST_F(ClusterSourceTest, AnAddThatIsFasterThanTheWatchAsksOnce) {
  server.put(pod_path("a"), pod_object("a", {{kNetworksKey, "rail"}}));
  server.put(network_path("rail"), network_object("rail", config_of("eth1")));
  // The caches know nothing: their threads do not run.
  EXPECT_EQ(source.pod("ai", "a", uid(pod_path("a")))->annotations.at(kNetworksKey), "rail");
  EXPECT_TRUE(source.network("ai", "rail").has_value());
  EXPECT_EQ(gets(), 2u);
}

TEST_F(ClusterSourceTest, SaysThatAThingIsMissingOnlyWhenTheServerDoes) {
  follow();
  struct Case {
    bool away;
    Code code;
    const char* pod;
    const char* network;
  };
  for (const auto& [is_away, code, pod, network] :
       {Case{false, Code::kNotFound, "the API server has no pod ai/a",
             "the API server has no NetworkAttachmentDefinition ai/rail"},
        Case{true, Code::kBusy,
             "pod ai/a with the uid u: it is not among the 0 cached pods, N s old, and the API server is unreachable: "
             "connection refused",
             "network ai/rail: it is not among the 0 cached network-attachment-definitions, N s old, and the API "
             "server is unreachable: connection refused"}}) {
    api.away = is_away;
    EXPECT_EQ(source.pod("ai", "a", "u").error().code, code);
    EXPECT_EQ(without_ages(source.pod("ai", "a", "u").error().story()), pod);
    EXPECT_EQ(source.network("ai", "rail").error().code, code);
    EXPECT_EQ(without_ages(source.network("ai", "rail").error().story()), network);
  }
}

TEST_F(ClusterSourceTest, ThePodMadeAgainUnderTheSameNameIsAnotherOne) {
  server.put(pod_path("a"), pod_object("a", {{kNetworksKey, "old"}}));
  follow();
  const std::string old_uid = uid(pod_path("a"));
  // The watch is behind: the cache has the old one.
  threads.clear();
  server.erase(pod_path("a"));
  server.put(pod_path("a"), pod_object("a", {{kNetworksKey, "new"}}));
  const std::string new_uid = uid(pod_path("a"));
  EXPECT_EQ(source.pod("ai", "a", new_uid)->annotations.at(kNetworksKey), "new");
  EXPECT_EQ(gets(), 1u);
  EXPECT_EQ(source.pod("ai", "a", "third").error().story(),
            fmt::format("pod ai/a was re-created: its uid in the API server is {}, not third", new_uid));
  api.away = true;
  EXPECT_EQ(source.pod("ai", "a", new_uid).error().code, Code::kBusy);
  EXPECT_EQ(source.pod("ai", "a", old_uid)->annotations.at(kNetworksKey), "old") << "its ADD may still be under way";
}

TEST_F(ClusterSourceTest, AStaticPodIsFoundByItsHash) {
  server.put(pod_path("a-node1"), pod_object("a-node1", {{kNetworksKey, "rail"},
                                                         {"kubernetes.io/config.hash", kHash},
                                                         {"kubernetes.io/config.mirror", kHash}}));
  // No mirror pod, whatever its owner writes.
  server.put(pod_path("b"), pod_object("b", {{"kubernetes.io/config.hash", kHash}}));
  follow();
  const auto pod = source.pod("ai", "a-node1", kHash);
  ASSERT_TRUE(pod.has_value()) << pod.error().to_string();
  EXPECT_EQ(pod->uid, kHash) << "by which kubelet knows it";
  EXPECT_EQ(pod->api_uid, uid(pod_path("a-node1")));
  EXPECT_EQ(source.api_uid("ai", "a-node1", kHash), uid(pod_path("a-node1")));
  constexpr const char* kNotYet =
      "the API server has no object for the static pod ai/{} yet; the networks of the pod are read from it";
  EXPECT_EQ(source.pod("ai", "b", kHash).error().story(), fmt::format(fmt::runtime(kNotYet), "b"));
  EXPECT_EQ(source.pod("ai", "c-node1", kHash).error().story(), fmt::format(fmt::runtime(kNotYet), "c-node1"));
  EXPECT_EQ(source.pod("ai", "c-node1", kHash).error().code, Code::kNotFound);
  EXPECT_EQ(source.api_uid("ai", "c-node1", kHash), "");
}

TEST_F(ClusterSourceTest, ADefinitionThatIsEditedIsSeen) {
  server.put(network_path("rail"), network_object("rail", config_of("eth1")));
  follow();
  server.put(network_path("rail"), network_object("rail", config_of("eth2")));
  EXPECT_TRUE(eventually([&] { return doc::to_json(source.network("ai", "rail")->config) == config_of("eth2"); }));
  server.put(network_path("rail"), network_object("rail", "{"));
  ASSERT_TRUE(eventually([&] { return !source.network("ai", "rail").has_value(); }));
  EXPECT_EQ(source.network("ai", "rail").error().code, Code::kInvalid);
  EXPECT_THAT(source.network("ai", "rail").error().story(), HasSubstr("network ai/rail: network configuration:1:2"));
  EXPECT_EQ(gets(), 0u);
}

// The default network's name is asked for with each pod, and most are a file's.
TEST_F(ClusterSourceTest, ANameThatMayBeAFilesIsAskedForOnlyWhileNothingIsKnown) {
  EXPECT_EQ(source.network_if_known("kube-system", "pods").error().code, Code::kNotFound);
  EXPECT_EQ(gets(), 1u);
  api.away = true;
  EXPECT_EQ(source.network_if_known("kube-system", "pods").error().code, Code::kBusy)
      << "it may be a definition that was never seen here";
  api.away = false;
  follow();
  const size_t before = gets();
  EXPECT_EQ(source.network_if_known("kube-system", "pods").error().code, Code::kNotFound);
  EXPECT_EQ(gets(), before);
}

TEST_F(ClusterSourceTest, AnAgentThatStartsWhileTheServerIsAwayWorksWithTheFile) {
  server.put(pod_path("a"), pod_object("a", {{kNetworksKey, "rail"}}));
  server.put(network_path("rail"), network_object("rail", config_of("eth1")));
  const std::string pod_uid = uid(pod_path("a"));
  follow();
  ASSERT_TRUE(pods.save().has_value());
  ASSERT_TRUE(networks.save().has_value());
  threads.clear();
  api.away = true;

  KeptCache later_pods(client, disk, cache(kube::kPods, pod_kept()));
  KeptCache later_networks(client, disk, cache(kube::kNetworkDefinitions, network_kept()));
  ClusterSource later(later_pods, later_networks, asks, writer, *store, {.node = "node1"});
  ASSERT_TRUE(later_pods.restore().has_value());
  ASSERT_TRUE(later_networks.restore().has_value());
  EXPECT_EQ(later.pod("ai", "a", pod_uid)->annotations.at(kNetworksKey), "rail");
  EXPECT_TRUE(later.network("ai", "rail").has_value());
  EXPECT_EQ(later.network_if_known("kube-system", "pods").error().code, Code::kNotFound) << "a file of the node has it";
  EXPECT_EQ(
      without_ages(later.pod("ai", "b", "u").error().story()),
      "pod ai/b with the uid u: it is not among the 1 cached pods, N s old and from an earlier agent's file, and the "
      "API server is unreachable: connection refused");
}

// 410 and cut watches are the informer's; what ADDs see of them is nothing.
TEST_F(ClusterSourceTest, CutWatchesAndAForgetfulServerAreNotSeen) {
  server.put(pod_path("a"), pod_object("a"));
  follow();
  for (int i = 0; i < 5; ++i) {
    server.compact();
    server.fail_streams(410, "Expired");
    server.put(pod_path(fmt::format("p{}", i)), pod_object(fmt::format("p{}", i)));
    EXPECT_TRUE(source.pod("ai", fmt::format("p{}", i), "").has_value()) << i;
    EXPECT_TRUE(source.pod("ai", "a", "").has_value());
  }
}

TEST_F(ClusterSourceTest, FiftyAddsOfUnknownPodsAskOncePerPodAndFourAtATime) {
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  server.before = [&](const kube::Request&) -> std::optional<kube::ApiError> {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::yield();
    --inside;
    return std::nullopt;
  };
  for (int i = 0; i < 50; ++i) server.put(pod_path(fmt::format("p{}", i)), pod_object(fmt::format("p{}", i)));
  AskOnce patient(client, {}, {.at_once = 4, .wait = seconds(600)});
  ClusterSource busy(pods, networks, patient, writer, *store, {.node = "node1"});
  std::atomic<int> found = 0;
  {
    std::vector<std::jthread> adds;
    for (int i = 0; i < 50; ++i)
      adds.emplace_back([&, i] {
        const std::string name = fmt::format("p{}", i);
        if (busy.pod("ai", name, uid(pod_path(name))).has_value()) ++found;
      });
  }
  EXPECT_EQ(found, 50);
  EXPECT_EQ(gets(), 50u);
  EXPECT_LE(most, 4);
}

TEST_F(ClusterSourceTest, AServerThatHangsHoldsUpOnlyWhoHasToAsk) {
  server.put(pod_path("known"), pod_object("known"));
  follow();
  std::mutex mutex;
  std::condition_variable released;
  bool release = false;
  std::atomic<int> hanging = 0;
  // From now on GETs hang, longer than anybody waits. The watch is open, and its thread asks nothing.
  kube::fake::ApiServer silent;
  silent.before = [&](const kube::Request&) -> std::optional<kube::ApiError> {
    ++hanging;
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return release; });
    return kube::unanswered(Code::kTimeout, kube::Delivery::kUnknown, "no answer");
  };
  kube::fake::FakeClock stepped(kube::fake::FakeClock::Goes::kOnAdvance);
  kube::Client client_of_silent(silent, stepped, quick);
  AskOnce impatient(client_of_silent, {}, {.at_once = 2, .wait = seconds(10)});
  ClusterSource stuck(pods, networks, impatient, writer, *store, {.node = "node1"});
  std::vector<std::jthread> adds;
  for (int i = 0; i < 2; ++i) adds.emplace_back([&, i] { (void)stuck.pod("ai", fmt::format("p{}", i), "u"); });
  ASSERT_TRUE(eventually([&] { return hanging == 2; }));
  EXPECT_TRUE(stuck.pod("ai", "known", "").has_value()) << "holds up no other pod";
  std::optional<Error> error;
  {
    const std::jthread third([&] {
      if (const auto pod = stuck.pod("ai", "p3", "u"); !pod.has_value()) error = pod.error();
    });
    EXPECT_TRUE(waits_for(stepped, seconds(10)));
    stepped.advance(seconds(10));
  }
  EXPECT_EQ(hanging, 2) << "both were there all the time, and nothing else was requested";
  {
    const std::lock_guard lock(mutex);
    release = true;
    released.notify_all();
  }
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, Code::kBusy);
  EXPECT_THAT(error->story(), HasSubstr("the API server did not answer within 10 s, or too many requests are waiting "
                                        "for it"));
}

TEST_F(ClusterSourceTest, WritesAStatusOnlyWhereSomebodyMayReadIt) {
  const auto writes = [&](const PodInfo& pod, const std::vector<std::string>& names) {
    EXPECT_TRUE(source.publish_status(pod, "ai/a@c", status_of(names)).has_value());
    const size_t pending = writer.counters().pending;
    EXPECT_TRUE(store->note("network-status/ai/a@c")->has_value()) << "for `railbed attachments`";
    EXPECT_TRUE(source.publish_status(pod, "ai/a@c", doc::Value()).has_value());
    EXPECT_EQ(writer.counters().pending, 0u);
    EXPECT_FALSE(store->note("network-status/ai/a@c")->has_value());
    return pending;
  };
  const PodInfo plain{.ns = "ai", .name = "a", .uid = "u", .api_uid = "u"};
  PodInfo chooses = plain;
  chooses.annotations[kNetworksKey] = "rail";
  PodInfo unknown = chooses;
  unknown.api_uid = "";
  EXPECT_EQ(writes(plain, {"cbr0"}), 0u);
  EXPECT_EQ(writes(plain, {"cbr0", "ai/everybodys"}), 1u);
  EXPECT_EQ(writes(chooses, {"cbr0"}), 1u);
  EXPECT_EQ(writes(unknown, {"cbr0", "ai/rail"}), 0u);
}

TEST_F(ClusterSourceTest, WhatAnEarlierAgentDidNotWriteIsWritten) {
  os::FakeKernel kernel;
  std::unique_ptr<ipam::BlockSource> blocks = ipam::whole_ranges();
  DurableRecords records(disk, kDurableRecords, "boot-1");
  Engine engine(kernel, *store, *blocks, records);
  const auto note = [&](const std::string& pod, const std::string& container, const std::string& uid,
                        const doc::Value& status) {
    const std::string sandbox = "ai/" + pod + "@" + container;
    ASSERT_TRUE(put_sandbox_note(*store, {.key = sandbox, .pod_uid = uid}).has_value());
    ASSERT_TRUE(store->put_note(std::string(kNetworkStatusNote) + sandbox, annotation_text(status)).has_value());
  };
  const doc::Value status = status_of({"cbr0", "ai/rail"});
  for (const char* name : {"unwritten", "written", "other", "twice"})
    server.put(pod_path(name), pod_object(name, {{kNetworksKey, "rail"}}));
  server.put(pod_path("plain"), pod_object("plain"));
  server.put(pod_path("s-node1"), pod_object("s-node1", {{kNetworksKey, "rail"},
                                                         {"kubernetes.io/config.hash", kHash},
                                                         {"kubernetes.io/config.mirror", kHash}}));
  doc::Value done =
      pod_object("written", {{kNetworksKey, "rail"}, {kNetworkStatusAnnotation, annotation_text(status)}});
  server.put(pod_path("written"), done);
  done = pod_object("twice", {{kNetworksKey, "rail"}, {kNetworkStatusAnnotation, annotation_text(status)}});
  server.put(pod_path("twice"), done);
  for (const char* name : {"unwritten", "written", "twice"}) note(name, "c1", uid(pod_path(name)), status);
  note("twice", "c0", uid(pod_path("twice")), status_of({"cbr0", "ai/earlier"}));
  note("other", "c1", "the one before", status);
  note("gone", "c1", "u", status);
  note("plain", "c1", uid(pod_path("plain")), status_of({"cbr0"}));
  note("s-node1", "c1", kHash, status);
  follow();
  const auto resumed = source.resume_statuses(engine);
  ASSERT_TRUE(resumed.has_value()) << resumed.error().to_string();
  EXPECT_EQ(*resumed, 2u);
  threads.emplace_back([this](std::stop_token stop) { writer.run(stop); });
  ASSERT_TRUE(eventually([&] { return writer.counters().pending == 0; }));
  for (const char* name : {"unwritten", "s-node1"})
    EXPECT_EQ(annotations_of(server.objects().at(pod_path(name)))[kNetworkStatusAnnotation], annotation_text(status));
  EXPECT_EQ(count_of(server, "PATCH"), 2u);
}

TEST(ClusterObjects, KnowsWhatAPodAsksFor) {
  const auto pod = kube::parse_object(
      R"({"metadata":{"namespace":"ai","name":"a","uid":"u"},"spec":{
          "containers":[{"resources":{"limits":{"openshift.io/rail0":"1"}}},{"resources":7},{}],
          "initContainers":[{"resources":{"requests":{"openshift.io/rail1":"2"}}}]}})");
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod_of(*pod, "").requested, (std::set<std::string>{"openshift.io/rail0", "openshift.io/rail1"}));
  EXPECT_EQ(pod_of(*pod, "").uid, "u");
  doc::Value kept = *pod;
  pod_kept()(kept);
  EXPECT_EQ(pod_of(kept, "").requested, pod_of(*pod, "").requested) << "is kept";
}

TEST(ClusterObjects, ReportsKubeletsOwnUids) {
  EXPECT_TRUE(is_static_uid(kHash));
  for (const char* uid : {"", "6f9619ff-8b86-d011-b42d-00cf4fc964ff", "0123456789ABCDEF0123456789abcdef", "abc"})
    EXPECT_FALSE(is_static_uid(uid)) << uid;
}

}  // namespace
}  // namespace railbed::agent
