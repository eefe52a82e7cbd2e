#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Reading a node with 8 PFs × 126 VFs, from files and from memory, and what a VF costs against 8 × 63: figures
# discover_8x126_to_raw, discover_8x126_memory_to_raw (to looking at the same paths with bare system calls), discover_per_vf_126_to_63, discover_per_vf_126_to_63_memory.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_discover >/dev/null
exec build/bench/bench_discover
