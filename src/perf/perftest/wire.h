// SPDX-License-Identifier: Apache-2.0
// The TCP protocol between two ends of perftest (`ib_write_bw` and its family), as bytes and back.
//
// Why: perftest's protocol is not documented, and its own readers accept any input: one strict parser here reports
// invalid bytes before anything is done with them. All integers are big-endian except for keys, which are text. An
// exchange is one such piece from the client, then one of the same kind from the server; their order is in exchange.h.
// Threading: pure.
// Failure: Code::kInvalid with the received data; kUnsupported for a version that is too old.
// Spec: none; perftest's behaviour from 5.70 to 6.29, which skips its later additions for a peer before 6.28.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/types.h"

namespace railbed::perf::perftest {

// ---- versions: text, padded with zeros
inline constexpr size_t kVersion_bytes = 16;
// What this side says to be: the newest that every perftest from 5.70 on talks to without exchanging structs whose
// layout depends on how it was built.
inline constexpr std::string_view kAnnounced = "6.20";
std::string version_bytes(std::string_view version);
Result<std::string> read_version(std::string_view bytes);

// ---- one number of 32 bits each: the size of the buffer that small messages walk through (a page), and of a cache
// line
inline constexpr size_t kNumber_bytes = 4;
inline constexpr uint32_t kMostPage_bytes = 1 << 20;
std::string number_bytes(uint32_t number);
Result<uint32_t> read_page(std::string_view bytes);
Result<uint32_t> read_cache_line(std::string_view bytes);

// ---- the path's MTU: a digit, which is the code of it (1: 256 bytes … 5: 4096), and a zero
inline constexpr size_t kMtu_bytes = 2;
std::string mtu_bytes(int mtu);
Result<int> read_mtu(std::string_view bytes);

// ---- keys: where a queue pair is, and the memory that it opens to the peer; text, with the GID on Ethernet
inline constexpr size_t kKeys_bytes = 59;
inline constexpr size_t kKeysWithGid_bytes = 108;
struct Keys {
  uint16_t lid = 0;
  uint16_t reads = 0;  // reads and atomics that it answers at once
  uint32_t qp = 0;     // 24 bits
  uint32_t sequence = 0;
  uint32_t remote_key = 0;
  uint64_t address = 0;
  uint32_t shared_queue = 0;
  std::optional<Gid> gid;
  friend bool operator==(const Keys&, const Keys&) = default;
};
std::string keys_bytes(const Keys& keys);
// By their first kKeys_bytes: whether more come, with a GID.
bool has_gid(std::string_view first);
Result<Keys> read_keys(std::string_view bytes);

// ---- what a bandwidth test gave: five numbers of 8 bytes, each exchanged by itself
inline constexpr size_t kFigure_bytes = 8;
inline constexpr size_t kFigures = 5;
struct Report {
  uint64_t size_bytes = 0;
  uint64_t messages = 0;  // over all queue pairs
  double peak = 0;        // in the unit that its user asked for, which is not sent: MiB/s or Gb/s
  double average = 0;     // in the same
  double million_messages_per_s = 0;
  friend bool operator==(const Report&, const Report&) = default;
};
std::string report_bytes(const Report& report);
Result<Report> read_report(std::string_view bytes);

// ---- the last word of both, with its zero
inline constexpr std::string_view kDone("done", 5);

}  // namespace railbed::perf::perftest
