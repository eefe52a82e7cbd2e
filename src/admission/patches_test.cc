// SPDX-License-Identifier: Apache-2.0
// What a pod gets, and what it is refused for.
#include "admission/patches.h"

#include <gtest/gtest.h>

#include "admission/test_patches.h"

namespace railbed::admission {
namespace {

using doc::Value;

Networks test_networks() {
  return {.by_key = {{"ai/rail0", {.resource = "openshift.io/rail0"}},
                     {"ai/rail0b", {.resource = "openshift.io/rail0"}},
                     {"ai/rail1", {.resource = "nvidia.com/rail1", .node_selector = "rails=yes"}},
                     {"ai/rail2", {.resource = "openshift.io/rail2", .node_selector = "rails = no"}},
                     {"ai/steer", {.node_selector = "kubernetes.io/hostname=mine"}},
                     {"ai/bad", {.node_selector = "a b"}},
                     {"ai/plain", {}},
                     {"ai/cpu", {.resource = "cpu"}},
                     {"ai/dra", {.resource = "openshift.io/dra"}},
                     {"kube-system/base", {.resource = "openshift.io/base"}}},
          .dra_resources = {"openshift.io/dra"},
          .claimed = {{"ai/vf", {"openshift.io/rail0"}}},
          .node_labels = {"rails"}};
}

// `annotations`, and more members of spec, as JSON.
Value pod_of(std::string_view annotations, std::string_view containers = R"([{"name":"a"},{"name":"b"}])",
             std::string_view more = "") {
  return json_of(fmt::format(R"({{"metadata":{{"name":"p","annotations":{}}},"spec":{{"containers":{}{}{}}}}})",
                             annotations, containers, more.empty() ? "" : ",", more));
}

Review review_of_pod(Value pod) {
  return {
      .uid = "7", .operation = Operation::kCreate, .kind = "Pod", .ns = "ai", .name = "p", .object = std::move(pod)};
}

std::string networks(std::string_view text) {
  return fmt::format(R"({{"k8s.v1.cni.cncf.io/networks":{}}})", doc::to_json(Value(text)));
}

TEST(Inject, CountsNetworksByResource) {
  const Answer answer = inject(review_of_pod(pod_of(networks("rail0,rail0b,rail1,plain,dra"))), test_networks(), {});
  const Value empty = Value::object();
  const Value mount = json_of(R"({"name":"podnetinfo","mountPath":"/etc/podnetinfo","readOnly":true})");
  const Answer expected{
      .uid = "7",
      .patches = {{.path = "/spec/nodeSelector", .value = empty},
                  {.path = "/spec/nodeSelector/rails", .value = "yes"},
                  {.path = "/spec/containers/0/resources", .value = empty},
                  {.path = "/spec/containers/0/resources/requests", .value = empty},
                  {.path = "/spec/containers/0/resources/requests/nvidia.com~1rail1", .value = "1"},
                  {.path = "/spec/containers/0/resources/requests/openshift.io~1rail0", .value = "2"},
                  {.path = "/spec/containers/0/resources/limits", .value = empty},
                  {.path = "/spec/containers/0/resources/limits/nvidia.com~1rail1", .value = "1"},
                  {.path = "/spec/containers/0/resources/limits/openshift.io~1rail0", .value = "2"},
                  {.path = "/spec/volumes", .value = Value::array()},
                  {.path = "/spec/volumes/-", .value = json_of(R"({"name":"podnetinfo","downwardAPI":{"items":[
               {"path":"annotations","fieldRef":{"fieldPath":"metadata.annotations"}}]}})")},
                  {.path = "/spec/containers/0/volumeMounts", .value = Value::array()},
                  {.path = "/spec/containers/0/volumeMounts/-", .value = mount},
                  {.path = "/spec/containers/1/volumeMounts", .value = Value::array()},
                  {.path = "/spec/containers/1/volumeMounts/-", .value = mount}}};
  EXPECT_EQ(to_json(answer), to_json(expected));
  EXPECT_TRUE(answer == expected);
}

