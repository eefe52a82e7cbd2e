// SPDX-License-Identifier: Apache-2.0
#include "kube/fake/api_server.h"

#include <algorithm>
#include <charconv>

#include "doc/json.h"
#include "doc/members.h"
#include "kube/object.h"

namespace railbed::kube::fake {

using doc::Value;

namespace {

constexpr const char* kNotServed = "404 page not found\n";  // as the real one says it, which is no Status
constexpr std::string_view kEviction = "/eviction";

// A value of the query; empty where it is not there.
std::string query(const std::string& target, const std::string& key) {
  const size_t begin = target.find('?');
  if (begin == std::string::npos) return "";
  std::string_view rest = std::string_view(target).substr(begin + 1);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find('&'));
    if (one.starts_with(key + "=")) return std::string(one.substr(key.size() + 1));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return "";
}

int64_t number(const std::string& text) {
  int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// Whether the object at `path` is in the collection, of one namespace or of all ("/api/v1/pods").
bool in_collection(const std::string& path, const std::string& collection) {
  const size_t name = path.rfind('/');
  if (path.substr(0, name) == collection) return true;
  const size_t plural = path.rfind('/', name - 1);
  const size_t ns = path.find("/namespaces/");
  return ns != std::string::npos && path.substr(0, ns) + path.substr(plural, name - plural) == collection;
}

// Whether a path is the collection's, of one of its namespaces, or an object's in it.
bool is_below(const std::string& path, const std::string& collection) {
  const size_t end = collection.rfind('/') + 1;
  if (!path.starts_with(collection.substr(0, end))) return false;
  std::string_view rest = std::string_view(path).substr(end);
  constexpr std::string_view kNamespaces = "namespaces/";
  if (rest.starts_with(kNamespaces)) {
    const size_t slash = rest.find('/', kNamespaces.size());
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  }
  return rest.substr(0, rest.find('/')) == collection.substr(end);
}

// Of label selectors, those that are one key or key=value; by any other everything is selected.
bool has_label(const Value& object, std::string selector) {
  for (const auto& [code, character] : {std::pair{"%2F", "/"}, std::pair{"%3D", "="}})
    for (size_t at = 0; (at = selector.find(code, at)) != std::string::npos;) selector.replace(at, 3, character);
  const size_t equals = selector.find('=');
  const std::string key = selector.substr(0, equals);
  if (selector.empty() || selector.find_first_of("!,%") != std::string::npos || key.size() + 1 == selector.size())
    return true;
  const Value* labels = doc::at(object, "metadata.labels");
  if (labels == nullptr || labels->find(key) == nullptr) return false;
  return equals == std::string::npos || doc::text_in(*labels, key) == selector.substr(equals + 1);
}

void merge(Value& into, const Value& patch) {
  for (const Value::Member& member : *patch.as_object()) {
    if (member.value.is_null()) {
      if (into.is_object()) std::erase_if(*into.as_object(), [&](const auto& each) { return each.key == member.key; });
    } else if (member.value.is_object()) {
      Value* inner = into.find(member.key);
      if (inner == nullptr || !inner->is_object()) inner = &into.set(member.key, Value::object());
      merge(*inner, member.value);
    } else {
      into.set(member.key, member.value);
    }
  }
}

// What a manager applied before and does not apply any more.
void drop_given_up(Value& from, const Value& before, const Value& now) {
  if (!from.is_object() || !before.is_object()) return;
  for (const Value::Member& member : *before.as_object()) {
    const Value* still = now.find(member.key);
    if (still == nullptr)
      std::erase_if(*from.as_object(), [&](const auto& each) { return each.key == member.key; });
    else if (Value* inner = from.find(member.key); inner != nullptr && still->is_object())
      drop_given_up(*inner, member.value, *still);
  }
}

Answer<Response> refuse(const Request& request, int status, std::string reason, std::string message,
                        std::string continue_token = "") {
  Value body = Value::object();
  body.set("kind", "Status");
  if (!continue_token.empty()) body.set("metadata", Value::object()).set("continue", std::move(continue_token));
  body.set("code", status);
  body.set("reason", std::move(reason));
  body.set("message", std::move(message));
  return std::unexpected(refused(request.to_string(), status, to_json(body)));
}

Answer<Response> answer_with(int status, const Value& body) {
  return Response{status, to_json(body)};
}

}  // namespace

Value object(const std::string& kind, const std::string& ns, const std::string& name) {
  Value metadata;
  metadata.set("name", name);
  if (!ns.empty()) metadata.set("namespace", ns);
  Value out;
  out.set("apiVersion", "v1");
  out.set("kind", kind);
  out.set("metadata", std::move(metadata));
  return out;
}

// One watch: the events after a version, for a collection.
class FakeStream : public ByteStream {
 public:
  FakeStream(ApiServer& server, std::string collection, std::string labels, size_t next)
      : server_(server), collection_(std::move(collection)), labels_(std::move(labels)), next_(next) {}

