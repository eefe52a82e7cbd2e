// SPDX-License-Identifier: Apache-2.0
// Maps a test of railbed to a test of perftest: its program, its options, and what it does not support.
//
// Why: what perftest's two ends measure is not sent over the network; each assumes that the other was started with the
// same size, number of messages and queue pairs. So both command lines must be shown to the user, and what perftest
// does not support must be refused before anything is sent.
// Threading: pure.
// Failure: kInvalid names the option.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "perf/test_spec.h"

namespace railbed::perf::perftest {

inline constexpr uint16_t kPort = 18515;

enum class Role : uint8_t { kClient, kServer };

// How a program of perftest goes through its sizes, by verb and kind.
struct Manner {
  std::string_view program;  // "ib_write_bw"
  bool keys_before = false;  // the first keys once more, before those of all queue pairs
  bool sync_first = false;   // the exchange that ends connecting comes before the second round of keys
  bool reports = false;      // the client reports its result
  bool closes = true;        // with a last exchange of keys
  bool sync_each = false;    // both begin each size together
};
Manner manner_of(const TestSpec& spec);

// Whether both ends count messages, and so must be configured with the same number: not of a stream that only one end
// sends and no program takes part in at the other.
bool is_counted(const TestSpec& spec);
// perftest's defaults.
int64_t usual_iterations(const TestSpec& spec);
// The test as it is with perftest: with a number of messages where both count. `duration_given`: somebody asked for
// one.
Result<TestSpec> as_perftest(TestSpec spec, Role role, bool duration_given);

// What must run at the other end: "ib_write_bw -s 65536 -n 5000 -F", a client's with the address of this end.
std::string command_line(const TestSpec& spec, uint16_t port, const std::string& server_address);

}  // namespace railbed::perf::perftest
