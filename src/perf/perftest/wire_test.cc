// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/wire.h"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace railbed::perf::perftest {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kHint = "\n  check that perftest is waiting on this port and was started without -R and -z";

template <typename T>
std::string why_not(const Result<T>& result) {
  return result ? "taken" : result.error().to_string();
}
std::string no_perftest(std::string_view what, std::string_view shown) {
  return fmt::format("the peer does not speak perftest's protocol: as {} it sent \"{}\"{}", what, shown, kHint);
}

// As a perftest 6.06 sent them.
constexpr std::string_view kIpv4 =
    "0000:0001:000012:8c7f3d:00001a2b:00007f8a12345000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:01:00000000:\0"sv;
constexpr std::string_view kByLid = "0051:0010:00004a:ffffff:00180f4e:00007f0000010000:00000000\0"sv;

TEST(PerftestWire, ReadsKeys) {
  const auto ipv4 = read_keys(kIpv4);
  ASSERT_TRUE(ipv4) << ipv4.error().to_string();
  Keys keys{.lid = 0,
            .reads = 1,
            .qp = 0x12,
            .sequence = 0x8c7f3d,
            .remote_key = 0x1a2b,
            .address = 0x7f8a12345000,
            .shared_queue = 0,
            .gid = *Gid::parse("0000:0000:0000:0000:0000:ffff:0a00:0001")};
  EXPECT_EQ(*ipv4, keys);
  EXPECT_EQ(keys_bytes(keys), kIpv4);
  EXPECT_TRUE(has_gid(kIpv4.substr(0, kKeys_bytes)));
  const auto by_lid = read_keys(kByLid);
  ASSERT_TRUE(by_lid) << by_lid.error().to_string();
  keys = {.lid = 81,
          .reads = 16,
          .qp = 74,
          .sequence = 0xffffff,
          .remote_key = 0x180f4e,
          .address = 0x7f0000010000,
          .shared_queue = 0,
          .gid = {}};
  EXPECT_EQ(*by_lid, keys);
  EXPECT_EQ(keys_bytes(keys), kByLid);
  EXPECT_FALSE(has_gid(kByLid));
}

RC_GTEST_PROP(PerftestWire, KeysComeBackAsTheyWere, ()) {
  Keys keys{.lid = *rc::gen::arbitrary<uint16_t>(),
            .reads = *rc::gen::arbitrary<uint16_t>(),
            .qp = *rc::gen::inRange(0u, 1u << 24),
            .sequence = *rc::gen::inRange(0u, 1u << 24),
            .remote_key = *rc::gen::arbitrary<uint32_t>(),
            .address = *rc::gen::arbitrary<uint64_t>(),
            .shared_queue = *rc::gen::arbitrary<uint32_t>(),
            .gid = {}};
  if (*rc::gen::arbitrary<bool>()) keys.gid = Gid{*rc::gen::arbitrary<std::array<uint8_t, 16>>()};
  const std::string bytes = keys_bytes(keys);
  RC_ASSERT(bytes.size() == (keys.gid ? kKeysWithGid_bytes : kKeys_bytes));
  RC_ASSERT(has_gid(bytes.substr(0, kKeys_bytes)) == keys.gid.has_value());
  const auto again = read_keys(bytes);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == keys);
}

// One byte that is another is refused or means something else, and never the same.
RC_GTEST_PROP(PerftestWire, EveryByteOfKeysCounts, ()) {
  std::string bytes(*rc::gen::arbitrary<bool>() ? kIpv4 : kByLid);
  const auto before = read_keys(bytes);
  const size_t at = *rc::gen::inRange<size_t>(0, bytes.size());
  const char other = *rc::gen::arbitrary<char>();
  RC_PRE(other != bytes[at]);
  bytes[at] = other;
  const auto after = read_keys(bytes);
  RC_ASSERT((!after || !(*after == *before)));  // the macro would evaluate both sides
}

TEST(PerftestWire, RefusesOtherKeys) {
  std::string upper(kByLid);
  upper.replace(21, 6, "FFFFFF");
  std::string blank(kByLid);
  blank[0] = ' ';
  std::string sign(kByLid);
  sign[0] = '+';
  for (const std::string& bytes : {std::string(kByLid.substr(0, 58)), std::string(kByLid) + "x", upper, blank, sign})
    EXPECT_FALSE(read_keys(bytes)) << bytes;
  EXPECT_EQ(why_not(read_keys("GET / HTTP/1.1\r\n")),
            no_perftest("the keys of a queue pair", "GET / HTTP/1.1\\x0d\\x0a"));
}

