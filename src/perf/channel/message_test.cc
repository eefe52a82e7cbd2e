// SPDX-License-Identifier: Apache-2.0
#include "perf/channel/message.h"

#include <gtest/gtest.h>

#include "base/ip.h"
#include "base/testdata.h"
#include "perf/bounds.h"
#include "perf/channel/frame.h"
#include "perf/channel/test_message_limits.h"

namespace railbed::perf {
namespace {

TestSpec some_spec() {
  return {.kind = TestKind::kBandwidth, .sizes_bytes = {2, 65536}, .qps = 4, .remote_device = "mlx5_3"};
}

RdmaAddress some_address() {
  return {.gid = IpAddress::parse("10.1.0.5")->to_gid(),
          .lid = 7,
          .mtu_bytes = 1024,
          .remote_key = 0xdeadbeef,
          .address = 0xffff'8000'1234'5678,
          .pkey = 0xffff,
          .q_key = 0x11111111,
          .reads_answered = 16,
          .qps = {{17, 0xffffff}, {18, 0}}};
}

template <typename T>
T some_bytes() {
  T value;
  for (size_t i = 0; i < value.bytes.size(); ++i) value.bytes[i] = static_cast<uint8_t>(255 - 8 * i);
  return value;
}

std::vector<SessionMessage> one_of_each() {
  Endpoint end{.hostname = "guest-1",
               .address = "10.1.0.5",
               .netdev = "net1",
               .device = "rxe0",
               .port = 1,
               .gid = "x",
               .gid_index = 3,
               .gid_reason = "by rule",
               .link_layer = "Ethernet",
               .path_mtu_bytes = 1024,
               .soft = true};
  return {Hello{.protocol = 1,
                .version = "0.1.0",
                .hostname = "a\"b\n",
                .nonce = some_bytes<Nonce>(),
                .proof = some_bytes<Mac>()},
          OpenTest{some_spec()},
          Wait{.ahead = 2, .reason = "another measurement is on eth0"},
          Offer{.endpoint = end, .rdma = some_address(), .tcp = {}},
          Offer{.endpoint = end, .rdma = {}, .tcp = TcpAddress{.port = 4711, .cookie = UINT64_MAX}},
          Connect{.endpoint = end, .rdma = some_address()},
          Ready{},
          Start{.sequence = 1, .size_bytes = 2},
          Started{1},
          Heartbeat{},
          Done{.sequence = 1, .messages = 1LL << 40},
          Outcome{.sequence = 1,
                  .bytes = 12,
                  .duration_s = 0.1,
                  .series = {.slot_ms = 10, .gbps = {1.5, 0}, .peak_gbps = 1.5},
                  .counters = {{"rcvd_pkts", 5}}},
          CloseTest{},
          Refusal{.message = "no", .hint = "yes"},
          Proof{some_bytes<Mac>()},
          Welcome{},
          OpenTest{.spec = some_spec(), .load = some_spec()},
          Offer{.endpoint = end, .rdma = some_address(), .load = some_address()}};
}

TEST(Message, ComesBackAsItWas) {
  for (const SessionMessage& message : one_of_each()) {
    const std::string body = encode(message);
    const auto back = decode<SessionMessage>(body);
    ASSERT_TRUE(back) << body << back.error().to_string();
    EXPECT_EQ(back->index(), message.index());
    EXPECT_EQ(encode(*back), body);
  }
  const auto offer = decode<SessionMessage>(encode(one_of_each()[3]));
  EXPECT_EQ(std::get<Offer>(*offer).rdma, some_address());
  EXPECT_EQ(std::get<OpenTest>(*decode<SessionMessage>(encode(one_of_each()[1]))).spec, some_spec());
  EXPECT_FALSE(std::get<OpenTest>(*decode<SessionMessage>(encode(one_of_each()[1]))).load);
  const auto beside = one_of_each();
  EXPECT_EQ(std::get<OpenTest>(*decode<SessionMessage>(encode(beside[beside.size() - 2]))).load, some_spec());
  EXPECT_EQ(std::get<Offer>(*decode<SessionMessage>(encode(beside.back()))).load, some_address());
}

// The bytes of protocol 4: peers of other versions read and write these.
TEST(Message, HasTheFormOnTheWireThatPeersKnow) {
  const std::pair<SessionMessage, std::string_view> cases[] = {
      {Hello{.protocol = 4, .version = "0.1.0", .hostname = "a\"b\n"},
       R"({"type":"hello","protocol":4,"version":"0.1.0","hostname":"a\"b\n"})"},
      {Proof{}, R"({"type":"proof","proof":"0000000000000000000000000000000000000000000000000000000000000000"})"},
      {Welcome{}, R"({"type":"welcome"})"},
      {Wait{.ahead = 2, .reason = "no memory"}, R"({"type":"wait","ahead":2,"reason":"no memory"})"},
      {Ready{}, R"({"type":"ready"})"},
      {Start{.sequence = 1, .size_bytes = 2}, R"({"type":"start","sequence":1,"size_bytes":2})"},
      {Started{1}, R"({"type":"started","sequence":1})"},
      {Heartbeat{}, R"({"type":"heartbeat"})"},
      {Done{.sequence = 1, .messages = 1LL << 40}, R"({"type":"done","sequence":1,"messages":1099511627776})"},
      {CloseTest{}, R"({"type":"close-test"})"},
      {Refusal{.message = "no", .hint = "yes"}, R"({"type":"refusal","message":"no","hint":"yes"})"},
  };
  for (const auto& [message, body] : cases) {
    EXPECT_EQ(encode(message), body);
    const auto back = decode<SessionMessage>(body);
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(back->index(), message.index()) << body;
  }
  for (const char* type : {"hello", "proof", "welcome", "open-test", "wait", "offer", "connect", "ready", "start",
                           "started", "heartbeat", "done", "outcome", "close-test", "refusal"})
    EXPECT_FALSE(refusal_by<SessionMessage>(fmt::format(R"({{"type":"{}"}})", type)).contains("was due")) << type;
}

TEST(Message, FitsAFrameAtItsLargest) {
  Offer offer{.endpoint = {}, .rdma = some_address(), .tcp = {}};
  offer.rdma->qps.assign(kMaxQps, {0xffffff, 0xffffff});
  EXPECT_LT(encode(offer).size(), kMaxBodyBytes);
  Outcome outcome;
  outcome.series.gbps.assign(1000, 12.345678901234567);
  for (size_t i = 0; i < kMaxCounters; ++i) outcome.counters[fmt::format("{:064}", i)] = INT64_MAX;
  EXPECT_LT(encode(outcome).size(), kMaxBodyBytes);
}

std::string refusal(std::string_view body) {
  return refusal_by<SessionMessage>(body);
}

TEST(Message, NamesTheFieldThatIsWrong) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "this is not a message: expected a value, found the end of the text"},
      {"[1]", "this is not a message: the document must be an object (keys with values), found a list"},
      {"{}", "type is missing"},
      {R"({"type":7})", "type must be a string, found an integer 7\n  put it in quotes: \"7\""},
      {R"({"type":"dance"})",
       "the peer sent \"dance\" where one of \"hello\", \"proof\", \"welcome\", \"open-test\", \"wait\", \"offer\", "
       "\"connect\", \"ready\", \"start\", \"started\", \"heartbeat\", \"done\", \"outcome\", \"close-test\", "
       "\"refusal\" was due"},
      {R"({"type":"start"})", "message start: sequence is missing"},
      {R"({"type":"start","sequence":-1,"size_bytes":2})", "message start: sequence must be 0 to 2147483648, found -1"},
      {R"({"type":"start","sequence":1,"size_bytes":1e3})",
       "message start: size_bytes must be an integer, found a number 1e3"},
      {R"({"type":"start","sequence":1,"size_bytes":18446744073709551615})",
       "message start: size_bytes must be an integer, found a number 18446744073709551615"},
      {R"({"type":"hello","protocol":1,"version":"1","hostname":null})", "message hello: hostname is empty"},
      {R"({"type":"proof"})", "message proof: proof is missing"},
      {R"({"type":"proof","proof":"AA"})",
       "message proof: proof: 2 characters, expected 64 hexadecimal digits in lower case"},
      {R"({"type":"offer"})", "message offer: endpoint is missing"},
      {R"({"type":"offer","endpoint":[]})",
       "message offer: endpoint must be an object (keys with values), found a list"},
      {R"({"type":"outcome","sequence":1,"bytes":1,"duration_s":-1})",
       "message outcome: duration_s must be 0 to 1000000000, found -1"},
      {R"({"type":"outcome","sequence":1,"bytes":1,"duration_s":1,"slot_ms":1,"peak_gbps":1,"gbps":[1,"x"]})",
       "message outcome: gbps[1] must be a number, found a string \"x\""},
  };
  for (const auto& [body, expected] : cases) EXPECT_EQ(refusal(body), expected) << body;
}

