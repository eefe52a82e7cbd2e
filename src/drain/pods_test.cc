// SPDX-License-Identifier: Apache-2.0
#include "drain/pods.h"

#include <gtest/gtest.h>

#include "doc/fields.h"
#include "drain/groups.h"

namespace railbed::drain {
namespace {

DrainPod pod_of(const std::string& json) {
  const Result<doc::Value> value = doc::read_object("pod", json);
  EXPECT_TRUE(value.has_value()) << json;
  return value.has_value() ? read_drain_pod(*value) : DrainPod{};
}

// "a: evicted: reason" of each.
std::string listed(const Affected& affected) {
  constexpr const char* kKinds[] = {"evicted", "daemon", "bare", "mirror", "ending", "finished"};
  std::string out;
  for (const AffectedPod& pod : affected.pods)
    out += fmt::format("{}{}: {}: {}", out.empty() ? "" : "\n", pod.name, kKinds[static_cast<size_t>(pod.kind)],
                       pod.reason);
  return out;
}

DrainPod plain(const std::string& name) {
  return {.ns = "ai",
          .name = name,
          .uid = "uid-" + name,
          .node = "n1",
          .owner = OwnerRef{.group = "apps", .kind = "StatefulSet", .name = "s", .uid = "s"},
          .requests = {"openshift.io/rail0"}};
}

const NodeChange kRail0{.node = "n1", .resources = {"openshift.io/rail0"}};

TEST(DrainPods, AreReadFromObjects) {
  const DrainPod pod = pod_of(R"({
    "metadata": {"namespace": "ai", "name": "a", "uid": "1", "labels": {"x": "y"}, "finalizers": ["f"],
      "deletionTimestamp": "2026-01-01T00:00:00Z", "annotations": {"kubernetes.io/config.mirror": "z"},
      "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "2"},
        {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "3", "controller": true}]},
    "spec": {"nodeName": "n1",
      "containers": [{"resources": {"requests": {"openshift.io/rail0": "1", "openshift.io/none": "0", "cpu": "1"}}},
                     {"resources": {"limits": {"nvidia.com/rail1": 1, "nvidia.com/zero": 0}}}, {}],
      "initContainers": [{"resources": {"requests": {"openshift.io/rail2": "1"}}}],
      "resourceClaims": [{"name": "x", "resourceClaimName": "given"}, {"name": "t"}]},
    "status": {"phase": "Running", "resourceClaimStatuses": [{"name": "t", "resourceClaimName": "made"}]}})");
  const DrainPod wanted{.ns = "ai",
                        .name = "a",
                        .uid = "1",
                        .node = "n1",
                        .labels = {{"x", "y"}},
                        .owner = OwnerRef{.group = "batch", .kind = "Job", .name = "j", .uid = "3"},
                        .requests = {"cpu", "nvidia.com/rail1", "openshift.io/rail0", "openshift.io/rail2"},
                        .claims = {"given", "made"},
                        .mirror = true,
                        .ending = true,
                        .finalizers = {"f"}};
  EXPECT_EQ(pod, wanted);
  EXPECT_TRUE(pod_of(R"({"status": {"phase": "Failed"}})").finished);
  EXPECT_TRUE(pod_of(R"({"status": {"phase": "Succeeded"}})").finished);
  EXPECT_EQ(pod_of(R"({"metadata": 1, "spec": [], "status": "x"})"), DrainPod{});
  EXPECT_EQ(pod_of(R"({"spec": {"containers": [1, {"resources": {"requests": 3}}], "resourceClaims": {}}})"),
            DrainPod{});
}

TEST(DrainPods, AreAffectedByWhatTheyRequestOnThatNode) {
  std::vector<DrainPod> pods{plain("a"), plain("other-node"), plain("other-resource"), plain("prefix"), plain("claim")};
  pods[1].node = "n2";
  pods[2].requests = {"openshift.io/rail1", "cpu"};
  pods[3].requests = {"openshift.io/rail00"};
  pods[4].requests = {};
  pods[4].claims = {"c"};
  const ClaimResources claims{{"ai/c", {"openshift.io/rail0"}}, {"other/c", {}}};
  EXPECT_EQ(listed(affected_pods(kRail0, pods, claims)),
            "a: evicted: requests openshift.io/rail0, which changes\n"
            "claim: evicted: requests openshift.io/rail0, which changes");
  EXPECT_EQ(listed(affected_pods({.node = "n1"}, pods, claims)), "");
}

