// SPDX-License-Identifier: Apache-2.0
// Whatever the pod and its networks: it asks for what it needs afterwards, nothing else is written, and the second time
// changes nothing.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "admission/patches.h"
#include "admission/test_patches.h"
#include "doc/members.h"

namespace railbed::admission {
namespace {

using doc::Value;

int some(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}

std::string resource_named(int number) {
  return fmt::format("openshift.io/rail{}", number);
}

// Six networks; each of three resources has up to some of them, and others have none.
Networks arbitrary_networks() {
  Networks out;
  out.node_labels = {"rails"};
  for (int i = 0; i < 6; ++i) {
    OfferedNetwork& network = out.by_key[fmt::format("ai/net{}", i)];
    if (some(0, 4) > 0) network.resource = resource_named(some(0, 2));
    if (some(0, 3) == 0) network.node_selector = "rails=yes";
    if (some(0, 9) == 0) network.node_selector = "kubernetes.io/hostname=mine";
  }
  return out;
}

Value arbitrary_container(int number) {
  Value out = Value::object();
  out.set("name", fmt::format("c{}", number));
  out.set("image", "x");
  if (some(0, 1) == 0) return out;
  Value counts = Value::object();
  for (int i = 0; i < 3; ++i)
    if (some(0, 2) == 0) counts.set(resource_named(i), std::to_string(some(0, 3)));
  if (some(0, 3) == 0) counts.set("hugepages-2Mi", "64Mi");
  Value resources = Value::object();
  resources.set("limits", counts);
  if (some(0, 1) == 0) resources.set("requests", counts);
  out.set("resources", std::move(resources));
  return out;
}

Value arbitrary_pod() {
  Value annotations = Value::object();
  if (some(0, 5) > 0) {
    std::string text;
    for (int i = some(1, 5); i > 0; --i) text += fmt::format("{}net{}", text.empty() ? "" : ",", some(0, 5));
    annotations.set("k8s.v1.cni.cncf.io/networks", text);
  }
  Value metadata = Value::object();
  metadata.set("name", "p");
  metadata.set("annotations", std::move(annotations));
  Value spec = Value::object();
  Value containers = Value::array();
  for (int i = some(1, 3); i > 0; --i) containers.push(arbitrary_container(i));
  spec.set("containers", std::move(containers));
  if (some(0, 2) == 0) {
    Value init = arbitrary_container(9);
    if (some(0, 1) == 0) init.set("restartPolicy", "Always");
    Value list = Value::array();
    list.push(std::move(init));
    spec.set("initContainers", std::move(list));
  }
  if (some(0, 3) == 0) spec.set("nodeSelector", json_of(R"({"rails":"yes"})"));
  Value pod = Value::object();
  pod.set("metadata", std::move(metadata));
  pod.set("spec", std::move(spec));
  return pod;
}

// What the containers that run together ask for, counted in another way than the product does.
int asked_together(const Value& pod, const std::string& resource) {
  int sum = 0;
  const auto add = [&](const Value& container) {
    const Value* limits = doc::at(container, "resources.limits");
    const std::string count = limits == nullptr ? "" : doc::text_in(*limits, resource);
    sum += count.empty() ? 0 : std::stoi(count);
  };
  for (const Value& one : *doc::at(pod, "spec.containers")->as_array()) add(one);
  if (const Value* init = doc::at(pod, "spec.initContainers"))
    for (const Value& one : *init->as_array())
      if (one.find("restartPolicy") != nullptr) add(one);
  return sum;
}

Review request_for(Value pod) {
  return {.uid = "7", .operation = Operation::kCreate, .kind = "Pod", .ns = "ai", .object = std::move(pod)};
}

RC_GTEST_PROP(PatchesProperty, AsksExactlyForItsNeeds, ()) {
  const Networks networks = arbitrary_networks();
  const Value pod = arbitrary_pod();
  const auto needs = needs_of(pod, "ai", networks);
  RC_PRE(needs.has_value());
  const Answer answer = inject(request_for(pod), networks, {});
  RC_ASSERT(answer.allowed);
  for (const Patch& patch : answer.patches) RC_ASSERT(is_on_the_list(patch));
  const auto after = patched(pod, answer.patches);
  RC_ASSERT(after.has_value());
  for (int i = 0; i < 3; ++i) {
    const std::string resource = resource_named(i);
    const auto needed = needs->resources.find(resource);
    const int count = needed == needs->resources.end() ? 0 : static_cast<int>(needed->second);
    RC_ASSERT(asked_together(*after, resource) == std::max(count, asked_together(pod, resource)));
  }
  if (needs->resources.empty() && needs->node_selector.empty()) RC_ASSERT(answer.patches.empty());
  RC_ASSERT(inject(request_for(*after), networks, {}).patches.empty());
}

}  // namespace
}  // namespace railbed::admission