TEST(Message, RefusesANonceThatIsNotWhole) {
  const std::string right = some_bytes<Nonce>().to_string();
  const auto hello_with = [](const std::string& nonce) {
    return refusal(R"({"type":"hello","protocol":4,"version":"1","hostname":"x","nonce":")" + nonce + "\"}");
  };
  EXPECT_EQ(hello_with(right), "understood");
  EXPECT_EQ(hello_with(right.substr(1)),
            "message hello: nonce: 63 characters, expected 64 hexadecimal digits in lower case");
  EXPECT_EQ(hello_with(right.substr(0, 16)),
            "message hello: nonce: 16 characters, expected 64 hexadecimal digits in lower case");
  EXPECT_EQ(hello_with(right.substr(1) + "g"),
            "message hello: nonce: 64 characters, expected 64 hexadecimal digits in lower case");
  EXPECT_EQ(hello_with(right.substr(1) + "A"),
            "message hello: nonce: 64 characters, expected 64 hexadecimal digits in lower case");
  EXPECT_EQ(hello_with(right + "0"), "message hello: nonce has 65 bytes, at most 64 are allowed");
}

std::string with(std::string body, std::string_view from, std::string_view to) {
  const size_t at = body.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return body.replace(at, from.size(), to);
}

TEST(Message, RefusesAnOfferThatLies) {
  const std::string good = encode(one_of_each()[3]);
  EXPECT_EQ(refusal(with(good, "\"number\":18", "\"number\":16777216")),
            "message offer: rdma.qps[1].number must be 0 to 16777215, found 16777216");
  EXPECT_EQ(refusal(with(good, "\"mtu_bytes\":1024,\"r", "\"mtu_bytes\":9000,\"r")),
            "message offer: rdma.mtu_bytes must be 256 to 4096, found 9000");
  EXPECT_EQ(
      refusal(with(good, "0xffff800012345678", "0xffff8000123456789")),
      "message offer: rdma.address must be a hexadecimal number of 64 bits like \"0x7f12\", found \"0xffff8000123456789\"");
  EXPECT_EQ(refusal(with(good, "0xffff800012345678", "12")),
            "message offer: rdma.address must be a hexadecimal number of 64 bits like \"0x7f12\", found \"12\"");
}

