// SPDX-License-Identifier: Apache-2.0
#include "check/read/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doc/yaml.h"

namespace railbed::check {
namespace {

using ::testing::ElementsAre;

Bundle bundle_read_from(const std::string& text) {
  Bundle bundle;
  doc::Diagnostics problems;
  const auto source = std::make_shared<doc::Source>(doc::Source{"a.yaml", text});
  for (doc::Value& value : doc::parse_yaml(source, problems)) {
    Document document{.value = std::move(value)};
    document.kind = *document.value.find("kind")->as_string();
    if (const doc::Value* version = document.value.find("apiVersion")) document.api_version = *version->as_string();
    document.name = "x";
    document.ns = "ai";
    bundle.documents.push_back(std::move(document));
  }
  EXPECT_EQ(doc::render(problems), "");
  return bundle;
}

// "path replicas first-container", for each pod.
std::vector<std::string> pods_in(const std::string& text) {
  const Bundle bundle = bundle_read_from(text);
  std::vector<std::string> out;
  for (const PodTemplate& pod : find_pods(bundle))
    out.push_back(fmt::format("{} {} {}{}", pod.path, pod.replicas,
                              pod.containers.empty() ? "-" : pod.containers[0].name, pod.per_node ? " per node" : ""));
  return out;
}

TEST(FindPods, WorkloadsOfTheCluster) {
  EXPECT_THAT(pods_in("kind: Pod\nspec: {containers: [{name: a}]}\n"), ElementsAre(" 1 a"));
  EXPECT_THAT(pods_in("kind: Deployment\nspec: {replicas: 3, template: {spec: {containers: [{name: a}]}}}\n"),
              ElementsAre("spec.template 3 a"));
  EXPECT_THAT(pods_in("kind: StatefulSet\nspec: {template: {spec: {containers: [{name: a}]}}}\n"),
              ElementsAre("spec.template 1 a"));
  EXPECT_THAT(pods_in("kind: DaemonSet\nspec: {template: {spec: {containers: [{name: a}]}}}\n"),
              ElementsAre("spec.template 1 a per node"));
  EXPECT_THAT(pods_in("kind: Job\nspec: {parallelism: 8, template: {spec: {containers: [{name: a}]}}}\n"),
              ElementsAre("spec.template 8 a"));
  EXPECT_THAT(pods_in("kind: Job\nspec: {parallelism: 8, completions: 4, template: {spec: {containers: []}}}\n"),
              ElementsAre("spec.template 4 -"));
  EXPECT_THAT(
      pods_in(
          "kind: CronJob\nspec: {jobTemplate: {spec: {parallelism: 2, template: {spec: {containers: [{name: a}]}}}}}\n"),
      ElementsAre("spec.jobTemplate.spec.template 2 a"));
}

TEST(FindPods, TrainingJobs) {
  EXPECT_THAT(pods_in("kind: JobSet\n"
                      "spec:\n"
                      "  replicatedJobs:\n"
                      "  - {name: head, template: {spec: {template: {spec: {containers: [{name: h}]}}}}}\n"
                      "  - name: work\n"
                      "    replicas: 2\n"
                      "    template: {spec: {parallelism: 4, template: {spec: {containers: [{name: w}]}}}}\n"),
              ElementsAre("spec.replicatedJobs[0].template.spec.template 1 h",
                          "spec.replicatedJobs[1].template.spec.template 8 w"));
  EXPECT_THAT(pods_in("kind: MPIJob\n"
                      "spec:\n"
                      "  mpiReplicaSpecs:\n"
                      "    Launcher: {replicas: 1, template: {spec: {containers: [{name: l}]}}}\n"
                      "    Worker: {replicas: 4, template: {spec: {containers: [{name: w}]}}}\n"),
              ElementsAre("spec.mpiReplicaSpecs.Launcher.template 1 l", "spec.mpiReplicaSpecs.Worker.template 4 w"));
  EXPECT_THAT(
      pods_in("kind: PyTorchJob\n"
              "spec: {pytorchReplicaSpecs: {Worker: {replicas: 7, template: {spec: {containers: [{name: w}]}}}}}\n"),
      ElementsAre("spec.pytorchReplicaSpecs.Worker.template 7 w"));
  EXPECT_THAT(pods_in("kind: RayCluster\n"
                      "spec:\n"
                      "  headGroupSpec: {template: {spec: {containers: [{name: h}]}}}\n"
                      "  workerGroupSpecs:\n"
                      "  - {replicas: 2, numOfHosts: 4, template: {spec: {containers: [{name: w}]}}}\n"),
              ElementsAre("spec.headGroupSpec.template 1 h", "spec.workerGroupSpecs[0].template 8 w"));
}

// Kinds that no row has, or that have a name in common with one: their pods are found by their shape.
TEST(FindPods, ByTheirShape) {
  const std::string pod = "spec: {containers: [{name: w, image: x}]}";
  EXPECT_THAT(pods_in("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
                      "spec: {tasks: [{name: t, replicas: 16, template: {" +
                      pod + "}}]}\n"),
              ElementsAre("spec.tasks[0].template 16 w"));
  EXPECT_THAT(pods_in("apiVersion: ray.io/v1\nkind: RayService\n"
                      "spec: {rayClusterConfig: {workerGroupSpecs: [{replicas: 3, template: {" +
                      pod + "}}]}}\n"),
              ElementsAre("spec.rayClusterConfig.workerGroupSpecs[0].template 3 w"));
  EXPECT_THAT(pods_in("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\n"
                      "spec: {template: {spec: {replicatedJobs: [{name: n, template: {spec: {template: {" +
                      pod + "}}}}]}}}\n"),
              ElementsAre("spec.template.spec.replicatedJobs[0].template.spec.template 1 w"));
  EXPECT_THAT(
      pods_in("apiVersion: slinky.slurm.net/v1beta1\nkind: NodeSet\nspec: {replicas: 4, template: {" + pod + "}}\n"),
      ElementsAre("spec.template 4 w"));
  EXPECT_THAT(
      pods_in("apiVersion: kubeflow.org/v1alpha1\nkind: MPIJob\nspec: {replicas: 2, template: {" + pod + "}}\n"),
      ElementsAre("spec.template 2 w"));
  EXPECT_THAT(pods_in("apiVersion: a.example/v1\nkind: Trainer\nspec: {worker: {containers: [{name: w, image: x}]}}\n"),
              ElementsAre("spec.worker 1 w"));
  EXPECT_THAT(pods_in("apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\n"
                      "spec: {predictor: {minReplicas: 2, model: {resources: {}}}}\n"),
              ElementsAre("spec.predictor 2 main"));
}

TEST(FindPods, WhatHasTheShapeOfAPodAndIsNone) {
  const std::string pod = "spec: {containers: [{name: w, image: '*'}]}";
  EXPECT_THAT(pods_in("apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nspec: {rules: [{validate: {pattern: {" + pod +
                      "}}}]}\n"),
              ElementsAre());
  EXPECT_THAT(
      pods_in("apiVersion: a.example/v1\nkind: Holder\nspec: {object: {apiVersion: v1, kind: Pod, " + pod + "}}\n"),
      ElementsAre());
  EXPECT_THAT(
      pods_in("apiVersion: a.example/v1\nkind: Thing\nspec: {containers: [{name: box}]}\nstatus: {" + pod + "}\n"),
      ElementsAre());
}

TEST(FindPods, AVirtualMachineHasTheNetworksOfItsSpec) {
  const Bundle bundle = bundle_read_from(
      "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: x}\n"
      "spec:\n"
      "  template:\n"
      "    spec:\n"
      "      domain: {devices: {interfaces: [{name: r, sriov: {}}]}}\n"
      "      networks:\n"
      "      - {name: default, pod: {}}\n"
      "      - {name: r, multus: {networkName: rail0}}\n"
      "      - {name: s, multus: {networkName: other/rail1}}\n");
  const auto pods = find_pods(bundle);
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_TRUE(pods[0].virtual_machine);
  ASSERT_EQ(pods[0].networks.size(), 2U);
  EXPECT_EQ(*pods[0].networks[0].ns, "ai");
  EXPECT_EQ(*pods[0].networks[0].interface, "r");
  EXPECT_EQ(*pods[0].networks[1].ns, "other");
  EXPECT_EQ(*pods[0].networks[1].name, "rail1");
}

TEST(FindPods, AnOperatorMakesTheContainerOfAService) {
  const Bundle bundle = bundle_read_from(
      "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata: {name: x}\n"
      "spec:\n"
      "  services:\n"
      "    Decode:\n"
      "      replicas: 2\n"
      "      envs: [{name: UCX_TLS, value: rc}]\n"
      "      extraPodMetadata: {annotations: {k8s.v1.cni.cncf.io/networks: rail0}}\n"
      "      resources: {limits: {gpu: '8', custom: {openshift.io/rail0: '1'}}}\n");
  const auto pods = find_pods(bundle);
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].path, "spec.services.Decode");
  EXPECT_EQ(pods[0].replicas, 2);
  ASSERT_EQ(pods[0].networks.size(), 1U);
  ASSERT_EQ(pods[0].containers.size(), 1U);
  EXPECT_TRUE(pods[0].containers[0].made);
  EXPECT_EQ(pods[0].resource_count("nvidia.com/gpu"), 8);
  EXPECT_EQ(pods[0].resource_count("openshift.io/rail0"), 1);
  EXPECT_NE(pods[0].containers[0].env("UCX_TLS"), nullptr);
}

