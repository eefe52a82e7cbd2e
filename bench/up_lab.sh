#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed up for 2 PFs with 7 VFs each against bare writes to sriov_numvfs and bare binds (bench/up_lab/bare.c), in random
# order in one virtual machine with one CPU.     bench/up_lab.sh [ROUNDS]     RAILBED is the program (build/railbed)
# ICOUNT=N (3): the machine's clock counts instructions, 2^N ns each (lab/lab --icount), which other work on the host does not
# change: equal runs differ by a thousandth. ICOUNT= is the host's clock; then an idle host and 40 rounds measure it to a hundredth.
set -euo pipefail
cd "$(dirname "$0")/.."
ICOUNT=${ICOUNT-3}
rounds=${1:-${ROUNDS:-$([ -n "$ICOUNT" ] && echo 8 || echo 40)}}
command -v qemu-system-x86_64 >/dev/null || { echo "SKIP up_2x7_ratio: needs QEMU (make setup-lab)"; exit 0; }
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-bench.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
for program in bare took; do gcc -O2 -o "$LAB_DIR/$program" "bench/up_lab/$program.c" -pthread; done
lab/lab start bench ${ICOUNT:+--icount "$ICOUNT"} --pf rail0 --pf rail1 --file "${RAILBED:-build/railbed}:/usr/bin/railbed" \
  --file "$LAB_DIR/bare:/t/bare" --file "$LAB_DIR/took:/t/took" --file bench/up_lab/rounds.sh:/t/rounds.sh \
  --file testdata/lab/up/fourteen:/t/manifests >&2
lab/lab exec bench -t $((60 + 20 * rounds)) -- "bash /t/rounds.sh $rounds $RANDOM" >"$LAB_DIR/times" || { cat "$LAB_DIR/times"; exit 1; }
cat "$LAB_DIR/times"
read -r ratio error < <(python3 bench/ratio.py railbed bare <"$LAB_DIR/times")
echo "railbed up over bare: $ratio (standard error $error, $rounds of each)"
awk -v ratio="$ratio" 'BEGIN { printf "figure up_2x7_ratio %.3f x <=1.05 %s\n", ratio, ratio <= 1.05 ? "ok" : "short" }'
