// SPDX-License-Identifier: Apache-2.0
// Measures with a perftest at the other end: `railbed perf bw|lat --peer-perftest`, in either role.
//
// Why: half of all machines have perftest and nothing else, and a result that a colleague can verify with the standard
// tool is trusted. The loops, the devices and the results are railbed's own; the exchange is perftest's.
// Threading: any one thread.
// Failure: the error, with the command line that must run at the other end, because nothing in the protocol contains
// it. Results before it have been passed to `on_size`.
#pragma once

#include "perf/perftest/dialect.h"
#include "perf/session/client.h"

namespace railbed::perf::perftest {

// Without a host in `options` as the server, which takes the first client that speaks perftest's protocol. `spec` as
// as_perftest() made it. A server of a stream that only its client sends has the figures that its client reports; where
// the device alone answers pings, it has none.
Result<Measurement> measure_with_perftest(os::Kernel& kernel, const ClientOptions& options, const TestSpec& spec);

}  // namespace railbed::perf::perftest
