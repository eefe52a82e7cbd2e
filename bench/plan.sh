#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plans for 100 nodes × 50 policies: figure plan_100x50_to_parsing, to reading the facts of the same nodes from text.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_plan >/dev/null
exec build/bench/bench_plan
