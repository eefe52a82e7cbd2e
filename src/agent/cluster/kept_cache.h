// SPDX-License-Identifier: Apache-2.0
// The objects of one kind, cached by list and watch, and saved to disk for the next agent.
//
// Why on disk: an agent that is restarted while the API server is unavailable must continue to attach pods. The file is
// written as a whole and renamed, some seconds after a change at the earliest, and every few minutes as long as the API
// server answers, so that it shows its age. Content that does not fit (os::Disk reads 4 MiB) is not saved.
// Threading: restore() first; run() in its own thread; save() in one other; everything else from any thread.
// Failure: restore(), NotFound if there is no file, else why it is unusable (the cache is empty then); save(), the
// disk's.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "agent/cluster/object_file.h"
#include "kube/informer.h"
#include "os/ports/disk.h"

namespace railbed::agent {

class KeptCache {
 public:
  struct Settings {
    kube::InformerSettings informer;
    std::string folder;
    std::string server;  // whose objects they are
    std::chrono::milliseconds save_pause{2000};
    std::chrono::seconds save_period{300};
  };
  // How far it can be relied on.
  struct Health {
    kube::Informer::Health informer;
    std::optional<kube::WallTime> restored;   // what is known is from a file, and of that time
    std::optional<std::chrono::seconds> age;  // what is known is at most this old; nullopt: nothing is known
  };

  // Both outlive this.
  KeptCache(kube::Client& client, os::Disk& disk, Settings settings, kube::Informer::Observer observer = {});

  // How many objects.
  Result<size_t> restore();
  void run(std::stop_token stop) { informer_.run(std::move(stop)); }
  // Writes the file where that is due; at the agent's end whenever something is not written.
  enum class When : uint8_t { kDue, kNow };
  Result<void> save(When when = When::kDue);

  kube::ObjectPtr find(const kube::ObjectKey& key) const { return informer_.find(key); }
  kube::Objects objects() const { return informer_.objects(); }
  // Whether the cache has been complete, here or in the agent that wrote the file.
  bool is_known() const;
  // The same, waiting for the first list.
  bool wait_known(std::chrono::milliseconds timeout) const;
  Health health() const;
  std::string_view plural() const { return settings_.informer.resource.plural; }
  const std::string& path() const { return path_; }

 private:
  kube::Client& client_;
  os::Disk& disk_;
  const Settings settings_;
  const std::string path_;
  const std::string of_;
  kube::Informer informer_;
  std::optional<kube::WallTime> restored_;  // set before run()
  // Of save()'s thread.
  uint64_t saved_changes_ = 0;
  std::optional<kube::Instant> saved_;
};

}  // namespace railbed::agent
