// SPDX-License-Identifier: Apache-2.0
// src/kube against a real kube-apiserver 1.36 and etcd. Run by tests/cluster/api, in a network namespace of its own.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control_plane.h"
#include "doc/members.h"
#include "kube/events.h"
#include "kube/informer.h"
#include "kube/kinds.h"
#include "kube/leader.h"

namespace railbed::kube {
namespace {

using cluster::admin;
using cluster::Connection;
using cluster::control_plane;
using cluster::new_namespace;
using cluster::shell;
using cluster::soon;
using cluster::took_s;
using doc::Value;
using std::chrono::seconds;

constexpr Resource kMaps{"", "v1", "configmaps", "ConfigMap"};
constexpr Resource kRails{"test.railbed.dev", "v1", "rails", "Rail"};

Value map_named(const std::string& ns, const std::string& name, const std::string& value = "") {
  Value metadata;
  metadata.set("name", name);
  metadata.set("namespace", ns);
  Value object;
  object.set("apiVersion", "v1");
  object.set("kind", "ConfigMap");
  object.set("metadata", std::move(metadata));
  object.set("data", Value::Object{{"key", {}, Value(value)}});
  return object;
}
std::string value_of(const Value& map) {
  const Value* data = doc::object_in(map, "data");
  return data != nullptr ? doc::text_in(*data, "key") : "";
}

// An informer that runs.
struct Running {
  Running(Client& client, const std::string& ns)
      : informer(client, {.resource = kMaps, .selection = {.ns = ns}}, [this](const Change&) { ++changes; }),
        thread([this](std::stop_token stop) { informer.run(stop); }) {}
  std::string value(const std::string& ns, const std::string& name) const {
    const ObjectPtr found = informer.find({ns, name});
    return found != nullptr ? value_of(*found) : "";
  }
  std::atomic<int> changes{0};
  Informer informer;
  std::jthread thread;
};

TEST(Calls, CreateGetUpdatePatchDelete) {
  const auto api = admin();
  const std::string ns = new_namespace();
  const auto made = api->client.create(kMaps, map_named(ns, "a", "1"));
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->find("metadata")->find("managedFields"), nullptr);
  EXPECT_EQ(api->client.create(kMaps, map_named(ns, "a")).error().reason, "AlreadyExists");
  Value changed = *made;
  changed.set("data", Value::Object{{"key", {}, Value("2")}});
  const auto updated = api->client.update(kMaps, changed);
  ASSERT_TRUE(updated) << updated.error().to_string();
  EXPECT_EQ(api->client.update(kMaps, changed).error().code, Code::kConflict);
  EXPECT_EQ(value_of(*api->client.get(kMaps, {ns, "a"})), "2");
  const auto merged = api->client.patch(kMaps, {ns, "a"}, PatchType::kMerge, map_named(ns, "a", "3"));
  EXPECT_EQ(value_of(*merged), "3");
  Value step;
  step.set("op", "replace");
  step.set("path", "/data/key");
  step.set("value", "4");
  const auto patched = api->client.patch(kMaps, {ns, "a"}, PatchType::kJson, Value(Value::Array{step}));
  ASSERT_TRUE(patched) << patched.error().to_string();
  EXPECT_EQ(value_of(*patched), "4");
  const auto elsewhere = api->client.get(kMaps, {ns, "none"});
  EXPECT_EQ(elsewhere.error().code, Code::kNotFound);
  EXPECT_EQ(elsewhere.error().message,
            fmt::format("GET /api/v1/namespaces/{}/configmaps/none: 404 NotFound: configmaps \"none\" not found", ns));
}

TEST(Calls, DeleteKeepsItsPreconditions) {
  const auto api = admin();
  const std::string ns = new_namespace();
  const auto made = api->client.create(kMaps, map_named(ns, "a"));
  const std::string old_version = resource_version(*made);
  const auto patched = api->client.patch(kMaps, {ns, "a"}, PatchType::kMerge, map_named(ns, "a", "2"));
  EXPECT_EQ(api->client.remove(kMaps, {ns, "a"}, {.uid = "00000000-0000-0000-0000-000000000000"}).error().code,
            Code::kConflict);
  EXPECT_EQ(api->client.remove(kMaps, {ns, "a"}, {.uid = uid_of(*made), .resource_version = old_version}).error().code,
            Code::kConflict);
  EXPECT_TRUE(
      api->client.remove(kMaps, {ns, "a"}, {.uid = uid_of(*made), .resource_version = resource_version(*patched)}));
  EXPECT_EQ(api->client.remove(kMaps, {ns, "a"}).error().code, Code::kNotFound);
}

TEST(Calls, ApplyRefusesWhatOthersOwn) {
  const auto api = admin();
  const std::string ns = new_namespace();
  ASSERT_TRUE(api->client.apply(kMaps, map_named(ns, "a", "1"), {.manager = "first"}));
  const auto refused_apply = api->client.apply(kMaps, map_named(ns, "a", "2"), {.manager = "second"});
  ASSERT_FALSE(refused_apply);
  EXPECT_EQ(refused_apply.error().code, Code::kConflict);
  EXPECT_NE(refused_apply.error().message.find("conflict with \"first\": .data.key"), std::string::npos)
      << refused_apply.error().message;
  const auto forced = api->client.apply(kMaps, map_named(ns, "a", "2"),
                                        {.manager = "second", .conflicts = ApplyOptions::Conflicts::kTakeOver});
  ASSERT_TRUE(forced) << forced.error().to_string();
  EXPECT_EQ(value_of(*forced), "2");
}

TEST(Calls, StatusOfACustomResourceIsAPartOfItsOwn) {
  const auto api = admin();
  const std::string ns = new_namespace();
  shell(R"(kubectl apply -f - <<CRD
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rails.test.railbed.dev}
spec:
  group: test.railbed.dev
  scope: Namespaced
  names: {plural: rails, singular: rail, kind: Rail}
  versions:
    - name: v1
      served: true
      storage: true
      subresources: {status: {}}
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
CRD
kubectl wait --for condition=established crd/rails.test.railbed.dev --timeout 90s)");
  Value rail = map_named(ns, "r");
  rail.set("apiVersion", "test.railbed.dev/v1");
  rail.set("kind", "Rail");
  rail.set("status", Value::Object{{"ready", {}, Value(true)}});
  ASSERT_TRUE(soon([&] { return api->client.create(kRails, rail) || api->client.get(kRails, {ns, "r"}); }));
  auto made = api->client.get(kRails, {ns, "r"});
  ASSERT_TRUE(made) << made.error().to_string();
  EXPECT_EQ(made->find("status"), nullptr) << "a status that is not written as such is dropped";
  made->set("status", Value::Object{{"ready", {}, Value(true)}});
  made->set("data", Value::Object{{"key", {}, Value("changed")}});
  const auto updated = api->client.update(kRails, *made, Part::kStatus);
  ASSERT_TRUE(updated) << updated.error().to_string();
  EXPECT_TRUE(doc::flag_in(*updated->find("status"), "ready"));
  EXPECT_EQ(value_of(*updated), "");
  Value status = Value::Object{{"metadata", {}, *map_named(ns, "r").find("metadata")},
                               {"status", {}, Value(Value::Object{{"by", {}, Value("apply")}})}};
  const auto applied = api->client.apply(kRails, status, {.manager = "railbed", .part = Part::kStatus});
  ASSERT_TRUE(applied) << applied.error().to_string();
  EXPECT_EQ(doc::text_in(*applied->find("status"), "by"), "apply");
}