// The requests of the first container, of the second, and of init containers, after the patches.
struct RequestCase {
  std::string what;
  Value pod;
  std::string first;
  std::string second;
  bool is_patched;
};

std::vector<RequestCase> request_cases() {
  const std::string two = networks("rail0,rail0b");
  const auto container = [](int count) {
    return fmt::format(R"({{"resources":{{"limits":{{"openshift.io/rail0":"{}"}}}}}})", count);
  };
  return {
      {"none", pod_of(two), R"({"openshift.io/rail0":"2"})", "", true},
      {"one is asked for", pod_of(two, "[" + container(1) + R"(,{"name":"b"}])"), R"({"openshift.io/rail0":"2"})", "",
       true},
      {"enough", pod_of(two, "[" + container(2) + R"(,{"name":"b"}])"), "", "", false},
      {"more than enough", pod_of(two, "[" + container(5) + R"(,{"name":"b"}])"), "", "", false},
      {"by two containers", pod_of(two, "[" + container(1) + "," + container(1) + "]"), "", "", false},
      {"the other one has one", pod_of(two, R"([{"name":"a"},)" + container(1) + "]"), R"({"openshift.io/rail0":"1"})",
       "", true},
      {"an init container has them", pod_of(two, R"([{"name":"a"}])", R"("initContainers":[)" + container(2) + "]"),
       R"({"openshift.io/rail0":"2"})", "", true},
      {"a sidecar has them",
       pod_of(two, R"([{"name":"a"}])",
              R"("initContainers":[{"restartPolicy":"Always","resources":{"limits":{"openshift.io/rail0":2}}}])"),
       "", "", false},
      {"a chosen container", pod_of(R"({"k8s.v1.cni.cncf.io/networks":"rail0","railbed.dev/container":"b"})"), "",
       R"({"openshift.io/rail0":"1"})", true},
      {"the default network", pod_of(R"({"v1.multus-cni.io/default-network":"base"})"), R"({"openshift.io/base":"1"})",
       "", true},
      {"a claim gives it",
       pod_of(networks("rail0"), R"([{"name":"a"}])",
              R"("resourceClaims":[{"name":"x","resourceClaimTemplateName":"vf"}])"),
       "", "", false},
      {"DRA gives it", pod_of(networks("dra")), "", "", false},
      {"no device", pod_of(networks("plain")), "", "", false},
      {"the host's network", pod_of(two, R"([{"name":"a"}])", R"("hostNetwork":true)"), "", "", false},
      {"no annotation", pod_of("{}"), "", "", false},
  };
}

TEST(Inject, RequestsWhatIsMissing) {
  for (const RequestCase& one : request_cases()) {
    const Answer answer = inject(review_of_pod(one.pod), test_networks(), {});
    EXPECT_TRUE(answer.allowed) << one.what << answer.message;
    EXPECT_EQ(!answer.patches.empty(), one.is_patched) << one.what;
    const auto pod = patched(one.pod, answer.patches);
    ASSERT_TRUE(pod.has_value()) << one.what;
    if (!one.is_patched) continue;
    const Value::Array& containers = *pod->find("spec")->find("containers")->as_array();
    for (const char* list : {"requests", "limits"}) {
      size_t index = 0;
      for (const std::string& expected : {one.first, one.second}) {
        const size_t here = index++;
        if (expected.empty()) continue;
        EXPECT_EQ(doc::to_json(*containers[here].find("resources")->find(list)), expected) << one.what << " " << list;
      }
    }
  }
}

