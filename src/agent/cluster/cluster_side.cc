// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/cluster_side.h"

#include "agent/cluster/cluster_objects.h"
#include "agent/cluster/pod_events.h"
#include "base/log.h"
#include "doc/text.h"

namespace railbed::agent {
namespace {

using doc::Value;
using std::chrono::milliseconds;

constexpr int kWriters = 4;  // statuses at once: a slow network must not make a burst of pods wait for minutes
constexpr milliseconds kLastEvents{300};

KeptCache::Settings cache_of(const kube::Resource& resource, kube::Trim trim, const std::string& fields,
                             const ClusterSide::Settings& settings) {
  return {.informer = {.resource = resource,
                       .selection = {.ns = "", .labels = "", .fields = fields},
                       .trim = std::move(trim),
                       .longest_pause = settings.longest_pause},
          .folder = settings.folder,
          .server = settings.server,
          .save_pause = settings.save_pause};
}

// Why an ADD may not find what it needs; empty: it will.
std::string why_not_ready(const KeptCache& cache, std::chrono::seconds denied_patience) {
  const KeptCache::Health now = cache.health();
  const std::optional<Error>& error = now.informer.error;
  const bool denied = error && error->code == Code::kDenied && now.age > denied_patience;
  if (now.age && !denied) return "";
  // A cluster without the definition of NetworkAttachmentDefinition has none.
  if (error && error->code == Code::kNotFound) return "";
  const std::string since =
      now.age ? fmt::format("without an answer for {} s", now.age->count()) : std::string("not known");
  return fmt::format("{} of the API server are {}: {}", cache.plural(), since,
                     error ? error->story() : "not listed yet");
}

Value report_of(const KeptCache& cache) {
  const KeptCache::Health now = cache.health();
  Value out = Value::object();
  out.set("kind", std::string(cache.plural()));
  out.set("objects", int64_t(now.informer.objects));
  out.set("synced", now.informer.synced);
  if (now.age) out.set("ageSeconds", int64_t{now.age->count()});
  out.set("fromFile", now.restored.has_value());
  if (now.informer.error) out.set("error", doc::printable(now.informer.error->story()));
  return out;
}

Sample sample(std::string_view name, std::string_view help, Sample::Kind kind,
              std::vector<std::pair<std::string, std::string>> labels, double value) {
  return {.name = name, .help = help, .kind = kind, .labels = std::move(labels), .value = value};
}

void add_requests(const kube::ClientCounters& first, const kube::ClientCounters& second, std::vector<Sample>& out) {
  std::map<std::pair<kube::Verb, int>, uint64_t> all = first.requests;
  for (const auto& [what, count] : second.requests) all[what] += count;
  for (const auto& [what, count] : all)
    out.push_back(sample("railbed_api_requests_total",
                         "requests to the API server, by verb and HTTP status (0: no answer)", Sample::Kind::kCounter,
                         {{"verb", std::string(kube::verb_name(what.first))}, {"code", std::to_string(what.second)}},
                         static_cast<double>(count)));
  out.push_back(sample("railbed_api_retries_total", "retried requests to the API server", Sample::Kind::kCounter, {},
                       static_cast<double>(first.retries + second.retries)));
}

}  // namespace

ClusterSide::ClusterSide(Dependencies deps, const Settings& settings)
    : deps_(deps),
      settings_(settings),
      asking_(deps.transport, deps.client.clock(), settings.asking),
      pods_(deps.client, deps.disk, cache_of(kube::kPods, pod_kept(), "spec.nodeName=" + settings.node, settings),
            [this](const kube::Change&) { settings_.changed(); }),
      networks_(deps.client, deps.disk, cache_of(kube::kNetworkDefinitions, network_kept(), "", settings),
                [this](const kube::Change&) { settings_.changed(); }),
      asks_(asking_, asking_ends_.get_token(), settings.asks),
      statuses_(deps.client, settings.statuses),
      source_(pods_, networks_, asks_, statuses_, deps.store,
              {.node = settings.node,
               .soft_rdma = settings.soft_rdma,
               .restrict_definitions = settings.restrict_definitions}),
      recorder_(deps.client, {.controller = kEventController, .instance = settings.node}) {}

ClusterSide::~ClusterSide() {
  stop();
}

void ClusterSide::restore() {
  for (KeptCache* cache : {&pods_, &networks_}) {
    const Result<size_t> restored = cache->restore();
    if (restored.has_value())
      log::info(fmt::format("{} {} known from {}, {} s old", *restored, cache->plural(), cache->path(),
                            cache->health().age->count()));
    else if (restored.error().code != Code::kNotFound)
      log::warn(fmt::format("no {} are known until the API server lists them: {}", cache->plural(),
                            restored.error().story()));
  }
}

void ClusterSide::start(Engine& engine) {
  threads_.emplace_back([this](std::stop_token stop) { pods_.run(stop); });
  threads_.emplace_back([this](std::stop_token stop) { networks_.run(stop); });
  threads_.emplace_back([this, &engine](const std::stop_token& stop) { keep(engine, stop); });
  for (int i = 0; i < kWriters; ++i) threads_.emplace_back([this](std::stop_token stop) { statuses_.run(stop); });
  threads_.emplace_back([this](std::stop_token stop) { recorder_.run(stop); });
}

void ClusterSide::wait_known(milliseconds timeout) const {
  const kube::Instant end = deps_.client.clock().now() + timeout;
  for (const KeptCache* cache : {&pods_, &networks_})
    (void)cache->wait_known(
        std::max(milliseconds(0), std::chrono::floor<milliseconds>(end - deps_.client.clock().now())));
}

void ClusterSide::stop() {
  hurry();
  if (threads_.empty()) return;
  (void)recorder_.flush(kLastEvents);
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
  for (KeptCache* cache : {&pods_, &networks_})
    if (const Result<void> saved = cache->save(KeptCache::When::kNow); !saved.has_value())
      log::warn(saved.error().story());
}

void ClusterSide::keep(Engine& engine, const std::stop_token& stop) {
  bool resumed = false;
  do {
    for (KeptCache* cache : {&pods_, &networks_}) {
      const Result<void> saved = cache->save();
      if (!saved.has_value()) deps_.events.happened("disk", cache->path(), saved.error().story());
    }
    if (!resumed && pods_.health().informer.synced) {
      const Result<size_t> handed = source_.resume_statuses(engine);
      resumed = handed.has_value();
      if (resumed && *handed > 0)
        log::info(fmt::format("writing the network-status of {} pods that an earlier agent did not write", *handed));
    }
    report_trouble();
  } while (deps_.client.clock().wait(settings_.keep_period, stop));
}

void ClusterSide::report_trouble() {
  report_change("pods", pods_.health().informer.error, reported_of_pods_);
  report_change("network-attachment-definitions", networks_.health().informer.error, reported_of_networks_);
  report_change("network-status", statuses_.counters().last_error, reported_of_statuses_);
}

// Once for each reason, not with every try.
void ClusterSide::report_change(const std::string& about, const std::optional<Error>& error, std::string& last) {
  const std::string story = error ? error->story() : "";
  if (story == last) return;
  if (error) {
    deps_.events.happened("api-server", about, story);
    log::warn(fmt::format("API server, {}: {}", about, doc::printable(story)));
  } else {
    deps_.events.over("api-server", about);
    log::info(fmt::format("API server, {}: it answers again", about));
  }
  last = story;
}

void ClusterSide::failed(const cni::Request& request, const Error& error) {
  if (!is_reported_at_pod(request, error)) return;
  const std::string pod = request.pod();
  const size_t slash = pod.find('/');
  recorder_.record(
      occurrence_of(request, error, source_.api_uid(pod.substr(0, slash), pod.substr(slash + 1), request.pod_uid())));
}

void ClusterSide::report_at_node(std::string reason, std::string note) {
  recorder_.record(
      {.type = kube::EventType::kWarning,
       .reason = std::move(reason),
       .action = "LeaseAddresses",
       .note = doc::printable(note),
       .object = {.api_version = "v1", .kind = "Node", .key = {.ns = "", .name = settings_.node}, .uid = ""}});
}

std::vector<std::string> ClusterSide::not_ready() const {
  std::vector<std::string> reasons;
  for (const KeptCache* cache : {&pods_, &networks_})
    if (std::string why = why_not_ready(*cache, settings_.denied_patience); !why.empty())
      reasons.push_back(std::move(why));
  return reasons;
}

std::vector<Sample> ClusterSide::samples() const {
  using enum Sample::Kind;
  std::vector<Sample> out;
  add_requests(deps_.client.counters(), asking_.counters(), out);
  const std::pair<const KeptCache*, KeptCache::Health> caches[] = {{&pods_, pods_.health()},
                                                                   {&networks_, networks_.health()}};
  const auto each = [&](std::string_view name, std::string_view help, Sample::Kind kind, auto value) {
    for (const auto& [cache, now] : caches)
      out.push_back(sample(name, help, kind, {{"kind", std::string(cache->plural())}}, value(now)));
  };
  each("railbed_cache_objects", "objects of the API server that are known here", kGauge,
       [](const auto& now) { return static_cast<double>(now.informer.objects); });
  each("railbed_cache_age_seconds", "maximum age of the cached objects; -1: nothing is cached", kGauge,
       [](const auto& now) { return now.age ? static_cast<double>(now.age->count()) : -1.0; });
  each("railbed_cache_synced", "1: listed from the API server, not only read from an earlier agent's file", kGauge,
       [](const auto& now) { return now.informer.synced ? 1.0 : 0.0; });
  each("railbed_cache_lists_total", "full lists of all objects", kCounter,
       [](const auto& now) { return static_cast<double>(now.informer.lists); });
  each("railbed_cache_watches_total", "watches started", kCounter,
       [](const auto& now) { return static_cast<double>(now.informer.watches); });
  const StatusWriter::Counters statuses = statuses_.counters();
  out.push_back(sample("railbed_status_pending", "pods whose network-status is not in the API server yet", kGauge, {},
                       static_cast<double>(statuses.pending)));
  for (const auto& [result, count] : {std::pair("written", statuses.written), std::pair("failed", statuses.failed),
                                      std::pair("gone", statuses.gone), std::pair("dropped", statuses.dropped)})
    out.push_back(sample("railbed_status_writes_total",
                         "network-status of pods: written; failed attempts; not needed because the pod was deleted; "
                         "given up",
                         kCounter, {{"result", result}}, static_cast<double>(count)));
  const kube::EventCounters events = recorder_.counters();
  for (const auto& [result, count] : {std::pair("sent", events.sent), std::pair("repeated", events.repeated),
                                      std::pair("dropped", events.dropped), std::pair("failed", events.failed)})
    out.push_back(sample("railbed_kube_events_total", "Events of pods that failed", kCounter, {{"result", result}},
                         static_cast<double>(count)));
  return out;
}

Value ClusterSide::report() const {
  Value out = Value::object();
  out.set("server", settings_.server);
  out.set("node", settings_.node);
  out.set("tenantDefinitions", settings_.restrict_definitions ? "restrict" : "allow");
  Value& caches = out.set("caches", Value::array());
  for (const KeptCache* cache : {&pods_, &networks_}) caches.push(report_of(*cache));
  const StatusWriter::Counters statuses = statuses_.counters();
  out.set("statusesPending", int64_t(statuses.pending));
  if (statuses.last_error) out.set("statusError", doc::printable(statuses.last_error->story()));
  return out;
}

}  // namespace railbed::agent
