#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attaching and detaching 8 VFs of two PFs through attach_pod against the minimal netlink sequence, in turn in one virtual
# machine with one CPU.     bench/attach_lab.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-21}
command -v qemu-system-x86_64 >/dev/null || { echo "SKIP attach_vf_ratio: needs QEMU (make setup-lab)"; exit 0; }
ninja -C build bench_attach >/dev/null
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-bench.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
lab/lab start bench --pf rail0 --pf rail1 --file build/bench/bench_attach:/usr/bin/bench_attach \
  --file bench/attach_lab/vfs.sh:/t/vfs.sh >&2
lab/lab exec bench -t 60 -- "sh /t/vfs.sh 4 >/tmp/devices" || exit 1
lab/lab exec bench -t 500 -- "bench_attach --rounds $rounds --devices \$(cat /tmp/devices)"
