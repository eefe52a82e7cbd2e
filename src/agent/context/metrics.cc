// SPDX-License-Identifier: Apache-2.0
#include "agent/context/metrics.h"

#include <chrono>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "schema/cni_types.h"

namespace railbed::agent {

namespace {
// An attachment takes between 0.5 ms and seconds.
const prometheus::Histogram::BucketBoundaries kSeconds{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                       0.1,    0.2,   0.5,   1,     2,    5,    20};

std::string known_type(std::string_view type) {
  return std::string(schema::find_cni_type(type) != nullptr ? type : "other");
}

}  // namespace

// Gauges whose values are collected at each reading.
class MetricsOnDemand : public prometheus::Collectable {
 public:
  void ask_with(std::function<NodeCounts()> ask) {
    std::lock_guard lock(mutex_);
    ask_ = std::move(ask);
  }
  void read_with(std::function<std::vector<Sample>()> ask) {
    std::lock_guard lock(mutex_);
    samples_ = std::move(ask);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::function<NodeCounts()> ask;
    std::function<std::vector<Sample>()> samples;
    {
      std::lock_guard lock(mutex_);
      ask = ask_;
      samples = samples_;
    }
    std::vector<prometheus::MetricFamily> out;
    if (ask) add_node_counts(ask(), out);
    if (samples) add_samples(samples(), out);
    return out;
  }

 private:
  static void add_node_counts(const NodeCounts& now, std::vector<prometheus::MetricFamily>& out) {
    auto addresses = gauge("railbed_addresses", "addresses of a pool, by state");
    for (const NodeCounts::Pool& pool : now.pools) {
      add(addresses, {{"pool", pool.name}, {"state", "free"}}, pool.free);
      add(addresses, {{"pool", pool.name}, {"state", "taken"}}, pool.taken);
    }
    auto vfs = gauge("railbed_vfs", "virtual functions of this machine, by state");
    add(vfs, {{"state", "free"}}, static_cast<double>(now.vfs_free));
    add(vfs, {{"state", "attached"}}, static_cast<double>(now.vfs_attached));
    add(vfs, {{"state", "missing"}}, static_cast<double>(now.vfs_missing));
    auto attachments = gauge("railbed_attachments", "interfaces of pods");
    add(attachments, {}, static_cast<double>(now.attachments));
    auto pending = gauge("railbed_pending_dels", "DEL requests queued on disk");
    add(pending, {}, static_cast<double>(now.pending_dels));
    for (auto* family : {&addresses, &vfs, &attachments, &pending})
      if (!family->metric.empty()) out.push_back(std::move(*family));
  }
  static void add_samples(const std::vector<Sample>& samples, std::vector<prometheus::MetricFamily>& out) {
    for (const Sample& one : samples) {
      const bool counts = one.kind == Sample::Kind::kCounter;
      if (out.empty() || out.back().name != one.name)
        out.push_back({std::string(one.name),
                       std::string(one.help),
                       counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
                       {}});
      prometheus::ClientMetric metric;
      for (const auto& [name, text] : one.labels) metric.label.push_back({name, text});
      (counts ? metric.counter.value : metric.gauge.value) = one.value;
      out.back().metric.push_back(std::move(metric));
    }
  }
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
  std::function<NodeCounts()> ask_;
  std::function<std::vector<Sample>()> samples_;
};

struct Metrics::Impl {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::shared_ptr<MetricsOnDemand> on_demand = std::make_shared<MetricsOnDemand>();
  prometheus::Family<prometheus::Histogram>& seconds = prometheus::BuildHistogram()
                                                           .Name("railbed_attach_seconds")
                                                           .Help("time of ADD requests, by plugin type and phase")
                                                           .Register(*registry);
  prometheus::Family<prometheus::Histogram>& requests = prometheus::BuildHistogram()
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
                                     .Help("CNI requests in progress")
                                     .Register(*registry)
                                     .Add({});
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

void Metrics::took(std::string_view type, Phase phase, double seconds) {
  impl_->seconds.Add({{"phase", std::string(phase_name(phase))}, {"type", known_type(type)}}, kSeconds)
      .Observe(seconds);
}

void Metrics::failed(std::string_view type, int code) {
  impl_->failures.Add({{"code", std::to_string(code)}, {"type", known_type(type)}}).Increment();
}

void Metrics::node_counts(std::function<NodeCounts()> ask) {
  impl_->on_demand->ask_with(std::move(ask));
}

void Metrics::samples(std::function<std::vector<Sample>()> ask) {
  impl_->on_demand->read_with(std::move(ask));
}

Reply Metrics::metered(const cni::Request& request, RequestStory& story,
                       const std::function<Reply(const cni::Request&)>& handle) {
  const auto began = std::chrono::steady_clock::now();
  impl_->in_flight.Increment();
  // The destructor counts the request out even when the handler throws.
  const auto landed = [](prometheus::Gauge* in_flight) { in_flight->Decrement(); };
  const std::unique_ptr<prometheus::Gauge, decltype(landed)> flight(&impl_->in_flight, landed);
  const Reply reply = handle(request);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  impl_->requests.Add({{"command", std::string(command_name(request.command))}}, kSeconds).Observe(seconds);
  if (request.command == cni::Command::kAdd) took(request.type, Phase::kTotal, seconds);
  story.took(Phase::kTotal, seconds);
  if (!reply.result.has_value()) failed(request.type, cni::code_of(reply.result.error()));
  return reply;
}

std::string Metrics::text() const {
  auto families = impl_->registry->Collect();
  for (auto& family : impl_->on_demand->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace railbed::agent
