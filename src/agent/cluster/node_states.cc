// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_states.h"

#include <thread>
#include <utility>

#include "agent/cluster/pod_events.h"
#include "api/cluster_labels.h"
#include "api/wanted.h"
#include "base/log.h"
#include "doc/members.h"
#include "drain/agent_report.h"
#include "kube/kinds.h"
#include "kube/object.h"
#include "kube/pod.h"

namespace railbed::agent {

using doc::Value;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kUntilCurrent{200};  // between two looks whether the watches have begun

std::string label_of(const Value& object, std::string_view key) {
  const auto labels = kube::labels_of(object);
  const auto found = labels.find(std::string(key));
  return found != labels.end() ? found->second : "";
}

// Whether what orders something is another one: the status and the report of a drain, which are our own, are not.
bool is_other_order(const kube::Change& change) {
  if (change.type != kube::Change::Type::kChanged) return true;
  const auto order = [](const Value& object) {
    Value out = object;
    std::erase_if(*out.as_object(), [](const Value::Member& member) { return member.key == "status"; });
    Value* metadata = out.find("metadata");
    if (metadata == nullptr || !metadata->is_object()) return out;
    std::erase_if(*metadata->as_object(), [](const Value::Member& member) { return member.key == "resourceVersion"; });
    if (Value* annotations = metadata->find("annotations"); annotations != nullptr && annotations->is_object())
      std::erase_if(*annotations->as_object(),
                    [](const Value::Member& member) { return member.key == drain::kReportAnnotation; });
    return out;
  };
  return order(*change.before) != order(*change.after);
}

// What the operator says beyond the schema; nothing where it says nothing, or what cannot be read, which the keeper
// reports.
std::optional<api::Wanted> wanted_by(const kube::ObjectPtr& state) {
  if (state == nullptr) return std::nullopt;
  const std::string text = kube::annotation_of(*state, api::kWantedAnnotation);
  Result<api::Wanted> wanted = api::read_wanted(text);
  return wanted.has_value() ? std::optional(*std::move(wanted)) : std::nullopt;
}

// For objects of which only names and labels count.
kube::Trim labels_and(std::vector<std::string> fields) {
  return [keep = kube::keep_fields(std::move(fields))](Value& object) {
    keep(object);
    if (Value* metadata = object.find("metadata"); metadata != nullptr && metadata->is_object())
      std::erase_if(*metadata->as_object(), [](const Value::Member& member) {
        return member.key == "annotations" || member.key == "ownerReferences";
      });
  };
}

}  // namespace

NodeStates::NodeStates(Dependencies deps, NodeStatesSettings settings)
    : deps_(deps),
      key_{settings.ns, settings.keeper.node},
      states_(deps.client,
              {.resource = kube::kNodeStates, .selection = {.ns = key_.ns, .fields = "metadata.name=" + key_.name}},
              [this](const kube::Change& change) {
                if (change.key != key_) return;
                writer_.wake();
                if (is_other_order(change)) wake();
              }),
      nodes_(deps.client,
             {.resource = kube::kNodes, .selection = {.fields = "metadata.name=" + key_.name}, .trim = labels_and({})},
             [this](const kube::Change& change) {
               if (is_other_order(change)) wake();
             }),
      daemons_(deps.client,
               {.resource = kube::kPods,
                .selection = {.labels = std::string(api::kUpstreamDaemonPods), .fields = "spec.nodeName=" + key_.name},
                .trim = labels_and({"spec.nodeName", "status.phase"})},
               [this](const kube::Change&) { wake(); }),
      writer_(deps.client, key_, [this] { return state(); }),
      events_(deps.client, {.controller = kEventController, .instance = key_.name}),
      keeper_({deps.engine, deps.offers, *this, deps.client.clock()}, std::move(settings.keeper)) {}

kube::ObjectPtr NodeStates::state() const {
  return states_.find(key_);
}

// Why what is known here may not be so any more; nothing where all watches are fed.
std::optional<Error> NodeStates::silence() const {
  for (const kube::Informer* one : {&states_, &nodes_, &daemons_}) {
    kube::Informer::Health health = one->health();
    if (health.error) return std::move(health.error);
    if (!health.synced) return Error{.code = Code::kBusy, .message = "the API server has not answered yet"};
  }
  return std::nullopt;
}

