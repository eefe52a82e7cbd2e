// SPDX-License-Identifier: Apache-2.0
#include "kube/watch_decoder.h"

#include <gtest/gtest.h>

#include "kube/object.h"

namespace railbed::kube {
namespace {

std::string event(const std::string& type, const std::string& name) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name + R"("}}})";
}

std::vector<std::string> names_of(std::string_view bytes, size_t cut) {
  WatchDecoder decoder;
  std::vector<std::string> out;
  for (size_t at = 0; at < bytes.size(); at += cut) {
    decoder.push(bytes.substr(at, cut));
    for (auto next = decoder.next(); next && *next; next = decoder.next())
      out.push_back(fmt::format("{}{}", static_cast<int>((*next)->type), key_of((*next)->object).name));
  }
  return out;
}

TEST(WatchDecoder, ReadsEventsCutAnywhere) {
  const std::string bytes = event("ADDED", "a") + "\n" + event("MODIFIED", "b") + "\r\n\n" + event("DELETED", "c") +
                            "\n" + event("BOOKMARK", "d") + "\n" + event("ERROR", "e") + "\n";
  const std::vector<std::string> wanted = {"0a", "1b", "2c", "3d", "4e"};
  for (size_t cut = 1; cut <= bytes.size(); ++cut) EXPECT_EQ(names_of(bytes, cut), wanted) << cut;
}

TEST(WatchDecoder, RefusesWhatIsNoEvent) {
  const struct {
    std::string line;
    std::string message;
  } cases[] = {
      {"{", "reading an event of a watch: expected a key in double quotes, found the end of the text"},
      {"[]", "reading an event of a watch: expected a JSON object, found a list"},
      {R"({"type":"GREW","object":{}})", "a watch has an event of the type \"GREW\""},
      {R"({"object":{}})", "a watch has an event of the type \"\""},
      {R"({"type":"ADDED"})", "a watch has an event ADDED without an object"},
      {R"({"type":"ADDED","object":[]})", "a watch has an event ADDED without an object"},
  };
  for (const auto& each : cases) {
    WatchDecoder decoder;
    decoder.push(each.line + "\n");
    const auto next = decoder.next();
    ASSERT_FALSE(next) << each.line;
    EXPECT_EQ(next.error().story(), each.message);
  }
}

TEST(WatchDecoder, BoundsALineAndKnowsACutOne) {
  WatchDecoder decoder({.text_bytes = 100, .memory_bytes = 1 << 20});
  decoder.push(event("ADDED", "a"));
  EXPECT_TRUE(decoder.next().has_value());
  EXPECT_TRUE(decoder.in_line());
  decoder.push(std::string(100, ' '));
  EXPECT_EQ(decoder.next().error().message,
            "an event is too large: more than 100 bytes; check the API server and any proxy in front of it");
}

TEST(WatchDecoder, BoundsTheMemoryOfAnEvent) {
  WatchDecoder decoder({.text_bytes = 1 << 20, .memory_bytes = 10'000});
  std::string zeros;
  for (int i = 0; i < 1'000; ++i) zeros += ",0";
  decoder.push(R"({"type":"ADDED","object":{"a":[0)" + zeros + "]}}\n");
  EXPECT_EQ(
      decoder.next().error().story(),
      "reading an event of a watch: too large: its values need more than 10000 bytes of memory; check the API server and any proxy in front "
      "of it");
}

TEST(WatchDecoder, GivesBackTheMemoryOfALargeEvent) {
  WatchDecoder decoder;
  decoder.push(R"({"type":"ADDED","object":{"metadata":{"name":"a"},"x":")" + std::string(3 << 20, 'x') + "\"}}\n");
  EXPECT_EQ(key_of((*decoder.next())->object).name, "a");
  EXPECT_GE(decoder.held_bytes(), size_t{3} << 20);
  decoder.push(event("ADDED", "b") + "\n");
  EXPECT_EQ(key_of((*decoder.next())->object).name, "b");
  EXPECT_LE(decoder.held_bytes(), size_t{1} << 20);
}

}  // namespace
}  // namespace railbed::kube
