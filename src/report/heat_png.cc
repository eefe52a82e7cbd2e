// SPDX-License-Identifier: Apache-2.0
#include "report/heat_png.h"

#include <algorithm>
#include <string_view>

namespace railbed::report {
namespace {

void put_u32(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

uint32_t crc32(std::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xedb88320U ^ (value >> 1) : value >> 1;
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0U;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

uint32_t adler32(std::string_view bytes) {
  constexpr uint32_t kBase = 65521;
  uint32_t a = 1;
  uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<uint8_t>(c)) % kBase;
    b = (b + a) % kBase;
  }
  return b << 16 | a;
}

void put_chunk(std::string& out, std::string_view type, std::string_view body) {
  put_u32(out, static_cast<uint32_t>(body.size()));
  std::string named(type);
  named += body;
  out += named;
  put_u32(out, crc32(named));
}

// Stored blocks of deflate, in zlib's frame.
std::string stored(std::string_view bytes) {
  constexpr size_t kBlock = 65535;
  std::string out = "\x78\x01";
  for (size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string_view block = bytes.substr(at, kBlock);
    const auto size = static_cast<uint16_t>(block.size());
    const auto inverse = static_cast<uint16_t>(~size);
    out += at + kBlock >= bytes.size() ? '\1' : '\0';
    for (const uint16_t one : {size, inverse}) {
      out += static_cast<char>(one & 0xff);
      out += static_cast<char>(one >> 8);
    }
    out += block;
  }
  put_u32(out, adler32(bytes));
  return out;
}

}  // namespace

std::string heat_png(const std::vector<uint8_t>& cells, uint32_t side, const Palette& palette) {
  std::string header;
  put_u32(header, side);
  put_u32(header, side);
  header.append("\x04\x03\x00\x00\x00", 5);  // 4 bits, palette; deflate, adaptive filters, not interlaced
  std::string colours;
  for (const uint32_t colour : palette)
    for (int shift = 16; shift >= 0; shift -= 8) colours += static_cast<char>(colour >> shift);
  std::string rows;
  rows.reserve(size_t{side} * (side / 2 + 2));
  for (uint32_t y = 0; y < side; ++y) {
    rows += '\0';  // no filter
    for (uint32_t x = 0; x < side; x += 2) {
      const uint8_t* cell = &cells[size_t{y} * side + x];
      rows += static_cast<char>(cell[0] << 4 | (x + 1 < side ? cell[1] : 0));
    }
  }
  std::string out = "\x89PNG\r\n\x1a\n";
  put_chunk(out, "IHDR", header);
  put_chunk(out, "PLTE", colours);
  put_chunk(out, "tRNS", std::string_view("", 1));  // the first one is transparent
  put_chunk(out, "IDAT", stored(rows));
  put_chunk(out, "IEND", "");
  return out;
}

}  // namespace railbed::report
