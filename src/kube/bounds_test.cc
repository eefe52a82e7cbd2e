// SPDX-License-Identifier: Apache-2.0
#include "kube/bounds.h"

#include <gtest/gtest.h>

#include "kube/object.h"

namespace railbed::kube {
namespace {

doc::Value of_json(const std::string& json) {
  return parse_object(json).value();
}

// A page: how many objects, the token it was asked for with, and the one that it names.
struct Page {
  size_t objects;
  std::string token;
  std::string next;
};

// How the pages of a list are judged, up to the first that is refused: "ok", or the message.
std::string judged(const std::vector<Page>& pages, const CacheBounds& bounds) {
  ListProgress progress;
  for (const Page& page : pages) {
    const std::vector<doc::Value> objects(page.objects, of_json(R"({"metadata":{"name":"a"}})"));
    const auto fits = list_page_fits(progress, objects, page.token, page.next, bounds, "GET /pods");
    if (!fits) return fits.error().to_string();
  }
  return "ok";
}

TEST(ListPages, AreTakenWithinTheBoundsAndWhileTheyGoOn) {
  const std::string what_to_do = fmt::format("; {}", kDeleteObjects);
  const CacheBounds bounds{.objects = 5, .bytes = 1 << 20};
  const size_t one = held_bytes(of_json(R"({"metadata":{"name":"a"}})"));
  const std::vector<Page> empty_then_one = [] {
    std::vector<Page> out;
    for (int i = 0; i < kMostEmptyPages - 1; ++i)
      out.push_back({0, i == 0 ? "" : std::to_string(i), std::to_string(i + 1)});
    out.push_back({1, std::to_string(kMostEmptyPages - 1), "x"});
    out.push_back({0, "x", "y"});
    return out;
  }();
  const std::vector<Page> empty = [] {
    std::vector<Page> out;
    for (int i = 0; i < kMostEmptyPages; ++i) out.push_back({0, std::to_string(i), std::to_string(i + 1)});
    return out;
  }();
  const struct {
    const char* name;
    std::vector<Page> pages;
    CacheBounds bounds;
    std::string wanted;
  } cases[] = {
      {"one page", {{5, "", ""}}, bounds, "ok"},
      {"nothing", {{0, "", ""}}, bounds, "ok"},
      {"two pages", {{2, "", "a"}, {3, "a", ""}}, bounds, "ok"},
      {"too many",
       {{2, "", "a"}, {4, "a", ""}},
       bounds,
       "GET /pods: the list is too large: more than 5 objects" + what_to_do},
      {"exactly as large", {{3, "", ""}}, {.objects = 5, .bytes = 3 * one}, "ok"},
      {"a byte too large",
       {{3, "", ""}},
       {.objects = 5, .bytes = 3 * one - 1},
       fmt::format("GET /pods: the list is too large: its objects need more than {} bytes of memory", 3 * one - 1) +
           what_to_do},
      {"itself again",
       {{1, "", "a"}, {1, "a", "a"}},
       bounds,
       "GET /pods: the list does not end: a page names itself as the next one" + what_to_do},
      {"all filtered out for long", empty_then_one, bounds, "ok"},
      {"empty forever", empty, bounds,
       "GET /pods: the list does not end: 100 pages in a row have no object" + what_to_do},
  };
  for (const auto& each : cases) EXPECT_EQ(judged(each.pages, each.bounds), each.wanted) << each.name;
}

TEST(Bounds, CountTheMemoryOfObjects) {
  const size_t empty = held_bytes(of_json("{}"));
  EXPECT_EQ(held_bytes(of_json("{}")), empty);
  EXPECT_GE(held_bytes(of_json(R"({"a":")" + std::string(1000, 'x') + "\"}")), empty + 1000);
  EXPECT_GE(held_bytes(of_json(R"({"a":[0,0,0,0]})")), empty + 4 * sizeof(doc::Value));
  EXPECT_GE(held_bytes(of_json(R"({"a":{"b":{"c":0}}})")), empty + 3 * sizeof(doc::Value::Member));
}

// Texts of which a byte becomes 40 and more.
TEST(Bounds, RefuseAnObjectWhoseValuesNeedTooMuchMemoryBeforeItIsMade) {
  std::string zeros = R"({"a":[0)";
  for (int i = 0; i < 10'000; ++i) zeros += ",0";
  zeros += "]}";
  EXPECT_GE(memory_needed(zeros), 10'000 * sizeof(doc::Value));
  EXPECT_GE(memory_needed(zeros), held_bytes(of_json(zeros)) / 2) << "a list may have twice the room that it needs";
  EXPECT_TRUE(parse_object(zeros, memory_needed(zeros)).has_value());
  const auto refused = parse_object(zeros, 100'000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kExhausted);
  EXPECT_EQ(
      refused.error().message,
      "too large: its values need more than 100000 bytes of memory; check the API server and any proxy in front of it");
  const std::string text = R"({"a":"[,,\",,{)" + std::string(50'000, ',') + "\"}";
  EXPECT_TRUE(parse_object(text, 60'000).has_value()) << "commas inside of a text are no values";
  for (const char* broken : {"", "\"", "\"\\", "{\"a\\\"", ",,,"}) EXPECT_GT(memory_needed(broken), 0U) << broken;
}

}  // namespace
}  // namespace railbed::kube