TEST(Message, RefusesATestBeyondTheLimits) {
  const std::string good = encode(OpenTest{some_spec()});
  EXPECT_EQ(refusal(with(good, "\"qps\":4", "\"qps\":100000")),
            "message open-test: qps must be 1 to 256, found 100000");
  EXPECT_EQ(refusal(with(good, "[2,65536]", "[]")), "message open-test: sizes: 0 of them, 1 to 64 are allowed");
  EXPECT_EQ(refusal(with(good, "[2,65536]", "[67108864]")),
            "understood");  // 2 * 64 MiB * 4 is just within the limit of registered memory
  EXPECT_EQ(refusal(with(with(good, "[2,65536]", "[67108864]"), "\"qps\":4", "\"qps\":9")),
            "message open-test: 9 queue pairs with 64 MiB each need 1152 MiB of registered "
            "memory, at most 1 GiB is allowed");
  EXPECT_EQ(refusal(with(good, "\"bw\"", "\"lat\"")),
            "message open-test: qps: latency is measured on one queue pair, not 4");
}

// What each field of each message may be. RAILBED_UPDATE=1 rewrites it.
TEST(Message, EveryFieldHasItsLimits) {
  expect_golden(testdata() / "perf/message.limits", limits_of_messages(one_of_each()));
}

std::string error_of(const auto& result) {
  return result ? "understood" : result.error().to_string();
}

