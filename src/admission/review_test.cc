// SPDX-License-Identifier: Apache-2.0
#include "admission/review.h"

#include <gtest/gtest.h>

#include "admission/test_patches.h"

namespace railbed::admission {
namespace {

constexpr std::string_view kHead = R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":)";

std::string review_text(std::string_view request) {
  return std::string(kHead).append(request).append("}");
}

TEST(ReadReview, ReadsWhatAnApiServerSends) {
  const auto read = read_review(review_text(R"({"uid":"7","kind":{"group":"apps","version":"v1","kind":"Deployment"},
    "resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale","name":"w","namespace":"ai",
    "operation":"UPDATE","userInfo":{"username":"jane","groups":["g"]},"dryRun":true,
    "object":{"a":1},"oldObject":{"a":2},"options":{"kind":"UpdateOptions"}})"));
  ASSERT_TRUE(read.has_value());
  const Review expected{.uid = "7",
                        .operation = Operation::kUpdate,
                        .group = "apps",
                        .kind = "Deployment",
                        .subresource = "scale",
                        .ns = "ai",
                        .name = "w",
                        .user = "jane",
                        .dry_run = true,
                        .object = json_of(R"({"a":1})"),
                        .old_object = json_of(R"({"a":2})"),
                        .options = json_of(R"({"kind":"UpdateOptions"})")};
  EXPECT_TRUE(*read == expected);
}

TEST(ReadReview, AnswersWhatItCannotRead) {
  const struct {
    std::string text;
    std::string uid;
    std::string why;
  } kCases[] = {
      {std::string(kMaxReviewBytes + 1, ' '), "", "it has 8388609 bytes, and 8388608 are the limit"},
      {R"({"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"})", "",
       "it is no AdmissionReview of admission.k8s.io/v1"},
      {R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})", "", "it has no request"},
      {review_text("[]"), "", "it has no request"},
      {review_text(R"({"uid":7})"), "", "request.uid must have 1 to 128 bytes"},
      {review_text(R"({"uid":")" + std::string(129, 'u') + R"("})"), "", "request.uid must have 1 to 128 bytes"},
      {review_text(R"({"uid":"7","operation":"PATCH"})"), "7",
       "request.operation must be one of CREATE, UPDATE, DELETE, CONNECT, found a string \"PATCH\""},
      {review_text(R"({"uid":"7","operation":"CREATE","kind":"Pod"})"), "7", "request.kind has no kind"},
      {review_text(R"({"uid":"7","operation":"CREATE","kind":{"kind":"Pod"},"object":null})"), "7",
       "request.object must be an object, found null"},
      {review_text(R"({"uid":"7","operation":"UPDATE","kind":{"kind":"Pod"},"object":{}})"), "7",
       "request.oldObject must be an object, found null"},
  };
  for (const auto& one : kCases) {
    const auto read = read_review(one.text);
    ASSERT_FALSE(read.has_value()) << one.why;
    const Answer expected{.uid = one.uid,
                          .allowed = false,
                          .code = 400,
                          .message = "railbed cannot read this AdmissionReview: " + one.why};
    EXPECT_TRUE(read.error() == expected) << read.error().message;
  }
}

TEST(ReadReview, RefusesHostileTexts) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& text :
       {std::string(), std::string("\0", 1), std::string("[]"), std::string("{"), std::string("\xff\xfe"),
        std::string(R"({"kind":"a","kind":"b"})"), review_text(deep), deep, review_text("1") + review_text("2")}) {
    const auto read = read_review(text);
    ASSERT_FALSE(read.has_value());
    EXPECT_EQ(read.error().code, 400);
    EXPECT_FALSE(read.error().allowed);
  }
}

TEST(ToJson, SendsWhatAnApiServerReads) {
  EXPECT_EQ(to_json({.uid = "7"}),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"7","allowed":true}})");
  Answer no = refusal("7", "no");
  no.warnings = {"w"};
  EXPECT_EQ(to_json(no),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"7","allowed":false,)"
            R"("status":{"code":403,"message":"no","reason":"Forbidden"},"warnings":["w"]}})");
  // [{"op":"add","path":"/a","value":1}]
  EXPECT_EQ(to_json({.uid = "7", .patches = {{.path = "/a", .value = 1}}}),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"7","allowed":true,)"
            R"("patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQiLCJwYXRoIjoiL2EiLCJ2YWx1ZSI6MX1d"}})");
}

TEST(WarningText, KeepsTheIdAndEndsAtAWord) {
  const std::string word(40, 'w');
  const struct {
    std::string id;
    std::string message;
    std::string expected;
  } kCases[] = {
      {"RB-A-001", "short", "RB-A-001 short"},
      {"", "without an id", "without an id"},
      {"RB-A-001", "two\nlines\tand\x7f", "RB-A-001 two lines and "},
      {"RB-A-001", std::string(111, 'w'), "RB-A-001 " + std::string(111, 'w')},
      // 9 + 2 * 41 are 91 characters, and with the third word 132.
      {"RB-A-001", word + " " + word + " " + word, "RB-A-001 " + word + " " + word + "…"},
      {"RB-A-001", std::string(200, 'w'), "RB-A-001 " + std::string(110, 'w') + "…"},
  };
  for (const auto& one : kCases) EXPECT_EQ(warning_text(one.id, one.message), one.expected);
  // Characters count, not bytes, and none is cut into two.
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ä";
  EXPECT_EQ(warning_text("", umlauts), umlauts.substr(0, 2 * 119) + "…");
  EXPECT_EQ(warning_text("", umlauts.substr(0, 2 * 120)), umlauts.substr(0, 2 * 120));
}

TEST(PointerPart, EscapesWhatAPointerCannotHave) {
  EXPECT_EQ(pointer_part("openshift.io/rail0"), "openshift.io~1rail0");
  EXPECT_EQ(pointer_part("a~1/b"), "a~01~1b");
}

}  // namespace
}  // namespace railbed::admission
