// SPDX-License-Identifier: Apache-2.0
#include "doc/fields.h"

#include <gtest/gtest.h>

#include "doc/members.h"
#include "doc/yaml.h"

namespace railbed::doc {
namespace {

enum class Mode { kLegacy, kSwitchdev };
constexpr std::string_view kModes[] = {"legacy", "switchdev"};

// A struct with a member of every kind that can be read.
struct Everything {
  std::string name = "unset";
  int number = -1;
  uint8_t small = 7;
  uint64_t large = 0;
  double rate = 0.5;
  bool on = true;
  std::optional<int> maybe;
  std::optional<MacAddress> mac;
  PciAddress pci;
  VfIndex vf;
  std::vector<std::string> names = {"default"};
  std::map<std::string, int> labels;
  Mode mode = Mode::kLegacy;
  std::optional<uint64_t> prefix;
  std::vector<int> inner;
};

void read_everything(Fields& fields, Everything& out) {
  fields.read("name", out.name, {.bytes = 5});
  fields.read("number", out.number, {.min = 1});
  fields.read("small", out.small);
  fields.read("large", out.large);
  fields.read("rate", out.rate, {.min = 0, .max = 10});
  fields.read("on", out.on);
  fields.read("maybe", out.maybe, {.min = 0, .max = 9});
  fields.read("mac", out.mac);
  fields.read("pci", out.pci);
  fields.read("vf", out.vf);
  fields.read("names", out.names, {.bytes = 3, .entries = 2});
  fields.read("labels", out.labels);
  fields.choose("mode", kModes, out.mode);
  fields.hex("prefix", out.prefix);
  fields.each("inner", out.inner, [](Fields& one, int& number) { one.need("x", number); }, 3);
}

// What is read of JSON text, and the first complaint.
std::pair<Everything, std::string> everything_in(const std::string& text, const std::string& name = "in") {
  Everything out;
  const Result<Value> object = read_object(name, text);
  if (!object) return {out, object.error().to_string()};
  Diagnostics found;
  Fields fields(*object, "", kNoFamily, found);
  read_everything(fields, out);
  const Result<void> error = first_error(found);
  return {out, error ? "" : error.error().to_string()};
}

TEST(Fields, FillsEveryKindOfMember) {
  const auto [out, error] =
      everything_in(R"({"name": "a", "number": 3, "small": 255, "large": 9223372036854775807, "rate": 2,
    "on": false, "maybe": 0, "mac": "02:00:00:00:00:01", "pci": "0000:3b:02.5", "vf": 4, "names": ["x", "y"],
    "labels": {"k": 1}, "mode": "switchdev", "prefix": "0xfe80000000000001", "inner": [{"x": 8}, {"x": 9}]})");
  EXPECT_EQ(error, "");
  EXPECT_EQ(out.name, "a");
  EXPECT_EQ(out.number, 3);
  EXPECT_EQ(out.small, 255);
  EXPECT_EQ(out.large, 9223372036854775807U);  // 2^53 is no limit here
  EXPECT_EQ(out.rate, 2.0);
  EXPECT_FALSE(out.on);
  EXPECT_EQ(out.maybe, 0);
  EXPECT_EQ(out.mac->to_string(), "02:00:00:00:00:01");
  EXPECT_EQ(out.pci.to_string(), "0000:3b:02.5");
  EXPECT_EQ(out.vf.value, 4);
  EXPECT_EQ(out.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(out.labels.at("k"), 1);
  EXPECT_EQ(out.mode, Mode::kSwitchdev);
  EXPECT_EQ(out.prefix, 0xfe80000000000001U);
  EXPECT_EQ(out.inner, (std::vector<int>{8, 9}));
}

TEST(Fields, LeavesWhatIsAbsentOrNullAsItIs) {
  for (const char* text : {"{}", R"({"name": null, "number": null, "names": null, "mac": "", "mode": "",
                                     "prefix": null, "inner": null, "labels": null})"}) {
    const auto [out, error] = everything_in(text);
    EXPECT_EQ(error, "") << text;
    EXPECT_EQ(out.name, "unset");
    EXPECT_EQ(out.number, -1);
    EXPECT_EQ(out.names, std::vector<std::string>{"default"});
    EXPECT_FALSE(out.mac || out.maybe || out.prefix);
    EXPECT_TRUE(out.inner.empty() && out.labels.empty());
  }
}

TEST(Fields, NamesThePlaceThePathAndWhatWasFound) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"name": 7})", "in:1:10: name must be a string, found an integer 7\n  put it in quotes: \"7\""},
      {R"({"name": "abcdef"})", "in:1:10: name has 6 bytes, at most 5 are allowed"},
      {R"({"number": 0})", "in:1:12: number must be at least 1, found 0"},
      {R"({"number": 2147483648})", "in:1:12: number must be 1 to 2147483647, found 2147483648"},
      {R"({"number": "12"})",
       "in:1:12: number must be an integer, found a string \"12\"\n  write it without quotes: \"number\": 12"},
      {R"({"number": 1.0})", "in:1:12: number must be an integer, found a number 1.0"},
      {R"({"small": 256})", "in:1:11: small must be 0 to 255, found 256"},
      {R"({"large": 18446744073709551615})", "in:1:11: large must be an integer, found a number 18446744073709551615"},
      {R"({"large": -1})", "in:1:11: large must be at least 0, found -1"},
      {R"({"rate": 10.5})", "in:1:10: rate must be 0 to 10, found 10.5"},
      {R"({"rate": -1})", "in:1:10: rate must be 0 to 10, found -1"},
      {R"({"rate": "fast"})", "in:1:10: rate must be a number, found a string \"fast\""},
      {R"({"on": "true"})",
       "in:1:8: on must be true or false, found a string \"true\"\n  write it without quotes: \"on\": true"},
      {R"({"maybe": 10})", "in:1:11: maybe must be 0 to 9, found 10"},
      {R"({"pci": "3b:02"})", "in:1:9: pci: \"3b:02\" is not a PCI address (one looks like 0000:3c:00.0)"},
      {R"({"names": ["x", "toolong"]})", "in:1:17: names[1] has 7 bytes, at most 3 are allowed"},
      {R"({"names": ["x", "y", "z"]})", "in:1:11: names has 3 entries, at most 2 are allowed"},
      {R"({"names": "x"})", "in:1:11: names must be a list, found a string \"x\"\n  \"names\": [\"x\"]"},
      {R"({"labels": {"a": 1, "b": true}})", "in:1:26: labels.b must be an integer, found a boolean true"},
      {R"({"mode": "switch-dev"})",
       "in:1:10: mode must be \"legacy\" or \"switchdev\", found \"switch-dev\"\n  \"mode\": \"switchdev\""},
      {R"({"prefix": "fe80"})",
       "in:1:12: prefix must be a hexadecimal number of 64 bits like \"0x7f12\", found \"fe80\""},
      {R"({"prefix": "0xfe80000000000000f"})",
       "in:1:12: prefix must be a hexadecimal number of 64 bits like \"0x7f12\", found \"0xfe80000000000000f\""},
      {R"({"inner": [{"x": 1}, 5]})", "in:1:22: inner[1] must be an object (keys with values), found an integer 5"},
      {R"({"inner": [{}]})", "in:1:12: inner[0].x is missing"},
      {R"({"inner": [{"x": null}]})", "in:1:18: inner[0].x is empty"},
      {R"({"inner": [{}, {}, {}, {}]})", "in:1:11: inner has 4 entries, at most 3 are allowed"},
      {"[1]", "in:1:1: the document must be an object (keys with values), found a list"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(everything_in(text).second, message) << text;
}