TEST(FindPods, AGroupWithoutALeaderTemplateIsMadeOfItsWorkerTemplate) {
  EXPECT_THAT(pods_in("kind: LeaderWorkerSet\n"
                      "spec: {replicas: 2, leaderWorkerTemplate: {size: 4, workerTemplate: {spec: {}}}}\n"),
              ElementsAre("spec.leaderWorkerTemplate.workerTemplate 8 -"));
  EXPECT_THAT(
      pods_in("kind: LeaderWorkerSet\n"
              "spec:\n"
              "  replicas: 2\n"
              "  leaderWorkerTemplate: {size: 4, leaderTemplate: {spec: {}}, workerTemplate: {spec: {}}}\n"),
      ElementsAre("spec.leaderWorkerTemplate.leaderTemplate 2 -", "spec.leaderWorkerTemplate.workerTemplate 6 -"));
}

TEST(FindPods, AnInferenceServiceHasPodSpecsAndItsOwnAnnotations) {
  const Bundle bundle = bundle_read_from(
      "kind: LLMInferenceService\n"
      "metadata:\n"
      "  name: x\n"
      "  annotations: {k8s.v1.cni.cncf.io/networks: 'rail0, other/rail1@net7'}\n"
      "spec:\n"
      "  replicas: 2\n"
      "  parallelism: {data: 16, dataLocal: 8}\n"
      "  template: {containers: [{name: main}]}\n"
      "  worker: {containers: [{name: main}]}\n"
      "  prefill:\n"
      "    parallelism: {pipeline: 3}\n"
      "    template: {containers: [{name: main}]}\n"
      "    worker: {containers: [{name: main}]}\n");
  const auto pods = find_pods(bundle);
  ASSERT_EQ(pods.size(), 4U);
  EXPECT_EQ(pods[0].path, "spec.template");
  EXPECT_EQ(pods[0].label(), "LLMInferenceService ai/x");
  EXPECT_EQ(pods[0].span.to_string(), "a.yaml:3:9");
  EXPECT_EQ(pods[0].replicas, 2);
  EXPECT_EQ(pods[1].replicas, 2) << "16 over 8 a node: one worker beside each leader";
  EXPECT_EQ(pods[2].replicas, 1);
  EXPECT_EQ(pods[3].replicas, 2);
  for (const PodTemplate& pod : pods) {
    ASSERT_EQ(pod.networks.size(), 2U) << pod.path;
    EXPECT_EQ(*pod.networks[0].ns, "ai");
    EXPECT_EQ(*pod.networks[1].interface, "net7");
    EXPECT_EQ(pod.networks[1].name.span.to_string(), "a.yaml:4:60");
  }
}

