// SPDX-License-Identifier: Apache-2.0
// Caches the objects of one kind from the API server: lists once, then watches.
//
// Why: all code that reacts to a cluster reads such a cache and is notified of changes; querying the server instead
// would load it with every pod. While the server is unavailable, the cache keeps its content and reports since when it
// is stale. The sequence: list in pages; watch from the list's resourceVersion with bookmarks; when a watch ends, watch
// again from the last received resourceVersion; if that is too old (410), list again, and report what was missed as
// changes. A kind that is not served any more (404) is listed until it is. After errors, retries back off exponentially
// with jitter. Errors of an unavailable server are counted separately from those of one that refuses, so that its
// return is noticed soon. A list or a watch that would make the cache exceed the client's limits, or a watch that is
// faster than this reader, is one more error: the cache keeps its content. After such a watch the backoff keeps growing
// and the error remains until a watch has lasted, although lists in between succeed: it is one failure, not one per
// attempt. The state of an earlier process (a file) can be loaded before run() begins: it is used until the first list,
// which reports the differences.
// Threading: run() belongs to one thread, in which the observer is also called, without a lock held; everything else is
// for any thread.
// Failure: run() has none, it retries until it is stopped; health() reports the current error.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "kube/cache.h"
#include "kube/client.h"

namespace railbed::kube {

struct InformerSettings {
  Resource resource;
  Selection selection;
  Trim trim = trim_metadata;
  milliseconds first_pause{500};
  milliseconds longest_pause{30000};
  // Watches end by themselves after this time or up to twice as long, so that not all of them restart together.
  std::chrono::seconds watch_period{300};
};

class Informer {
 public:
  // How up to date it is.
  struct Health {
    bool synced = false;  // the cache has been complete once
    size_t objects = 0;
    size_t bytes = 0;  // of memory, of the objects
    std::string resource_version;
    std::optional<Error> error;  // why it is not fed now
    Instant heard{};             // the last answer, event or bookmark; what is known is at most this old
    uint64_t lists = 0;
    uint64_t watches = 0;
    uint64_t events = 0;
    uint64_t changes = 0;  // of the cache
  };

  // In the order in which the server made them. The cache has the change already.
  using Observer = std::function<void(const Change&)>;

  // `client` outlives it.
  Informer(Client& client, InformerSettings settings, Observer observer = {});
  // What an earlier process knew; before run(). No observer is notified.
  void seed(std::vector<doc::Value> objects);
  void run(std::stop_token stop);

  // False where `stop` came or the time was over first.
  bool wait_synced(milliseconds timeout, std::stop_token stop) const;
  ObjectPtr find(const ObjectKey& key) const;  // null where it is not there
  Objects objects() const;
  Health health() const;

 private:
  Answer<void> list(std::stop_token stop);
  Answer<void> watch(std::stop_token stop);
  Answer<void> take(WatchEvent event);
  // What a watch sent did not fit; the next one has lasted since `watch_began_`.
  void note_lasting();
  void notify(const std::vector<Change>& changes);
  void heard(const std::string& resource_version);

  Client& client_;
  const InformerSettings settings_;
  const Observer observer_;
  std::string resource_version_;  // of run()'s thread; empty: list
  uint64_t heard_in_watch_ = 0;
  bool overflowed_ = false;  // a watch was too large, and none has lasted since
  Instant watch_began_{};

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  ObjectCache cache_;
  Health health_;
};

}  // namespace railbed::kube
