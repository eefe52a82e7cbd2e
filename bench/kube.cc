// SPDX-License-Identifier: Apache-2.0
// What a cache of pods costs: 5,000 pods of 6 KB, as a watch brings them and as a list does, decoded, trimmed and kept.
// Then, with a kubeconfig as argument, the memory that each further watch of a real API server takes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include "doc/json.h"
#include "doc/members.h"
#include "kube/cache.h"
#include "kube/client.h"
#include "kube/curl_transport.h"

namespace railbed::kube {
namespace {

constexpr int kPods = 5000;
constexpr size_t kPodBytes = 6000;
constexpr int kRuns = 3;
constexpr int kWatches = 50;

// A pod as an API server sends it: half of it managedFields, the rest containers, volumes, conditions.
std::string pod_json(int number) {
  std::string containers;
  for (int i = 0; i < 2; ++i)
    containers += fmt::format(
        R"({}{{"name":"c{}","image":"registry.example/llm/trainer@sha256:{:064}","resources":{{"limits":{{"nvidia.com/gpu":"8","ai/rail{}":"1"}},"requests":{{"cpu":"32"}}}},"env":[{{"name":"NCCL_IB_HCA","value":"mlx5"}},{{"name":"MASTER_ADDR","value":"10.0.0.{}"}}],"volumeMounts":[{{"name":"data","mountPath":"/data"}},{{"name":"token","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}})",
        i == 0 ? "" : ",", i, number, i, number % 250);
  std::string fields = R"("f:metadata":{"f:labels":{"f:app":{},"f:job":{}}})";
  const auto build = [&] {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"trainer-{0}","namespace":"ai","uid":"{0:036}","resourceVersion":"{1}","creationTimestamp":"2026-01-31T12:00:00Z","labels":{{"app":"trainer","job":"job-{2}"}},"annotations":{{"k8s.v1.cni.cncf.io/networks":"rail0, rail1, rail2, rail3, rail4, rail5, rail6, rail7"}},"managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-01-31T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{{3}}}}}]}},"spec":{{"nodeName":"node{4}","serviceAccountName":"default","schedulerName":"default-scheduler","tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"containers":[{5}]}},"status":{{"phase":"Running","podIP":"10.1.{6}.{7}","podIPs":[{{"ip":"10.1.{6}.{7}"}}],"conditions":[{{"type":"Ready","status":"True","lastTransitionTime":"2026-01-31T12:00:05Z"}},{{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-01-31T12:00:00Z"}}]}}}})",
        number, 1000 + number, number / 64, fields, number / 8, containers, number / 250, number % 250);
  };
  for (int i = 0; build().size() < kPodBytes; ++i)
    fields +=
        fmt::format(R"(,"f:spec{}":{{"f:containers":{{"k:{{\"name\":\"c{}\"}}":{{".":{{}},"f:image":{{}}}}}}}})", i, i);
  return build();
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

size_t heap_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

void figure(const char* name, double value, const char* unit, double bound, bool least) {
  const bool ok = bound == 0 || (least ? value >= bound : value <= bound);
  std::printf("figure %s %.0f %s %s%.0f %s\n", name, value, unit,
              bound == 0 ? ""
              : least    ? ">="
                         : "<=",
              bound, ok ? "ok" : "short");
}

struct Kept {
  double per_second = 0;
  double bytes_per_pod = 0;
};

// As a watch brings them, 16 KB at a time.
Kept by_watch(const std::vector<std::string>& pods) {
  std::string bytes;
  for (const std::string& pod : pods) bytes += R"({"type":"ADDED","object":)" + pod + "}\n";
  const Trim trim = pod_trim();
  const size_t before = heap_bytes();
  const auto began = std::chrono::steady_clock::now();
  ObjectCache cache;
  {
    WatchDecoder decoder;
    for (size_t at = 0; at < bytes.size(); at += 16384) {
      decoder.push(std::string_view(bytes).substr(at, 16384));
      for (auto event = decoder.next(); event && *event; event = decoder.next()) {
        trim((*event)->object);
        cache.take((*event)->type, std::move((*event)->object));
      }
    }
  }
  const double seconds = seconds_since(began);
  if (cache.objects().size() != pods.size()) std::abort();
  return {static_cast<double>(pods.size()) / seconds,
          static_cast<double>(heap_bytes() - before) / static_cast<double>(pods.size())};
}

// A page of a list at a time, without the network.
class Pages : public Transport {
 public:
  explicit Pages(const std::vector<std::string>& pods) {
    constexpr size_t kPage = 500;
    for (size_t at = 0; at < pods.size(); at += kPage) {
      const bool last = at + kPage >= pods.size();
      std::string page = fmt::format(R"({{"kind":"PodList","metadata":{{"resourceVersion":"9"{}}},"items":[)",
                                     last ? "" : fmt::format(R"(,"continue":"{}")", at));
      for (size_t i = at; i < std::min(at + kPage, pods.size()); ++i) page += (i > at ? "," : "") + pods[i];
      pages_.push_back(page + "]}");
    }
  }
  Answer<Response> send(const Request&, std::stop_token) override {
    return Response{200, pages_[next_++ % pages_.size()]};
  }
  Answer<std::unique_ptr<ByteStream>> open(const Request&, std::stop_token) override {
    return std::unexpected(unanswered(Code::kUnsupported, Delivery::kNotSent, "no watches here"));
  }

 private:
  std::vector<std::string> pages_;
  size_t next_ = 0;
};

double by_list(const std::vector<std::string>& pods) {
  Pages pages(pods);
  const std::unique_ptr<Clock> clock = real_clock();
  Client client(pages, *clock);
  const auto began = std::chrono::steady_clock::now();
  const auto all = client.list({"", "v1", "pods", "Pod"}, {}, pod_trim());
  if (!all || all->objects.size() != pods.size()) std::abort();
  return static_cast<double>(pods.size()) / seconds_since(began);
}

double resident_kb() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1024;
}