TEST(Lists, TwelveHundredObjectsInPages) {
  const auto api = admin({.page = 250});
  const std::string ns = new_namespace();
  std::vector<std::jthread> makers;
  for (int part = 0; part < 4; ++part)
    makers.emplace_back([&, part] {
      for (int i = 0; i < 300; ++i) {
        const auto made = api->client.create(kMaps, map_named(ns, fmt::format("m{}", part * 300 + i)));
        EXPECT_TRUE(made) << made.error().to_string();
      }
    });
  makers.clear();
  const auto pages = [&] { return api->client.counters().requests[std::pair(Verb::kList, 200)]; };
  const uint64_t before = pages();
  const auto all = api->client.list(kMaps, {.ns = ns});
  ASSERT_TRUE(all) << all.error().to_string();
  EXPECT_EQ(std::ranges::count_if(all->objects, [](const Value& each) { return key_of(each).name[0] == 'm'; }), 1200);
  EXPECT_EQ(pages() - before, 5u);
  EXPECT_EQ(doc::text_in(all->objects[0], "kind"), "ConfigMap");
  const auto one = api->client.list(kMaps, {.ns = ns, .fields = "metadata.name=m7"});
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_EQ(one->objects.size(), 1u);
}

// etcd and the API server have forgotten the state of the first page when the second one is asked for: that is of the
// newest state.
TEST(Lists, AreGoneThroughThoughTheirStateIsForgotten) {
  const auto api = admin({.page = 2});
  const std::string ns = new_namespace();
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(api->client.create(kMaps, map_named(ns, name, "1")));
  std::string seen;
  const auto visited = api->client.visit(kMaps, {.ns = ns}, trim_metadata, [&](const Value& object) {
    seen += key_of(object).name;
    if (seen != "a") return Visit::kGoOn;
    EXPECT_TRUE(api->client.create(kMaps, map_named(ns, "z", "1")));
    control_plane("compact");
    control_plane("signal", "KILL");
    control_plane("start");
    return Visit::kGoOn;
  });
  ASSERT_TRUE(visited) << visited.error().to_string();
  EXPECT_EQ(seen, "abcdez");
  EXPECT_EQ(api->client.counters().requests.count({Verb::kList, 410}), 1U);
}

