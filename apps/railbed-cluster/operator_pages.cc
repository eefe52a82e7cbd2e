// SPDX-License-Identifier: Apache-2.0
#include "operator_pages.h"

#include <algorithm>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "base/format.h"

namespace railbed {

namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string, std::string>>;

void add(MetricFamily& family, const Labels& labels, double value) {
  prometheus::ClientMetric metric;
  for (const auto& [name, text] : labels) metric.label.push_back({name, text});
  (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  family.metric.push_back(std::move(metric));
}

MetricFamily single(const char* name, const char* help, MetricType type, double value) {
  MetricFamily out{name, help, type, {}};
  add(out, {}, value);
  return out;
}

bool is_absent(const controller::OptionalKindStatus& one) {
  return one.availability == controller::Availability::kAbsent ||
         one.availability == controller::Availability::kForbidden;
}

bool works_without(const controller::OperatorSnapshot& snapshot, std::string_view kind) {
  return std::ranges::any_of(snapshot.optional_kinds,
                             [&](const auto& one) { return one.name == kind && is_absent(one); });
}

struct CacheFamilies {
  MetricFamily lag{
      "railbed_kube_watch_lag_seconds", "maximum age of the cached objects of a kind", MetricType::Gauge, {}};
  MetricFamily objects{"railbed_kube_objects", "cached objects of a kind", MetricType::Gauge, {}};
  MetricFamily absent{"railbed_operator_kind_absent",
                      "1 if the operator works without this optional kind: it is absent or forbidden",
                      MetricType::Gauge,
                      {}};
};

CacheFamilies cache_families(const controller::OperatorSnapshot& snapshot, kube::Instant now) {
  CacheFamilies out;
  for (const auto& [kind, cache] : snapshot.caches) {
    if (cache.synced && !works_without(snapshot, kind))
      add(out.lag, {{"kind", kind}}, std::chrono::duration<double>(now - cache.heard).count());
    add(out.objects, {{"kind", kind}}, static_cast<double>(cache.objects));
  }
  for (const controller::OptionalKindStatus& one : snapshot.optional_kinds)
    add(out.absent, {{"kind", one.name}}, is_absent(one));
  return out;
}

std::vector<MetricFamily> families_of(const controller::OperatorSnapshot& snapshot, kube::Instant now) {
  MetricFamily requests{"railbed_kube_requests_total",
                        "requests to the API server, retries included, by verb and HTTP status",
                        MetricType::Counter,
                        {}};
  for (const auto& [key, count] : snapshot.requests.requests)
    add(requests, {{"verb", std::string(kube::verb_name(key.first))}, {"code", std::to_string(key.second)}},
        static_cast<double>(count));
  MetricFamily writes{"railbed_operator_writes_total", "objects written, by kind and result", MetricType::Counter, {}};
  for (const auto& [key, count] : snapshot.writes)
    add(writes, {{"kind", key.first}, {"result", key.second ? "ok" : "failed"}}, static_cast<double>(count));
  MetricFamily events{"railbed_kube_events_total", "Events, by result", MetricType::Counter, {}};
  const std::vector<std::pair<const char*, uint64_t>> fates{{"sent", snapshot.events.sent},
                                                            {"repeated", snapshot.events.repeated},
                                                            {"dropped", snapshot.events.dropped},
                                                            {"failed", snapshot.events.failed}};
  for (const auto& [fate, count] : fates) add(events, {{"result", fate}}, static_cast<double>(count));
  MetricFamily ended{"railbed_operator_leases_ended_total", "address leases ended, by reason", MetricType::Counter, {}};
  for (const auto& [reason, count] : snapshot.cells.ended) add(ended, {{"reason", reason}}, static_cast<double>(count));
  CacheFamilies caches = cache_families(snapshot, now);
  return {std::move(requests),
          single("railbed_kube_retries_total", "retried requests to the API server", MetricType::Counter,
                 static_cast<double>(snapshot.requests.retries)),
          std::move(caches.lag),
          std::move(caches.objects),
          std::move(caches.absent),
          std::move(writes),
          std::move(events),
          std::move(ended),
          single("railbed_operator_address_cells", "AddressCells at the last full check", MetricType::Gauge,
                 static_cast<double>(snapshot.cells.cells)),
          single("railbed_operator_address_cells_unreadable", "AddressCells that cannot be read", MetricType::Gauge,
                 static_cast<double>(snapshot.cells.unreadable)),
          single("railbed_operator_leases_without_node", "address leases whose machine has no Node", MetricType::Gauge,
                 static_cast<double>(snapshot.cells.without_node)),
          single("railbed_operator_shared_identities", "MACs and GUIDs used by pods of two nodes", MetricType::Gauge,
                 static_cast<double>(snapshot.shared_identities)),
          single("railbed_operator_leads", "1 if this process holds the Lease", MetricType::Gauge, snapshot.leads),
          single("railbed_operator_writing", "1 if this process leads and all objects are known", MetricType::Gauge,
                 snapshot.closed.empty()),
          single("railbed_operator_sriov_operator", "1 if the SR-IOV operator also runs in the cluster",
                 MetricType::Gauge, snapshot.upstream_operator),
          single("railbed_operator_held_nodes", "node states that the operator leaves unchanged, with a reason",
                 MetricType::Gauge, static_cast<double>(snapshot.held.size())),
          single("railbed_operator_waiting", "queued tasks", MetricType::Gauge, static_cast<double>(snapshot.waiting))};
}

}  // namespace

std::string operator_metrics(const controller::OperatorSnapshot& snapshot, kube::Instant now) {
  return prometheus::TextSerializer().Serialize(families_of(snapshot, now));
}

std::vector<std::string> operator_troubles(const controller::OperatorSnapshot& snapshot) {
  std::vector<std::string> out;
  for (const auto& [kind, cache] : snapshot.caches)
    if ((!cache.synced || cache.error) && !works_without(snapshot, kind))
      out.push_back(fmt::format("{}: {}", kind, cache.error ? cache.error->story() : "not listed yet"));
  return out;
}

}  // namespace railbed