TEST(PerftestWire, Versions) {
  EXPECT_EQ(version_bytes("6.06"), "6.06\0\0\0\0\0\0\0\0\0\0\0\0"sv);
  for (const std::string version : {"5.70", "6.06", "6.29", "26.01"})
    EXPECT_EQ(*read_version(version_bytes(version)), version);
  EXPECT_EQ(why_not(read_version(version_bytes("5.60"))),
            "the peer is perftest 5.60, and 5.70 or newer is needed\n"
            "  update perftest there, or measure with `railbed perf serve`");
  EXPECT_EQ(why_not(read_version("SSH-2.0-OpenSSH_")), no_perftest("its version", "SSH-2.0-OpenSSH_"));
  for (const std::string_view bytes : {"6.06"sv, "6.06\0\0\0\0\0\0\0\0\0\0\0x"sv, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"sv,
                                       "6..6\0\0\0\0\0\0\0\0\0\0\0\0"sv, ".606\0\0\0\0\0\0\0\0\0\0\0\0"sv,
                                       "606.\0\0\0\0\0\0\0\0\0\0\0\0"sv, "6.0000000000000006"sv, "6.00000000000006"sv})
    EXPECT_FALSE(read_version(bytes)) << bytes;
}

TEST(PerftestWire, Numbers) {
  EXPECT_EQ(number_bytes(4096), "\0\0\x10\0"sv);
  for (const uint32_t page : {512u, 4096u, 65536u, kMostPage_bytes}) EXPECT_EQ(*read_page(number_bytes(page)), page);
  for (const uint32_t page : {0u, 256u, 4095u, 2 * kMostPage_bytes, 0xffffffffu})
    EXPECT_FALSE(read_page(number_bytes(page)));
  EXPECT_EQ(why_not(read_page("RBP1")), no_perftest("the size of its pages", "RBP1"));
  EXPECT_EQ(*read_cache_line(number_bytes(64)), 64u);
  EXPECT_FALSE(read_cache_line(number_bytes(0)));
  EXPECT_FALSE(read_cache_line(number_bytes(65537)));
}

TEST(PerftestWire, Mtus) {
  for (const int mtu : {256, 512, 1024, 2048, 4096}) EXPECT_EQ(*read_mtu(mtu_bytes(mtu)), mtu);
  EXPECT_EQ(mtu_bytes(1024), "3\0"sv);
  for (const std::string_view bytes : {"0\0"sv, "6\0"sv, "33"sv, "3"sv}) EXPECT_FALSE(read_mtu(bytes));
}

RC_GTEST_PROP(PerftestWire, ReportsComeBackAsTheyWere, ()) {
  const auto figure = rc::gen::map(rc::gen::inRange<int64_t>(0, 1'000'000'000),
                                   [](int64_t n) { return 1e-3 * static_cast<double>(n); });
  const Report report{.size_bytes = *rc::gen::inRange<uint64_t>(1, 1 << 26),
                      .messages = *rc::gen::inRange<uint64_t>(0, uint64_t{1} << 40),
                      .peak = *figure,
                      .average = *figure,
                      .million_messages_per_s = *figure};
  const auto again = read_report(report_bytes(report));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == report);
}

TEST(PerftestWire, RefusesFiguresThatAreNone) {
  const Report good{.size_bytes = 2, .messages = 5, .peak = 1, .average = 1, .million_messages_per_s = 1};
  EXPECT_TRUE(read_report(report_bytes(good)));
  const auto with = [&](auto change) {
    Report report = good;
    change(report);
    return why_not(read_report(report_bytes(report))).substr(0, 80);
  };
  const std::string count = "the peer does not speak perftest's protocol: as a count of its result it sent \"";
  EXPECT_EQ(with([](Report& r) { r.size_bytes = 0; }), (count + "\\x00").substr(0, 80));
  EXPECT_EQ(with([](Report& r) { r.messages = UINT64_MAX; }), (count + "\\x00").substr(0, 80));
  const std::string figure = "the peer does not speak perftest's protocol: as a figure of its result it sent \"";
  for (const double wrong : {std::nan(""), HUGE_VAL, -1.0, 1e13}) {
    EXPECT_EQ(with([&](Report& r) { r.peak = wrong; }), figure.substr(0, 80));
    EXPECT_EQ(with([&](Report& r) { r.average = wrong; }), figure.substr(0, 80));
    EXPECT_EQ(with([&](Report& r) { r.million_messages_per_s = wrong; }), figure.substr(0, 80));
  }
  EXPECT_FALSE(read_report(""));
}

}  // namespace
}  // namespace railbed::perf::perftest
