// SPDX-License-Identifier: Apache-2.0
#include "doc/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "doc/arbitrary_value.h"
#include "doc/scalar.h"

namespace railbed::doc {
namespace {

// A terminal must not obey what a document for programs holds.
TEST(JsonWriter, EscapesControlCharactersOfBothSets) {
  EXPECT_EQ(json_quoted("\x1b\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc2"), "\"\\u001b\\u007f\\u0080\\u009f\xc2\xa0\xc2\"");
}

SourcePtr json_source(std::string text, std::string name = "a.json") {
  return std::make_shared<const Source>(Source{std::move(name), std::move(text)});
}

struct ParsedJson {
  std::optional<Value> value;
  std::string messages;
};
ParsedJson parsed_json(std::string text) {
  Diagnostics diagnostics;
  auto value = parse_json(json_source(std::move(text)), diagnostics);
  return {value, render(diagnostics)};
}

nlohmann::ordered_json oracle(const Value& value) {
  using Json = nlohmann::ordered_json;
  if (const bool* b = value.as_bool()) return *b;
  if (const int64_t* i = value.as_int()) return *i;
  if (const double* d = value.as_double_exact()) return *d;
  if (const std::string* s = value.as_string()) return *s;
  if (const auto* items = value.as_array()) {
    Json out = Json::array();
    for (const Value& item : *items) out.push_back(oracle(item));
    return out;
  }
  if (const auto* members = value.as_object()) {
    Json out = Json::object();
    for (const Value::Member& member : *members) out[member.key] = oracle(member.value);
    return out;
  }
  return nullptr;
}

RC_GTEST_PROP(Json, WhatIsWrittenReadsBackTheSame, ()) {
  const Value value = *arbitrary_value();
  const int indent = *rc::gen::element(0, 2, 4);
  const ParsedJson back = parsed_json(to_json(value, indent));
  RC_ASSERT(back.messages == "");
  RC_ASSERT(back.value.has_value());
  RC_ASSERT(*back.value == value);
}

RC_GTEST_PROP(Json, AnotherReaderSeesTheSame, ()) {
  const Value value = *arbitrary_value();
  const auto theirs = nlohmann::ordered_json::parse(to_json(value), nullptr, false);
  RC_ASSERT(!theirs.is_discarded());
  RC_ASSERT(theirs == oracle(value));
}

RC_GTEST_PROP(Json, ReadsWhatAnotherWriterWrites, ()) {
  const Value value = *arbitrary_value();
  const ParsedJson back = parsed_json(oracle(value).dump(*rc::gen::element(-1, 1, 4)));
  RC_ASSERT(back.value.has_value());
  RC_ASSERT(oracle(*back.value) == oracle(value));
}

// Valid text with one byte changed: both readers must agree whether it is still JSON.
RC_GTEST_PROP(Json, AgreesWithAnotherReaderAboutDamagedText, ()) {
  std::string text = to_json(*arbitrary_value(2), *rc::gen::element(0, 2));
  const size_t at = *rc::gen::inRange<size_t>(0, text.size());
  const char byte = *rc::gen::element('{', '}', '[', ']', '"', ',', ':', '\\', 'e', '0', '.', '-', ' ', '\n', '\x80');
  text[at] = byte;
  const ParsedJson ours = parsed_json(text);
  const auto theirs = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool duplicate = ours.messages.find("RB-JSON-002") != std::string::npos;  // the other reader accepts duplicates
  RC_ASSERT(ours.value.has_value() == !theirs.is_discarded() || duplicate);
  if (ours.value) RC_ASSERT(oracle(*ours.value) == theirs);
}

TEST(Json, EdgesOfTheStandardAreAccepted) {
  const std::pair<const char*, Value> cases[] = {
      {"0", 0},
      {"-0", 0},
      {" \t\r\n1 ", 1},
      {"\xEF\xBB\xBF[]", Value::array()},
      {"9223372036854775807", int64_t{INT64_MAX}},
      {"-9223372036854775808", int64_t{INT64_MIN}},
      {"9223372036854775808", 9223372036854775808.0},
      {"1E5", 1e5},
      {"1e-2", 0.01},
      {"1e-999", 0.0},
      {"0.5", 0.5},
      {"\"\"", ""},
      {"\"\\u0041\\n\\/\"", "A\n/"},
      {"\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80"},
      {"\"\\u0000\"", std::string(1, '\0')},
      {"\"\x7F\"", "\x7F"},
      {"[[],{}]", Value::Array{Value::array(), Value::object()}},
      {"{\"\":null}", Value::Object{{"", {}, Value()}}},
      {"true", true},
      {"null", Value()},
  };
  for (const auto& [text, expected] : cases) {
    const ParsedJson parsed = parsed_json(text);
    ASSERT_TRUE(parsed.value) << text << "\n" << parsed.messages;
    EXPECT_EQ(*parsed.value, expected) << text;
  }
}

TEST(Json, EveryMistakeHasItsPlaceAndItsFix) {
  const std::pair<std::string, const char*> cases[] = {
      {"",
       "a.json:1:1: error: expected a value, found the end of the text [RB-JSON-001]\n"
       "     1 | \n       | ^\n"},
      {"{\"a\":1,}",
       "a.json:1:7: error: a ',' before '}' [RB-JSON-001]\n"
       "     1 | {\"a\":1,}\n       |       ^\n  fix: remove the ','\n"},
      {"[1 2]",
       "a.json:1:4: error: expected ',' or ']', found '2' [RB-JSON-001]\n"
       "     1 | [1 2]\n       |    ^\n"},
      {"{a:1}",
       "a.json:1:2: error: expected a key in double quotes, found 'a' [RB-JSON-001]\n"
       "     1 | {a:1}\n       |  ^\n"},
      {"{\"a\" 1}",
       "a.json:1:6: error: expected ':' after key \"a\", found '1' [RB-JSON-001]\n"
       "     1 | {\"a\" 1}\n       |      ^\n"},
      {"['x']",
       "a.json:1:2: error: JSON strings must be in double quotes [RB-JSON-001]\n"
       "     1 | ['x']\n"
       "       |  ^\n"
       "  fix: write \"…\"\n"},
      {"[True]",
       "a.json:1:2: error: 'True' is not a JSON value [RB-JSON-001]\n"
       "     1 | [True]\n       |  ^~~~\n  fix: write true\n"},
      {"[None]",
       "a.json:1:2: error: 'None' is not a JSON value [RB-JSON-001]\n"
       "     1 | [None]\n       |  ^~~~\n  fix: write null\n"},
      {"[1] // x",
       "a.json:1:5: error: text after the end of the JSON value [RB-JSON-001]\n"
       "     1 | [1] // x\n       |     ^\n"},
      {"[ // x\n1]",
       "a.json:1:3: error: JSON has no comments [RB-JSON-001]\n"
       "     1 | [ // x\n       |   ^\n  fix: remove the comment\n"},
      {"01",
       "a.json:1:1: error: a number does not begin with 0 [RB-JSON-001]\n"
       "     1 | 01\n       | ^\n  fix: remove the leading zeros, or put it in double quotes\n"},
      {"1.",
       "a.json:1:3: error: expected a digit after '.', found the end of the text [RB-JSON-001]\n"
       "     1 | 1.\n       |   ^\n"},
      {"\"ab",
       "a.json:1:1: error: the text that begins here has no closing '\"' [RB-JSON-001]\n"
       "     1 | \"ab\n       | ^~~\n"},
      {"\"a\tb\"",
       "a.json:1:3: error: a control character inside a text is written as an escape [RB-JSON-001]\n"
       "     1 | \"a\tb\"\n       |   ^\n  fix: write \\u0009\n"},
      {"\"\\x\"",
       "a.json:1:2: error: unknown escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX [RB-JSON-001]\n     1 "
       "| \"\\x\"\n       |  ^~\n"},
      {"\"\\u12G4\"",
       "a.json:1:6: error: \\u is followed by four hexadecimal digits [RB-JSON-001]\n"
       "     1 | \"\\u12G4\"\n       |      ^\n"},
      {"\"\\ud800\"",
       "a.json:1:2: error: half of a surrogate pair without the other half [RB-JSON-001]\n"
       "     1 | \"\\ud800\"\n       |  ^~~~~~\n"},
      {"\"\xC0\x80\"",
       "a.json:1:2: error: byte 0xc0 is not UTF-8 [RB-JSON-004]\n"
       "     1 | \"\xEF\xBF\xBD\xEF\xBF\xBD\"\n       |  ^\n"},
      {"1e999",
       "a.json:1:1: error: the number is too large for a 64-bit float [RB-JSON-005]\n"
       "     1 | 1e999\n       | ^~~~~\n"},
      {"{\"a\":1,\n \"a\":2}",
       "a.json:2:2: error: duplicate key \"a\" [RB-JSON-002]\n"
       "     2 |  \"a\":2}\n"
       "       |  ^~~\n"
       "  note: a.json:1:2: first defined here\n"
       "     1 | {\"a\":1,\n"
       "       |  ^~~\n"},
      {"[1][2]",
       "a.json:1:4: error: text after the end of the JSON value [RB-JSON-001]\n"
       "     1 | [1][2]\n       |    ^\n"},
  };
  for (const auto& [text, expected] : cases) {
    const ParsedJson parsed = parsed_json(text);
    EXPECT_FALSE(parsed.value) << text;
    EXPECT_EQ(parsed.messages, expected) << text;
  }
}

TEST(Json, NestingIsLimited) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parsed_json(nested(kMaxDepth)).value);
  EXPECT_FALSE(parsed_json(nested(kMaxDepth + 1)).value);
  EXPECT_FALSE(parsed_json(std::string(1'000'000, '[')).value);
}

TEST(Json, ManyKeysAreReadInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += fmt::format("{}\"k{}\":{}", i ? "," : "", i, i);
  const ParsedJson parsed = parsed_json(text + "}");
  ASSERT_TRUE(parsed.value);
  EXPECT_EQ(parsed.value->as_object()->size(), 200'000u);
}

TEST(Json, SpansStandAtTheValue) {
  const ParsedJson parsed = parsed_json("{\n  \"ip\": \"10.0.0.1\"\n}");
  ASSERT_TRUE(parsed.value);
  EXPECT_EQ(parsed.value->find("ip")->span.to_string(), "a.json:2:9");
  EXPECT_EQ(parsed.value->find("ip")->written(), "\"10.0.0.1\"");
}

}  // namespace
}  // namespace railbed::doc
