// SPDX-License-Identifier: Apache-2.0
// What railbed writes, reads and is granted, against the API of the oldest and the newest Kubernetes that it promises:
// testdata/kubernetes-*/api.txt, made by tools/kubernetes_api. Real API servers of both are in tests/cluster.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <stop_token>

#include <gtest/gtest.h>

#include "agent/cluster/cluster_objects.h"
#include "base/testdata.h"
#include "controller/identities.h"
#include "controller/node_states.h"
#include "doc/members.h"
#include "doc/yaml.h"
#include "kube/events.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "kube/fake/recorded_api.h"
#include "kube/leader.h"
#include "preflight/read_cluster.h"
#include "preflight/test_objects.h"

namespace railbed::preflight {
namespace {

using doc::Value;
using kube::fake::RecordedApi;

RecordedApi api_of(const std::string& version) {
  return RecordedApi(content(testdata() / ("kubernetes-" + version) / "api.txt"));
}
RecordedApi oldest_api() {
  return api_of("1.27");
}
RecordedApi newest_api() {
  return api_of("1.36");
}

std::filesystem::path deploy_tree() {
  return testdata().parent_path() / "deploy";
}
std::vector<Value> objects_in(const std::filesystem::path& file) {
  doc::Diagnostics problems;
  return doc::parse_yaml(std::make_shared<doc::Source>(file.string(), content(file)), problems);
}
std::string group_of(const Value& object) {
  const std::string version = doc::text_in(object, "apiVersion");
  const size_t slash = version.find('/');
  return slash == std::string::npos ? "" : version.substr(0, slash);
}

struct Manifest {
  std::string file;  // below deploy/
  Value object;
};
// Objects of Kubernetes' own kinds; custom resources are compared with their schemas elsewhere.
std::vector<Manifest> manifests_of_kubernetes(const RecordedApi& api) {
  std::vector<Manifest> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(deploy_tree())) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string file = std::filesystem::relative(entry.path(), deploy_tree()).string();
    for (Value& object : objects_in(entry.path()))
      if (!doc::text_in(object, "kind").empty() && !doc::text_in(object, "apiVersion").empty() &&
          api.has_group(group_of(object)))
        out.push_back({file, std::move(object)});
  }
  std::ranges::stable_sort(out, {}, &Manifest::file);
  return out;
}

// "preflight/preflight.yaml: spec.template.x" for each field that is not served.
std::set<std::string> not_served(const RecordedApi& api, const std::vector<Manifest>& manifests) {
  std::set<std::string> out;
  for (const Manifest& one : manifests)
    for (const std::string& field : api.unknown_fields(one.object)) out.insert(one.file + ": " + field);
  return out;
}

// --- the component deploy/kubernetes-1.27, as far as it is used

// Removes the field at "/spec/containers/0/x"; false where it is not there.
bool remove_at(Value& object, std::string_view path) {
  Value* at = &object;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view key = path.substr(0, path.find('/'));
    path.remove_prefix(key.size());
    if (Value::Array* items = at->as_array()) {
      size_t index = items->size();
      std::from_chars(key.data(), key.data() + key.size(), index);
      if (index >= items->size()) return false;
      at = &(*items)[index];
      continue;
    }
    if (at->find(key) == nullptr) return false;
    if (path.empty()) {
      std::erase_if(*at->as_object(), [&](const Value::Member& member) { return member.key == key; });
      return true;
    }
    at = at->find(key);
  }
  return false;
}

