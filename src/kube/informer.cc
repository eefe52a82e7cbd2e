// SPDX-License-Identifier: Apache-2.0
#include "kube/informer.h"

namespace railbed::kube {
namespace {

// Whether a watch from the same place cannot get on.
bool needs_list(const ApiError& error, int failures) {
  // Its kind is not served any more. Where that comes back, what was deleted with it is found by a list alone.
  if (error.status == 404) return true;
  // Too old, or an event that cannot be parsed.
  if (error.expired() || error.code == Code::kInvalid || error.code == Code::kExhausted) return true;
  // 504 is also the answer to a resourceVersion that is not there yet: etcd was restored from an older copy.
  return error.status == 504 && failures > 2;
}

// No answer, or one of a proxy in front of an API server that is unavailable.
bool is_away(const ApiError& error) {
  return error.status == 0 || (error.status >= 502 && error.status <= 504);
}

// A watch that sends too much for the cache, or too fast.
bool is_flood(const ApiError& error) {
  return error.code == Code::kExhausted || (error.code == Code::kBusy && error.status == 0);
}

// A watch whose events would make the cache too large.
ApiError flood(const Resource& resource, std::string_view why) {
  return unanswered(
      Code::kExhausted, Delivery::kUnknown,
      fmt::format("WATCH {}: the cache would be too large: {}; {}", resource.plural, why, kDeleteObjects));
}

// In a row, without an event between them. A server that is back and refuses is not left alone for as long as it was
// away; where both come in turn, both pauses grow.
struct Failures {
  int away = 0;
  int refused = 0;
};

}  // namespace

Informer::Informer(Client& client, InformerSettings settings, Observer observer)
    : client_(client), settings_(std::move(settings)), observer_(std::move(observer)) {}

void Informer::seed(std::vector<doc::Value> objects) {
  const std::lock_guard lock(mutex_);
  (void)cache_.replace(std::move(objects));
}

void Informer::run(std::stop_token stop) {
  Failures failures;
  while (!stop.stop_requested()) {
    const bool watching = !resource_version_.empty();
    heard_in_watch_ = 0;
    const Answer<void> done = watching ? watch(stop) : list(stop);
    if (stop.stop_requested()) return;
    if (watching && !done && is_flood(done.error())) overflowed_ = true;
    // A watch that sent something was a good one, however it ended, but not by flooding the cache.
    if (heard_in_watch_ > 0 && !overflowed_) failures = {};
    if (done && (!watching || heard_in_watch_ > 0)) continue;
    const int in_a_row = done || !is_away(done.error()) ? ++failures.refused : ++failures.away;
    milliseconds pause = backoff(in_a_row, client_.clock().random(), settings_.first_pause, settings_.longest_pause);
    if (!done) {
      const ApiError& error = done.error();
      const std::lock_guard lock(mutex_);
      health_.error = error;
      if (watching && needs_list(error, in_a_row)) resource_version_.clear();
      if (error.expired() && in_a_row == 1) pause = milliseconds(0);
      if (error.retry_after) pause = std::max(pause, *error.retry_after);
    }
    if (!client_.clock().wait(pause, stop)) return;
  }
}

Answer<void> Informer::list(std::stop_token stop) {
  Answer<ObjectList> all = client_.list(settings_.resource, settings_.selection, settings_.trim, stop);
  if (!all) return std::unexpected(std::move(all.error()));
  resource_version_ = all->resource_version;
  std::vector<Change> changes;
  {
    const std::lock_guard lock(mutex_);
    changes = cache_.replace(std::move(all->objects));
    health_.changes += changes.size();
    ++health_.lists;
  }
  notify(changes);
  // Only now: who waits until it is synced finds that the observer knows everything, too.
  const std::lock_guard lock(mutex_);
  health_.synced = true;
  if (!overflowed_) health_.error.reset();
  health_.heard = client_.clock().now();
  health_.resource_version = resource_version_;
  changed_.notify_all();
  return {};
}

Answer<void> Informer::watch(std::stop_token stop) {
  const double stretch = 1 + client_.clock().random();
  const auto period = std::chrono::duration_cast<std::chrono::seconds>(settings_.watch_period * stretch);
  Answer<WatchStream> stream = client_.watch(settings_.resource, settings_.selection, resource_version_, period, stop);
  if (!stream) return std::unexpected(std::move(stream.error()));
  {
    const std::lock_guard lock(mutex_);
    ++health_.watches;
    if (!overflowed_) health_.error.reset();
    health_.heard = client_.clock().now();
  }
  watch_began_ = client_.clock().now();
  while (true) {
    Answer<std::optional<WatchEvent>> event = stream->next(stop);
    if (!event && event.error().status != 0) resource_version_.clear();  // the server gave this watch up
    if (!event) return std::unexpected(std::move(event.error()));
    if (!*event) {
      overflowed_ = false;
      return {};
    }
    if (Answer<void> taken = take(std::move(**event)); !taken) return taken;
    note_lasting();
  }
}

void Informer::note_lasting() {
  if (!overflowed_ || client_.clock().now() - watch_began_ < settings_.longest_pause) return;
  overflowed_ = false;
  const std::lock_guard lock(mutex_);
  health_.error.reset();
}

Answer<void> Informer::take(WatchEvent event) {
  ++heard_in_watch_;
  const std::string version = resource_version(event.object);
  std::vector<Change> changes;
  if (event.type != WatchType::kBookmark) {
    settings_.trim(event.object);
    const std::lock_guard lock(mutex_);
    if (event.type != WatchType::kDeleted)
      if (const std::string why = beyond(cache_.held_with(event.object), client_.bounds().list); !why.empty())
        return no_answer(flood(settings_.resource, why));
    changes = cache_.take(event.type, std::move(event.object));
    health_.changes += changes.size();
  }
  notify(changes);
  heard(version);
  return {};
}

void Informer::heard(const std::string& resource_version) {
  if (!resource_version.empty()) resource_version_ = resource_version;
  const std::lock_guard lock(mutex_);
  ++health_.events;
  health_.heard = client_.clock().now();
  health_.resource_version = resource_version_;
}

void Informer::notify(const std::vector<Change>& changes) {
  if (!observer_) return;
  for (const Change& change : changes) observer_(change);
}

bool Informer::wait_synced(milliseconds timeout, std::stop_token stop) const {
  std::unique_lock lock(mutex_);
  return client_.clock().wait_for(lock, changed_, timeout, stop, [&] { return health_.synced; });
}

ObjectPtr Informer::find(const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = cache_.objects().find(key);
  return found != cache_.objects().end() ? found->second : nullptr;
}

Objects Informer::objects() const {
  const std::lock_guard lock(mutex_);
  return cache_.objects();
}

Informer::Health Informer::health() const {
  const std::lock_guard lock(mutex_);
  Health out = health_;
  out.objects = cache_.held().objects;
  out.bytes = cache_.held().bytes;
  return out;
}

}  // namespace railbed::kube
