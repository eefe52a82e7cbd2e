#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pods' networks through the agent against the reference CNI plugins, driven by libcni as Multus drives them, and against
# the minimal netlink sequence, in one run. Needs root and, for the reference, Go (tests/tools/build).
# ROUNDS (9) of each way, PODS (200) of the burst. tests/cni/harness/bench.py says what is compared.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build railbed railbed-cni bare_cni >/dev/null
exec tests/cni/run bench
