// SPDX-License-Identifier: Apache-2.0
// Single objects asked of the API server for ADDs that are faster than the watch.
//
// Why: a pod's first ADD may come before its object, or its network's, has come by the watch. A burst of such pods
// must not become a burst of requests: all who ask for the same object share one GET, and few are under way at once.
// Threading: get() from any thread, not in a turn; whoever asks waits at most `wait` for a place or an answer.
// Failure: NotFound only where the API server said so; Busy where it was not asked or did not answer, with the reason;
// Denied with its own words.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "kube/cache.h"
#include "kube/client.h"

namespace railbed::agent {

class AskOnce {
 public:
  struct Settings {
    size_t at_once = 8;
    std::chrono::milliseconds wait{10000};
  };
  // `client` outlives this; its own timeout ends a GET. `stop` ends all waiting.
  AskOnce(kube::Client& client, std::stop_token stop, Settings settings);

  Result<kube::ObjectPtr> get(const kube::Resource& resource, const kube::ObjectKey& key);

 private:
  struct Flight {
    bool landed = false;
    Result<kube::ObjectPtr> answer;
  };
  Result<kube::ObjectPtr> ask(const kube::Resource& resource, const kube::ObjectKey& key);
  std::unexpected<Error> not_answered(const std::string& path) const;

  kube::Client& client_;
  const std::stop_token stop_;
  const Settings settings_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  size_t under_way_ = 0;
  std::map<std::string, std::shared_ptr<Flight>> flights_;  // by the object's path
};

}  // namespace railbed::agent
