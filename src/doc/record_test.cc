// SPDX-License-Identifier: Apache-2.0
#include "doc/record.h"

#include <gtest/gtest.h>

#include "doc/json.h"

namespace railbed::doc {
namespace record_test {

enum class Colour : uint8_t { kRed, kGreen };

struct Port {
  int number = 0;
  std::string name;
  friend bool operator==(const Port&, const Port&) = default;
};

struct Card {
  PciAddress address;
  bool up = false;
  int mtu = 0;
  double gbps = 0;
  uint64_t guid = 0;
  Colour colour = Colour::kRed;
  std::optional<Colour> light;
  std::optional<int> numa;
  std::vector<std::string> names;
  std::map<std::string, int> counts;
  std::vector<Port> ports;
  std::optional<Port> uplink;
  std::vector<IfIndex> links;
  friend bool operator==(const Card&, const Card&) = default;
};

template <typename Io, Is<Port> T>
void fields(Io& io, T& port) {
  io.need("number", port.number, {.min = 0, .max = 8});
  io.some("name", port.name);
}

template <typename Io, Is<Card> T>
void fields(Io& io, T& card) {
  io.need("address", card.address);
  io.some("up", card.up);
  io.some("mtu", card.mtu, {.min = 0, .max = 9000});
  io("gbps", card.gbps);
  io("guid", card.guid);
  io("colour", card.colour);
  io("light", card.light);
  io("numa", card.numa);
  io("names", card.names, {.entries = 2});
  io("counts", card.counts);
  io("ports", card.ports, {.entries = 3});
  io("uplink", card.uplink);
  io("links", card.links);
  if constexpr (Io::kWrites)
    io.object().set("sum", static_cast<int>(card.ports.size()));
  else
    io.from().ignore({"sum"});
}

}  // namespace record_test

template <>
struct Words<record_test::Colour> {
  static constexpr std::string_view all[] = {"red", "green"};
};

namespace {

using record_test::Card;
using record_test::Colour;

const Card kFull{.address = {.domain = 0, .bus = 1, .device = 0, .function = 0},
                 .up = true,
                 .mtu = 1500,
                 .gbps = 12.5,
                 .guid = 0xab,
                 .colour = Colour::kGreen,
                 .light = Colour::kRed,
                 .numa = 0,
                 .names = {"a", ""},
                 .counts = {{"x", 1}, {"y", 0}},
                 .ports = {{1, "one"}, {2, ""}},
                 .uplink = {{3, "up"}},
                 .links = {IfIndex{7}}};

constexpr const char* kFullText =
    R"({"address":"0000:01:00.0","up":true,"mtu":1500,"gbps":12.5,"guid":"0x00000000000000ab","colour":"green",)"
    R"("light":"red","numa":0,"names":["a",""],"counts":{"x":1,"y":0},"ports":[{"number":1,"name":"one"},{"number":2}],)"
    R"("uplink":{"number":3,"name":"up"},"links":[7],"sum":2})";

// What reading complains about; `into` gets the rest.
std::string complaint(const std::string& text, Card& into, UnknownMembers unknown = UnknownMembers::kPassedOver) {
  Diagnostics found;
  const auto value = parse_json(std::make_shared<const Source>(Source{"", text}), found);
  if (!value) return "no JSON";
  {
    Fields from(*value, "", kNoFamily, found);
    read_record(from, into, unknown);
  }
  const Result<void> first = first_error(found);
  if (!first.has_value()) return first.error().story();
  return found.all().empty() ? "" : found.all().front().message;  // unknown members are warnings
}

TEST(Record, IsWrittenInTheOrderOfItsList) {
  EXPECT_EQ(to_json(record_value(kFull)), kFullText);
}

// Absent and empty mean the same to `some`; numbers of operator() are always written.
TEST(Record, LeavesOutWhatSaysNothing) {
  EXPECT_EQ(to_json(record_value(Card{})),
            R"({"address":"0000:00:00.0","gbps":0.0,"guid":"0x0000000000000000","colour":"red","sum":0})");
}

TEST(Record, IsReadByTheSameList) {
  Card read;
  EXPECT_EQ(complaint(kFullText, read, UnknownMembers::kReported), "");
  EXPECT_EQ(read, kFull);
  Card least;
  EXPECT_EQ(complaint(R"({"address":"0000:01:00.0"})", least), "");
  EXPECT_EQ(least, Card{.address = kFull.address});
}

TEST(Record, ComplainsWithThePlace) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "address is missing"},
      {R"({"address":"0000:01:00.0","mtu":9001})", "mtu must be"},
      {R"({"address":"0000:01:00.0","colour":"blue"})", "colour"},
      {R"({"address":"0000:01:00.0","light":3})", "light"},
      {R"({"address":"0000:01:00.0","names":["a","b","c"]})", "names"},
      {R"({"address":"0000:01:00.0","ports":[{"number":1},{}]})", "ports[1].number is missing"},
      {R"({"address":"0000:01:00.0","ports":[{"number":9}]})", "ports[0].number"},
      {R"({"address":"0000:01:00.0","ports":[{"number":1},{"number":1},{"number":1},{"number":1}]})", "ports"},
      {R"({"address":"0000:01:00.0","uplink":{}})", "uplink.number is missing"},
      {R"({"address":"0000:01:00.0","guid":"12"})", "guid"},
  };
  for (const auto& [text, start] : cases) {
    Card read;
    const std::string got = complaint(text, read);
    EXPECT_TRUE(got.starts_with(start)) << text << ": " << got;
  }
}

TEST(Record, ReportsUnknownMembersWhereAsked) {
  Card read;
  EXPECT_EQ(complaint(R"({"address":"0000:01:00.0","numma":1})", read), "");
  EXPECT_NE(complaint(R"({"address":"0000:01:00.0","numma":1})", read, UnknownMembers::kReported), "");
  EXPECT_NE(complaint(R"({"address":"0000:01:00.0","uplink":{"number":1,"nam":"x"}})", read, UnknownMembers::kReported),
            "");
}

// A struct of another room: its list is passed.
TEST(Record, TakesAListThatItsNamespaceDoesNotHave) {
  const std::vector<IfIndex> links{IfIndex{1}, IfIndex{2}};
  const auto list = [](auto& io, auto& link) { io.always("index", link.value); };
  Value object = Value::object();
  RecordWriter writer(object);
  writer.each("links", links, list);
  EXPECT_EQ(to_json(object), R"({"links":[{"index":1},{"index":2}]})");
  Diagnostics found;
  Fields from(object, "", kNoFamily, found);
  std::vector<IfIndex> read;
  RecordReader(from).each("links", read, list);
  EXPECT_EQ(read, links);
}

}  // namespace
}  // namespace railbed::doc