TEST(Watches, GoOnAfterTheApiServerWasKilled) {
  const auto api = admin();
  const std::string ns = new_namespace();
  const Running running(api->client, ns);
  ASSERT_TRUE(running.informer.wait_synced(cluster::kSoon, {}));
  ASSERT_TRUE(api->client.create(kMaps, map_named(ns, "a", "1")));
  EXPECT_TRUE(soon([&] { return running.value(ns, "a") == "1"; }));
  control_plane("signal", "KILL");
  EXPECT_TRUE(soon([&] { return running.informer.health().error.has_value(); }));
  EXPECT_EQ(running.value(ns, "a"), "1") << "what is known stays known";
  control_plane("start");
  shell(fmt::format("kubectl -n {} patch configmap a --type merge -p '{{\"data\": {{\"key\": \"2\"}}}}'", ns));
  EXPECT_TRUE(soon([&] { return running.value(ns, "a") == "2"; }));
  EXPECT_TRUE(soon([&] { return !running.informer.health().error.has_value(); }));
}

// Lets nothing through while it is closed, as a network that is away.
class Gate : public Transport {
 public:
  explicit Gate(Transport& way) : way_(way) {}
  std::atomic<bool> closed{false};
  Answer<Response> send(const Request& request, std::stop_token stop) override {
    if (closed) return std::unexpected(unanswered(Code::kIo, Delivery::kNotSent, "the gate is closed"));
    return way_.send(request, stop);
  }
  Answer<std::unique_ptr<ByteStream>> open(const Request& request, std::stop_token stop) override {
    if (closed) return std::unexpected(unanswered(Code::kIo, Delivery::kNotSent, "the gate is closed"));
    return way_.open(request, stop);
  }

 private:
  Transport& way_;
};