// Where some messages are due, all others are refused, whatever they contain.
TEST(Message, IsTakenOnlyWhereItIsDue) {
  const auto start = open_envelope(encode(Start{.sequence = 3, .size_bytes = 64}));
  ASSERT_TRUE(start);
  const auto one_of = decode_as<CloseTest, Start>(*start);
  ASSERT_TRUE(one_of) << one_of.error().to_string();
  EXPECT_EQ(std::get<Start>(*one_of).sequence, 3);
  EXPECT_EQ(error_of(decode_as<Started>(*start)), R"(the peer sent "start" where "started" was due)");
  EXPECT_EQ(error_of(decode_as<Done, CloseTest>(*start)),
            R"(the peer sent "start" where one of "done", "close-test" was due)");
  const struct {
    const char* body;
    const char* said;
  } cases[] = {
      {R"({"type":"mesh-enlist","mesh":"","transport":"tcp","rails":[]})",
       R"(the peer sent "mesh-enlist" where "start" was due)"},
      {R"({"type":"Start","sequence":1,"size_bytes":1})", R"(the peer sent "Start" where "start" was due)"},
      {R"({"type":"start "})", R"(the peer sent "start " where "start" was due)"},
      {R"({"type":"\u001b[2J"})", R"(the peer sent "\x1b[2J" where "start" was due)"},
      {R"({"type":"start","sequence":"1","size_bytes":1})",
       "message start: sequence must be an integer, found a string \"1\"\n  write it without quotes: \"sequence\": 1"},
      {R"({"type":"refusal","message":"no\u0007","hint":"go"})", "the peer says: no\\x07\n  go"},
      {R"({"type":"refusal","message":"no"})", "message refusal: hint is missing"},
  };
  for (const auto& one : cases) {
    const auto envelope = open_envelope(one.body);
    ASSERT_TRUE(envelope) << one.body;
    EXPECT_EQ(error_of(decode_as<Start>(*envelope)), one.said) << one.body;
  }
  const auto refusal = open_envelope(encode(Refusal{.message = "no", .hint = "go"}));
  EXPECT_EQ(error_of(decode_as<Start, Refusal>(*refusal)), "understood") << "where it is due, it is a message";
}

TEST(Message, HasATypeOfSomeLength) {
  const auto opened = [](size_t size) {
    return error_of(open_envelope(fmt::format(R"({{"type":"{}"}})", std::string(size, 'x'))));
  };
  EXPECT_EQ(opened(kMaxType_bytes), "understood");
  EXPECT_EQ(opened(kMaxType_bytes + 1), "type has 65 bytes, at most 64 are allowed");
}

std::vector<std::string> bodies(std::string_view bytes, size_t step) {
  FrameParser parser;
  std::vector<std::string> result;
  for (size_t at = 0; at < bytes.size(); at += step) {
    parser.feed(bytes.substr(at, step));
    for (;;) {
      auto body = parser.next();
      if (!body) {
        result.push_back("error: " + body.error().message);
        break;
      }
      if (!*body) break;
      result.push_back(**body);
    }
  }
  return result;
}

TEST(FrameParser, GivesTheSameForAnyCut) {
  const std::string stream = frame("one") + frame(std::string(kMaxFrameBytes, 'x')) + frame("3");
  const std::vector<std::string> expected = {"one", std::string(kMaxFrameBytes, 'x'), "3"};
  for (size_t step : {size_t{1}, size_t{3}, size_t{7}, size_t{4096}, stream.size()})
    EXPECT_EQ(bodies(stream, step), expected);
}

TEST(FrameParser, RefusesNonsenseAtTheFirstWrongByte) {
  EXPECT_EQ(bodies("G", 1),
            std::vector<std::string>{"error: the peer does not speak railbed's control protocol: it sent \"G\""});
  EXPECT_EQ(bodies(std::string_view("\x16\x03\x01\x02", 4), 4),
            std::vector<std::string>{
                "error: the peer does not speak railbed's control protocol: it sent \"\\x16\\x03\\x01\\x02\""});
}

TEST(FrameParser, RefusesImpossibleSizes) {
  EXPECT_EQ(
      bodies(std::string_view("RBP1\xff\xff\xff\xff", 8), 8),
      std::vector<std::string>{"error: the peer announces a message of 4294967295 bytes, 1 to 65568 are allowed"});
  EXPECT_EQ(bodies(std::string_view("RBP1\0\0\0\0", 8), 8),
            std::vector<std::string>{"error: the peer announces a message of 0 bytes, 1 to 65568 are allowed"});
}

TEST(FrameParser, StaysBrokenAndKeepsNothing) {
  FrameParser parser;
  parser.feed("HTTP");
  EXPECT_FALSE(parser.next());
  parser.feed(frame("x"));
  EXPECT_FALSE(parser.next());
}

}  // namespace
}  // namespace railbed::perf