  Answer<std::string> next(std::stop_token stop) override {
    while (true) {
      if (stop.stop_requested())
        return std::unexpected(unanswered(Code::kCanceled, Delivery::kUnknown, "asked to stop"));
      collect();
      if (!waiting_.empty()) return some();
      if (is_over()) return std::string();
      switch (server_.on_idle ? server_.on_idle() : ApiServer::Idle::kWait) {
        case ApiServer::Idle::kWait: {
          std::unique_lock lock(server_.mutex_);
          const auto waits = server_.waiting_.insert(next_);
          server_.changed_.wait(lock, stop, [&] { return server_.events_.size() > next_; });
          server_.waiting_.erase(waits);
          break;
        }
        case ApiServer::Idle::kAgain:
          break;
        case ApiServer::Idle::kEnd:
          return std::string();
        case ApiServer::Idle::kCut:
          return std::unexpected(unanswered(Code::kIo, Delivery::kUnknown, "the connection was cut"));
        case ApiServer::Idle::kSilence:
          return std::unexpected(unanswered(Code::kTimeout, Delivery::kUnknown, "the server said nothing for 90 s"));
      }
    }
  }

 private:
  void collect() {
    const std::lock_guard lock(server_.mutex_);
    for (; next_ < server_.events_.size(); ++next_) {
      const ApiServer::Event& event = server_.events_[next_];
      if (event.path.empty() || (in_collection(event.path, collection_) && is_selected(event)))
        waiting_ += event.line + "\n";
    }
  }
  bool is_over() const {
    const std::lock_guard lock(server_.mutex_);
    return !server_.is_served(collection_);
  }
  bool is_selected(const ApiServer::Event& event) const {
    if (labels_.empty()) return true;
    const Result<Value> all = parse_object(event.line);
    const Value* object = all.has_value() ? all->find("object") : nullptr;
    return object == nullptr || has_label(*object, labels_);
  }
  std::string some() {
    const size_t count = server_.piece ? std::clamp<size_t>(server_.piece(), 1, waiting_.size()) : waiting_.size();
    std::string out = waiting_.substr(0, count);
    waiting_.erase(0, count);
    return out;
  }

