// SPDX-License-Identifier: Apache-2.0
#include "perf/test_spec.h"

#include <gtest/gtest.h>

#include "perf/bounds.h"

namespace railbed::perf {
namespace {

TEST(SizeText, UsesWholeUnits) {
  EXPECT_EQ(size_text(2), "2 B");
  EXPECT_EQ(size_text(1500), "1500 B");
  EXPECT_EQ(size_text(65536), "64 KiB");
  EXPECT_EQ(size_text(8 << 20), "8 MiB");
}

TEST(SweepSizes, AreThePowersOfTwo) {
  EXPECT_EQ(sweep_sizes(16), (std::vector<int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(sweep_sizes(8 << 20).size(), 23u);
}

std::string refusal(const TestSpec& spec) {
  const auto result = validate(spec);
  return result ? "fine" : result.error().message;
}

TEST(Validate, NamesTheOption) {
  EXPECT_EQ(refusal({.sizes_bytes = {2}}), "fine");
  EXPECT_EQ(refusal({.sizes_bytes = {0}}), "size: 0 is outside 1..67108864");
  EXPECT_EQ(refusal({.sizes_bytes = {2}, .tx_depth = 0}), "tx-depth: 0 is outside 1..8192");
  EXPECT_EQ(refusal({.sizes_bytes = {2}, .duration_ms = 1}), "duration: 1 is outside 10..86400000");
  EXPECT_EQ(refusal({.sizes_bytes = {2}, .rate_per_s = 10}),
            "rate: only for latency; bandwidth is measured, not requested");
  EXPECT_EQ(refusal({.kind = TestKind::kLatency, .sizes_bytes = {2}, .rate_per_s = 1'000'001}),
            "rate: 1000001 is outside 0..1000000");
  EXPECT_EQ(refusal({.sizes_bytes = {kMaxSize_bytes}, .iterations = int64_t{1} << 39}),
            "iterations: 549755813888 messages of 64 MiB on each of 1 are more than 9007199254740992 bytes");
  EXPECT_EQ(refusal({.transport = Transport::kTcp, .sizes_bytes = {2}, .bidirectional = true}),
            "bidirectional: only for bandwidth over RDMA");
}

constexpr auto kLat = TestKind::kLatency;

// What a verb, a kind of test or a transport cannot have is refused in a sentence, and nothing else is.
TEST(Validate, SaysWhatAVerbCannotHave) {
  struct Case {
    TestSpec spec;
    std::string said;
  };
  const std::string by_write =
      "memory: latency by write polls the last byte, which the processor does not see in a GPU; measure it with --verb "
      "write-imm or send";
  const MemoryChoice gpu{.kind = MemoryKind::kGpu, .gpu = 1};
  const Case cases[] = {
      {{.sizes_bytes = {8}, .verb = RdmaVerb::kFetchAdd}, "fine"},
      {{.sizes_bytes = {8, 64 << 10}, .verb = RdmaVerb::kFetchAdd},
       "size: an atomic fetch-and-add works on 8 bytes, not on 64 KiB"},
      {{.sizes_bytes = {4096}, .verb = RdmaVerb::kSendUd}, "fine"},
      {{.sizes_bytes = {2, 4097}, .verb = RdmaVerb::kSendUd},
       "size: a UD send is one packet of at most 4 KiB, so 4097 B do not fit"},
      {{.sizes_bytes = {2}, .inline_bytes = 0, .verb = RdmaVerb::kRead}, "fine"},
      {{.sizes_bytes = {2}, .inline_bytes = 2, .verb = RdmaVerb::kRead},
       "inline: an RC read sends none of its data, so nothing can go inline"},
      {{.sizes_bytes = {8}, .inline_bytes = 8, .verb = RdmaVerb::kFetchAdd},
       "inline: an RC atomic fetch-and-add sends none of its data, so nothing can go inline"},
      {{.sizes_bytes = {2}, .tx_depth = 16, .post_list = 16}, "fine"},
      {{.sizes_bytes = {2}, .tx_depth = 16, .post_list = 17},
       "post-list: 17 messages per post exceed the limit of 16 outstanding messages (tx-depth)"},
      {{.kind = kLat, .sizes_bytes = {2}, .post_list = 2},
       "post-list: only for bandwidth; pings are posted one at a time, not 2"},
      {{.kind = kLat, .sizes_bytes = {2}, .relaxed_ordering = Choice::kOn},
       "relaxed-ordering: latency by write polls the last byte, which may then arrive before the others; measure it "
       "with --verb write-imm or send"},
      {{.kind = kLat, .sizes_bytes = {2}, .verb = RdmaVerb::kSend, .relaxed_ordering = Choice::kOn}, "fine"},
      {{.kind = kLat, .sizes_bytes = {2}, .memory = gpu}, by_write},
      {{.kind = kLat, .sizes_bytes = {2}, .remote_memory = gpu}, by_write},
      {{.kind = kLat, .sizes_bytes = {2}, .verb = RdmaVerb::kWriteImm, .remote_memory = gpu}, "fine"},
      {{.sizes_bytes = {2}, .inline_bytes = 2, .memory = gpu},
       "inline: the processor copies inline data, and this memory is a GPU's"},
      {{.sizes_bytes = {2}, .traffic_class = 256}, "traffic-class: 256 is outside 0..255"},
      {{.sizes_bytes = {2}, .service_level = 16}, "service-level: 16 is outside 0..15"},
      {{.sizes_bytes = {2}, .pkey_index = 65536}, "pkey-index: 65536 is outside 0..65535"},
      {{.sizes_bytes = {2}, .flow_label = 1 << 20}, "flow-label: 1048576 is outside 0..1048575"},
      {{.sizes_bytes = {2}, .post_list = -1}, "post-list: -1 is outside 0..8192"},
      {{.sizes_bytes = {2}, .memory = {.kind = MemoryKind::kGpu, .gpu = 256}},
       "memory: the number of the GPU: 256 is outside 0..255"},
      {{.sizes_bytes = {2}, .qps = 256, .tx_depth = 2048},
       "tx-depth: 2048 messages on each of 256 queue pairs exceed the limit of 262144 outstanding messages"},
      {{.sizes_bytes = {2}, .bidirectional = true, .verb = RdmaVerb::kSendUd}, "fine"},
      {{.sizes_bytes = {2}, .qps = 4, .threads = 4}, "fine"},
      {{.sizes_bytes = {2}, .qps = 4, .threads = 5},
       "threads: 5 of them, and 4 queue pair(s) (qps): each thread needs one"},
      {{.sizes_bytes = {2}, .threads = 257}, "threads: 257 is outside 0..256"},
      {{.kind = kLat, .sizes_bytes = {2}, .threads = 2}, "threads: latency is measured by one thread, not 2"},
      {{.sizes_bytes = {2}, .qps = 4, .bidirectional = true, .threads = 2}, "fine"},
      {{.sizes_bytes = {2}, .qps = 4, .bidirectional = true, .verb = RdmaVerb::kSend, .threads = 2},
       "threads: both ways at once, an RC send is received by the thread that sends"},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal(c.spec), c.said);
}

TEST(Validate, TcpHasNoneOfTheOptionsOfRdma) {
  const auto with = [](auto set) {
    TestSpec spec{.transport = Transport::kTcp, .sizes_bytes = {8}};
    set(spec);
    return refusal(spec);
  };
  const std::string rest = ": only for RDMA; plain sockets (--tcp) have no such thing";
  EXPECT_EQ(with([](TestSpec&) {}), "fine");
  EXPECT_EQ(with([](TestSpec& s) { s.verb = RdmaVerb::kRead; }), "verb" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.post_list = 1; }), "post-list" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.traffic_class = 1; }), "traffic-class" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.service_level = 1; }), "service-level" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.pkey_index = 1; }), "pkey-index" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.flow_label = 1; }), "flow-label" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.relaxed_ordering = Choice::kOff; }), "relaxed-ordering" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.yield = Choice::kOn; }), "yield" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.pin = Choice::kOff; }), "pin" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.threads = 1; }), "threads" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.memory.kind = MemoryKind::kHugePages; }), "memory" + rest);
  EXPECT_EQ(with([](TestSpec& s) { s.remote_memory.kind = MemoryKind::kGpu; }), "remote-memory" + rest);
}