TEST(Fields, KeepsTheDefaultOfWhatIsWrong) {
  const Everything out =
      everything_in(R"({"name": 7, "number": 0, "small": 256, "rate": 11, "mode": "x", "prefix": "1"})").first;
  EXPECT_EQ(out.name, "unset");
  EXPECT_EQ(out.number, -1);
  EXPECT_EQ(out.small, 7);
  EXPECT_EQ(out.rate, 0.5);
  EXPECT_EQ(out.mode, Mode::kLegacy);
  EXPECT_FALSE(out.prefix);
}

// What a peer sent has no file, and its line and column would help no one.
TEST(Fields, LeavesOutThePlaceOfASourceWithoutAName) {
  EXPECT_EQ(everything_in(R"({"inner": [{}]})", "").second, "inner[0].x is missing");
}

TEST(Fields, ReportsWhatWasNotAskedFor) {
  const auto source = std::make_shared<const Source>(Source{"p.yaml", "nmae: a\nextra: 1\nwhere: x\non: true\n"});
  Diagnostics found;
  const std::vector<Value> documents = parse_yaml(source, found);
  Fields fields(documents.at(0), "spec", Family("RB-X", 12, 11), found);
  fields.boolean("on");
  fields.require("name");
  fields.finish({{"where", "is a field of metadata", "move it"}});
  std::string reported;
  for (const Diagnostic& one : found.all())
    reported += fmt::format("{} {}: {} ({})\n", one.id, one.span.to_string(), one.message, one.fix);
  EXPECT_EQ(reported,
            "RB-X-011 p.yaml:1:1: spec.name is missing; 'nmae' is not a field (did you mean 'name'?)\n"
            "RB-X-012 p.yaml:2:1: 'extra' is not a field of spec; it has no effect ()\n"
            "RB-X-012 p.yaml:3:1: 'where' is a field of metadata; it has no effect here (move it)\n");
}