TEST(Watches, ListAgainAfterACompaction) {
  const auto api = admin();
  const std::string ns = new_namespace();
  Gate gate(*api->transport);
  Client gated(gate, *api->clock);
  const Running running(gated, ns);
  ASSERT_TRUE(api->client.create(kMaps, map_named(ns, "gone", "1")));
  ASSERT_TRUE(api->client.create(kMaps, map_named(ns, "stays", "1")));
  EXPECT_TRUE(soon([&] { return running.value(ns, "stays") == "1"; }));
  const std::string old_version = running.informer.health().resource_version;
  gate.closed = true;
  control_plane("signal", "KILL");  // ends the watch, and the server's memory of old versions
  control_plane("start");
  shell(fmt::format("kubectl -n {0} delete configmap gone; kubectl -n {0} create configmap new --from-literal key=1",
                    ns));
  control_plane("compact");
  control_plane("signal", "KILL");
  control_plane("start");
  gate.closed = false;
  EXPECT_TRUE(soon([&] { return running.value(ns, "new") == "1"; }));
  EXPECT_EQ(running.value(ns, "gone"), "") << "the deletion that was not reported is found";
  EXPECT_GE(running.informer.health().lists, 2u);

  std::optional<ApiError> error;
  const auto reported = [&] {
    auto stream = api->client.watch(kMaps, {.ns = ns}, old_version, seconds(30));
    if (!stream) error = stream.error();
    if (stream)
      if (auto event = stream->next({}); !event) error = event.error();
    return error && error->expired();  // a server that has just started may not be able to say so yet
  };
  EXPECT_TRUE(soon(reported)) << (error ? error->to_string() : "");
}

TEST(Watches, AnswerBookmarks) {
  const auto api = admin();
  const std::string ns = new_namespace();
  const auto all = api->client.list(kMaps, {.ns = ns});
  ASSERT_TRUE(all) << all.error().to_string();
  // The last bookmark comes shortly before the watch's time is over, where there is a newer version to report;
  // Kubernetes 1.27 wants one that is newer than the watch.
  shell("kubectl create configmap " + ns);
  int round = 0;
  EXPECT_TRUE(soon([&] {
    auto stream = api->client.watch(kMaps, {.ns = ns}, all->resource_version, seconds(6));
    if (!stream) return false;
    shell(fmt::format("kubectl annotate --overwrite configmap {} round={}", ns, ++round));
    while (true) {
      auto event = stream->next({});
      if (!event || !*event) return false;
      if ((*event)->type == WatchType::kBookmark) return true;
    }
  }));
}

TEST(Watches, ASilentPeerIsFoundOutInTime) {
  const auto api = admin({.timeout = seconds(4), .try_timeout = seconds(2), .watch_silence = seconds(3)});
  const std::string ns = new_namespace();
  const Running running(api->client, ns);
  ASSERT_TRUE(running.informer.wait_synced(cluster::kSoon, {}));
  EXPECT_TRUE(soon([&] { return running.informer.health().watches > 0; }));
  control_plane("signal", "STOP");
  EXPECT_LE(took_s("a get with a deadline of 4 s",
                   [&] { EXPECT_EQ(api->client.get(kMaps, {ns, "a"}).error().code, Code::kTimeout); }),
            60)
      << "wide: a slow machine is no defect, the peer says nothing forever";
  EXPECT_TRUE(soon([&] { return running.informer.health().error.has_value(); }));
  const auto patient = admin({.timeout = seconds(600), .try_timeout = seconds(600)});
  const double stop_s = took_s("a call that is stopped", [&] {
    std::stop_source stop;
    const std::jthread stopper([&] { stop.request_stop(); });
    EXPECT_EQ(patient->client.get(kMaps, {ns, "a"}, stop.get_token()).error().code, Code::kCanceled);
  });
  EXPECT_LE(stop_s, 120) << "well before its deadline";
  control_plane("signal", "CONT");
  ASSERT_TRUE(soon([&] { return api->client.apply(kMaps, map_named(ns, "a", "1"), {.manager = "test"}).has_value(); }));
  EXPECT_TRUE(soon([&] { return running.value(ns, "a") == "1"; }));
}