TEST(ThreadsFor, AreFewUnlessTheyAreAskedFor) {
  const auto threads = [](int64_t qps, int64_t asked, int64_t processors) {
    return threads_for({.sizes_bytes = {2}, .qps = qps, .threads = asked}, processors);
  };
  EXPECT_EQ(threads(1, 0, 64), 1);
  EXPECT_EQ(threads(4, 0, 64), 1);
  EXPECT_EQ(threads(5, 0, 64), 2);
  EXPECT_EQ(threads(256, 0, 64), 32);
  EXPECT_EQ(threads(256, 0, 1), 1);
  EXPECT_EQ(threads(4, 3, 1), 3);
  EXPECT_EQ(threads_for({.kind = kLat, .sizes_bytes = {2}}, 64), 1);
  EXPECT_EQ(threads_for({.sizes_bytes = {2}, .qps = 64, .bidirectional = true, .verb = RdmaVerb::kWriteImm}, 64), 1);
  EXPECT_EQ(threads_for({.sizes_bytes = {2}, .qps = 64, .bidirectional = true}, 64), 16);
}

TEST(Names, ComeBack) {
  for (const std::string_view name : verb_names()) EXPECT_EQ(traits_of(*verb_from(name)).name, name);
  for (const RdmaVerb verb : {RdmaVerb::kWrite, RdmaVerb::kFetchAdd, RdmaVerb::kSendUd})
    EXPECT_EQ(traits_of(verb).verb, verb);
  for (const char* text : {"host", "huge", "gpu:0", "gpu:255"}) EXPECT_EQ(text_of(*memory_from(text)), text);
  for (const char* name : {"auto", "on", "off"}) EXPECT_EQ(name_of(*choice_from(name)), name);
  const auto why_not = [](const auto& result) { return result ? "known" : result.error().to_string(); };
  EXPECT_EQ(why_not(verb_from("writ")), "\"writ\" is not a verb: write, write-imm, read, send, fetch-add, send-ud");
  EXPECT_EQ(why_not(choice_from("yes")), "\"yes\" is not auto, on or off");
  for (const char* wrong : {"", "gpu", "gpu:", "gpu:-1", "gpu:256", "gpu:1x", "HOST"})
    EXPECT_EQ(why_not(memory_from(wrong)),
              fmt::format("\"{}\" is not a kind of memory: host, huge (pages of 2 MiB) or gpu:N (0 to 255)", wrong));
}

}  // namespace
}  // namespace railbed::perf
