// SPDX-License-Identifier: Apache-2.0
// Fetches single objects from the API server for ADDs that are faster than the watch.
//
// Why: a pod's first ADD may arrive before the watch has delivered its object, or its network's. A burst of such pods
// must not become a burst of requests: all requests for the same object share one GET, and only a few are in flight at
// once.
// Threading: get() from any thread, not inside a Turn; the caller waits at most `wait` for a slot or an answer.
// Failure: NotFound only if the API server reported it; Busy if it was not queried or did not answer, with the reason;
// Denied with its own message.
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
