// SPDX-License-Identifier: Apache-2.0
// An API server in memory: resourceVersions, pages, watches, compaction, preconditions, and any fault on the
// connection.
//
// Why: the client's reaction to a server that forgets, refuses, disconnects and sends wrong data is tested without a
// network or time, in every order. It implements the contracts of the real one as far as the client depends on them;
// tests/cluster tests the client against the real one.
// Threading: any thread; hooks are called without a lock.
// Failure: as a Transport.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/resource.h"
#include "kube/transport.h"
#include "kube/watch_decoder.h"

namespace railbed::kube::fake {

// For tests that need objects of any kind.
inline constexpr Resource kMaps = resource_of(kind_named("ConfigMap"));

class ApiServer : public Transport {
 public:
  // What a stream does when it has sent everything. kWait blocks until something is changed.
  enum class Idle : uint8_t { kWait, kAgain, kEnd, kCut, kSilence };

  Answer<Response> send(const Request& request, std::stop_token stop) override;
  Answer<std::unique_ptr<ByteStream>> open(const Request& request, std::stop_token stop) override;

  // --- trouble, and the world beside the client

  // Answers in the server's place, or lets it pass.
  std::function<std::optional<ApiError>(const Request&)> before;
  // The request is carried out, and its answer lost.
  std::function<bool(const Request&)> lose_answer;
  // Whether budgets allow the eviction of the pod at this path; else the message of the cause DisruptionBudget.
  std::function<std::string(const std::string& path)> budget;
  // Cuts off what the definition of a kind does not know, before an object is stored.
  std::function<void(const std::string& path, doc::Value& object)> prune;
  std::function<Idle()> on_idle;
  // How many bytes of what is there a stream gives next; all where unset.
  std::function<size_t()> piece;

  // A CustomResourceDefinition that is installed, or deleted: while a kind is not served, all requests about it are
  // answered with 404, and its streams end. The real one deletes its objects, too; here they stay until they are
  // erased.
  enum class Served : uint8_t { kYes, kNo };
  void serve(const Resource& kind, Served served);
  // Changes by others. `path` is an object's ("/api/v1/namespaces/a/pods/x").
  void put(const std::string& path, doc::Value object);
  void erase(const std::string& path);
  // Forgets all versions before now: older watches and continue tokens get 410.
  void compact();
  // All streams get a bookmark, an ERROR event with this status, or bytes that are no event.
  void bookmark();
  void fail_streams(int status, const std::string& reason);
  void garble_streams();

  std::map<std::string, doc::Value> objects() const;  // by path
  std::vector<std::string> requests() const;          // "GET /api/…?limit=…", in their order
  // How many streams have sent everything to a client that now waits for more.
  size_t waiting_streams() const;

 private:
  friend class FakeStream;
  struct Event {
    int64_t version = 0;
    std::string path;  // empty: for all
    std::string line;
  };

  Answer<Response> answer(const Request& request);
  bool is_served(const std::string& path) const;
  Answer<Response> get(const Request& request, const std::string& path);
  Answer<Response> list(const Request& request, const std::string& path);
  Answer<Response> create(const Request& request, const std::string& path);
  Answer<Response> evict(const Request& request, const std::string& at);
  Answer<Response> replace(const Request& request, const std::string& path);
  Answer<Response> patch(const Request& request, const std::string& path);
  Answer<Response> remove(const Request& request, const std::string& path);
  std::string store(const std::string& path, doc::Value object);
  void drop(const std::string& path);
  void push(std::string path, std::string line);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int64_t version_ = 1;
  int64_t compacted_ = 0;
  int64_t uids_ = 0;
  std::map<std::string, doc::Value> objects_;
  std::map<std::string, doc::Value> applied_;  // by path and manager, for server-side apply
  std::vector<Event> events_;
  std::multiset<size_t> waiting_;  // of each stream that waits: the first event that it has not sent
  std::vector<std::string> requests_;
  std::set<std::string> unserved_;  // collections of all namespaces: "/apis/railbed.dev/v1/addresscells"
};

// An object with this name; further members may be set.
doc::Value object(const std::string& kind, const std::string& ns, const std::string& name);

}  // namespace railbed::kube::fake
