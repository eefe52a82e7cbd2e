// SPDX-License-Identifier: Apache-2.0
// Clients and caches against an API server that sends without end: what is held is counted, and stays within bounds.
#include <algorithm>

#include <gtest/gtest.h>

#include "kube/fake/api_server.h"
#include "kube/fake/clock.h"
#include "kube/informer.h"

namespace railbed::kube {
namespace {

using fake::kMaps;

const std::string kCheck = "; check the API server and any proxy in front of it";
const std::string kDelete =
    "; delete unneeded objects of this kind, or check the API server and any proxy in front of it";

constexpr ReadBounds kSmall{.list = {.objects = 50, .bytes = 100'000},
                            .visit = {.objects = 80, .bytes = SIZE_MAX},
                            .answer = {.text_bytes = 20'000, .memory_bytes = 100'000},
                            .event = {.text_bytes = 10'000, .memory_bytes = 50'000},
                            .unread_bytes = 30'000};

std::string object_json(const std::string& name, size_t bytes = 0, int version = 5) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ai","name":"{0}","uid":"{0}","resourceVersion":"{1}"}},"data":"{2}"}})", name,
      version, std::string(bytes, 'x'));
}
std::string event_json(const std::string& type, const std::string& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}
// A page of a list; `next` is its continue token.
std::string page_json(const std::string& items, const std::string& next = "") {
  return fmt::format(R"({{"kind":"List","metadata":{{"resourceVersion":"5","continue":"{}"}},"items":[{}]}})", next,
                     items);
}

// Answers as the test says; a stream gives pieces as long as it is asked. As the real transport it refuses answers that
// are larger than asked for.
class Hostile : public Transport {
 public:
  std::function<std::string(const Request&)> answer;
  std::function<std::string()> piece;                // empty: the stream ends
  std::function<bool()> cut = [] { return false; };  // the stream is not read fast enough
  std::vector<std::string> limits;                   // "limit=…" of the lists
  size_t streamed = 0;                               // bytes that streams gave, since the last one began
  size_t streams = 0;

  Answer<Response> send(const Request& request, std::stop_token /*stop*/) override {
    const size_t at = request.target.find("limit=");
    limits.push_back(request.target.substr(at, request.target.find('&', at) - at));
    std::string body = answer(request);
    if (body.size() > request.most_bytes)
      return no_answer(unanswered(Code::kExhausted, Delivery::kUnknown, "the answer is too large"));
    return Response{200, std::move(body)};
  }
  Answer<std::unique_ptr<ByteStream>> open(const Request& /*request*/, std::stop_token /*stop*/) override {
    ++streams;
    streamed = 0;
    return std::make_unique<Stream>(*this);
  }

 private:
  class Stream : public ByteStream {
   public:
    explicit Stream(Hostile& server) : server_(server) {}
    Answer<std::string> next(std::stop_token stop) override {
      if (stop.stop_requested()) return no_answer(unanswered(Code::kCanceled, Delivery::kUnknown, "asked to stop"));
      if (server_.cut())
        return no_answer(unanswered(Code::kBusy, Delivery::kUnknown, "the server sends faster than it is read"));
      std::string out = server_.piece();
      server_.streamed += out.size();
      return out;
    }

