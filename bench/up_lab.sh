#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed up for 2 PFs with 7 VFs each against bare writes to sriov_numvfs and bare binds (bench/up_lab/bare.c), in turn in
# one virtual machine with one CPU.     bench/up_lab.sh [ROUNDS]     RAILBED is the program (build/railbed)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-7}
command -v qemu-system-x86_64 >/dev/null || { echo "SKIP up_2x7_ratio: needs QEMU (make setup-lab)"; exit 0; }
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-bench.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
gcc -O2 -o "$LAB_DIR/bare" bench/up_lab/bare.c -pthread
lab/lab start bench --pf rail0 --pf rail1 --file "${RAILBED:-build/railbed}:/usr/bin/railbed" \
  --file "$LAB_DIR/bare:/t/bare" --file bench/up_lab/rounds.sh:/t/rounds.sh --file testdata/lab/up/fourteen:/t/manifests >&2
lab/lab exec bench -t 500 -- "bash /t/rounds.sh $rounds" >"$LAB_DIR/times" || { cat "$LAB_DIR/times"; exit 1; }
median() { awk -v name="$1" '$1 == name { print $2 }' "$LAB_DIR/times" | sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
cat "$LAB_DIR/times"
bare=$(median bare) up=$(median railbed)
echo "medians of $rounds: bare $bare ms, railbed up $up ms"
awk -v up="$up" -v bare="$bare" 'BEGIN { ratio = up / bare; printf "figure up_2x7_ratio %.3f x <=1.05 %s\n", ratio, ratio <= 1.05 ? "ok" : "short" }'
