// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <algorithm>
#include <iterator>

#include "doc/json.h"
#include "doc/members.h"

namespace railbed::kube {
namespace {

using doc::Value;

constexpr std::string_view kJson = "application/json";
constexpr Resource kEvictedPods = resource_of(kind_named("Pod"));

std::string collection_target(const std::string& path, const Selection& selection) {
  std::string target = path + "?";
  if (!selection.labels.empty()) target += "labelSelector=" + percent_encoded(selection.labels) + "&";
  if (!selection.fields.empty()) target += "fieldSelector=" + percent_encoded(selection.fields) + "&";
  return target;
}

void name_kind(const Resource& resource, Value& object) {
  object.set("kind", std::string(resource.kind));
  object.set("apiVersion", resource.api_version());
}

// The error of an answer or event that came, and is none or too large.
ApiError unread(Error why) {
  ApiError error{std::move(why)};
  error.delivery = Delivery::kUnknown;
  return error;
}

std::string path_of(const std::string& target) {
  return target.substr(0, target.find('?'));
}

std::string list_field(const Value& list, std::string_view key) {
  return doc::text_in(list.find("metadata"), key);
}

}  // namespace

WatchStream::WatchStream(std::unique_ptr<ByteStream> bytes, std::string what, const TextBounds& bounds)
    : bytes_(std::move(bytes)), what_(std::move(what)), decoder_(bounds) {}

Answer<std::optional<WatchEvent>> WatchStream::next(std::stop_token stop) {
  while (true) {
    Result<std::optional<WatchEvent>> event = decoder_.next();
    if (!event) {
      event.error().context.push_back(what_);
      return no_answer(unread(std::move(event.error())));
    }
    if (*event && (*event)->type == WatchType::kError) return no_answer(refused(what_, (*event)->object));
    if (*event) return std::move(*event);
    Answer<std::string> more = bytes_->next(stop);
    if (!more) return no_answer(std::move(more.error()));
    if (more->empty() && decoder_.in_line())
      return no_answer(unanswered(Code::kIo, Delivery::kUnknown, what_ + ": the stream was cut within an event"));
    if (more->empty()) return std::nullopt;
    decoder_.push(*more);
  }
}

Client::Client(Transport& transport, Clock& clock, ClientSettings settings)
    : transport_(transport), clock_(clock), settings_(settings) {}

template <typename Try>
auto Client::repeatedly(const Call& call, Request request, const Try& once) -> decltype(once(request)) {
  const Instant end = clock_.now() + settings_.timeout;
  for (int tried = 1;; ++tried) {
    const auto left = std::chrono::ceil<milliseconds>(end - clock_.now());
    request.timeout = std::clamp(left, milliseconds(1), settings_.try_timeout);
    auto answer = once(request);
    if (answer) return answer;
    ApiError& error = answer.error();
    counting_.asked(call.verb, error.status);
    const std::optional<milliseconds> pause =
        pause_before_retry(error, call.repeat, tried, clock_.random(), settings_.retry);
    if (!pause || clock_.now() + *pause >= end) {
      if (tried > 1) error.context.push_back(fmt::format("gave up after {} attempts", tried));
      return answer;
    }
    if (!clock_.wait(*pause, call.stop))
      return no_answer(unanswered(Code::kCanceled, error.delivery, request.to_string() + ": asked to stop"));
    counting_.retried();
  }
}

Answer<Response> Client::send(const Call& call, Request request) {
  request.most_bytes = settings_.bounds.answer.text_bytes;
  return repeatedly(call, std::move(request), [&](const Request& one) {
    Answer<Response> answer = transport_.send(one, call.stop);
    if (answer) counting_.asked(call.verb, answer->status);
    return answer;
  });
}

// A body that is no object although the status says that all is well, or one that is too large.
Answer<Value> Client::object_of(const Request& request, const Response& response) const {
  Result<Value> object = parse_object(response.body, settings_.bounds.answer.memory_bytes);
  if (object) return std::move(*object);
  if (object.error().code != Code::kExhausted) object.error().code = Code::kInvalid;
  object.error().context.push_back(fmt::format("reading the answer to {}", request.to_string()));
  return no_answer(unread(std::move(object.error())));
}

Answer<Value> Client::object_from(const Call& call, const Resource& resource, const ObjectKey& key, Part part,
                                  Request request) {
  Result<std::string> path = object_path(resource, key, part);
  if (!path) return no_answer(not_sent(std::move(path.error())));
  request.target = *path + request.target;
  Answer<Response> response = send(call, request);
  if (!response) return no_answer(std::move(response.error()));
  Answer<Value> object = object_of(request, *response);
  if (object) trim_metadata(*object);
  return object;
}

Answer<Value> Client::get(const Resource& resource, const ObjectKey& key, std::stop_token stop) {
  return object_from({Verb::kGet, Repeat::kSafe, stop}, resource, key, Part::kObject, {});
}

Answer<Client::Page> Client::list_page(const Listing& listing, const std::string& token, std::stop_token stop) {
  Request request{.target = fmt::format("{}limit={}", listing.target, listing.limit)};
  if (!token.empty()) request.target += "&continue=" + percent_encoded(token);
  Answer<Response> response = send({Verb::kList, Repeat::kSafe, stop}, request);
  if (!response) return no_answer(std::move(response.error()));
  const std::lock_guard one_at_a_time(one_page_);
  Answer<Value> page = object_of(request, *response);
  std::string().swap(response->body);
  if (!page) return no_answer(std::move(page.error()));
  Page out{.list = {.objects = {}, .resource_version = list_field(*page, "resourceVersion")},
           .next = list_field(*page, "continue")};
  if (out.list.resource_version.empty())
    return no_answer(
        unanswered(Code::kInvalid, Delivery::kUnknown, request.to_string() + ": the list has no resourceVersion"));
  Value* items = page->find("items");
  if (items == nullptr || !items->is_array()) return out;
  for (Value& item : *items->as_array()) {
    name_kind(listing.resource, item);
    listing.trim(item);
    out.list.objects.push_back(std::move(item));
  }
  return out;
}

Answer<Client::Page> Client::list_smaller_page(Listing& listing, const std::string& token,
                                               const std::stop_token& stop) {
  constexpr int kSmaller = 4;
  while (true) {
    Answer<Page> page = list_page(listing, token, stop);
    if (page || page.error().code != Code::kExhausted || listing.limit <= 1) return page;
    listing.limit = std::max(1, listing.limit / kSmaller);
  }
}

Answer<ObjectList> Client::list_pages(Listing listing, std::stop_token stop) {
  ObjectList out;
  ListProgress progress;
  std::string token;
  do {
    Answer<Page> page = list_smaller_page(listing, token, stop);
    if (!page) return no_answer(std::move(page.error()));
    Result<void> fits = list_page_fits(progress, page->list.objects, token, page->next, settings_.bounds.list,
                                       "GET " + path_of(listing.target));
    if (!fits) return no_answer(unread(std::move(fits.error())));
    out.resource_version = std::move(page->list.resource_version);
    std::ranges::move(page->list.objects, std::back_inserter(out.objects));
    token = std::move(page->next);
  } while (!token.empty());
  return out;
}

Answer<ObjectList> Client::list(const Resource& resource, const Selection& selection, const Trim& trim,
                                std::stop_token stop) {
  const Result<std::string> path = resource.collection_path(selection.ns);
  if (!path) return no_answer(not_sent(path.error()));
  const std::string target = collection_target(*path, selection);
  const Listing in_pages{.resource = resource, .target = target, .trim = trim, .limit = settings_.page};
  Answer<ObjectList> list = list_pages(in_pages, stop);
  if (list || !list.error().expired()) return list;
  list = list_pages(in_pages, stop);
  if (list || !list.error().expired()) return list;
  // The pages take longer than the server remembers: everything in one answer.
  return list_pages({.resource = resource, .target = target, .trim = trim, .limit = 0}, stop);
}

Answer<void> Client::visit(const Resource& resource, const Selection& selection, const Trim& trim, const Visitor& each,
                           std::stop_token stop) {
  const Result<std::string> path = resource.collection_path(selection.ns);
  if (!path) return no_answer(not_sent(path.error()));
  const std::string target = collection_target(*path, selection);
  Listing listing{.resource = resource, .target = target, .trim = trim, .limit = settings_.page};
  ListProgress progress;
  std::string token;
  do {
    Answer<Page> page = list_smaller_page(listing, token, stop);
    if (!page && page.error().expired() && !page.error().continue_token.empty())
      page = list_smaller_page(listing, page.error().continue_token, stop);
    if (!page) return no_answer(std::move(page.error()));
    Result<void> fits =
        list_page_fits(progress, page->list.objects, token, page->next, settings_.bounds.visit, "GET " + *path);
    if (!fits) return no_answer(unread(std::move(fits.error())));
    for (Value& object : page->list.objects)
      if (each(std::move(object)) == Visit::kEnough) return {};
    token = std::move(page->next);
  } while (!token.empty());
  return {};
}

Answer<uint64_t> Client::count(const Resource& resource, std::stop_token stop) {
  const Result<std::string> path = resource.collection_path("");
  if (!path) return no_answer(not_sent(path.error()));
  const Request request{.target = *path + "?limit=1"};
  Answer<Response> response = send({Verb::kList, Repeat::kSafe, stop}, request);
  if (!response) return no_answer(std::move(response.error()));
  Answer<Value> page = object_of(request, *response);
  if (!page) return no_answer(std::move(page.error()));
  const Value::Array* items = doc::list_in(*page, "items");
  const Value* metadata = doc::object_in(*page, "metadata");
  const int more = metadata != nullptr ? doc::number_in(*metadata, "remainingItemCount") : 0;
  return (items != nullptr ? items->size() : 0) + static_cast<uint64_t>(std::max(0, more));
}

Answer<WatchStream> Client::watch(const Resource& resource, const Selection& selection,
                                  const std::string& resource_version, std::chrono::seconds period,
                                  std::stop_token stop) {
  const Result<std::string> path = resource.collection_path(selection.ns);
  if (!path) return no_answer(not_sent(path.error()));
  Request request{.target = fmt::format("{}watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                                        collection_target(*path, selection), percent_encoded(resource_version),
                                        period.count())};
  // Not repeated here: who watches has a pause and a resourceVersion of its own.
  request.timeout = settings_.try_timeout;
  request.silence = settings_.watch_silence;
  request.most_bytes = settings_.bounds.unread_bytes;
  Answer<std::unique_ptr<ByteStream>> stream = transport_.open(request, stop);
  counting_.asked(Verb::kWatch, stream ? 200 : stream.error().status);
  if (!stream) return no_answer(std::move(stream.error()));
  return WatchStream(std::move(*stream), "WATCH" + request.to_string().substr(3), settings_.bounds.event);
}

Answer<Value> Client::create(const Resource& resource, const Value& object, std::stop_token stop) {
  const Result<std::string> path = resource.collection_path(key_of(object).ns);
  if (!path) return no_answer(not_sent(path.error()));
  const Request request{
      .method = Method::kPost, .target = *path, .content_type = std::string(kJson), .body = to_json(object)};
  Answer<Response> response = send({Verb::kCreate, Repeat::kUnsafe, stop}, request);
  if (!response) return no_answer(std::move(response.error()));
  Answer<Value> created = object_of(request, *response);
  if (created) trim_metadata(*created);
  return created;
}

Answer<Value> Client::update(const Resource& resource, const Value& object, Part part, std::stop_token stop) {
  if (resource_version(object).empty())
    return no_answer(not_sent(
        Error{.code = Code::kInvalid,
              .message = describe(object) + " has no resourceVersion: an update would revert changes of other clients",
              .hint = "read the object first, or apply it"}));
  // Done twice, the second would be refused as a conflict, and the caller would think that it had not been done.
  return object_from({Verb::kUpdate, Repeat::kUnsafe, stop}, resource, key_of(object), part,
                     {.method = Method::kPut, .content_type = std::string(kJson), .body = to_json(object)});
}

Answer<Value> Client::apply(const Resource& resource, Value object, const ApplyOptions& options, std::stop_token stop) {
  name_kind(resource, object);
  Request request{.method = Method::kPatch,
                  .target = fmt::format("?fieldManager={}&force={}", percent_encoded(options.manager),
                                        options.conflicts == ApplyOptions::Conflicts::kTakeOver),
                  .content_type = "application/apply-patch+yaml",
                  .body = to_json(object)};
  return object_from({Verb::kApply, Repeat::kSafe, stop}, resource, key_of(object), options.part, std::move(request));
}

Answer<Value> Client::patch(const Resource& resource, const ObjectKey& key, PatchType type, const Value& patch,
                            Part part, std::stop_token stop) {
  const bool merge = type == PatchType::kMerge;
  return object_from({Verb::kPatch, merge ? Repeat::kSafe : Repeat::kUnsafe, stop}, resource, key, part,
                     {.method = Method::kPatch,
                      .content_type = merge ? "application/merge-patch+json" : "application/json-patch+json",
                      .body = to_json(patch)});
}

Answer<void> Client::evict(const ObjectKey& pod, const std::string& uid, std::stop_token stop) {
  Result<std::string> path = object_path(kEvictedPods, pod, Part::kEviction);
  if (!path) return no_answer(not_sent(std::move(path.error())));
  Value body = Value::object();
  body.set("apiVersion", "policy/v1");
  body.set("kind", "Eviction");
  Value& meta = body.set("metadata", Value::object());
  meta.set("name", pod.name);
  meta.set("namespace", pod.ns);
  body.set("deleteOptions", Value::object()).set("preconditions", Value::object()).set("uid", uid);
  const Request request{
      .method = Method::kPost, .target = *path, .content_type = std::string(kJson), .body = to_json(body)};
  const Answer<Response> response = send({Verb::kCreate, Repeat::kNotAnswered, stop}, request);
  if (!response) return no_answer(response.error());
  return {};
}

Answer<void> Client::remove(const Resource& resource, const ObjectKey& key, const Preconditions& preconditions,
                            std::stop_token stop) {
  Result<std::string> path = object_path(resource, key);
  if (!path) return no_answer(not_sent(std::move(path.error())));
  Value options;
  options.set("apiVersion", "v1");
  options.set("kind", "DeleteOptions");
  Value conditions = Value::object();
  doc::put_text(conditions, "uid", preconditions.uid);
  doc::put_text(conditions, "resourceVersion", preconditions.resource_version);
  if (!conditions.as_object()->empty()) options.set("preconditions", std::move(conditions));
  if (preconditions.grace_seconds) options.set("gracePeriodSeconds", *preconditions.grace_seconds);
  const Request request{
      .method = Method::kDelete, .target = *path, .content_type = std::string(kJson), .body = to_json(options)};
  // With the uid, a repeat can only meet the same object or none; by the name alone it could meet the next one.
  const Repeat repeat = preconditions.uid.empty() ? Repeat::kUnsafe : Repeat::kSafe;
  const Answer<Response> response = send({Verb::kDelete, repeat, stop}, request);
  if (!response) return no_answer(response.error());
  return {};
}

}  // namespace railbed::kube
