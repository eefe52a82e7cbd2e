// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "doc/json.h"

namespace railbed::serve {

namespace {
// Attaching takes 0.5 ms to seconds.
const prometheus::Histogram::BucketBoundaries kSeconds{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                       0.1,    0.2,   0.5,   1,     2,    5,    20};

constexpr std::string_view kTypes[] = {"sriov",      "ib-sriov", "host-device", "tuning",  "rdma",
                                       "macvlan",    "ipvlan",   "sbr",         "vrf",     "whereabouts",
                                       "host-local", "static",   "dhcp",        "railbed", "loopback",
                                       "bridge",     "ptp",      "vlan",        "portmap", "bandwidth"};

std::string known_type(std::string_view type) {
  return std::string(std::ranges::find(kTypes, type) != std::end(kTypes) ? type : "other");
}

// Of the answer that the client gets; a failure is rare, so that reading it back costs nothing that counts.
int code_in(const std::string& output) {
  doc::Diagnostics ignored;
  const auto value = doc::parse_json(std::make_shared<const doc::Source>(doc::Source{"", output}), ignored);
  const doc::Value* code = value ? value->find("code") : nullptr;
  const int64_t* number = code == nullptr ? nullptr : code->as_int();
  return number == nullptr ? cni::kInternal : static_cast<int>(*number);
}

// Gauges that are asked for, as a collectable of their own.
class Asked : public prometheus::Collectable {
 public:
  void ask_with(std::function<Standing()> ask) {
    std::lock_guard lock(mutex_);
    ask_ = std::move(ask);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::function<Standing()> ask;
    {
      std::lock_guard lock(mutex_);
      ask = ask_;
    }
    if (!ask) return {};
    const Standing now = ask();
    auto addresses = gauge("railbed_addresses", "addresses of a pool, by state");
    for (const Standing::Pool& pool : now.pools) {
      add(addresses, {{"pool", pool.name}, {"state", "free"}}, pool.free);
      add(addresses, {{"pool", pool.name}, {"state", "taken"}}, pool.taken);
    }
    auto vfs = gauge("railbed_vfs", "virtual functions of this machine, by state");
    add(vfs, {{"state", "free"}}, static_cast<double>(now.vfs_free));
    add(vfs, {{"state", "attached"}}, static_cast<double>(now.vfs_attached));
    add(vfs, {{"state", "missing"}}, static_cast<double>(now.vfs_missing));
    auto attachments = gauge("railbed_attachments", "interfaces that pods have");
    add(attachments, {}, static_cast<double>(now.attachments));
    auto pending = gauge("railbed_pending_dels", "DEL requests on disk that wait to be repeated");
    add(pending, {}, static_cast<double>(now.pending_dels));
    std::vector<prometheus::MetricFamily> out;
    for (auto* family : {&addresses, &vfs, &attachments, &pending})
      if (!family->metric.empty()) out.push_back(std::move(*family));
    return out;
  }

 private:
  static prometheus::MetricFamily gauge(const char* name, const char* help) {
    return {name, help, prometheus::MetricType::Gauge, {}};
  }
  static void add(prometheus::MetricFamily& family, const prometheus::Labels& labels, double value) {
    prometheus::ClientMetric metric;
    for (const auto& [name, text] : labels) metric.label.push_back({name, text});
    metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
  }

  mutable std::mutex mutex_;
  std::function<Standing()> ask_;
};
}  // namespace

std::string_view phase_name(Phase phase) {
  constexpr std::string_view names[] = {"wait", "prepare", "addresses", "kernel", "check", "exec", "total"};
  return names[static_cast<size_t>(phase)];
}

struct Metrics::Parts {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::shared_ptr<Asked> asked = std::make_shared<Asked>();
  prometheus::Family<prometheus::Histogram>& seconds =
      prometheus::BuildHistogram()
          .Name("railbed_attach_seconds")
          .Help("time of ADD requests, by plugin type and phase")
          .Register(*registry);
  prometheus::Family<prometheus::Histogram>& requests =
      prometheus::BuildHistogram()
          .Name("railbed_request_seconds")
          .Help("time of CNI requests in the agent, by command")
          .Register(*registry);
  prometheus::Family<prometheus::Counter>& failures =
      prometheus::BuildCounter()
          .Name("railbed_failures_total")
          .Help("failed CNI requests, by plugin type and the specification's code")
          .Register(*registry);
  prometheus::Gauge& in_flight = prometheus::BuildGauge()
                                     .Name("railbed_requests_in_flight")
                                     .Help("CNI requests that are being worked on")
                                     .Register(*registry)
                                     .Add({});
  std::unique_ptr<prometheus::Exposer> exposer;  // last: its threads end first
};

Metrics::Metrics() : parts_(std::make_unique<Parts>()) {}
Metrics::~Metrics() = default;

void Metrics::took(std::string_view type, Phase phase, double seconds) {
  parts_->seconds.Add({{"phase", std::string(phase_name(phase))}, {"type", known_type(type)}}, kSeconds)
      .Observe(seconds);
}

void Metrics::failed(std::string_view type, int code) {
  parts_->failures.Add({{"code", std::to_string(code)}, {"type", known_type(type)}}).Increment();
}

void Metrics::standing(std::function<Standing()> ask) {
  parts_->asked->ask_with(std::move(ask));
}

Reply Metrics::metered(const cni::Request& request, const std::function<Reply(const cni::Request&)>& handle) {
  const auto began = std::chrono::steady_clock::now();
  parts_->in_flight.Increment();
  // Also when the handler throws.
  const auto landed = [](prometheus::Gauge* in_flight) { in_flight->Decrement(); };
  const std::unique_ptr<prometheus::Gauge, decltype(landed)> flight(&parts_->in_flight, landed);
  const Reply reply = handle(request);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  parts_->requests.Add({{"command", std::string(command_name(request.command))}}, kSeconds).Observe(seconds);
  if (request.command == cni::Command::kAdd) took(request.type, Phase::kTotal, seconds);
  if (reply.status != 0) failed(request.type, code_in(reply.output));
  return reply;
}

Result<int> Metrics::expose(const std::string& address) {
  try {
    parts_->exposer = std::make_unique<prometheus::Exposer>(address, 1);
    parts_->exposer->RegisterCollectable(parts_->registry);
    parts_->exposer->RegisterCollectable(parts_->asked);
    const auto ports = parts_->exposer->GetListeningPorts();
    return ports.empty() ? 0 : ports.front();
  } catch (const std::exception& problem) {
    return fail(
        Error{.code = Code::kConflict,
              .message = fmt::format("metrics on {}: {}", address, problem.what()),
              .hint = "is the address of this machine and the port free? --metrics off does without"});
  }
}

std::string Metrics::text() const {
  auto families = parts_->registry->Collect();
  for (auto& family : parts_->asked->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace railbed::serve
