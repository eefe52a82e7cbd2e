// SPDX-License-Identifier: Apache-2.0
#include "agent/door/metrics.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <mutex>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "api/cni_types.h"
#include "base/ip.h"

namespace railbed::agent {

namespace {
// An attachment takes between 0.5 ms and seconds.
const prometheus::Histogram::BucketBoundaries kSeconds{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05,
                                                       0.1,    0.2,   0.5,   1,     2,    5,    20};

constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

std::string known_type(std::string_view type) {
  return std::string(api::find_cni_type(type) != nullptr ? type : "other");
}

struct Endpoint {
  IpAddress address;
  uint16_t port = 0;
};

// "127.0.0.1:9470", "[::1]:9470".
Result<Endpoint> endpoint_of(const std::string& text) {
  const char* form = "it is ADDRESS:PORT, as in 127.0.0.1:9470 or [::1]:9470; off does without";
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos)
    return fail(Error{.code = Code::kInvalid, .message = fmt::format("\"{}\" has no port", text), .hint = form});
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  auto address = IpAddress::parse(host);
  if (!address.has_value() || bracketed != (address->family == IpFamily::kV6))
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("\"{}\" is no IP address", text.substr(0, colon)),
                      .hint = form});
  Endpoint endpoint{.address = *address};
  const char* end = text.data() + text.size();
  auto [read_to, failure] = std::from_chars(text.data() + colon + 1, end, endpoint.port);
  if (failure != std::errc{} || read_to != end)
    return fail(Error{.code = Code::kInvalid,
                      .message = fmt::format("\"{}\" is no port: one is a number up to 65535", text.substr(colon + 1)),
                      .hint = form});
  return endpoint;
}

std::string why_not_listening(int sys_errno, uint16_t port) {
  switch (sys_errno) {
    case EADDRINUSE:
      return fmt::format("`ss -ltnp sport = :{}` shows who has it; take another port, or off", port);
    case EADDRNOTAVAIL:
      return "no interface of this machine has that address; 127.0.0.1 always works";
    case EACCES:
      return "ports below 1024 want CAP_NET_BIND_SERVICE; take another one, or off";
    default:
      return "take another address, or off";
  }
}

// Gauges whose values are collected at each reading.
class OnDemand : public prometheus::Collectable {
 public:
  void ask_with(std::function<Standing()> ask) {
    std::lock_guard lock(mutex_);
    ask_ = std::move(ask);
  }
  void read_with(std::function<std::vector<Reading>()> ask) {
    std::lock_guard lock(mutex_);
    readings_ = std::move(ask);
  }

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::function<Standing()> ask;
    std::function<std::vector<Reading>()> readings;
    {
      std::lock_guard lock(mutex_);
      ask = ask_;
      readings = readings_;
    }
    std::vector<prometheus::MetricFamily> out;
    if (ask) add_standing(ask(), out);
    if (readings) add_readings(readings(), out);
    return out;
  }

 private:
  static void add_standing(const Standing& now, std::vector<prometheus::MetricFamily>& out) {
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
    for (auto* family : {&addresses, &vfs, &attachments, &pending})
      if (!family->metric.empty()) out.push_back(std::move(*family));
  }
  static void add_readings(const std::vector<Reading>& readings, std::vector<prometheus::MetricFamily>& out) {
    for (const Reading& one : readings) {
      const bool counts = one.kind == Reading::Kind::kCounter;
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
  std::function<Standing()> ask_;
  std::function<std::vector<Reading>()> readings_;
};
}  // namespace

struct Metrics::Impl {
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::shared_ptr<OnDemand> on_demand = std::make_shared<OnDemand>();
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
                                     .Help("CNI requests that are being worked on")
                                     .Register(*registry)
                                     .Add({});
  std::unique_ptr<HttpServer> server;  // last member, so its thread ends first
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

void Metrics::standing(std::function<Standing()> ask) {
  impl_->on_demand->ask_with(std::move(ask));
}

void Metrics::readings(std::function<std::vector<Reading>()> ask) {
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
  // Failures are rare, so parsing the answer again costs little.
  if (reply.status != 0)
    failed(request.type, cni::read_failure(reply.output).value_or(cni::Failure{cni::kInternal, {}, {}}).code);
  return reply;
}

Result<int> Metrics::expose(const std::string& address, HttpPages pages) {
  const Endpoint endpoint = TRY(endpoint_of(address).context("--metrics {}", address));
  pages["/metrics"] = [this] { return HttpReply{.body = text(), .content_type = kTextFormat}; };
  auto server = HttpServer::open(endpoint.address, endpoint.port, std::move(pages));
  if (!server.has_value()) {
    server.error().hint = why_not_listening(server.error().sys_errno, endpoint.port);
    return fail(std::move(server).context("--metrics {}", address).error());
  }
  impl_->server = *std::move(server);
  return impl_->server->port();
}

std::string Metrics::text() const {
  auto families = impl_->registry->Collect();
  for (auto& family : impl_->on_demand->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace railbed::agent
