#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One change of 1,000 simulated nodes in 10 pools: drains_waves, drains_evictions, drains_interruptions_of_a_job,
# drains_calls_per_node, drains_simulation, and beside them drains_evictions_by_prefix and
# drains_interruptions_of_a_job_by_prefix, the rule of the SR-IOV operator.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_drains >/dev/null
exec build/bench/bench_drains
