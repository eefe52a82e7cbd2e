// SPDX-License-Identifier: Apache-2.0
#include "kube/object.h"

#include <gtest/gtest.h>

#include "doc/json.h"
#include "kube/api_error.h"
#include "kube/kinds.h"
#include "kube/retry.h"

namespace railbed::kube {
namespace {

TEST(Resource, HasPathsThatNoNameCanLeave) {
  EXPECT_EQ(object_path(kPods, {"ai", "a.b-1"}).value(), "/api/v1/namespaces/ai/pods/a.b-1");
  EXPECT_EQ(object_path(kLeases, {"ai", "x"}, Part::kStatus).value(),
            "/apis/coordination.k8s.io/v1/namespaces/ai/leases/x/status");
  EXPECT_EQ(object_path(kPods, {"ai", "x"}, Part::kEviction).value(), "/api/v1/namespaces/ai/pods/x/eviction");
  EXPECT_EQ(object_path(kNodes, {"", "n 1?a=b#c"}).value(), "/api/v1/nodes/n%201%3Fa%3Db%23c");
  EXPECT_EQ(kPods.collection_path("").value(), "/api/v1/pods");
  const struct {
    Resource resource;
    ObjectKey key;
    std::string message;
  } refused_paths[] = {
      {kPods, {"ai", ""}, "an object without a name"},
      {kPods, {"", "x"}, "Pod \"x\" without a namespace"},
      {kPods, {"..", "x"}, "\"..\" is not a namespace"},
      {kPods, {"ai", "../../secrets/x"}, "\"../../secrets/x\" is not a name"},
      {kPods, {"ai", "a%2Fb"}, "\"a%2Fb\" is not a name"},
      {kNodes, {"ai", "n"}, "nodes have no namespace, and one is given: ai"},
  };
  for (const auto& each : refused_paths) {
    const auto path = object_path(each.resource, each.key);
    ASSERT_FALSE(path) << each.message;
    EXPECT_EQ(path.error().message, each.message);
  }
}

doc::Value parsed(std::string_view json) {
  auto value = parse_object(json);
  EXPECT_TRUE(value) << json;
  return value ? *value : doc::Value();
}

TEST(Object, HasTheLabelsThatAreTexts) {
  using Labels = std::map<std::string, std::string>;
  EXPECT_EQ(labels_of(parsed(R"({"metadata":{"labels":{"a":"1","b":"","c":2}}})")), (Labels{{"a", "1"}, {"b", ""}}));
  EXPECT_EQ(labels_of(parsed(R"({"metadata":{}})")), Labels());
  EXPECT_EQ(labels_of(parsed(R"({"metadata":{"labels":null}})")), Labels());
}

TEST(Trim, DropsManagedFieldsAndTheCopyOfKubectl) {
  doc::Value object = parsed(R"({"metadata":{"name":"a","managedFields":[{}],"annotations":
    {"kubectl.kubernetes.io/last-applied-configuration":"{}","k":"v"}},"spec":{"x":1}})");
  trim_metadata(object);
  EXPECT_EQ(doc::to_json(object), R"({"metadata":{"name":"a","annotations":{"k":"v"}},"spec":{"x":1}})");
}

TEST(Trim, KeepsOnlyTheNamedFieldsAlsoInLists) {
  doc::Value object =
      parsed(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"nodeName":"n","nodeNames":1,
    "containers":[{"name":"c","image":"i","resources":{"limits":{"x":"1"}}}]},"status":{"phase":"Running","conditions":[]}})");
  pod_trim()(object);
  EXPECT_EQ(doc::to_json(object),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"},"spec":{"nodeName":"n","containers":)"
            R"([{"name":"c","resources":{"limits":{"x":"1"}}}]},"status":{"phase":"Running"}})");
}

