#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Addresses given and taken back, a second and a core: ipam_pairs_per_s, ipam_slowest_to_fastest and, with each lease
# written to the state, ipam_stored_pairs_per_s.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_ipam >/dev/null
exec build/bench/bench_ipam