TEST(FindPods, WhatIsNotThereOrOfAnotherTypeIsLeftOut) {
  EXPECT_THAT(pods_in("kind: Deployment\nspec: {replicas: many}\n"), ElementsAre());
  EXPECT_THAT(pods_in("kind: Deployment\nspec: {replicas: -4, template: {spec: {containers: 5}}}\n"),
              ElementsAre("spec.template 0 -"));
  EXPECT_THAT(pods_in("kind: Deployment\nspec: {template: {spec: [1]}}\n"), ElementsAre());
  EXPECT_THAT(pods_in("kind: JobSet\nspec: {replicatedJobs: {a: 1}}\n"), ElementsAre());
  EXPECT_THAT(pods_in("kind: MPIJob\nspec: {mpiReplicaSpecs: [1]}\n"), ElementsAre());
  EXPECT_THAT(pods_in("kind: Service\nspec: {template: {spec: {}}}\n"), ElementsAre());
  EXPECT_THAT(pods_in("kind: MPIJob\nspec: {mpiReplicaSpecs: {W: {replicas: 99999999999999999999, "
                      "template: {spec: {}}}}}\n"),
              ElementsAre("spec.mpiReplicaSpecs.W.template 1 -"));
}

TEST(PodTemplate, CountsResourcesAsTheSchedulerDoes) {
  const Bundle bundle = bundle_read_from(
      "kind: Pod\n"
      "spec:\n"
      "  initContainers:\n"
      "  - {name: before, resources: {limits: {x/vf: 5}}}\n"
      "  - {name: beside, restartPolicy: Always, resources: {limits: {x/vf: '1'}}}\n"
      "  containers:\n"
      "  - name: a\n"
      "    env: [{name: A, value: one}, {name: A, value: two}, {name: B, valueFrom: {}}]\n"
      "    resources: {limits: {x/vf: 2, memory: 4Gi}, requests: {x/vf: 2, x/gpu: 8}}\n"
      "  - {name: b, resources: {requests: {x/vf: 1}}}\n"
      "  - just a text\n");
  const auto pods = find_pods(bundle);
  ASSERT_EQ(pods.size(), 1U);
  const PodTemplate& pod = pods[0];
  ASSERT_EQ(pod.containers.size(), 4U);
  EXPECT_TRUE(pod.containers[0].init);
  EXPECT_FALSE(pod.containers[1].init);
  EXPECT_EQ(pod.resource_count("x/vf"), 5) << "the init container alone needs more than the rest together";
  EXPECT_EQ(pod.resource_count("x/gpu"), 8);
  EXPECT_EQ(pod.resource_count("memory"), INT32_MAX) << "4Gi, up to what is counted";
  const Container& a = pod.containers[2];
  EXPECT_EQ(*a.env("A")->as_string(), "two");
  EXPECT_EQ(a.env("B"), nullptr);
  EXPECT_EQ(a.env("C"), nullptr);
  EXPECT_EQ(*a.resource("memory")->as_string(), "4Gi");
  EXPECT_EQ(a.resource("cpu"), nullptr);
}

}  // namespace
}  // namespace railbed::check
