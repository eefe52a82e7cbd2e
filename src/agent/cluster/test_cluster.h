// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the cluster side: an API server in memory with pods of a node and network definitions.
//
// Threading: any.
// Failure: none.
#pragma once

#include <algorithm>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "agent/cluster/cluster_objects.h"
#include "agent/cluster/cluster_source.h"
#include "agent/cluster/test_rights.h"
#include "agent/test_waits.h"
#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "os/fake/disk.h"

namespace railbed::agent {

inline constexpr const char* kHash = "0123456789abcdef0123456789abcdef";

struct Annotation {
  std::string key;
  std::string value;
};

inline doc::Value pod_object(const std::string& name, const std::vector<Annotation>& annotations = {}) {
  doc::Value pod = kube::fake::object("Pod", "ai", name);
  doc::Value all = doc::Value::object();
  for (const Annotation& one : annotations) all.set(one.key, one.value);
  pod.find("metadata")->set("annotations", std::move(all));
  doc::Value labels = doc::Value::object();
  labels.set("app", "x");
  pod.find("metadata")->set("labels", std::move(labels));
  doc::Value spec = doc::Value::object();
  spec.set("nodeName", "node1");
  pod.set("spec", std::move(spec));
  return pod;
}
inline std::string pod_path(const std::string& name) {
  return "/api/v1/namespaces/ai/pods/" + name;
}

inline doc::Value network_object(const std::string& name, const std::string& config) {
  doc::Value network = kube::fake::object("NetworkAttachmentDefinition", "ai", name);
  network.set("apiVersion", "k8s.cni.cncf.io/v1");
  doc::Value spec = doc::Value::object();
  spec.set("config", config);
  network.set("spec", std::move(spec));
  return network;
}
inline std::string network_path(const std::string& name) {
  return "/apis/k8s.cni.cncf.io/v1/namespaces/ai/network-attachment-definitions/" + name;
}

inline std::string config_of(const std::string& master) {
  return R"({"cniVersion":"1.0.0","type":"macvlan","master":")" + master + R"("})";
}

// How many requests begin with this.
inline size_t count_of(const kube::fake::ApiServer& server, const std::string& begin) {
  size_t count = 0;
  for (const std::string& one : server.requests()) count += one.starts_with(begin) ? 1 : 0;
  return count;
}

// A text without how old something is in seconds, which is the clock's matter: "N s old", "for N s:", "ageSeconds":N.
inline std::string without_ages(const std::string& text) {
  static const std::regex kAge(R"re([0-9]+( s old| s:)|("ageSeconds":)[0-9]+)re");
  return std::regex_replace(text, kAge, "$2N$1");
}

// Until somebody waits for so long on this clock, which a test advances (kube/fake/clock.h).
inline bool waits_for(const kube::fake::FakeClock& clock, std::chrono::milliseconds period) {
  return eventually([&] {
    const std::vector<std::chrono::milliseconds> waits = clock.waits();
    return std::ranges::find(waits, period) != waits.end();
  });
}

inline kube::ApiError away() {
  return kube::unanswered(Code::kIo, kube::Delivery::kNotSent, "connection refused");
}

// Whether the API server may be asked: shared with its threads.
struct Switch {
  std::atomic<bool> away = false;
  std::optional<kube::ApiError> operator()() const { return away ? std::optional(agent::away()) : std::nullopt; }
};

// Caches, asking and writing over one server, with short pauses.
struct ClusterRig {
  kube::fake::ApiServer server;
  std::unique_ptr<kube::Clock> clock = kube::real_clock();
  kube::ClientSettings quick{
      .timeout = std::chrono::milliseconds(300), .try_timeout = std::chrono::milliseconds(300), .retry = {.tries = 1}};
  kube::Client client{server, *clock, quick};
  os::FakeDisk disk;
  std::stop_source asking;
  KeptCache pods{client, disk, cache(kube::kPods, pod_kept())};
  KeptCache networks{client, disk, cache(kube::kNetworkDefinitions, network_kept())};
  AskOnce asks{client, asking.get_token(), {.at_once = 4, .wait = std::chrono::milliseconds(500)}};
  StatusWriter writer{client,
                      {.first_pause = std::chrono::milliseconds(1), .longest_pause = std::chrono::milliseconds(4)}};
  std::unique_ptr<state::Store> store = state::memory_store();
  ClusterSource source{pods, networks, asks, writer, *store, {.node = "node1"}};
  std::vector<std::jthread> threads;

  ~ClusterRig() { EXPECT_EQ(beyond_the_role(server), ""); }
  static KeptCache::Settings cache(const kube::Resource& resource, kube::Trim trim) {
    return {.informer = {.resource = resource,
                         .trim = std::move(trim),
                         .first_pause = std::chrono::milliseconds(1),
                         .longest_pause = std::chrono::milliseconds(5)},
            .folder = "/var/lib/railbed/cache",
            .server = "https://10.0.0.1:6443",
            .save_pause = std::chrono::milliseconds(0)};
  }
  void follow() {
    threads.emplace_back([this](std::stop_token stop) { pods.run(stop); });
    threads.emplace_back([this](std::stop_token stop) { networks.run(stop); });
    ASSERT_TRUE(eventually([&] { return pods.health().informer.synced && networks.health().informer.synced; }));
  }
  std::string uid(const std::string& path) const {
    const auto objects = server.objects();
    const auto found = objects.find(path);
    return found != objects.end() ? kube::uid_of(found->second) : "";
  }
};

}  // namespace railbed::agent