NodeOrder NodeStates::order() const {
  NodeOrder order{.state = state(), .current = !silence().has_value(), .aside = ""};
  if (!order.current) return order;
  const kube::ObjectPtr node = nodes_.find({"", key_.name});
  const std::string managed = node != nullptr ? label_of(*node, api::kManagedLabel) : "";
  api::NodeOwnership ownership{.managed = managed, .has_state = order.state != nullptr};
  ownership.is_ours = ownership.has_state && label_of(*order.state, api::kManagedByLabel) == api::kManagedByRailbed;
  for (const auto& [key, pod] : daemons_.objects()) {
    const bool here = kube::node_of_pod(*pod) == key_.name;
    ownership.upstream_daemon = ownership.upstream_daemon || (here && !kube::has_ended(*pod));
  }
  order.aside = api::why_not_managed(ownership);
  const std::optional<api::Wanted> wanted = wanted_by(order.state);
  if (order.aside.empty() && wanted && wanted->left_alone)
    order.aside = "configDaemonNodeSelector of the SriovOperatorConfig does not select the node";
  return order;
}

// Applied at once: during troubleshooting a restart would lose what is being looked for.
void NodeStates::follow_log_level(const NodeOrder& order) {
  if (!order.current) return;
  const std::optional<api::Wanted> wanted = wanted_by(order.state);
  const int level = wanted ? wanted->log_level.value_or(0) : 0;
  if (std::exchange(log_level_, level) == level) return;
  log::info(fmt::format("node state {}: logs of level {} by its SriovOperatorConfig", key_.name, level));
  log::set_verbosity(level);
}

void NodeStates::status(const std::string& uid, Value status) {
  writer_.want(uid, std::move(status));
}

void NodeStates::drain_report(const std::string& uid, std::string text) {
  writer_.want_drain_report(uid, std::move(text));
}

void NodeStates::event(kube::EventType type, std::string reason, std::string note) {
  if (type == kube::EventType::kWarning)
    log::warn(fmt::format("node state {}: {}: {}", key_.name, reason, note));
  else
    log::info(fmt::format("node state {}: {}: {}", key_.name, reason, note));
  const kube::ObjectPtr object = state();
  if (object == nullptr) return;
  events_.record({.type = type,
                  .reason = std::move(reason),
                  .action = "Configure",
                  .note = std::move(note),
                  .object = kube::regarding(*object)});
}

void NodeStates::wake() {
  {
    const std::lock_guard lock(mutex_);
    awake_ = true;
  }
  changed_.notify_all();
}

bool NodeStates::wait(milliseconds period, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  const bool woken = changed_.wait_for(lock, stop, period, [&] { return awake_; });
  if (woken) awake_ = false;
  return woken;
}

void NodeStates::work(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const NodeOrder now = order();
    follow_log_level(now);
    milliseconds pause = keeper_.pass(now);
    if (now.current) {
      (void)wait(pause, stop);
      continue;
    }
    // Without the API server nothing is ordered; it is not worth a look at the machine more often than else.
    while (!stop.stop_requested() && pause > milliseconds(0) && silence()) {
      if (wait(std::min(pause, kUntilCurrent), stop)) break;
      pause -= std::min(pause, kUntilCurrent);
    }
  }
}

void NodeStates::run(std::stop_token stop) {
  const auto follow = [&stop](auto& part) { return std::jthread([&part, stop] { part.run(stop); }); };
  const std::jthread states = follow(states_), nodes = follow(nodes_), daemons = follow(daemons_);
  const std::jthread writer = follow(writer_), events = follow(events_);
  work(stop);
}

std::vector<std::string> NodeStates::reasons() const {
  std::vector<std::string> out = keeper_.reasons();
  if (const std::optional<Error> error = silence())
    out.push_back("no VFs are changed while the API server is unreachable: " + error->story());
  const NodeStatusWriter::Counters written = writer_.counters();
  if (!written.error.empty()) out.push_back("the status of the node state cannot be written: " + written.error);
  if (!written.report_error.empty())
    out.push_back("the report of this node's drain cannot be written: " + written.report_error);
  return out;
}

NodeStatesCounters NodeStates::counters() const {
  NodeStatesCounters out{.node = keeper_.counters(), .status = writer_.counters(), .silent = {}};
  if (silence()) {
    const kube::Instant heard = states_.health().heard;
    const kube::Instant now = deps_.client.clock().now();
    out.silent = heard == kube::Instant{} ? milliseconds(0) : std::chrono::duration_cast<milliseconds>(now - heard);
  }
  return out;
}

}  // namespace railbed::agent