// The quick way out of finish() counts the members that were asked for, each once.
// Of a document that its schema was compared with, a reader reports what it finds itself.
TEST(Fields, AfterASchemaAreSilentAboutTypesAndNames) {
  const Value object = *read_object(
      "in",
      R"({"text": 5, "flag": 1, "number": "x", "small": 300, "list": 1, "mode": "x", "word": true, "large": 2147483648,
                "extra": 1})");
  Diagnostics found;
  const Family family = Family("RB-X").after_schema();
  Fields fields(object, "spec", family, found);
  EXPECT_FALSE(fields.text("text").present);
  EXPECT_FALSE(*fields.boolean("flag"));
  EXPECT_EQ(*fields.integer("number", 0, 9, 7), 7);
  EXPECT_EQ(*fields.integer("small", 0, 255, 7), 7);
  EXPECT_EQ(fields.list("list"), nullptr);
  EXPECT_EQ(*fields.choice("mode", kModes), "");
  EXPECT_FALSE(fields.choice("word", kModes).present);
  fields.require("missing");
  fields.require_one_of({"a", "b"}, {}, "neither a nor b");
  fields.finish();
  Fields(Value(1), "other", family, found);
  EXPECT_EQ(render(found), "");
  // A schema without an upper bound knows nothing of the type that the reader has.
  EXPECT_EQ(*fields.integer("large", 0, INT32_MAX), 0);
  fields.error(7, object.span, "a and b contradict each other");
  ASSERT_EQ(found.all().size(), 2U);
  EXPECT_EQ(found.all()[0].message, "spec.large must be 0 to 2147483647, found 2147483648");
  EXPECT_EQ(found.all()[1].message, "a and b contradict each other");
}

TEST(Fields, AChoiceWithoutQuotesNamesTheWords) {
  const auto complaint = [](const std::string& text) {
    Diagnostics found;
    const Value value = *read_object("in", text);
    Fields(value, "", kNoFamily, found).choice("mode", kModes);
    return first_error(found).error().to_string();
  };
  EXPECT_EQ(complaint(R"({"mode": true})"),
            "in:1:10: mode must be \"legacy\" or \"switchdev\", found a boolean true\n  write \"mode\": \"legacy\" or "
            "\"mode\": \"switchdev\"");
  EXPECT_EQ(complaint(R"({"mode": []})"), "in:1:10: mode must be a string, found a list");
}

TEST(Fields, FindsTheUnknownFieldBesideOneThatWasAskedForTwice) {
  const Value object = *read_object("in", R"({"a": 1, "b": 2})");
  Diagnostics found;
  Fields fields(object, "", "RB-X", found);
  fields.take("a");
  fields.take("a");
  fields.finish();
  ASSERT_EQ(found.all().size(), 1U);
  EXPECT_EQ(found.all()[0].message, "'b' is not a field of this object; it has no effect");
}

TEST(Fields, FindsFieldsInAnyOrderAndBeyondTheSixtyFourth) {
  std::vector<std::string> keys;  // outlive the reader, which remembers what it was asked for
  for (int i = 0; i < 100; ++i) keys.push_back(fmt::format("f{}", i));
  Value object = Value::object();
  for (int i = 0; i < 100; ++i) object.set(keys[static_cast<size_t>(i)], i);
  Diagnostics found;
  Fields fields(object, "", "RB-X", found);
  for (int i : {99, 0, 50, 49, 98, 3}) EXPECT_EQ(fields.integer(keys[static_cast<size_t>(i)], 0, 1000).value, i);
  fields.finish();
  EXPECT_EQ(found.all().size(), 94U);
}