TEST(Watches, AStoppedInformerEndsAtOnce) {
  const auto api = admin();
  const std::string ns = new_namespace();
  Running running(api->client, ns);
  ASSERT_TRUE(running.informer.wait_synced(cluster::kSoon, {}));
  EXPECT_LE(took_s("the end of an informer",
                   [&] {
                     running.thread.request_stop();
                     running.thread.join();
                   }),
            60)
      << "well before the end of its watch";
}

TEST(Events, AreSeenWithKubectl) {
  const auto api = admin();
  const std::string ns = new_namespace();
  const auto about = api->client.create(kMaps, map_named(ns, "a"));
  EventRecorder recorder(api->client, {.controller = "railbed.dev/test", .instance = "node1"});
  const std::jthread thread([&](std::stop_token stop) { recorder.run(stop); });
  for (int i = 0; i < 3; ++i)
    recorder.record({EventType::kWarning, "VfRefused", "Attach", "no VF is free on rail0", regarding(*about)});
  ASSERT_TRUE(recorder.flush(cluster::kSoon));
  EXPECT_EQ(recorder.counters().failed, 0u);
  const std::string listed = shell("kubectl -n " + ns + " get events");
  EXPECT_NE(listed.find("VfRefused"), std::string::npos) << listed;
  EXPECT_NE(listed.find("no VF is free on rail0"), std::string::npos) << listed;
  EXPECT_NE(shell("kubectl -n " + ns + " describe configmap a").find("VfRefused"), std::string::npos);
  EXPECT_EQ(shell("kubectl -n " + ns + " get events.events.k8s.io -o jsonpath='{.items[*].series.count}'"), "2");
}

TEST(Rights, AForbiddenCallSaysWhatIsMissing) {
  control_plane("user", "nobody");
  Connection api(cluster::access_of("nobody"));
  const auto listed = api.client.list(kPods, {.ns = "default"});
  ASSERT_FALSE(listed);
  EXPECT_EQ(
      listed.error().to_string(),
      "GET /api/v1/namespaces/default/pods: 403 Forbidden: pods is forbidden: User \"nobody\" cannot list resource "
      "\"pods\" in API group \"\" in the namespace \"default\"\n"
      "  grant it with a Role or ClusterRole and a binding to this user");
  EXPECT_EQ(listed.error().code, Code::kDenied);
}

TEST(Rights, AnotherCaIsRefused) {
  ClusterAccess access = cluster::access_of("admin");
  access.ca = {.file = cluster::folder() + "/pki/another-ca.crt"};
  Connection api(access);
  const auto got = api.client.get(kMaps, {"default", "a"});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kDenied) << got.error().to_string();
  EXPECT_EQ(got.error().delivery, Delivery::kNotSent);
  EXPECT_EQ(api.client.counters().retries, 0u) << "a wrong CA stays wrong";
}

TEST(Rights, ACaMayBeRotatedAndAServerNamed) {
  ClusterAccess access = cluster::access_of("admin");
  const std::string ca = cluster::folder() + "/ca-in-use.crt";
  shell(fmt::format("cp {0}/pki/another-ca.crt {1}", cluster::folder(), ca));
  access.ca = {.file = ca};
  access.tls_server_name = "kubernetes.default.svc";
  {
    Connection before(access);
    EXPECT_EQ(before.client.get(kMaps, {"default", "none"}).error().code, Code::kDenied);
  }
  shell(fmt::format("cat {0}/pki/another-ca.crt {0}/pki/ca.crt > {1}", cluster::folder(), ca));
  Connection after(access);
  EXPECT_EQ(after.client.get(kMaps, {"default", "none"}).error().code, Code::kNotFound);
  access.tls_server_name = "another.name";
  Connection wrong(access);
  EXPECT_EQ(wrong.client.get(kMaps, {"default", "none"}).error().code, Code::kDenied);
}