  ApiServer& server_;
  const std::string collection_, labels_;
  size_t next_;
  std::string waiting_;
};

Answer<Response> ApiServer::send(const Request& request, std::stop_token stop) {
  if (stop.stop_requested()) return std::unexpected(unanswered(Code::kCanceled, Delivery::kNotSent, "asked to stop"));
  if (before)
    if (std::optional<ApiError> error = before(request)) return std::unexpected(std::move(*error));
  Answer<Response> out = answer(request);
  if (lose_answer && lose_answer(request))
    return std::unexpected(unanswered(Code::kIo, Delivery::kUnknown, request.to_string() + ": the connection was cut"));
  return out;
}

Answer<std::unique_ptr<ByteStream>> ApiServer::open(const Request& request, std::stop_token /*stop*/) {
  if (before)
    if (std::optional<ApiError> error = before(request)) return std::unexpected(std::move(*error));
  const std::lock_guard lock(mutex_);
  requests_.push_back(fmt::format("WATCH {}", request.target));
  if (!is_served(request.target.substr(0, request.target.find('?'))))
    return std::unexpected(refused(request.to_string(), 404, kNotServed));
  const int64_t from = number(query(request.target, "resourceVersion"));
  if (from < compacted_) {
    // As the real one: the answer is 200, and the first event an error.
    auto out = refuse(request, 410, "Expired", "too old resource version");
    return std::unexpected(std::move(out.error()));
  }
  size_t next = 0;
  while (next < events_.size() && events_[next].version <= from) ++next;
  return std::make_unique<FakeStream>(*this, request.target.substr(0, request.target.find('?')),
                                      query(request.target, "labelSelector"), next);
}

Answer<Response> ApiServer::answer(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(fmt::format("{} {}", method_name(request.method), request.target));
  const std::string path = request.target.substr(0, request.target.find('?'));
  if (!is_served(path)) return std::unexpected(refused(request.to_string(), 404, kNotServed));
  switch (request.method) {
    case Method::kGet:
      return query(request.target, "limit").empty() ? get(request, path) : list(request, path);
    case Method::kPost:
      return path.ends_with(kEviction) ? evict(request, path.substr(0, path.size() - kEviction.size()))
                                       : create(request, path);
    case Method::kPut:
      return replace(request, path);
    case Method::kPatch:
      return patch(request, path);
    case Method::kDelete:
      return remove(request, path);
  }
  return refuse(request, 405, "MethodNotAllowed", "no such method");
}

Answer<Response> ApiServer::get(const Request& request, const std::string& path) {
  const auto found = objects_.find(path);
  if (found == objects_.end()) return refuse(request, 404, "NotFound", fmt::format("\"{}\" not found", path));
  return answer_with(200, found->second);
}

// A continue token is the version of the first page and the last name; pages after a compaction are refused, with a
// token that goes on in the newest state. Unlike the real one's, later pages have what was changed since.
Answer<Response> ApiServer::list(const Request& request, const std::string& path) {
  const auto limit = static_cast<size_t>(number(query(request.target, "limit")));
  std::string token = query(request.target, "continue");
  for (size_t at = 0; (at = token.find("%2F", at)) != std::string::npos;) token.replace(at, 3, "/");
  const int64_t first = token.empty() ? version_ : number(token);
  const std::string after = token.empty() ? "" : token.substr(token.find('~') + 1);
  if (first < compacted_)
    return refuse(request, 410, "Expired", "the provided continue parameter is too old",
                  fmt::format("{}~{}", version_, after));
  Value items = Value::array();
  Value metadata;
  int64_t remaining = 0;
  for (const auto& [at, object] : objects_) {
    if (!in_collection(at, path) || (!after.empty() && at <= after)) continue;
    if (!has_label(object, query(request.target, "labelSelector"))) continue;
    if (limit > 0 && items.as_array()->size() == limit) {
      ++remaining;
      continue;
    }
    Value item = object;
    std::erase_if(*item.as_object(), [](const auto& each) { return each.key == "kind" || each.key == "apiVersion"; });
    items.push(std::move(item));
    metadata.set("last", at);
  }
  if (remaining > 0) metadata.set("continue", fmt::format("{}~{}", first, *metadata.find("last")->as_string()));
  if (remaining > 0) metadata.set("remainingItemCount", remaining);
  metadata.set("resourceVersion", std::to_string(first));
  Value out;
  out.set("kind", "List");
  out.set("metadata", std::move(metadata));
  out.set("items", std::move(items));
  return answer_with(200, out);
}

Answer<Response> ApiServer::create(const Request& request, const std::string& path) {
  Result<Value> object = parse_object(request.body);
  if (!object) return refuse(request, 400, "BadRequest", object.error().message);
  const std::string at = path + "/" + key_of(*object).name;
  if (objects_.contains(at)) return refuse(request, 409, "AlreadyExists", fmt::format("\"{}\" already exists", at));
  store(at, std::move(*object));
  return answer_with(201, objects_.at(at));
}

// The pod is being deleted then, and stays until a test erases it, as with the time that it has to end.
Answer<Response> ApiServer::evict(const Request& request, const std::string& at) {
  const auto found = objects_.find(at);
  if (found == objects_.end()) return refuse(request, 404, "NotFound", fmt::format("\"{}\" not found", at));
  const Result<Value> body = parse_object(request.body);
  if (!body) return refuse(request, 400, "BadRequest", body.error().message);
  const std::string uid(doc::text_at(*body, "deleteOptions.preconditions.uid"));
  if (!uid.empty() && uid != uid_of(found->second))
    return refuse(request, 409, "Conflict",
                  fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                              uid_of(found->second)));
  if (const std::string why = budget ? budget(at) : ""; !why.empty()) {
    Value status = Value::object();
    status.set("kind", "Status");
    status.set("code", 429);
    status.set("reason", "TooManyRequests");
    status.set("message", "Cannot evict pod as it would violate the pod's disruption budget.");
    Value cause = Value::object();
    cause.set("reason", "DisruptionBudget");
    cause.set("message", why);
    status.set("details", Value::object()).set("causes", Value::array()).push(std::move(cause));
    return std::unexpected(refused(request.to_string(), 429, to_json(status)));
  }
  Value pod = found->second;
  pod.find("metadata")->set("deletionTimestamp", "2026-01-01T00:00:00Z");
  store(at, std::move(pod));
  return answer_with(201, Value::object());
}

