// SPDX-License-Identifier: Apache-2.0
// The calls of the Kubernetes API: get, list, watch, create, update, apply, patch, delete.
//
// Why: one place implements paths, content types, which requests may be retried, and that every answer is trimmed
// before it is kept. Each call ends within ClientSettings::timeout in all cases; retries (retry.h) are included in it.
// Changes are protected against concurrent writers with the API's own means: update() sends the resourceVersion of the
// object that was read, apply() owns fields, remove() takes preconditions.
// Threading: any thread; a call blocks its caller.
// Failure: ApiError (api_error.h).
// Source: Kubernetes API concepts; "Server-Side Apply".
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/bounds.h"
#include "kube/clock.h"
#include "kube/counters.h"
#include "kube/object.h"
#include "kube/resource.h"
#include "kube/retry.h"
#include "kube/transport.h"
#include "kube/watch_decoder.h"

namespace railbed::kube {

struct ClientSettings {
  milliseconds timeout{30000};        // of a call, with all its tries
  milliseconds try_timeout{10000};    // of one try
  milliseconds watch_silence{90000};  // longer than the minute between bookmarks
  RetrySettings retry;
  int page = 500;  // objects per answer of a list; fewer where such an answer is too large
  ReadBounds bounds;
};

// Which objects of a kind.
struct Selection {
  std::string ns;  // empty: all
  std::string labels;
  std::string fields;
};

struct ObjectList {
  std::vector<doc::Value> objects;
  std::string resource_version;  // to watch from
};

enum class Visit : uint8_t { kGoOn, kEnough };
using Visitor = std::function<Visit(doc::Value object)>;

struct ApplyOptions {
  enum class Conflicts : uint8_t { kRefuse, kTakeOver };
  std::string manager;
  Conflicts conflicts = Conflicts::kRefuse;
  Part part = Part::kObject;
};

enum class PatchType : uint8_t { kMerge, kJson };

// Delete only this object: not a new one of the same name, not one that was changed since.
struct Preconditions {
  std::string uid;
  std::string resource_version;
  std::optional<int> grace_seconds;
};

// The events of one watch. Ends orderly after some minutes, as the server or the client wanted.
class WatchStream {
 public:
  WatchStream(std::unique_ptr<ByteStream> bytes, std::string what, const TextBounds& bounds);
  // Nothing at the orderly end. An event of the type kError is an error here. Exhausted where one is too large.
  Answer<std::optional<WatchEvent>> next(std::stop_token stop);

 private:
  std::unique_ptr<ByteStream> bytes_;
  std::string what_;
  WatchDecoder decoder_;
};

class Client {
 public:
  // Both outlive the client.
  Client(Transport& transport, Clock& clock, ClientSettings settings = {});

  Answer<doc::Value> get(const Resource& resource, const ObjectKey& key, std::stop_token stop = {});
  // In pages; where the server has forgotten the state that the pages are of, from the beginning. Kind and apiVersion,
  // which items of a list lack, are there. Exhausted where the list is beyond bounds().list, or does not end.
  Answer<ObjectList> list(const Resource& resource, const Selection& selection, const Trim& trim = trim_metadata,
                          std::stop_token stop = {});
  // Each object of such a list, a page after the other, so that no more than a page is held. Objects that are there all
  // the time are seen once, in the order of their names; where the server has forgotten the state that the pages are
  // of, later ones are of a newer state. No request is under way while `each` is called. Exhausted as list().
  Answer<void> visit(const Resource& resource, const Selection& selection, const Trim& trim, const Visitor& each,
                     std::stop_token stop = {});
  // How many there are, for the price of one of them.
  Answer<uint64_t> count(const Resource& resource, std::stop_token stop = {});
  // From `resource_version` on, with bookmarks, for `period`.
  Answer<WatchStream> watch(const Resource& resource, const Selection& selection, const std::string& resource_version,
                            std::chrono::seconds period, std::stop_token stop = {});

  // The object names itself: metadata.name and metadata.namespace. All answer with what the server made of it.
  Answer<doc::Value> create(const Resource& resource, const doc::Value& object, std::stop_token stop = {});
  // Conflict where the object was changed since it was read; Invalid where it has no resourceVersion.
  Answer<doc::Value> update(const Resource& resource, const doc::Value& object, Part part = Part::kObject,
                            std::stop_token stop = {});
  // Server-side apply. Conflict names the fields that others own.
  Answer<doc::Value> apply(const Resource& resource, doc::Value object, const ApplyOptions& options,
                           std::stop_token stop = {});
  Answer<doc::Value> patch(const Resource& resource, const ObjectKey& key, PatchType type, const doc::Value& patch,
                           Part part = Part::kObject, std::stop_token stop = {});
  // Through the Eviction API, so that PodDisruptionBudgets hold: accepted, not ended. Conflict where the pod of this
  // name has another uid. A refusal (429) is the caller's to repeat, with its own pause: nothing is here.
  Answer<void> evict(const ObjectKey& pod, const std::string& uid, std::stop_token stop = {});
  // NotFound where it is gone; Conflict where the preconditions do not hold.
  Answer<void> remove(const Resource& resource, const ObjectKey& key, const Preconditions& preconditions = {},
                      std::stop_token stop = {});

  ClientCounters counters() const { return counting_.read(); }
  Clock& clock() { return clock_; }
  const ReadBounds& bounds() const { return settings_.bounds; }

 private:
  struct Call {
    Verb verb = Verb::kGet;
    Repeat repeat = Repeat::kSafe;
    std::stop_token stop;
  };
  template <typename Try>
  auto repeatedly(const Call& call, Request request, const Try& once) -> decltype(once(request));
  Answer<Response> send(const Call& call, Request request);
  Answer<doc::Value> object_of(const Request& request, const Response& response) const;
  Answer<doc::Value> object_from(const Call& call, const Resource& resource, const ObjectKey& key, Part part,
                                 Request request);
  struct Page {
    ObjectList list;
    std::string next;  // a continue token; empty: it is the last one
  };
  // What is listed, and how much of it at once.
  struct Listing {
    const Resource& resource;
    const std::string& target;  // with a query that may go on
    const Trim& trim;
    int limit = 0;  // of objects in a page; 0: all
  };
  Answer<Page> list_page(const Listing& listing, const std::string& token, std::stop_token stop);
  // Where a page is too large, with a lower limit, which then is that of the listing.
  Answer<Page> list_smaller_page(Listing& listing, const std::string& token, const std::stop_token& stop);
  Answer<ObjectList> list_pages(Listing listing, std::stop_token stop);

  Transport& transport_;
  Clock& clock_;
  const ClientSettings settings_;
  Counting counting_;
  std::mutex one_page_;  // all of a page is held, until it is trimmed: of one at a time
};

}  // namespace railbed::kube