// With the component's patches, each of which has a target; tests/cluster/old_api_server has kubectl do it.
std::vector<Manifest> patched(std::vector<Manifest> manifests) {
  for (const Value& component : objects_in(deploy_tree() / "kubernetes-1.27/kustomization.yaml"))
    for (const Value& patch : *doc::list_in(component, "patches")) {
      const Value& target = *doc::object_in(patch, "target");
      const std::string name = doc::text_in(target, "name");
      const auto is_meant = [&](const Manifest& one) {
        return group_of(one.object) == doc::text_in(target, "group") &&
               doc::text_in(one.object, "kind") == doc::text_in(target, "kind") &&
               (name.empty() || kube::key_of(one.object).name == name);
      };
      EXPECT_TRUE(std::ranges::any_of(manifests, is_meant)) << "a patch that nothing needs any more";
      doc::Diagnostics problems;
      const std::vector<Value> steps =
          doc::parse_yaml(std::make_shared<doc::Source>("patch", doc::text_in(patch, "patch")), problems);
      EXPECT_EQ(steps.size(), 1u);
      if (!steps.at(0).is_array()) {
        EXPECT_EQ(doc::text_in(steps.at(0), "$patch"), "delete");
        std::erase_if(manifests, is_meant);
        continue;
      }
      for (Manifest& one : manifests) {
        if (!is_meant(one)) continue;
        for (const Value& step : *steps.at(0).as_array()) {
          EXPECT_TRUE(remove_at(one.object, doc::text_in(step, "path"))) << doc::text_in(step, "path");
        }
      }
    }
  return manifests;
}

TEST(KubernetesVersions, TheOldestServesDeployWithoutAdmissionPoliciesAndOneField) {
  const RecordedApi api = oldest_api();
  const std::vector<Manifest> manifests = manifests_of_kubernetes(api);
  EXPECT_GT(manifests.size(), 20u);
  const std::string policy = "ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1";
  const std::string binding = "ValidatingAdmissionPolicyBinding of admissionregistration.k8s.io/v1";
  std::set<std::string> newer{"preflight/preflight.yaml: spec.template.spec.containers.volumeMounts.recursiveReadOnly"};
  for (const char* file : {"drains/agent.yaml", "drains/operator.yaml", "rbac/agent-limits.yaml",
                           "sharing/ib-kubernetes.yaml", "sharing/node-labels.yaml", "sharing/whereabouts.yaml"})
    for (const std::string& kind : {policy, binding}) newer.insert(fmt::format("{}: {}", file, kind));
  EXPECT_EQ(not_served(api, manifests), newer);
  EXPECT_EQ(not_served(api, patched(manifests)), std::set<std::string>{});
}

TEST(KubernetesVersions, TheNewestServesAllOfDeploy) {
  const RecordedApi api = newest_api();
  EXPECT_EQ(not_served(api, manifests_of_kubernetes(api)), std::set<std::string>{});
}

TEST(KubernetesVersions, ServeTheKindsOfRequests) {
  const RecordedApi older = oldest_api(), newer = newest_api();
  for (const Kind& kind : kinds()) {
    if (kind.owner != KindOwner::kKubernetes || kind.plural.empty()) continue;
    const bool is_new = kind.name.starts_with("ValidatingAdmissionPolicy");  // absent is 404: no policy is relied on
    EXPECT_EQ(older.serves(kind.api_version(), kind.name), !is_new) << kind.name;
    EXPECT_TRUE(newer.serves(kind.api_version(), kind.name)) << kind.name;
  }
}

TEST(KubernetesVersions, HaveTheVerbsThatRolesGrant) {
  for (const RecordedApi& api : {oldest_api(), newest_api()}) {
    size_t rules = 0;
    for (const char* file : {"rbac/agent.yaml", "rbac/operator.yaml", "drains/agent.yaml", "drains/operator.yaml",
                             "preflight/preflight.yaml"})
      for (const GrantedRule& rule : rules_of(content(deploy_tree() / file)))
        for (const std::string& group : rule.groups) {
          if (!api.has_group(group)) continue;  // a custom resource's
          ++rules;
          for (const std::string& resource : rule.resources)
            for (const std::string& verb : rule.verbs)
              EXPECT_TRUE(api.allows(group, resource, verb)) << file << ": " << verb << " " << resource;
        }
    EXPECT_GT(rules, 15u);
  }
}