Answer<Response> ApiServer::replace(const Request& request, const std::string& path) {
  const bool status = path.ends_with("/status");
  const std::string at = status ? path.substr(0, path.size() - 7) : path;
  const auto found = objects_.find(at);
  if (found == objects_.end()) return refuse(request, 404, "NotFound", fmt::format("\"{}\" not found", at));
  Result<Value> object = parse_object(request.body);
  if (!object) return refuse(request, 400, "BadRequest", object.error().message);
  if (resource_version(*object) != resource_version(found->second))
    return refuse(request, 409, "Conflict",
                  "the object has been modified; please apply your changes to the latest version");
  Value next = status ? found->second : std::move(*object);
  if (status) next.set("status", object->find("status") != nullptr ? *object->find("status") : Value());
  store(at, std::move(next));
  return answer_with(200, objects_.at(at));
}

// Of a status, apply makes no object. A metadata.uid that is given is a precondition.
Answer<Response> ApiServer::patch(const Request& request, const std::string& path) {
  const bool status = path.ends_with("/status");
  const std::string at = status ? path.substr(0, path.size() - 7) : path;
  const auto found = objects_.find(at);
  const bool applies = request.content_type == "application/apply-patch+yaml";
  if (found == objects_.end() && (!applies || status))
    return refuse(request, 404, "NotFound", fmt::format("\"{}\" not found", at));
  Result<Value> body = parse_object(request.body);
  if (!body) return refuse(request, 400, "BadRequest", body.error().message);
  Value next = found != objects_.end() ? found->second : Value::object();
  const std::string uid = uid_of(*body), version = resource_version(*body);
  if (found != objects_.end() && !uid.empty() && uid != uid_of(next))
    return refuse(
        request, 409, "Conflict",
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid, uid_of(next)));
  if ((found == objects_.end() && !uid.empty()) || (!version.empty() && version != resource_version(next)))
    return refuse(request, 409, "Conflict", "uid or resourceVersion is not that of the object");
  // Through /status a pod's annotations change too, of other kinds the status alone.
  const bool annotations = at.find("/pods/") != std::string::npos;
  if (status)
    std::erase_if(*body->as_object(), [annotations](const auto& each) {
      return each.key != "status" && !(annotations && each.key == "metadata");
    });
  if (applies) {
    Value& applied = applied_[at + query(request.target, "fieldManager") + (status ? "/status" : "")];
    drop_given_up(next, applied, *body);
    applied = *body;
  }
  merge(next, *body);
  store(at, std::move(next));
  return answer_with(200, objects_.at(at));
}