// A pod's folder with a token, which is replaced after its service account was deleted.
TEST(Rights, ATokenThatEndedIsReadAgain) {
  const std::string ns = new_namespace();
  const std::string pod = cluster::folder() + "/pod";
  // The roles that come with Kubernetes are put together by a controller, which does not run here.
  shell("kubectl create clusterrole reader --verb get,list --resource configmaps");
  const auto write_token = [&](const std::string& account) {
    shell(fmt::format(
        "mkdir -p {0} && kubectl -n {1} create serviceaccount {2} && "
        "kubectl -n {1} create rolebinding {2} --clusterrole reader --serviceaccount {1}:{2} && "
        "kubectl -n {1} create token {2} > {0}/token && cp {3}/pki/ca.crt {0}/ca.crt && printf {1} > {0}/namespace",
        pod, ns, account, cluster::folder()));
  };
  write_token("first");
  const auto access = in_cluster({"127.0.0.1", "6443", pod}, cluster::real_reader());
  ASSERT_TRUE(access) << access.error().to_string();
  EXPECT_EQ(access->ns, ns);
  Connection api(*access);
  EXPECT_TRUE(soon([&] { return api.client.list(kMaps, {.ns = ns}).has_value(); }));
  shell(fmt::format("kubectl -n {} delete serviceaccount first", ns));
  EXPECT_TRUE(soon([&] {
    const auto listed = api.client.list(kMaps, {.ns = ns});
    return !listed && listed.error().status == 401;
  }));
  write_token("second");
  const double read_again_s = took_s("a new token is in use after the old one was refused", [&] {
    EXPECT_TRUE(soon([&] { return api.client.list(kMaps, {.ns = ns}).has_value(); }));
  });
  EXPECT_LE(read_again_s, 30) << "within its minute, as the server refused the old one";
}

TEST(Rights, ACertificateThatEndedIsReadAgain) {
  control_plane("user", "passing");
  control_plane("passing", "passing 5");
  shell("kubectl create clusterrolebinding passing --clusterrole cluster-admin --user passing");
  Connection api(cluster::access_of("passing"));
  EXPECT_TRUE(soon([&] { return api.client.list(kMaps, {.ns = "default"}).has_value(); }));
  std::string why;
  EXPECT_TRUE(soon([&] {
    const auto listed = api.client.list(kMaps, {.ns = "default"});
    if (!listed) why = listed.error().to_string();
    return !listed && listed.error().status == 401;
  }));
  EXPECT_NE(why.find("its token or client certificate is wrong or too old"), std::string::npos) << why;
  control_plane("user", "passing");
  EXPECT_TRUE(soon([&] { return api.client.list(kMaps, {.ns = "default"}).has_value(); }));
}

TEST(Overload, A429IsWaitedOut) {
  control_plane("user", "limited");
  const std::string ns = new_namespace();
  shell(fmt::format(R"(kubectl create clusterrolebinding limited --clusterrole cluster-admin --user limited
kubectl apply -f - <<APF
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: PriorityLevelConfiguration
metadata: {{name: nothing}}
spec: {{type: Limited, limited: {{nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: {{type: Reject}}}}}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {{name: limited}}
spec:
  matchingPrecedence: 2
  priorityLevelConfiguration: {{name: nothing}}
  rules:
    - subjects: [{{kind: User, user: {{name: limited}}}}]
      resourceRules: [{{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true}}]
APF)"));
  // One request at a time is let through, all that come beside it are sent away for a second.
  Connection api(cluster::access_of("limited"),
                 {.timeout = seconds(240), .try_timeout = seconds(60), .retry = {.tries = 200}});
  const auto sent_away = [&] { return api.client.counters().requests[std::pair(Verb::kList, 429)]; };
  std::atomic<int> failed = 0;
  EXPECT_TRUE(soon([&] {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i)
      callers.emplace_back([&] { failed += api.client.list(kMaps, {.ns = ns}).has_value() ? 0 : 1; });
    callers.clear();
    return sent_away() > 0;
  }));
  EXPECT_EQ(failed, 0) << "each of them was let in some time";
  EXPECT_EQ(api.client.counters().retries, sent_away());
  Connection impatient(cluster::access_of("limited"), {.retry = {.tries = 1}});
  std::atomic<bool> reported = false;
  EXPECT_TRUE(soon([&] {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 16; ++i)
      callers.emplace_back([&] {
        const auto listed = impatient.client.list(kMaps, {.ns = ns});
        if (!listed && listed.error().code == Code::kBusy && listed.error().retry_after >= seconds(1)) reported = true;
      });
    callers.clear();
    return reported.load();
  })) << "429 with Retry-After";
  shell("kubectl delete flowschema limited");
}

