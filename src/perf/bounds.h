// SPDX-License-Identifier: Apache-2.0
// What the numbers of a measurement may be: each bound, once.
//
// Why: the command line, the readers of results and of a peer's messages, and validate() refuse the same values. Each
// of them takes the bound from here.
// Threading, failure: constants.
#pragma once

#include <cstddef>
#include <cstdint>

#include "doc/fields.h"

namespace railbed::perf {

inline constexpr int64_t kMaxSize_bytes = int64_t{1} << 26;
inline constexpr size_t kMaxSizes = 64;  // of a test
inline constexpr int64_t kAtomic_bytes = 8;
inline constexpr int64_t kMaxDatagram_bytes = 4096;
inline constexpr int64_t kMaxQps = 256;
inline constexpr int64_t kMaxDepth = 8192;
inline constexpr int64_t kMaxUnderWay = 1 << 18;  // over all queue pairs: their queues are the kernel's memory
inline constexpr int64_t kMaxDuration_ms = 24 * 3600 * 1000LL;
inline constexpr int64_t kMaxRegion_bytes = int64_t{1} << 30;
inline constexpr int64_t kMaxTotal_bytes = int64_t{1} << 53;  // of a round; what a double can count

namespace bounds {

// Of TestSpec.
inline constexpr doc::Limits kSizes_bytes{.min = 1, .max = kMaxSize_bytes, .entries = kMaxSizes};
inline constexpr doc::Limits kQps{.min = 1, .max = kMaxQps};
inline constexpr doc::Limits kTxDepth{.min = 1, .max = kMaxDepth};
inline constexpr doc::Limits kIterations{.min = 0, .max = 1'000'000'000'000};
inline constexpr doc::Limits kDuration_ms{.min = 10, .max = kMaxDuration_ms};  // where iterations do not end a size
inline constexpr doc::Limits kRate_per_s{.min = 0, .max = 1'000'000};
inline constexpr doc::Limits kInline_bytes{.min = -1, .max = 4096};
inline constexpr doc::Limits kPostList{.min = 0, .max = kMaxDepth};
inline constexpr doc::Limits kThreads{.min = 0, .max = kMaxQps};
inline constexpr doc::Limits kTrafficClass{.min = 0, .max = 0xff};
inline constexpr doc::Limits kServiceLevel{.min = 0, .max = 15};
inline constexpr doc::Limits kPkeyIndex{.min = 0, .max = 0xffff};
inline constexpr doc::Limits kFlowLabel{.min = 0, .max = 0xfffff};
inline constexpr doc::Limits kGpu{.min = 0, .max = 255};

// Of the other measurements. Within those of TestSpec, which is what they send.
inline constexpr doc::Limits kFewQps{.min = 1, .max = 32};  // beside probes, and on all rails at once
inline constexpr doc::Limits kProbeRate_per_s{.min = 1, .max = 100'000};
inline constexpr doc::Limits kProbing_ms{.min = 100, .max = 3'600'000};
inline constexpr doc::Limits kRepeats{.min = 1, .max = 100};
inline constexpr doc::Limits kMeshTest_ms{.min = 20, .max = 60'000};
inline constexpr doc::Limits kPingInterval_ms{.min = 0, .max = 5000};
inline constexpr doc::Limits kWatchInterval_ms{.min = 50, .max = 3'600'000};
inline constexpr doc::Limits kFactor{.min = 2, .max = 1024};  // from one size of a collective to the next

}  // namespace bounds
}  // namespace railbed::perf