TEST(DrainPods, HaveAClassAndAReason) {
  std::vector<DrainPod> pods{plain("bare"),     plain("daemon"), plain("ending"),
                             plain("finished"), plain("held"),   plain("mirror")};
  pods[0].owner = std::nullopt;
  pods[1].owner->kind = "DaemonSet";
  pods[2].ending = true;
  pods[3].finished = true;
  pods[4].ending = true;
  pods[4].finalizers = {"example.com/a", "example.com/b"};
  pods[5].mirror = true;
  EXPECT_EQ(listed(affected_pods(kRail0, pods, {})),
            "bare: bare: requests openshift.io/rail0, which changes; has no controller, so an eviction deletes it for "
            "good: delete it, or set railbed.dev/evict-bare: \"true\" on the pool\n"
            "daemon: daemon: requests openshift.io/rail0, which changes; evicted last, its replacement waits on this "
            "node for the VFs\n"
            "ending: ending: is being deleted\n"
            "finished: finished: has finished; it uses no VF\n"
            "held: ending: is being deleted; waits for its finalizers example.com/a, example.com/b\n"
            "mirror: mirror: requests openshift.io/rail0, which changes; a static pod cannot be evicted: remove its "
            "file from the node");
  NodeChange allowed = kRail0;
  allowed.evict_bare = true;
  EXPECT_EQ(affected_pods(allowed, {pods[0]}, {}).pods[0].kind, PodClass::kEvicted);
}

TEST(DrainPods, AReportOfAnAgentOnlyNarrows) {
  const std::vector<DrainPod> pods{plain("a"), plain("b")};
  DrainPod stranger = plain("elsewhere");
  stranger.node = "n2";
  NodeChange change = kRail0;
  EXPECT_TRUE(affected_pods(change, pods, {}).coarse);
  change.reported = {"uid-b", "uid-elsewhere", "uid-of-nothing"};
  const Affected narrowed = affected_pods(change, {pods[0], pods[1], stranger}, {});
  EXPECT_FALSE(narrowed.coarse);
  EXPECT_EQ(listed(narrowed), "b: evicted: requests openshift.io/rail0, which changes");
  change.reported = std::set<std::string>{};
  EXPECT_EQ(listed(affected_pods(change, pods, {})), "");
  for (size_t i = 0; i <= kMostReportedPods; ++i) change.reported->insert(std::to_string(i));
  EXPECT_EQ(affected_pods(change, pods, {}).pods.size(), 2u);  // too long: as if there were none
  EXPECT_TRUE(affected_pods(change, pods, {}).coarse);
}

TEST(DrainPods, ARestartEndsAllButStaticPodsAndThoseOfDaemonSets) {
  std::vector<DrainPod> pods{plain("a"), plain("b"), plain("daemon"), plain("mirror")};
  pods[1].requests = {};
  pods[2].requests = {};
  pods[2].owner->kind = "DaemonSet";
  pods[3].requests = {};
  pods[3].mirror = true;
  NodeChange change = kRail0;
  change.reboot = true;
  EXPECT_EQ(listed(affected_pods(change, pods, {})),
            "a: evicted: requests openshift.io/rail0, which changes\nb: evicted: the node restarts");
}

struct GroupCase {
  Labels labels;
  std::optional<OwnerRef> owner;
  std::string wanted;  // "unit | spread | together"
};

