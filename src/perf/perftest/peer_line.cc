// SPDX-License-Identifier: Apache-2.0
#include "perf/perftest/peer_line.h"

#include <algorithm>
#include <array>

namespace railbed::perf::perftest {
namespace {

// The largest piece and the one after it: no peer has a reason to send more in advance.
constexpr size_t kMostInAdvance = 512;

}  // namespace

Result<void> PeerLine::check_stop() const {
  if (stop_.stop_requested()) return fail(Code::kCanceled, "stopped");
  return {};
}

Result<std::string> PeerLine::read(size_t bytes, std::chrono::milliseconds patience, std::string_view what) {
  const Deadline deadline = Deadline::after(patience, *clock_);
  std::array<std::byte, kMostInAdvance> buffer;
  while (came_.size() < bytes) {
    TRY(check_stop());
    if (deadline.passed())
      return fail(Code::kTimeout, "no message from the peer for {} ms, {} was due", patience.count(), what);
    auto count = socket_.read_some(buffer, deadline.or_after(kLookForStop));
    if (count)
      came_.append(reinterpret_cast<const char*>(buffer.data()), *count);
    else if (count.error().code != Code::kTimeout)
      return fail(std::move(count).context("waiting for {}", what).error());
  }
  std::string piece = came_.substr(0, bytes);
  came_.erase(0, bytes);
  return piece;
}

Result<void> PeerLine::write(std::string_view bytes, std::chrono::milliseconds patience, std::string_view what) {
  TRY(check_stop());
  return socket_.write_all(std::as_bytes(std::span(bytes)), Deadline::after(patience, *clock_))
      .context("sending {}", what);
}

Result<void> PeerLine::interrupted() {
  TRY(check_stop());
  std::array<std::byte, kMostInAdvance> buffer;
  auto count = socket_.read_now(buffer);
  if (!count) {
    // What it said before it closed comes first.
    if (has_message() && count.error().code == Code::kCanceled) return {};
    return fail(std::move(count.error()));
  }
  came_.append(reinterpret_cast<const char*>(buffer.data()), *count);
  if (came_.size() > kMostInAdvance) return fail(Code::kInvalid, "the peer sent data during the measurement");
  return {};
}

}  // namespace railbed::perf::perftest