TEST(Inject, Refuses) {
  const struct {
    Value pod;
    std::string message;
  } kCases[] = {
      {pod_of(networks("rail9")),
       "network ai/rail9 does not exist: the pod would never start\n  fix: create the NetworkAttachmentDefinition "
       "ai/rail9, or correct the annotation k8s.v1.cni.cncf.io/networks"},
      {pod_of(networks("other/rail0")),
       "network other/rail0 does not exist: the pod would never start\n  fix: create the NetworkAttachmentDefinition "
       "other/rail0, or correct the annotation k8s.v1.cni.cncf.io/networks"},
      {pod_of(networks("rail0@eth0")),
       "annotation k8s.v1.cni.cncf.io/networks: networks.interface: every pod has a \"eth0\" already"},
      {pod_of(networks("rail1,rail2")),
       "network ai/rail2 is on nodes with rails=no, and network ai/rail1 selects rails=yes: no node has both\n  fix: "
       "leave out the network or the selector"},
      {pod_of(networks("rail1"), R"([{"name":"a"}])", R"("nodeSelector":{"rails":"maybe"})"),
       "network ai/rail1 is on nodes with rails=yes, and the pod selects rails=maybe: no node has both\n  fix: leave out "
       "the network or the selector"},
      {pod_of(networks("bad")),
       "network ai/bad: annotation k8s.v1.cni.cncf.io/nodeSelector is no label of a node: \"a b\"\n  fix: KEY=VALUE"},
      {pod_of(networks("cpu")),
       "network ai/cpu takes its device from \"cpu\", which no device plugin can offer\n  fix: its annotation "
       "k8s.v1.cni.cncf.io/resourceName has a name with a prefix: openshift.io/rail0"},
      {pod_of(R"({"k8s.v1.cni.cncf.io/networks":"rail0","railbed.dev/container":"z"})"),
       "annotation railbed.dev/container: the pod has no container \"z\"\n  fix: name one of spec.containers, or leave "
       "the annotation out: the first one is taken"},
  };
  for (const auto& one : kCases) {
    const Answer answer = inject(review_of_pod(one.pod), test_networks(), {});
    EXPECT_EQ(answer.message, one.message);
    EXPECT_TRUE(answer == refusal("7", one.message)) << one.message;
  }
}

TEST(Inject, SkipsLabelsThatAreNotListed) {
  const Answer answer = inject(review_of_pod(pod_of(networks("steer"))), test_networks(), {});
  const Answer expected{.uid = "7",
                        .warnings = {"k8s.v1.cni.cncf.io/nodeSelector of network ai/steer is not merged: no "
                                     "administrator has listed kubernetes.io/hostname"}};
  EXPECT_EQ(to_json(answer), to_json(expected));
  // The pod's own selector of that label is its own.
  const Value own = pod_of(networks("rail1"), R"([{"name":"a"}])", R"("nodeSelector":{"rails":"yes"})");
  for (const Patch& patch : inject(review_of_pod(own), test_networks(), {}).patches)
    EXPECT_FALSE(patch.path.starts_with("/spec/nodeSelector")) << patch.path;
}

TEST(Inject, AnotherHolderOfAnAddressIsNotNamed) {
  const Identities taken{{"MAC 02:00:00:00:00:09", "Pod"}, {"GUID 0200:0000:0000:0009", "SriovNetworkNodeState"}};
  const struct {
    std::string element;
    std::string message;
  } kCases[] = {
      {R"("mac":"02:00:00:00:00:09")", "another Pod has MAC 02:00:00:00:00:09"},
      {R"("mac":"02-00-00-00-00-09")", "another Pod has MAC 02:00:00:00:00:09"},
      {R"("cni-args":{"mac":"02:00:00:00:00:09"})", "another Pod has MAC 02:00:00:00:00:09"},
      {R"("infiniband-guid":"02:00:00:00:00:00:00:09")", "another SriovNetworkNodeState has GUID 0200:0000:0000:0009"},
      {R"("cni-args":{"guid":"02:00:00:00:00:00:00:09"})",
       "another SriovNetworkNodeState has GUID 0200:0000:0000:0009"},
      {R"("mac":"02:00:00:00:00:0a")", ""},
  };
  for (const auto& one : kCases) {
    const Value pod = pod_of(networks(R"([{"name":"plain",)" + one.element + "}]"));
    const Answer answer = inject(review_of_pod(pod), test_networks(), taken);
    const std::string message = "annotation k8s.v1.cni.cncf.io/networks: " + one.message +
                                "\n  fix: another address, or none: railbed chooses one";
    EXPECT_EQ(answer.message, one.message.empty() ? "" : message);
    Review update = review_of_pod(pod);  // the pod itself is the holder
    update.operation = Operation::kUpdate;
    update.old_object = pod;
    EXPECT_TRUE(inject(update, test_networks(), taken).allowed);
  }
}

