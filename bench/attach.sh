#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attaching and detaching 8 interfaces through attach_pod against the minimal netlink sequence, in one run.
# Needs root. Arguments go to the program: --rounds N, --devices PCI,PCI,… (VFs of the initial namespace).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
  echo "SKIP attach: needs root"
  exit 0
fi
ninja -C build bench_attach >/dev/null
exec build/bench/bench_attach "$@"
