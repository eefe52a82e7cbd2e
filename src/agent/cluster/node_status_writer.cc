// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/node_status_writer.h"

#include <algorithm>
#include <utility>

#include "doc/members.h"
#include "drain/agent_report.h"
#include "kube/object.h"

namespace railbed::agent {

using doc::Value;
using kube::milliseconds;

namespace {

constexpr milliseconds kQuietLook{30'000};  // where nothing is heard

std::string stored_report(const Value& object) {
  return kube::annotation_of(object, drain::kReportAnnotation);
}

}  // namespace

NodeStatusWriter::NodeStatusWriter(kube::Client& client, kube::ObjectKey key, Stored stored)
    : client_(client), key_(std::move(key)), stored_(std::move(stored)) {}

void NodeStatusWriter::want(std::string uid, Value status) {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = NodeStatusPace::Wanted{std::move(uid), std::move(status)};
    awake_ = true;
  }
  changed_.notify_all();
}

void NodeStatusWriter::want_drain_report(std::string uid, std::string text) {
  {
    const std::lock_guard lock(mutex_);
    wanted_report_ = DrainReportPace::Wanted{std::move(uid), std::move(text)};
    awake_ = true;
  }
  changed_.notify_all();
}

void NodeStatusWriter::wake() {
  {
    const std::lock_guard lock(mutex_);
    awake_ = true;
  }
  changed_.notify_all();
}

void NodeStatusWriter::write(const NodeStatusPace::Wanted& wanted, std::stop_token stop) {
  Value object = Value::object();
  object.set("apiVersion", kube::kNodeStates.api_version());
  object.set("kind", kube::kNodeStates.kind);
  Value& metadata = object.set("metadata", Value::object());
  metadata.set("name", key_.name);
  metadata.set("namespace", key_.ns);
  metadata.set("uid", wanted.uid);
  object.set("status", wanted.status);
  // The fields may be those of the SR-IOV operator's daemon, which has gone.
  const kube::Answer<Value> answer = client_.apply(
      kube::kNodeStates, std::move(object),
      {.manager = kAgentManager, .conflicts = kube::ApplyOptions::Conflicts::kTakeOver, .part = kube::Part::kStatus},
      stop);
  const kube::Instant now = client_.clock().now();
  if (answer) {
    const Value* status = answer->find("status");
    pace_.wrote(wanted, status != nullptr ? *status : Value(), now);
  } else {
    pace_.failed(now);
  }
  const std::lock_guard lock(mutex_);
  ++(answer ? counters_.written : counters_.failed);
  counters_.error = answer ? "" : answer.error().story();
}

void NodeStatusWriter::write(const DrainReportPace::Wanted& wanted, std::stop_token stop) {
  Value object = Value::object();
  Value& metadata = object.set("metadata", Value::object());
  metadata.set("uid", wanted.uid);
  Value& annotations = metadata.set("annotations", Value::object());
  annotations.set(drain::kReportAnnotation, wanted.text.empty() ? Value() : Value(wanted.text));
  const kube::Answer<Value> answer =
      client_.patch(kube::kNodeStates, key_, kube::PatchType::kMerge, object, kube::Part::kObject, stop);
  const kube::Instant now = client_.clock().now();
  if (answer)
    report_pace_.wrote(wanted, stored_report(*answer), now);
  else
    report_pace_.failed(now);
  const std::lock_guard lock(mutex_);
  ++(answer ? counters_.written : counters_.failed);
  counters_.report_error = answer ? "" : answer.error().story();
}

milliseconds NodeStatusWriter::step(std::stop_token stop) {
  std::optional<NodeStatusPace::Wanted> wanted;
  std::optional<DrainReportPace::Wanted> report;
  {
    const std::lock_guard lock(mutex_);
    wanted = wanted_;
    report = wanted_report_;
    awake_ = false;
  }
  const kube::ObjectPtr object = stored_();
  milliseconds pause = kQuietLook;
  if (object == nullptr) return pause;
  // Of an object that is gone, or is another one by now, nothing is to be reported.
  const std::string uid = kube::uid_of(*object);
  if (report && report->uid == uid) pause = std::min(pause, step_of_report(*report, *object, stop));
  if (wanted && wanted->uid == uid) pause = std::min(pause, step_of_status(*wanted, *object, stop));
  return pause;
}

milliseconds NodeStatusWriter::step_of_status(const NodeStatusPace::Wanted& wanted, const Value& object,
                                              std::stop_token stop) {
  const Value* status = object.find("status");
  const kube::Instant now = client_.clock().now();
  const std::optional<kube::Instant> due = pace_.due(wanted, status != nullptr ? *status : Value(), now);
  if (!due) return kStatusPause;
  if (*due > now) return std::chrono::ceil<milliseconds>(*due - now);
  write(wanted, stop);
  return milliseconds(0);
}

milliseconds NodeStatusWriter::step_of_report(const DrainReportPace::Wanted& wanted, const Value& object,
                                              std::stop_token stop) {
  const kube::Instant now = client_.clock().now();
  const std::optional<kube::Instant> due = report_pace_.due(wanted, stored_report(object), now);
  if (!due) return kStatusPause;
  if (*due > now) return std::chrono::ceil<milliseconds>(*due - now);
  write(wanted, stop);
  return milliseconds(0);
}

void NodeStatusWriter::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const milliseconds pause = step(stop);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [&] { return awake_; });
  }
}

NodeStatusWriter::Counters NodeStatusWriter::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace railbed::agent
