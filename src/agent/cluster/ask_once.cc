// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/ask_once.h"

#include <cerrno>
#include <functional>
#include <new>

namespace railbed::agent {

using kube::ObjectPtr;

AskOnce::AskOnce(kube::Client& client, std::stop_token stop, Settings settings)
    : client_(client), stop_(std::move(stop)), settings_(settings) {}

std::unexpected<Error> AskOnce::not_answered(const std::string& path) const {
  if (stop_.stop_requested()) return fail(Code::kBusy, "GET {}: the agent is stopping", path);
  return fail(Code::kBusy, "GET {}: the API server did not answer within {} s, or too many requests are waiting for it",
              path, std::chrono::duration_cast<std::chrono::seconds>(settings_.wait).count());
}

// Does not throw: others wait for the answer.
Result<ObjectPtr> AskOnce::ask(const kube::Resource& resource, const kube::ObjectKey& key) try {
  kube::Answer<doc::Value> object = client_.get(resource, key, stop_);
  if (object) return std::make_shared<const doc::Value>(std::move(*object));
  kube::ApiError& error = object.error();
  // Everything but a clear word of the server is an API server that cannot be asked now.
  if (error.code != Code::kNotFound && error.code != Code::kDenied && error.code != Code::kInvalid)
    error.code = Code::kBusy;
  return fail(static_cast<Error&&>(error));
} catch (const std::bad_alloc&) {
  return fail(system_error(ENOMEM, "ask the API server"));
}

Result<ObjectPtr> AskOnce::get(const kube::Resource& resource, const kube::ObjectKey& key) {
  const std::string path = TRY(kube::object_path(resource, key));
  std::unique_lock lock(mutex_);
  const auto wait_until = [&](const std::function<bool()>& holds) {
    return client_.clock().wait_for(lock, changed_, settings_.wait, stop_, holds);
  };
  if (const auto known = flights_.find(path); known != flights_.end()) {
    const std::shared_ptr<Flight> flight = known->second;
    if (!wait_until([&] { return flight->landed; })) return not_answered(path);
    return flight->answer;
  }
  const auto flight = std::make_shared<Flight>();
  flights_[path] = flight;
  if (wait_until([&] { return under_way_ < settings_.at_once; })) {
    ++under_way_;
    lock.unlock();
    Result<ObjectPtr> answer = ask(resource, key);
    lock.lock();
    --under_way_;
    flight->answer = std::move(answer);
  } else {
    flight->answer = not_answered(path);
  }
  flight->landed = true;
  flights_.erase(path);
  changed_.notify_all();
  return flight->answer;
}

}  // namespace railbed::agent