TEST(Members, TakeWhatIsAsExpectedAndNothingElse) {
  const Value object =
      *read_object("in", R"({"t": "x", "n": 5, "f": true, "l": ["a", 1, "b"], "o": {"k": 1}, "big": 4294967296})");
  EXPECT_EQ(text_in(object, "t"), "x");
  EXPECT_EQ(text_in(object, "n"), "");
  EXPECT_EQ(number_in(object, "n"), 5);
  EXPECT_EQ(number_in(object, "big"), 0);  // not the lower half of it
  EXPECT_EQ(optional_number(object, "t"), std::nullopt);
  EXPECT_TRUE(flag_in(object, "f"));
  EXPECT_EQ(optional_flag(object, "n"), std::nullopt);
  EXPECT_EQ(texts_in(object, "l"), (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(object_in(object, "o"), nullptr);
  EXPECT_EQ(object_in(object, "l"), nullptr);
  EXPECT_EQ(list_in(object, "o"), nullptr);
  EXPECT_EQ(text_in(Value(3), "t"), "");
}

TEST(Members, HaveTheirPlaces) {
  const Value object = *read_object("in", R"({"t": "x", "n": 5, "f": true, "big": 4294967296, "z": null})");
  EXPECT_EQ(text_field(object, "t"), given(std::string("x")));
  EXPECT_EQ(text_field(object, "t").span.to_string(), "in:1:7");
  EXPECT_EQ(text_field(object, "n"), Field<std::string>());
  EXPECT_EQ(text_field(object, "n").span.to_string(), "in:1:17");
  EXPECT_EQ(number_field(object, "n"), given(5));
  EXPECT_EQ(number_field(object, "big", 3), Field<int>{.value = 3});
  EXPECT_EQ(number_field(object, "z", 3), Field<int>{.value = 3});
  EXPECT_EQ(number_field(object, "z", 3).span.to_string(), "in:1:1") << "absent: the object's place";
  EXPECT_EQ(flag_field(object, "f"), given(true));
  EXPECT_EQ(flag_field(object, "n"), Field<bool>());
}

TEST(Members, AreFoundBelowObjects) {
  const Value object =
      *read_object("in", R"({"spec": {"a": {"b": "12", "c": true}, "word": "z"}, "labels": {"x.y/z": "1", "n": 2}})");
  EXPECT_EQ(integer_at(object, "spec.a.b"), 12);
  EXPECT_EQ(integer_at(object, "spec.word"), std::nullopt);
  EXPECT_EQ(flag_at(object, "spec.a.c"), true);
  EXPECT_EQ(flag_at(object, "spec.a.b"), std::nullopt);
  EXPECT_EQ(text_at(object, "spec.word"), "z");
  EXPECT_EQ(text_at(object, "spec.a"), "");
  EXPECT_EQ(at(object, "spec.no.such"), nullptr);
  EXPECT_EQ(at(object, "spec.word.further"), nullptr);
  EXPECT_EQ(at(object, ""), &object);
  EXPECT_EQ(text_in(at(object, "labels"), "x.y/z"), "1");
  EXPECT_EQ(text_in(at(object, "no.labels"), "x.y/z"), "");
  EXPECT_EQ(text_map_at(object, "labels"), (std::map<std::string, std::string>{{"x.y/z", "1"}}));
  EXPECT_TRUE(text_map_at(object, "spec.word").empty());
}

// The same content in two places is the same.
TEST(Where, IsNoPartOfAComparison) {
  struct Placed {
    int number = 0;
    Where place;
    bool operator==(const Placed&) const = default;
  };
  const Value object = *read_object("in", R"({"a": 1, "b": 1})");
  EXPECT_EQ((Placed{1, object.find("a")->span}), (Placed{1, object.find("b")->span}));
  EXPECT_NE((Placed{1, {}}), (Placed{2, {}}));
  EXPECT_EQ(number_field(object, "a"), number_field(object, "b"));
}

TEST(Members, LeaveOutWhatSaysNothing) {
  Value object = Value::object();
  put_text(object, "a", "");
  put_number(object, "b", 0);
  put_flag(object, "c", false);
  put_texts(object, "d", {});
  EXPECT_TRUE(object.as_object()->empty());
  put_texts(object, "d", {"x"});
  EXPECT_EQ(object.as_object()->size(), 1U);
  EXPECT_EQ(object.find("d")->as_array()->at(0), Value("x"));
}

}  // namespace
}  // namespace railbed::doc