// A candidate in a process of its own (--candidate), whose lines are read from a file.
struct Candidate {
  Candidate(const std::string& ns, std::string name) : log(fmt::format("{}/{}-{}.log", cluster::folder(), ns, name)) {
    pid = fork();
    if (pid != 0) return;
    execl("/proc/self/exe", "kube_api_test", "--candidate", ns.c_str(), name.c_str(), log.c_str(), nullptr);
    _exit(127);
  }
  ~Candidate() { end(SIGKILL); }
  void end(int signal) {
    if (pid <= 0) return;
    kill(pid, SIGCONT);
    kill(pid, signal);
    waitpid(std::exchange(pid, -1), nullptr, 0);
  }
  std::string last() const { return shell(fmt::format("tail -n 1 {} 2>/dev/null || true", log)); }
  std::string log;
  pid_t pid = -1;
};

TEST(Leader, AStoppedOneLosesBeforeAnotherLeads) {
  const std::string ns = new_namespace();
  Candidate first(ns, "first");
  ASSERT_TRUE(soon([&] { return first.last() == "leads\n"; }));
  Candidate second(ns, "second");
  ASSERT_TRUE(soon([&] { return second.last() == "runs\n"; }));
  kill(first.pid, SIGSTOP);
  const auto api = admin();
  const auto lease = [&] {
    const auto stored = api->client.get(kLeases, {ns, "leader"});
    return stored ? lease_record(*stored) : LeaseRecord{};
  };
  const LeaseRecord last_of_first = lease();
  EXPECT_EQ(last_of_first.holder, "first");
  took_s("another leads after a leader was stopped",
         [&] { EXPECT_TRUE(soon([&] { return second.last() == "leads\n"; })); });
  EXPECT_GE(read_time(lease().acquired).value() - read_time(last_of_first.renewed).value(), seconds(11))
      << "the Lease's duration is 12 s, and the second's time is of before it looks";
  kill(first.pid, SIGCONT);
  EXPECT_TRUE(soon([&] { return first.last() == "lost\n"; }));
  // SIGTERM gives the Lease back: the other need not wait for its end.
  second.end(SIGTERM);
  EXPECT_NE(lease().holder, "second");
  took_s("another leads after a leader gave it back",
         [&] { EXPECT_TRUE(soon([&] { return first.last() == "leads\n"; })); });
}

// Appends "runs", "leads" and "lost" lines to a file until SIGTERM.
int run_candidate(const std::string& ns, const std::string& name, const std::string& log) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const auto api = admin();
  const auto say = [&](const char* what) { std::ofstream(log, std::ios::app) << what << std::endl; };
  LeaderElection election(
      *api->transport, *api->clock,
      {.lease = {ns, "leader"},
       .identity = name,
       .lease_duration = seconds(12),
       .renew_deadline = seconds(8),
       .retry_period = seconds(1)},
      [&] { say("leads"); }, [&] { say("lost"); });
  say("runs");
  std::jthread thread([&](std::stop_token stop) { election.run(stop); });
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}

}  // namespace
}  // namespace railbed::kube

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--candidate")
    return railbed::kube::run_candidate(argv[2], argv[3], argv[4]);
  testing::InitGoogleTest(&argc, argv);
  if (railbed::cluster::folder().empty()) {
    std::cerr << "KUBE_FOLDER is not set: tests/cluster/api runs this\n";
    return 2;
  }
  return RUN_ALL_TESTS();
}