// Of an object with all fields of the newest version those remain that railbed keeps, and these the oldest one has,
// too.
TEST(KubernetesVersions, TheOldestHasTheFieldsThatAreRead) {
  const RecordedApi older = oldest_api(), newer = newest_api();
  const auto missing = [&](const char* kind, const kube::Trim& trim) {
    Value object = newer.full_object("v1", kind);
    EXPECT_TRUE(object.is_object()) << kind;
    trim(object);
    return older.unknown_fields(object);
  };
  // Claims of devices (DRA): before 1.28 a pod does not say which claims were made for it, so none counts.
  const std::vector<std::string> claims{
      "spec.containers.resources.claims.request", "spec.initContainers.resources.claims.request",
      "spec.resourceClaims.resourceClaimName", "spec.resourceClaims.resourceClaimTemplateName",
      "status.resourceClaimStatuses"};
  EXPECT_EQ(missing("Pod", kube::pod_trim()), claims);
  EXPECT_EQ(missing("Pod", agent::pod_kept()), claims);
  EXPECT_EQ(missing("Pod", controller::identity_trim()), std::vector<std::string>{});
  EXPECT_EQ(missing("Node", controller::node_trim()), std::vector<std::string>{});
  EXPECT_EQ(missing("Namespace", kube::keep_fields({})), std::vector<std::string>{});
}

TEST(KubernetesVersions, TheOldestHasTheFieldsThatAreWritten) {
  const RecordedApi api = oldest_api();
  kube::EventBook book({.controller = "railbed.dev/agent", .instance = "node1"});
  const kube::Occurrence what{
      kube::EventType::kWarning, "VfRefused", "Attach", "no VF is free", {"v1", "Pod", {"ai", "p"}, "u1"}};
  const auto first = book.take(what, kube::WallTime{}, kube::Instant{});
  auto again = book.take(what, kube::WallTime{}, kube::Instant{std::chrono::seconds(1)});
  ASSERT_TRUE(first.has_value() && again.has_value());
  EXPECT_EQ(api.unknown_fields(first->body), std::vector<std::string>{});
  again->body.set("apiVersion", kube::kEvents.api_version());
  again->body.set("kind", kube::kEvents.kind);
  EXPECT_EQ(api.unknown_fields(again->body), std::vector<std::string>{});

  kube::fake::ApiServer server;
  kube::fake::FakeClock clock;
  std::stop_source stop;
  kube::LeaderElection election(
      server, clock, {.lease = {"ai", "railbed"}, .identity = "me"}, [&] { stop.request_stop(); }, [] {});
  election.run(stop.get_token());
  ASSERT_EQ(server.objects().size(), 1u);
  for (const auto& [path, lease] : server.objects())
    EXPECT_EQ(api.unknown_fields(lease), std::vector<std::string>{}) << path;
}

// The comparison itself: what is not there is named, and what is there is not.
TEST(KubernetesVersions, NameFieldsThatOneOfThemLacks) {
  const RecordedApi older = oldest_api(), newer = newest_api();
  struct Case {
    const char* object;
    std::vector<std::string> older, newer;
  };
  const Case cases[] = {
      {R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": {"any/key": "x"}},
           "spec": {"nodeSelector": {"a": "b"}, "containers": [{"name": "a", "args": ["x"]}]}})",
       {},
       {}},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"container": [{"name": "a"}]}})",
       {"spec.container"},
       {"spec.container"}},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"initContainers": [{"name": "a", "restartPolicy": "Always"}]}})",
       {"spec.initContainers.restartPolicy"},
       {}},
      {R"({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": {"first": "a"}}]}})",
       {"spec.containers.name"},
       {"spec.containers.name"}},
      {R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": [{"name": "v1",
           "selectableFields": [], "schema": {"openAPIV3Schema": {"properties": {"spec": {"items": {"kind": "x"}}}}}}]}})",
       {"spec.versions.schema.openAPIV3Schema.properties.*.items.kind", "spec.versions.selectableFields"},
       {"spec.versions.schema.openAPIV3Schema.properties.*.items.kind"}},
      {R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "spec": {"variables": []}})",
       {"ValidatingAdmissionPolicy of admissionregistration.k8s.io/v1"},
       {}},
      {R"({"apiVersion": "apps/v1beta2", "kind": "DaemonSet"})",
       {"DaemonSet of apps/v1beta2"},
       {"DaemonSet of apps/v1beta2"}},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(older.unknown_fields(json(one.object)), one.older) << one.object;
    EXPECT_EQ(newer.unknown_fields(json(one.object)), one.newer) << one.object;
  }
  EXPECT_FALSE(older.allows("", "pods", "override"));
  EXPECT_FALSE(older.allows("", "pods/resize", "patch"));
  EXPECT_TRUE(newer.allows("", "pods/resize", "patch"));
}

}  // namespace
}  // namespace railbed::preflight
