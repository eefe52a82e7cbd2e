// SPDX-License-Identifier: Apache-2.0
// The messages between the two ends of a ping, and the data that is moved.
//
// Why: the exchange is that of rdma-core's rping, so one engine works with railbed and with rping. For each ping one
// end (the source) sends the location of its data; the other (the mover) reads them, and sends a message; the source
// sends the destination; the mover writes them there, and sends a message. All messages have 16 bytes: address (8), key
// (4) and size (4), in network order; for those of the mover only the arrival matters. Pure.
// Threading: plain values.
// Failure: Code::kInvalid for a size that was not offered. Wire: RDMA_PS_TCP, port 7174.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace railbed::perf {

inline constexpr uint16_t kRpingPort = 7174;
inline constexpr uint32_t kRpingRoom_bytes = 64;  // of an rping without an option for the size
inline constexpr uint32_t kMostPing_bytes = 65536;
inline constexpr size_t kAdvert_bytes = 16;

// Memory of one end that the other may reach.
struct Advert {
  uint64_t address = 0;
  uint32_t key = 0;
  uint32_t size_bytes = 0;
  friend bool operator==(const Advert&, const Advert&) = default;
};

std::array<std::byte, kAdvert_bytes> encode(const Advert& advert);
// `came`: how many bytes the message had. The size is 1 to kMostPing_bytes.
Result<Advert> decode_advert(std::span<const std::byte, kAdvert_bytes> bytes, size_t came);

// The data of ping `number`: readable, different for each ping and place, with a zero at the end, since rping prints
// what it got.
void fill(std::span<std::byte> data, uint64_t number);
// Fails with the place of the first byte that is not as fill() makes it. `where`: "the data that were read".
Result<void> check_filled(std::span<const std::byte> data, uint64_t number, std::string_view where);

}  // namespace railbed::perf