   private:
    Hostile& server_;
  };
};

TEST(HostileLists, AreRefusedWithTheBoundThatTheyExceed) {
  int number = 0;
  const auto items = [&](int count, size_t bytes) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i > 0 ? "," : "") + object_json(fmt::format("m{}", ++number), bytes);
    return out;
  };
  const auto zeros = [] {
    std::string out = "0";
    for (int i = 0; i < 5'000; ++i) out += ",0";
    return out;
  };
  const struct {
    const char* name;
    std::function<std::string()> answer;
    std::string story;
    size_t most_requests;
  } cases[] = {
      {"one answer without end", [] { return std::string(30'000, ' '); }, "the answer is too large", 4},
      {"pages without end", [&] { return page_json(items(10, 0), fmt::format("t{}", number)); },
       "GET /api/v1/configmaps: the list is too large: more than 50 objects" + kDelete, 6},
      {"fat pages", [&] { return page_json(items(2, 5'000), fmt::format("t{}", number)); },
       "GET /api/v1/configmaps: the list is too large: its objects need more than 100000 bytes of memory" + kDelete,
       11},
      {"the same page again and again", [&] { return page_json(items(1, 0), "again"); },
       "GET /api/v1/configmaps: the list does not end: a page names itself as the next one" + kDelete, 2},
      {"empty pages", [&] { return page_json("", fmt::format("t{}", ++number)); },
       "GET /api/v1/configmaps: the list does not end: 100 pages in a row have no object" + kDelete, 100},
      {"many small values", [&] { return page_json(zeros()); },
       "reading the answer to GET /api/v1/configmaps: too large: its values need more than 100000 bytes of memory" +
           kCheck,
       4},
      {"compressed without a request for it", [] { return std::string("\x1f\x8b\x08\x00\x00\x00", 6); },
       "reading the answer to GET /api/v1/configmaps: byte 0x8b is not UTF-8", 1},
  };
  for (const auto& each : cases) {
    Hostile server;
    fake::FakeClock clock;
    Client client(server, clock, {.page = 100, .bounds = kSmall});
    server.answer = [&](const Request&) { return each.answer(); };
    const auto listed = client.list(kMaps, {});
    ASSERT_FALSE(listed) << each.name;
    EXPECT_EQ(listed.error().story(), each.story) << each.name;
    EXPECT_LE(server.limits.size(), each.most_requests) << each.name;
    EXPECT_TRUE(clock.waits().empty()) << each.name << ": what is too large is not asked for again at once";
  }
}

TEST(HostileLists, AreNotVisitedWithoutEnd) {
  Hostile server;
  fake::FakeClock clock;
  Client client(server, clock, {.page = 100, .bounds = kSmall});
  int page = 0;
  server.answer = [&](const Request&) { return page_json(object_json("m"), fmt::format("t{}", ++page)); };
  size_t seen = 0;
  const auto done = client.visit(kMaps, {}, trim_metadata, [&](const doc::Value&) {
    ++seen;
    return Visit::kGoOn;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().story(), "GET /api/v1/configmaps: the list is too large: more than 80 objects" + kDelete);
  EXPECT_EQ(seen, 80U);
}

// A page of large objects is no attack.
TEST(Lists, AreAskedForInSmallerPagesWhereAPageIsTooLarge) {
  Hostile server;
  fake::FakeClock clock;
  Client client(server, clock, {.page = 100, .bounds = kSmall});
  constexpr int kObjects = 14;
  server.answer = [&](const Request& request) {
    const auto number_after = [&](const char* key) {
      const size_t at = request.target.find(key);
      return at == std::string::npos ? 0 : std::stoi(request.target.substr(at + std::string_view(key).size()));
    };
    const int begin = number_after("continue=");
    const int end = std::min(kObjects, begin + number_after("limit="));
    std::string items;
    for (int i = begin; i < end; ++i) items += (i > begin ? "," : "") + object_json(fmt::format("m{}", i), 2'000);
    return page_json(items, end < kObjects ? std::to_string(end) : "");
  };
  const auto listed = client.list(kMaps, {});
  ASSERT_TRUE(listed) << listed.error().to_string();
  EXPECT_EQ(listed->objects.size(), static_cast<size_t>(kObjects));
  EXPECT_EQ(server.limits, (std::vector<std::string>{"limit=100", "limit=25", "limit=6", "limit=6", "limit=6"}));
}

// What a cache holds after each change, at most, and the reasons that it gave, each once while it lasts.
struct HostileWatch : testing::Test {
  Hostile server;
  fake::FakeClock clock;
  Client client{server, clock, {.page = 100, .bounds = kSmall}};
  std::stop_source stop;
  Held most;
  uint64_t changes = 0;
  std::vector<std::string> reasons;
  Informer informer{client, {.resource = kMaps}, [this](const Change&) { look(); }};

  HostileWatch() {
    server.answer = [](const Request&) { return page_json(object_json("a") + "," + object_json("b")); };
  }
  void look() {
    ++changes;
    const Informer::Health now = informer.health();
    most = {.objects = std::max(most.objects, now.objects), .bytes = std::max(most.bytes, now.bytes)};
    const std::string reason = now.error ? now.error->story() : "";
    if (reasons.empty() || reasons.back() != reason) reasons.push_back(reason);
  }
};

TEST_F(HostileWatch, AFloodOfNewObjectsFillsTheCacheToItsBoundAndIsOneTrouble) {
  int number = 0;
  server.piece = [&] {
    if (server.streams > 6) {
      // The server is well again, and says so each minute.
      (void)clock.wait(std::chrono::seconds(60), {});
      if (server.streamed > 0) stop.request_stop();
      return event_json("BOOKMARK", object_json("", 0, 9));
    }
    std::string out;
    for (const int end = number + 20; number < end; ++number)
      out += event_json("ADDED", object_json(fmt::format("n{}", number), 100, number));
    return out;
  };
  informer.run(stop.get_token());
  EXPECT_EQ(most.objects, kSmall.list.objects);
  EXPECT_LE(most.bytes, kSmall.list.bytes);
  EXPECT_EQ(reasons, (std::vector<std::string>{
                         "", "WATCH configmaps: the cache would be too large: more than 50 objects" + kDelete}))
      << "lists that succeed between two floods do not end the trouble";
  EXPECT_EQ(informer.health().error, std::nullopt) << "a watch that lasted does";
  EXPECT_EQ(informer.health().objects, 2U);
  std::vector<milliseconds> pauses = clock.waits();
  std::erase(pauses, std::chrono::seconds(60));
  EXPECT_EQ(pauses, (std::vector<milliseconds>{milliseconds(375), milliseconds(750), milliseconds(1500),
                                               milliseconds(3000), milliseconds(6000), milliseconds(12000)}));
}

TEST_F(HostileWatch, AFloodOfLargeObjectsIsBoundedInBytes) {
  int number = 0;
  server.piece = [&] {
    if (server.streams > 1) stop.request_stop();
    ++number;
    return event_json("ADDED", object_json(fmt::format("n{}", number), 9'000, number));
  };
  informer.run(stop.get_token());
  EXPECT_LE(most.bytes, kSmall.list.bytes);
  EXPECT_GE(most.bytes, kSmall.list.bytes - 10'000);
  EXPECT_EQ(
      informer.health().error->story(),
      "WATCH configmaps: the cache would be too large: its objects need more than 100000 bytes of memory" + kDelete);
}

TEST_F(HostileWatch, EventsOfOneObjectReplaceEachOther) {
  int number = 0;
  server.piece = [&] {
    if (number >= 20'000) stop.request_stop();
    std::string out;
    for (int i = 0; i < 100; ++i) out += event_json("MODIFIED", object_json("a", 100, ++number));
    return out;
  };
  informer.run(stop.get_token());
  EXPECT_GE(changes, 20'000U);
  EXPECT_EQ(most.objects, 2U);
  EXPECT_LE(most.bytes, 4 * held_bytes(parse_object(object_json("a", 100)).value()));
  EXPECT_EQ(informer.health().error, std::nullopt);
}

TEST_F(HostileWatch, AStreamThatIsCutGoesOnFromItsLastEventAndIsOneTrouble) {
  int number = 5;
  server.cut = [&] { return server.streams <= 3 && server.streamed > 1'000; };
  server.piece = [&] {
    if (server.streams > 3) (void)clock.wait(std::chrono::seconds(60), {});
    if (server.streams > 3 && server.streamed > 500) stop.request_stop();
    ++number;
    return event_json("MODIFIED", object_json("a", 100, number));
  };
  informer.run(stop.get_token());
  EXPECT_EQ(informer.health().lists, 1U) << "it is not listed again";
  EXPECT_EQ(informer.health().resource_version, std::to_string(number)) << "no event was lost";
  EXPECT_EQ(reasons, (std::vector<std::string>{"", "the server sends faster than it is read", ""}));
  EXPECT_EQ(informer.health().error, std::nullopt);
}

TEST_F(HostileWatch, AnEventWithoutEndIsReadUpToItsBound) {
  constexpr size_t kPiece = 1'000;
  size_t longest = 0;
  server.piece = [&] {
    longest = std::max(longest, server.streamed + kPiece);
    if (server.streams > 2) stop.request_stop();
    return server.streamed == 0 ? R"({"type":"ADDED","object":{"x":")" + std::string(kPiece, 'y')
                                : std::string(kPiece, 'y');
  };
  informer.run(stop.get_token());
  EXPECT_LE(longest, kSmall.event.text_bytes + 2 * kPiece);
  EXPECT_EQ(informer.health().error->to_string(),
            "WATCH /api/v1/configmaps: an event is too large: more than 10000 bytes" + kCheck);
  EXPECT_EQ(informer.health().objects, 2U) << "what was known stays known";
}

TEST_F(HostileWatch, AListThatIsTooLargeLeavesWhatWasKnown) {
  server.piece = [&] {
    // The watch's place is too old, and the next list is endless.
    server.answer = [&](const Request&) {
      if (clock.waits().size() > 8) stop.request_stop();
      return std::string(30'000, ' ');
    };
    return event_json("ERROR", R"({"kind":"Status","code":410,"reason":"Expired"})");
  };
  informer.run(stop.get_token());
  EXPECT_EQ(informer.health().objects, 2U);
  EXPECT_TRUE(informer.health().synced);
  EXPECT_EQ(informer.health().lists, 1U);
  EXPECT_EQ(informer.health().error->story(), "the answer is too large");
  EXPECT_EQ(clock.waits().back(), milliseconds(22'500)) << "three quarters of 30 s";
}

}  // namespace
}  // namespace railbed::kube