// It is logged, and shown on terminals.
TEST(ApiError, HasNoControlCharactersAndAnEnd) {
  const std::string body =
      R"({"kind":"Status","code":403,"reason":"\u001b[2J","message":")" + std::string(100'000, 'x') + "\"}";
  const ApiError refusal = refused("GET /x", 403, body);
  EXPECT_EQ(refusal.message, "GET /x: 403 \\x1b[2J: " + std::string(kMostMessageBytes, 'x'));
  EXPECT_EQ(refusal.reason, "\\x1b[2J");
  const auto garbled = parse_object(std::string("{\"a\x1b\" ") + '\x01');
  ASSERT_FALSE(garbled.has_value());
  EXPECT_EQ(garbled.error().message.find_first_of("\x1b\x01"), std::string::npos) << garbled.error().message;
  const auto endless = parse_object("{\"" + std::string(100'000, 'k') + "\" 1}");
  ASSERT_FALSE(endless.has_value());
  EXPECT_LE(endless.error().message.size(), kMostMessageBytes);
}

TEST(ApiError, ReportsWhatTheServerSaid) {
  const ApiError error =
      refused("GET /x", 403, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no\u001b[31m"})");
  EXPECT_EQ(error.to_string(),
            "GET /x: 403 Forbidden: no\\x1b[31m\n  grant it with a Role or ClusterRole and a binding to this user");
  EXPECT_EQ(error.code, Code::kDenied);
  EXPECT_EQ(refused("GET /x", 502, "<html>bad gateway</html>\n").message, "GET /x: 502: <html>bad gateway</html>");
  EXPECT_EQ(refused("GET /x", 500, "").message, "GET /x: 500");
  const ApiError busy = refused("GET /x", 429, R"({"kind":"Status","code":429,"details":{"retryAfterSeconds":7}})");
  EXPECT_EQ(busy.retry_after, std::chrono::seconds(7));
  EXPECT_EQ(busy.code, Code::kBusy);
}

TEST(ApiError, WaitsMinutesAtMost) {
  const auto reported = [](const char* wait) {
    return refused("GET /x", 429, fmt::format(R"({{"kind":"Status","details":{{"retryAfterSeconds":{}}}}})", wait))
        .retry_after;
  };
  EXPECT_EQ(reported("300"), std::chrono::seconds(300));
  EXPECT_EQ(reported("301"), kLongestRetryAfter);
  EXPECT_EQ(reported("1000000"), kLongestRetryAfter);
  EXPECT_EQ(reported("-1"), std::nullopt);
}

TEST(Retry, RepeatsOnlyWhatIsSurelyNotDoneOrMayBeDoneTwice) {
  const auto with_status = [](int status) { return refused("x", status, ""); };
  const auto cut = unanswered(Code::kIo, Delivery::kUnknown, "cut");
  const auto refused_connection = unanswered(Code::kIo, Delivery::kNotSent, "refused");
  const auto wrong_ca = unanswered(Code::kDenied, Delivery::kNotSent, "wrong CA");
  const auto stopped = unanswered(Code::kCanceled, Delivery::kNotSent, "stop");
  const struct {
    ApiError error;
    bool safe;
    bool unsafe;
  } cases[] = {
      {with_status(429), true, true},   {with_status(503), true, false},
      {with_status(502), true, false},  {with_status(504), true, false},
      {with_status(500), false, false}, {with_status(404), false, false},
      {with_status(409), false, false}, {with_status(401), false, false},
      {with_status(410), false, false}, {cut, true, false},
      {refused_connection, true, true}, {wrong_ca, false, false},
      {stopped, false, false},
  };
  for (const auto& each : cases) {
    EXPECT_EQ(pause_before_retry(each.error, Repeat::kSafe, 1, 0, {}).has_value(), each.safe) << each.error.message;
    EXPECT_EQ(pause_before_retry(each.error, Repeat::kUnsafe, 1, 0, {}).has_value(), each.unsafe) << each.error.message;
    const bool answered = each.error.delivery == Delivery::kAnswered;
    EXPECT_EQ(pause_before_retry(each.error, Repeat::kNotAnswered, 1, 0, {}).has_value(), each.unsafe && !answered)
        << each.error.message;
  }
}

TEST(Retry, PausesDoubleWithChanceAndHonourTheServer) {
  const RetrySettings settings{.tries = 20, .first = milliseconds(100), .longest = milliseconds(1000)};
  ApiError error = refused("x", 503, "");
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 1, 0, settings), milliseconds(50));
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 1, 0.5, settings), milliseconds(75));
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 3, 0, settings), milliseconds(200));
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 19, 0, settings), milliseconds(500));
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 20, 0, settings), std::nullopt);
  error.retry_after = std::chrono::seconds(3);
  EXPECT_EQ(pause_before_retry(error, Repeat::kSafe, 1, 0, settings), milliseconds(3050));
}

}  // namespace
}  // namespace railbed::kube