TEST(Inject, HugePagesAsFilesAndAName) {
  const Value pod = pod_of(networks("rail0"),
                           R"([{"name":"a","env":[{"name":"X","value":"1"}],"resources":{
                               "requests":{"hugepages-1Gi":"4Gi"},"limits":{"hugepages-1Gi":"4Gi"}}}])");
  const Answer answer = inject(review_of_pod(pod), test_networks(), {});
  const auto result = patched(pod, answer.patches);
  ASSERT_TRUE(result.has_value());
  const Value& spec = *result->find("spec");
  EXPECT_EQ(
      doc::to_json(*spec.find("volumes")),
      R"([{"name":"podnetinfo","downwardAPI":{"items":[)"
      R"({"path":"annotations","fieldRef":{"fieldPath":"metadata.annotations"}},)"
      R"({"path":"hugepages_1G_request_a","resourceFieldRef":{"containerName":"a","resource":"requests.hugepages-1Gi","divisor":"1Mi"}},)"
      R"({"path":"hugepages_1G_limit_a","resourceFieldRef":{"containerName":"a","resource":"limits.hugepages-1Gi","divisor":"1Mi"}}]}}])");
  EXPECT_EQ(doc::to_json(*(*spec.find("containers")->as_array())[0].find("env")),
            R"([{"name":"X","value":"1"},{"name":"CONTAINER_NAME","value":"a"}])");
}

TEST(Inject, AVolumeOfThatNameStaysAsItIs) {
  const Value pod =
      pod_of(networks("rail0"), R"([{"name":"a"}])", R"("volumes":[{"name":"podnetinfo","emptyDir":{}}])");
  for (const Patch& patch : inject(review_of_pod(pod), test_networks(), {}).patches)
    EXPECT_TRUE(patch.path.starts_with("/spec/containers/0/resources")) << patch.path;
}

TEST(Inject, OtherRequestsPass) {
  const Value pod = pod_of(networks("rail9"));
  Review review = review_of_pod(pod);
  review.subresource = "binding";
  EXPECT_TRUE(inject(review, test_networks(), {}) == Answer{.uid = "7"});
  review = review_of_pod(pod);
  review.operation = Operation::kUpdate;
  EXPECT_TRUE(inject(review, test_networks(), {}) == Answer{.uid = "7"});
  review = review_of_pod(pod);
  review.group = "apps";
  EXPECT_TRUE(inject(review, test_networks(), {}) == Answer{.uid = "7"});
}

TEST(NetworksOf, NamesThemForTheCache) {
  const Value pod =
      pod_of(R"({"k8s.v1.cni.cncf.io/networks":"rail9, other/x","v1.multus-cni.io/default-network":"base"})");
  const auto names = networks_of(pod, "ai", test_networks());
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, (std::vector<std::string>{"ai/rail9", "other/x", "kube-system/base"}));
}

TEST(ReadOfferedNetwork, ReadsTheAnnotations) {
  const OfferedNetwork expected{.resource = "openshift.io/rail0", .node_selector = "a=b"};
  EXPECT_TRUE(read_offered_network(json_of(R"({"metadata":{"annotations":{
      "k8s.v1.cni.cncf.io/resourceName":" openshift.io/rail0","k8s.v1.cni.cncf.io/nodeSelector":"a=b"}}})")) ==
              expected);
  EXPECT_TRUE(read_offered_network(json_of("{}")) == OfferedNetwork{});
}

}  // namespace
}  // namespace railbed::admission
