// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/wire.h"

#include <bit>
#include <charconv>
#include <cmath>

#include "doc/text.h"

namespace railbed::perf::perftest {
namespace {

constexpr double kOldest = 5.70;
constexpr double kMostFigure = 1e12;
constexpr uint64_t kMostCount = uint64_t{1} << 53;  // what a double can count
constexpr uint32_t k24Bits = 0xffffff;

std::unexpected<Error> wrong(std::string_view what, std::string_view bytes) {
  return fail(Error{.code = Code::kInvalid,
                    .message = fmt::format("the peer does not speak perftest's protocol: as {} it sent \"{}\"", what,
                                           doc::printable(bytes)),
                    .hint = "check that perftest is waiting on this port and was started without -R and -z"});
}

std::string big_endian(uint64_t value, size_t bytes) {
  std::string out(bytes, '\0');
  for (size_t i = bytes; i-- > 0; value >>= 8) out[i] = static_cast<char>(value & 0xff);
  return out;
}

uint64_t from_big_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

// Digits with points between them.
bool is_version(std::string_view text) {
  bool digit = false;
  for (const char c : text) {
    if (c != '.' && (c < '0' || c > '9')) return false;
    if (c == '.' && !digit) return false;
    digit = c != '.';
  }
  return digit;
}

// One after another: hexadecimal numbers of a fixed width, each with what must follow it.
class HexReader {
 public:
  explicit HexReader(std::string_view bytes) : left_(bytes) {}

  uint64_t take(size_t digits, char after) {
    uint64_t value = 0;
    const std::string_view text = left_.substr(0, digits);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    good_ = good_ && error == std::errc() && end == text.data() + digits && left_.size() > digits &&
            left_[digits] == after && text.find_first_of("ABCDEF") == std::string_view::npos;
    if (good_) left_.remove_prefix(digits + 1);
    return value;
  }
  bool at_end() const { return good_ && left_.empty(); }
  void skip(char expected) {
    good_ = good_ && left_.starts_with(expected);
    if (good_) left_.remove_prefix(1);
  }

 private:
  std::string_view left_;
  bool good_ = true;
};

}  // namespace

std::string version_bytes(std::string_view version) {
  std::string out(version);
  out.resize(kVersion_bytes, '\0');
  return out;
}

Result<std::string> read_version(std::string_view bytes) {
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  const bool padded = text.size() < bytes.size() && bytes.find_first_not_of('\0', text.size()) == bytes.npos;
  if (bytes.size() != kVersion_bytes || !padded || !is_version(text)) return wrong("its version", bytes);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (number < kOldest)
    return fail(Error{.code = Code::kUnsupported,
                      .message = fmt::format("the peer is perftest {}, and 5.70 or newer is needed", text),
                      .hint = "update perftest there, or measure with `railbed perf serve`"});
  return std::string(text);
}

std::string number_bytes(uint32_t number) {
  return big_endian(number, kNumber_bytes);
}

Result<uint32_t> read_page(std::string_view bytes) {
  const uint64_t value = from_big_endian(bytes);
  if (bytes.size() != kNumber_bytes || value < 512 || value > kMostPage_bytes || !std::has_single_bit(value))
    return wrong("the size of its pages", bytes);
  return static_cast<uint32_t>(value);
}

Result<uint32_t> read_cache_line(std::string_view bytes) {
  const uint64_t value = from_big_endian(bytes);
  if (bytes.size() != kNumber_bytes || value == 0 || value > 65536) return wrong("the size of a cache line", bytes);
  return static_cast<uint32_t>(value);
}

std::string mtu_bytes(int mtu) {
  char code = '1';
  for (int bytes = 256; bytes < mtu && code < '5'; bytes *= 2) ++code;
  return {code, '\0'};
}

Result<int> read_mtu(std::string_view bytes) {
  if (bytes.size() != kMtu_bytes || bytes[0] < '1' || bytes[0] > '5' || bytes[1] != '\0')
    return wrong("its MTU", bytes);
  return 128 << (bytes[0] - '0');
}

std::string keys_bytes(const Keys& keys) {
  std::string out = fmt::format("{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:", keys.lid, keys.reads, keys.qp & k24Bits,
                                keys.sequence & k24Bits, keys.remote_key, keys.address);
  if (keys.gid)
    for (const uint8_t byte : keys.gid->bytes) out += fmt::format("{:02x}:", byte);
  out += fmt::format("{:08x}", keys.shared_queue);
  if (keys.gid) out += ':';
  out += '\0';
  return out;
}

bool has_gid(std::string_view first) {
  return first.size() == kKeys_bytes && first.back() != '\0';
}

Result<Keys> read_keys(std::string_view bytes) {
  HexReader reader(bytes);
  Keys keys;
  keys.lid = static_cast<uint16_t>(reader.take(4, ':'));
  keys.reads = static_cast<uint16_t>(reader.take(4, ':'));
  keys.qp = static_cast<uint32_t>(reader.take(6, ':'));
  keys.sequence = static_cast<uint32_t>(reader.take(6, ':'));
  keys.remote_key = static_cast<uint32_t>(reader.take(8, ':'));
  keys.address = reader.take(16, ':');
  if (bytes.size() == kKeysWithGid_bytes) {
    Gid& gid = keys.gid.emplace();
    for (uint8_t& byte : gid.bytes) byte = static_cast<uint8_t>(reader.take(2, ':'));
    keys.shared_queue = static_cast<uint32_t>(reader.take(8, ':'));
    reader.skip('\0');
  } else {
    keys.shared_queue = static_cast<uint32_t>(reader.take(8, '\0'));
  }
  if (!reader.at_end()) return wrong("the keys of a queue pair", bytes);
  return keys;
}

std::string report_bytes(const Report& report) {
  std::string out = big_endian(report.size_bytes, kFigure_bytes) + big_endian(report.messages, kFigure_bytes);
  for (const double figure : {report.peak, report.average, report.million_messages_per_s})
    out += big_endian(std::bit_cast<uint64_t>(figure), kFigure_bytes);
  return out;
}

Result<Report> read_report(std::string_view bytes) {
  if (bytes.size() != kFigures * kFigure_bytes) return wrong("its figures", bytes);
  const auto number = [&](size_t n) { return from_big_endian(bytes.substr(n * kFigure_bytes, kFigure_bytes)); };
  const auto figure = [&](size_t n) { return std::bit_cast<double>(number(n)); };
  const Report report{.size_bytes = number(0),
                      .messages = number(1),
                      .peak = figure(2),
                      .average = figure(3),
                      .million_messages_per_s = figure(4)};
  for (const double one : {report.peak, report.average, report.million_messages_per_s})
    if (!std::isfinite(one) || one < 0 || one > kMostFigure) return wrong("a figure of its result", bytes);
  if (report.size_bytes == 0 || report.size_bytes > kMostCount || report.messages > kMostCount)
    return wrong("a count of its result", bytes);
  return report;
}

}  // namespace railbed::perf::perftest