int measure_watches(const std::string& kubeconfig) {
  const ReadFile read = [](const std::string& path) -> Result<std::string> {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto access = read_kubeconfig(kubeconfig, *read(kubeconfig), {});
  const std::unique_ptr<Clock> clock = real_clock();
  Credentials credentials(access.value(), read, *clock);
  const auto transport = make_curl_transport(credentials).value();
  Client client(*transport, *clock);
  const Resource maps{"", "v1", "configmaps", "ConfigMap"};
  std::vector<WatchStream> streams;
  const auto open = [&] {
    auto stream = client.watch(maps, {}, client.list(maps, {})->resource_version, std::chrono::seconds(300));
    if (!stream) std::fprintf(stderr, "%s\n", stream.error().to_string().c_str());
    if (stream) streams.push_back(std::move(*stream));
  };
  open();
  const double before = resident_kb();
  for (int i = 0; i < kWatches; ++i) open();
  std::printf("first watch: %.0f KB resident in all\n", before);
  figure("kube_watch_kb", (resident_kb() - before) / kWatches, "KB", 40, false);
  return streams.size() == kWatches + 1 ? 0 : 1;
}

int measure() {
  std::vector<std::string> pods;
  for (int i = 0; i < kPods; ++i) pods.push_back(pod_json(i));
  std::printf("%d pods of %zu bytes\n", kPods, pods[0].size());
  double watched = 0;
  double listed = 0;
  double bytes = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Kept kept = by_watch(pods);
    watched = std::max(watched, kept.per_second);
    bytes = kept.bytes_per_pod;
    listed = std::max(listed, by_list(pods));
  }
  figure("kube_watched_pods_per_s", watched, "pods/s", 2000, true);
  figure("kube_listed_pods_per_s", listed, "pods/s", 2000, true);
  figure("kube_kept_pod_bytes", bytes, "bytes", 8000, false);
  return 0;
}

}  // namespace
}  // namespace railbed::kube

int main(int argc, char** argv) {
  return argc > 1 ? railbed::kube::measure_watches(argv[1]) : railbed::kube::measure();
}
