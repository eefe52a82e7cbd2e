#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What one message costs railbed perf on an RDMA device that completes at once: figures perf_ideal_VERB_single_ns (with
# its completion), _batched_ns (message rate) and _received_ns. The best of seven runs, as other programs share the processor.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_perf_ideal >&2
exec build/bench/bench_perf_ideal