TEST(DrainGroups, AreWhatDiesTogether) {
  const auto ref = [](const char* group, const char* kind, const char* name) {
    return OwnerRef{.group = group, .kind = kind, .name = name, .uid = fmt::format("{}-{}", kind, name)};
  };
  OwnerIndex owners;
  const auto owns = [&](const OwnerRef& self, std::optional<OwnerRef> owner) { owners[self.uid] = {self, owner}; };
  owns(ref("batch", "Job", "launcher"), ref("kubeflow.org", "MPIJob", "mpi"));
  owns(ref("batch", "Job", "t-node-0"), ref("jobset.x-k8s.io", "JobSet", "t"));
  owns(ref("jobset.x-k8s.io", "JobSet", "t"), ref("trainer.kubeflow.org", "TrainJob", "t"));
  owns(ref("apps", "ReplicaSet", "front-5d"), ref("apps", "Deployment", "front"));
  owns(ref("example.com", "Loop", "a"), ref("example.com", "Loop", "a"));
  const GroupCase cases[] = {
      {{}, std::nullopt, "Pod ai/p |  | 0"},
      {{}, ref("batch", "Job", "single"), "Job ai/single |  | 1"},
      {{}, ref("batch", "Job", "launcher"), "MPIJob ai/mpi |  | 1"},
      {{}, ref("kubeflow.org", "MPIJob", "mpi"), "MPIJob ai/mpi |  | 1"},
      {{}, ref("batch", "Job", "t-node-0"), "TrainJob ai/t |  | 1"},
      {{}, ref("kubeflow.org", "PyTorchJob", "py"), "PyTorchJob ai/py |  | 1"},
      {{}, ref("ray.io", "RayCluster", "ray"), "RayCluster ai/ray |  | 1"},
      {{}, ref("example.com", "Job", "other"), "Pod ai/p | Job ai/other | 0"},
      {{}, ref("apps", "StatefulSet", "db"), "Pod ai/p | StatefulSet ai/db | 0"},
      {{}, ref("apps", "ReplicaSet", "front-5d"), "Pod ai/p | Deployment ai/front | 0"},
      {{{"pod-template-hash", "9f"}}, ref("apps", "ReplicaSet", "back-9f"), "Pod ai/p | Deployment ai/back | 0"},
      {{{"pod-template-hash", "9f"}}, ref("apps", "ReplicaSet", "own"), "Pod ai/p | ReplicaSet ai/own | 0"},
      {{}, ref("apps", "DaemonSet", "d"), "Pod ai/p |  | 0"},
      {{}, ref("example.com", "Loop", "a"), "Pod ai/p | Loop ai/a | 0"},
      {{{"batch.kubernetes.io/job-name", "j"}, {"jobset.sigs.k8s.io/jobset-name", "s"}}, {}, "JobSet ai/s |  | 1"},
      {{{"batch.kubernetes.io/job-name", "j"}}, {}, "Job ai/j |  | 1"},
      {{{"training.kubeflow.org/job-name", "k"}}, {}, "training job ai/k |  | 1"},
      {{{"ray.io/cluster", "r"}}, {}, "RayCluster ai/r |  | 1"},
      {{{"leaderworkerset.sigs.k8s.io/group-key", "h1"}, {"leaderworkerset.sigs.k8s.io/name", "llm"}},
       ref("apps", "StatefulSet", "llm-0"),
       "LeaderWorkerSet group ai/llm/h1 | LeaderWorkerSet ai/llm | 1"},
      {{{"leaderworkerset.sigs.k8s.io/group-key", "h1"}}, {}, "LeaderWorkerSet group ai/h1 |  | 1"},
      {{{"railbed.dev/disruption-group", "mine"}, {"ray.io/cluster", "r"}}, {}, "group ai/mine |  | 1"},
      {{{"railbed.dev/disruption-group", ""}, {"ray.io/cluster", "r"}}, {}, "RayCluster ai/r |  | 1"},
  };
  for (const GroupCase& one : cases) {
    const Unit unit = group_of({.ns = "ai", .name = "p", .uid = "u", .labels = one.labels, .owner = one.owner}, owners);
    EXPECT_EQ(fmt::format("{} | {} | {}", unit.name, unit.spread, unit.together ? 1 : 0), one.wanted);
    EXPECT_EQ(is_group(unit.name), unit.together) << unit.name;
  }
}

}  // namespace
}  // namespace railbed::drain
