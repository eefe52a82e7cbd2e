// SPDX-License-Identifier: Apache-2.0
// The exchanges of perftest's two ends, in its order, from either side.
//
// Why: each piece is sent by the client first and answered by the server with one of the same kind, so client and
// server are one class that differs in who sends first. Keys are exchanged more than once, and the later exchanges are
// barriers: then they must be the same as before.
// Threading: one thread.
// Failure: as wire.h and peer_line.h; kConflict if the peer contradicts itself.
#pragma once

#include <vector>

#include "perf/perftest/dialect.h"
#include "perf/perftest/peer_line.h"
#include "perf/perftest/wire.h"

namespace railbed::perf::perftest {

struct Greeting {
  std::string version;      // of the peer
  uint32_t page_bytes = 0;  // the larger of both
  int mtu_bytes = 0;        // of the peer
  friend bool operator==(const Greeting&, const Greeting&) = default;
};

class Exchange {
 public:
  Exchange(PeerLine& line, Role role, std::chrono::milliseconds patience)
      : line_(line), role_(role), patience_(patience) {}

  // Versions, sizes of pages and cache lines, MTUs.
  Result<Greeting> greet(uint32_t page_bytes, int mtu_bytes);
  // One of each queue pair, ours against the peer's. On Ethernet with GIDs; a server follows its client.
  Result<void> swap_keys(std::vector<Keys> own);
  // The keys once more: of all queue pairs, or of the first, which is a barrier.
  Result<void> repeat_keys();
  Result<void> sync() { return sync(patience_); }
  Result<void> sync(std::chrono::milliseconds patience);
  // What the peer sends is for read_report() where it means something: a server that measured nothing sends anything.
  Result<std::string> swap_report(const Report& own, std::chrono::milliseconds patience);
  // A barrier, and the last word.
  Result<void> close(std::chrono::milliseconds patience);

  const std::vector<Keys>& remote() const { return remote_; }

 private:
  Result<std::string> swap(std::string_view own, std::chrono::milliseconds patience, std::string_view what);
  Result<Keys> swap_one(const Keys& own, std::chrono::milliseconds patience);
  Result<void> repeat(size_t pair, std::chrono::milliseconds patience);
  Result<Keys> read_one(std::chrono::milliseconds patience);

  PeerLine& line_;
  Role role_;
  std::chrono::milliseconds patience_;
  std::vector<Keys> own_;
  std::vector<Keys> remote_;
};

}  // namespace railbed::perf::perftest
