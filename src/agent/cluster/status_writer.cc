// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/status_writer.h"

#include <algorithm>

#include "agent/cluster/cluster_objects.h"

namespace railbed::agent {
namespace {

using doc::Value;

constexpr const char* kManager = "railbed";

Value annotated(const StatusToWrite& status) {
  Value annotations = Value::object();
  annotations.set(kNetworkStatusAnnotation, status.text);
  Value metadata = Value::object();
  metadata.set("namespace", status.pod.ns);
  metadata.set("name", status.pod.name);
  metadata.set("uid", status.uid);
  metadata.set("annotations", std::move(annotations));
  Value pod = Value::object();
  pod.set("metadata", std::move(metadata));
  return pod;
}

// What no repeat can change. A right that is missing (403, too) may be granted.
bool is_for_good(const kube::ApiError& error) {
  return error.code == Code::kInvalid || error.code == Code::kUnsupported || kube::is_of_policy(error);
}

}  // namespace

StatusWriter::StatusWriter(kube::Client& client, Settings settings) : client_(client), settings_(settings) {}

void StatusWriter::put(StatusToWrite status) {
  const std::lock_guard lock(mutex_);
  const auto known = by_pod_.find(status.pod);
  if (known != by_pod_.end()) {
    Pending& one = *known->second;
    one.status = std::move(status);
    one.renewed = one.being_written;
    one.unwanted = false;
    one.failures = 0;
    one.due = {};
  } else {
    if (queue_.size() >= settings_.most) {
      const auto oldest = std::ranges::find(queue_, false, &Pending::being_written);
      if (oldest != queue_.end()) {
        by_pod_.erase(oldest->status.pod);
        queue_.erase(oldest);
        ++counters_.dropped;
      }
    }
    kube::ObjectKey pod = status.pod;
    by_pod_[std::move(pod)] = queue_.insert(queue_.end(), Pending{.status = std::move(status)});
  }
  changed_.notify_one();
}

void StatusWriter::drop(const std::string& sandbox) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(queue_, sandbox, [](const Pending& one) { return one.status.sandbox; });
  if (found == queue_.end()) return;
  found->unwanted = true;
  if (found->being_written) return;
  by_pod_.erase(found->status.pod);
  queue_.erase(found);
}

StatusWriter::Queue::iterator StatusWriter::next(kube::Instant now) {
  if (now < away_until_) return queue_.end();
  return std::ranges::find_if(queue_, [&](const Pending& one) { return !one.being_written && one.due <= now; });
}

std::chrono::milliseconds StatusWriter::until_next(kube::Instant now) const {
  kube::Instant first = now + settings_.longest_pause;
  for (const Pending& one : queue_)
    if (!one.being_written) first = std::min(first, std::max(one.due, away_until_));
  return std::chrono::ceil<std::chrono::milliseconds>(first - now);
}

void StatusWriter::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const kube::Instant now = client_.clock().now();
    const auto one = next(now);
    if (one == queue_.end()) {
      // A put() wakes it up.
      client_.clock().wait_for(lock, changed_, std::max(until_next(now), std::chrono::milliseconds(1)), stop,
                               [&] { return next(client_.clock().now()) != queue_.end(); });
      continue;
    }
    one->being_written = true;
    one->renewed = false;
    const Value pod = annotated(one->status);
    lock.unlock();
    const kube::Answer<Value> answer = client_.apply(
        kube::kPods, pod,
        {.manager = kManager, .conflicts = kube::ApplyOptions::Conflicts::kTakeOver, .part = kube::Part::kStatus},
        stop);
    lock.lock();
    if (stop.stop_requested() && !answer) return;
    conclude(one, answer);
  }
}

void StatusWriter::conclude(Queue::iterator one, const kube::Answer<Value>& answer) {
  one->being_written = false;
  bool done = true;
  if (answer) {
    ++counters_.written;
    counters_.last_error.reset();
    away_ = 0;
  } else {
    const kube::ApiError& error = answer.error();
    // The uid in the object is a precondition, and fields of others are taken over: no other conflict is left.
    if (error.code == Code::kNotFound || error.code == Code::kConflict) {
      ++counters_.gone;
    } else {
      ++counters_.failed;
      counters_.last_error = error;
      done = is_for_good(error);
      if (done) ++counters_.dropped;
    }
    if (!done) {
      const kube::Instant now = client_.clock().now();
      const bool away = error.status == 0 || error.status >= 500 || error.status == 429;
      const int failures = away ? ++away_ : ++one->failures;
      auto pause = kube::backoff(failures, client_.clock().random(), settings_.first_pause, settings_.longest_pause);
      if (error.retry_after) pause = std::max(pause, *error.retry_after);
      (away ? away_until_ : one->due) = now + pause;
    }
  }
  if (!one->unwanted && (!done || one->renewed)) {
    changed_.notify_one();
    return;
  }
  by_pod_.erase(one->status.pod);
  queue_.erase(one);
}

StatusWriter::Counters StatusWriter::counters() const {
  const std::lock_guard lock(mutex_);
  Counters out = counters_;
  out.pending = queue_.size();
  return out;
}

}  // namespace railbed::agent
