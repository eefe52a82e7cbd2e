// SPDX-License-Identifier: Apache-2.0
#include "perf/ping/rping_wire.h"

#include <cstring>

#include <endian.h>

namespace railbed::perf {
namespace {

constexpr uint64_t kLetters = 26;

// Every page, cache line and byte of a ping differs from its neighbours', and from those of the pings around it.
std::byte letter(uint64_t number, uint64_t at) {
  return static_cast<std::byte>('a' + (number * 7 + at + (at >> 6) * 5 + (at >> 12) * 11) % kLetters);
}

std::byte wanted(uint64_t number, size_t at, size_t size) {
  return at + 1 == size ? std::byte{0} : letter(number, at);
}

}  // namespace

std::array<std::byte, kAdvert_bytes> encode(const Advert& advert) {
  const uint64_t address = htobe64(advert.address);
  const uint32_t key = htobe32(advert.key);
  const uint32_t size = htobe32(advert.size_bytes);
  std::array<std::byte, kAdvert_bytes> out;
  std::memcpy(out.data(), &address, 8);
  std::memcpy(out.data() + 8, &key, 4);
  std::memcpy(out.data() + 12, &size, 4);
  return out;
}

Result<Advert> decode_advert(std::span<const std::byte, kAdvert_bytes> bytes, size_t came) {
  if (came != kAdvert_bytes)
    return fail(Code::kInvalid, "the peer sent a message of {} bytes where {} were due", came, kAdvert_bytes);
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t size = 0;
  std::memcpy(&address, bytes.data(), 8);
  std::memcpy(&key, bytes.data() + 8, 4);
  std::memcpy(&size, bytes.data() + 12, 4);
  const Advert advert{.address = be64toh(address), .key = be32toh(key), .size_bytes = be32toh(size)};
  if (advert.size_bytes == 0 || advert.size_bytes > kMostPing_bytes)
    return fail(Code::kInvalid, "the peer offers {} bytes, 1 to {} are possible", advert.size_bytes, kMostPing_bytes);
  return advert;
}

void fill(std::span<std::byte> data, uint64_t number) {
  for (size_t i = 0; i < data.size(); ++i) data[i] = wanted(number, i, data.size());
}

Result<void> check_filled(std::span<const std::byte> data, uint64_t number, std::string_view where) {
  for (size_t i = 0; i < data.size(); ++i) {
    const std::byte due = wanted(number, i, data.size());
    if (data[i] == due) continue;
    return fail(Error{.code = Code::kIo,
                      .message = fmt::format("ping {}: {} differ at byte {} of {}: received 0x{:02x}, sent 0x{:02x}",
                                             number + 1, where, i, data.size(), std::to_integer<unsigned>(data[i]),
                                             std::to_integer<unsigned>(due)),
                      .hint = "a NIC, a PCIe link or memory on the path corrupts data; take this path out of service "
                              "and check the counters and kernel logs of both ends"});
  }
  return {};
}

}  // namespace railbed::perf