Answer<Response> ApiServer::remove(const Request& request, const std::string& path) {
  const auto found = objects_.find(path);
  if (found == objects_.end()) return refuse(request, 404, "NotFound", fmt::format("\"{}\" not found", path));
  const Result<Value> options = parse_object(request.body);
  const Value* conditions = options ? doc::object_in(*options, "preconditions") : nullptr;
  if (conditions != nullptr) {
    const std::string uid = doc::text_in(*conditions, "uid");
    const std::string version = doc::text_in(*conditions, "resourceVersion");
    if ((!uid.empty() && uid != uid_of(found->second)) ||
        (!version.empty() && version != resource_version(found->second)))
      return refuse(request, 409, "Conflict", "the precondition does not hold");
  }
  drop(path);
  return answer_with(200, Value::object());
}

void ApiServer::push(std::string path, std::string line) {
  events_.push_back({version_, std::move(path), std::move(line)});
  changed_.notify_all();
}

std::string ApiServer::store(const std::string& path, Value object) {
  if (prune) prune(path, object);
  const auto known = objects_.find(path);
  const bool is_new = known == objects_.end();
  Value* metadata = object.find("metadata");
  metadata->set("uid", is_new ? fmt::format("uid-{}", ++uids_) : uid_of(known->second));
  metadata->set("resourceVersion", std::to_string(++version_));
  Value event;
  event.set("type", is_new ? "ADDED" : "MODIFIED");
  event.set("object", object);
  objects_[path] = std::move(object);
  push(path, to_json(event));
  return std::to_string(version_);
}

void ApiServer::drop(const std::string& path) {
  const auto known = objects_.find(path);
  if (known == objects_.end()) return;
  ++version_;
  known->second.find("metadata")->set("resourceVersion", std::to_string(version_));
  Value event;
  event.set("type", "DELETED");
  event.set("object", known->second);
  objects_.erase(known);
  push(path, to_json(event));
}

void ApiServer::put(const std::string& path, Value object) {
  const std::lock_guard lock(mutex_);
  store(path, std::move(object));
}

void ApiServer::serve(const Resource& kind, Served served) {
  const std::string collection = kind.collection_path("").value();
  const std::lock_guard lock(mutex_);
  if (served == Served::kYes)
    unserved_.erase(collection);
  else
    unserved_.insert(collection);
  push(collection, "");  // to no stream; those that wait look whether they are over
}

bool ApiServer::is_served(const std::string& path) const {
  return std::ranges::none_of(unserved_, [&](const std::string& collection) { return is_below(path, collection); });
}

void ApiServer::erase(const std::string& path) {
  const std::lock_guard lock(mutex_);
  drop(path);
}

void ApiServer::compact() {
  const std::lock_guard lock(mutex_);
  compacted_ = ++version_;
}

void ApiServer::bookmark() {
  const std::lock_guard lock(mutex_);
  push("", fmt::format(R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}"}}}}}})", version_));
}

void ApiServer::fail_streams(int status, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  push("", fmt::format(R"({{"type":"ERROR","object":{{"kind":"Status","code":{},"reason":"{}"}}}})", status, reason));
}

void ApiServer::garble_streams() {
  const std::lock_guard lock(mutex_);
  push("", "{\"type\":\"ADDED\",\"object\":");
}

std::map<std::string, Value> ApiServer::objects() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

std::vector<std::string> ApiServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

size_t ApiServer::waiting_streams() const {
  const std::lock_guard lock(mutex_);
  return waiting_.count(events_.size());
}

}  // namespace railbed::kube::fake
