// SPDX-License-Identifier: Apache-2.0
#include "kube/events.h"

#include "doc/members.h"
#include "doc/text.h"

namespace railbed::kube {
namespace {

using doc::Value;

// At most `bytes`, with no character cut in two.
std::string shortened(const std::string& text, size_t bytes) {
  if (text.size() <= bytes) return text;
  size_t end = bytes;
  while (end > 0 && doc::is_utf8_continuation(text[end])) --end;
  return text.substr(0, end);
}

// Events about objects of the cluster are in "default".
std::string namespace_for(const Regarding& object) {
  return object.key.ns.empty() ? "default" : object.key.ns;
}

Value reference_to(const Regarding& object) {
  Value out = Value::object();
  doc::put_text(out, "apiVersion", object.api_version);
  doc::put_text(out, "kind", object.kind);
  doc::put_text(out, "namespace", object.key.ns);
  doc::put_text(out, "name", object.key.name);
  doc::put_text(out, "uid", object.uid);
  return out;
}

}  // namespace

Regarding regarding(const Value& object) {
  return {doc::text_in(object, "apiVersion"), doc::text_in(object, "kind"), key_of(object), uid_of(object)};
}

EventBook::Send EventBook::create(const Series& series, WallTime wall) const {
  const Occurrence& what = series.what;
  Value metadata;
  metadata.set("name", series.key.name);
  metadata.set("namespace", series.key.ns);
  Value event;
  event.set("apiVersion", kEvents.api_version());
  event.set("kind", std::string(kEvents.kind));
  event.set("metadata", std::move(metadata));
  event.set("eventTime", micro_time(wall));
  event.set("reportingController", settings_.controller);
  event.set("reportingInstance", shortened(settings_.instance, 128));
  event.set("reason", shortened(what.reason, 128));
  event.set("action", shortened(what.action, 128));
  event.set("type", what.type == EventType::kNormal ? "Normal" : "Warning");
  event.set("note", shortened(doc::as_utf8(what.note), 1024));
  event.set("regarding", reference_to(what.object));
  return {Send::Type::kCreate, series.key, std::move(event), what};
}

EventBook::Send EventBook::update(Series& series, Instant now) const {
  Value count;
  count.set("count", series.count);
  count.set("lastObservedTime", micro_time(series.last));
  Value patch;
  patch.set("series", std::move(count));
  series.sent = now;
  series.grown = false;
  return {Send::Type::kUpdateSeries, series.key, std::move(patch), series.what};
}

std::optional<EventBook::Send> EventBook::take(const Occurrence& what, WallTime wall, Instant now) {
  Same same{what.type, what.reason, what.action, what.object};
  const auto known = by_same_.find(same);
  if (known != by_same_.end() && now - known->second->seen < settings_.series_end) {
    series_.splice(series_.end(), series_, known->second);
    Series& series = series_.back();
    ++series.count;
    series.last = wall;
    series.seen = now;
    series.grown = true;
    // The first repeat at once: who looks learns that it goes on.
    if (series.count > 2 && now - series.sent < settings_.series_pause) return std::nullopt;
    return update(series, now);
  }
  if (known != by_same_.end()) forget(what);
  if (by_same_.size() >= settings_.series) {
    by_same_.erase(series_.front().same);
    series_.pop_front();
  }
  Series series{.same = same, .what = what, .last = wall, .seen = now, .sent = now};
  // The name of an Event is the object's and the time; as short as names of objects must be. Of two at one time the
  // second has a later name: the API server would refuse it as one that exists.
  last_named_ = std::max<int64_t>(wall.time_since_epoch().count(), last_named_ + 1);
  series.key = {namespace_for(what.object), fmt::format("{}.{:x}", shortened(what.object.key.name, 230), last_named_)};
  series_.push_back(std::move(series));
  by_same_[std::move(same)] = std::prev(series_.end());
  return create(series_.back(), wall);
}

std::vector<EventBook::Send> EventBook::due(Instant now) {
  std::vector<Send> out;
  for (auto at = series_.begin(); at != series_.end();) {
    const bool ended = now - at->seen >= settings_.series_end;
    if (at->grown && (ended || now - at->sent >= settings_.series_pause)) out.push_back(update(*at, now));
    if (ended) by_same_.erase(at->same);
    at = ended ? series_.erase(at) : std::next(at);
  }
  return out;
}

void EventBook::forget(const Occurrence& what) {
  const auto known = by_same_.find({what.type, what.reason, what.action, what.object});
  if (known == by_same_.end()) return;
  series_.erase(known->second);
  by_same_.erase(known);
}

EventRecorder::EventRecorder(Client& client, EventSettings settings)
    : client_(client), settings_(std::move(settings)), book_(settings_) {}

void EventRecorder::record(Occurrence what) {
  const std::lock_guard lock(mutex_);
  ++counters_.recorded;
  if (queue_.size() >= settings_.queue) {
    ++counters_.dropped;
    return;
  }
  queue_.push_back(std::move(what));
  changed_.notify_all();
}

void EventRecorder::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    std::optional<Occurrence> what;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      changed_.notify_all();
      changed_.wait_for(lock, stop, std::chrono::seconds(5), [&] { return !queue_.empty(); });
      if (stop.stop_requested()) return;
      if (!queue_.empty()) {
        what = std::move(queue_.front());
        queue_.pop_front();
      }
      busy_ = true;
    }
    if (what) handle(*what, stop);
    for (const EventBook::Send& each : book_.due(client_.clock().now())) send(each, stop);
  }
}

void EventRecorder::handle(const Occurrence& what, std::stop_token stop) {
  const std::optional<EventBook::Send> now = book_.take(what, client_.clock().wall(), client_.clock().now());
  if (!now || now->type == EventBook::Send::Type::kUpdateSeries) {
    const std::lock_guard lock(mutex_);
    ++counters_.repeated;
  }
  if (now) send(*now, stop);
}

void EventRecorder::send(const EventBook::Send& request, std::stop_token stop) {
  const bool creates = request.type == EventBook::Send::Type::kCreate;
  const Answer<Value> answer =
      creates ? client_.create(kEvents, request.body, stop)
              : client_.patch(kEvents, request.key, PatchType::kMerge, request.body, Part::kObject, stop);
  // Without the Event there is no series: one that was refused, or that the API server forgot after its hour.
  if (!answer) book_.forget(request.what);
  const std::lock_guard lock(mutex_);
  ++(answer ? counters_.sent : counters_.failed);
}

bool EventRecorder::flush(milliseconds timeout) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, timeout, [&] { return queue_.empty() && !busy_; });
}

EventCounters EventRecorder::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace railbed::kube
