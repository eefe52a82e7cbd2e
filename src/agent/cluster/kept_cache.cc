// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/kept_cache.h"

#include "doc/json.h"

namespace railbed::agent {
namespace {

constexpr size_t kMostBytes = 4 << 20;  // of a file that os::Disk reads
constexpr unsigned kPrivateFolder = 0700;
constexpr unsigned kPrivateFile = 0600;  // configurations of networks may hold secrets

std::string described(const KeptCache::Settings& settings) {
  const kube::Selection& selection = settings.informer.selection;
  std::string out = fmt::format("{} of {}", settings.informer.resource.plural, settings.server);
  for (const std::string* part : {&selection.ns, &selection.labels, &selection.fields})
    if (!part->empty()) out += ", " + *part;
  return out;
}

// What their file would take at least. Objects are written one at a time: a large cache must not be held twice.
size_t text_bytes(const kube::Objects& objects) {
  size_t out = 0;
  for (const auto& [key, object] : objects) out += doc::to_json(*object).size();
  return out;
}

Error too_large_for_disk(std::string_view plural, size_t bytes) {
  return {.code = Code::kExhausted,
          .message = fmt::format("{} are too large for the cache on disk: {} bytes, the limit is {}", plural, bytes,
                                 kMostBytes),
          .hint = "an agent that starts while the API server is unreachable will not know them"};
}

}  // namespace

KeptCache::KeptCache(kube::Client& client, os::Disk& disk, Settings settings, kube::Informer::Observer observer)
    : client_(client),
      disk_(disk),
      settings_(std::move(settings)),
      path_(fmt::format("{}/{}.json", settings_.folder, settings_.informer.resource.plural)),
      of_(described(settings_)),
      informer_(client, settings_.informer, std::move(observer)) {}

Result<size_t> KeptCache::restore() {
  const std::string text = TRY(disk_.read(path_));
  KeptObjects kept = TRY(read_object_file(text, of_).context("{}", path_));
  for (doc::Value& object : kept.objects) settings_.informer.trim(object);
  const size_t count = kept.objects.size();
  restored_ = kept.as_of;
  informer_.seed(std::move(kept.objects));
  return count;
}

Result<void> KeptCache::save(When when) {
  const kube::Informer::Health now = informer_.health();
  if (!now.synced) return {};
  const kube::Instant time = client_.clock().now();
  const bool changed = !saved_ || now.changes != saved_changes_;
  const auto since = saved_ ? time - *saved_ : kube::Instant::duration::max();
  const bool due = (changed && since >= settings_.save_pause) || since >= settings_.save_period;
  if (!due && !(changed && when == When::kNow)) return {};
  // A disk that refuses is asked again after the pause, too.
  saved_ = time;
  const kube::Objects objects = informer_.objects();
  if (const size_t least = now.bytes > kMostBytes ? text_bytes(objects) : 0; least > kMostBytes) {
    TRY(disk_.remove(path_));
    return fail(too_large_for_disk(plural(), least));
  }
  KeptObjects kept{
      .of = of_,
      .as_of = client_.clock().wall() - std::chrono::duration_cast<kube::WallTime::duration>(time - now.heard)};
  for (const auto& [key, object] : objects) kept.objects.push_back(*object);
  const std::string text = object_file_text(std::move(kept));
  if (text.size() > kMostBytes) {
    TRY(disk_.remove(path_));
    return fail(too_large_for_disk(plural(), text.size()));
  }
  TRY(disk_.make_directories(settings_.folder, kPrivateFolder));
  TRY(disk_.replace(path_, text, kPrivateFile).context("caching the API server's objects"));
  saved_changes_ = now.changes;
  return {};
}

bool KeptCache::is_known() const {
  return restored_.has_value() || informer_.health().synced;
}

bool KeptCache::wait_known(std::chrono::milliseconds timeout) const {
  return restored_.has_value() || informer_.wait_synced(timeout, {});
}

KeptCache::Health KeptCache::health() const {
  Health out{.informer = informer_.health(), .restored = {}, .age = {}};
  using std::chrono::seconds;
  if (out.informer.synced) {
    out.age = std::chrono::duration_cast<seconds>(client_.clock().now() - out.informer.heard);
  } else if (restored_) {
    out.restored = restored_;
    // A clock that was set back makes nothing younger than now.
    out.age = std::max(seconds(0), std::chrono::duration_cast<seconds>(client_.clock().wall() - *restored_));
  }
  return out;
}

}  // namespace railbed::agent
