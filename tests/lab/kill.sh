#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The kill loop (tests/kill) on VFs of a virtual machine: kill -9 of the agent before and after its calls while it moves VFs
# with their settings and RDMA devices into pods and back; nothing may be lost or there twice.
#   tests/lab/kill.sh [--every] [--kills N] [--seed S]
# Without --every a slice: one call of SLICES (24), which ones --seed says, before and after it; and 6 at random (--kills). RAILBED is
# the program (build/railbed); railbed-cni is beside it.
set -uo pipefail
cd "$(dirname "$0")/../.."
railbed=${RAILBED:-$PWD/build/railbed}
tools=${KILL_TOOLS:-$PWD/build/tests_kill}
slices=${SLICES:-24} limit=600 kills=6 seed=20779
while [ $# -gt 0 ]; do
  case $1 in
    --every) slices=1 limit=7200; shift; continue ;;
    --kills) kills=$2 ;;
    --seed) seed=$2 ;;
    *) echo "usage: tests/lab/kill.sh [--every] [--kills N] [--seed S]" >&2; exit 2 ;;
  esac
  shift 2
done
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-kill.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
lab/lab setup >/dev/null 2>&1 || { echo "SKIP kill in the lab: no lab here (lab/lab setup)"; exit 0; }
module=$(lab/lab module tests/lab/movable_rxe 2>"$LAB_DIR/module") ||
  { echo "SKIP kill in the lab: the module movable_rxe cannot be built here: $(tail -1 "$LAB_DIR/module")"; exit 0; }
lab/lab start kill --pf rail0 --pf rail1 --mem 1200 --file "$module:/t/movable_rxe.ko" --file tests/lab/kill:/t/kill \
  --file bench/attach_lab/vfs.sh:/t/vfs.sh --stripped "$railbed:/usr/bin/railbed" --stripped "${railbed}d:/usr/libexec/railbed/railbedd" \
  --stripped "${railbed}-cni:/usr/bin/railbed-cni" \
  --file "$tools/kill_loop:/usr/bin/kill_loop" --file "$tools/kill_shim.so:/t/kill_shim.so" >"$LAB_DIR/start" 2>&1 ||
  { echo "FAIL kill in the lab: the guest did not start"; cat "$LAB_DIR/start"; exit 1; }
lab/lab exec kill -t 60 -- 'sh /t/kill/devices.sh' >"$LAB_DIR/devices" 2>&1 ||
  { echo "FAIL kill in the lab: the guest has no VFs with RDMA devices"; cat "$LAB_DIR/devices"; exit 1; }
lab/lab exec kill -t "$limit" -- "mkdir -p /tmp/work /var/lib/cni /var/lib/railbed
  kill_loop --railbed /usr/bin/railbed --cni /usr/bin/railbed-cni --shim /t/kill_shim.so --work /tmp/work \
    --networks /t/kill/networks --patience 10000 --every --share $((seed % slices))/$slices --kills $kills --seed $seed" | tee "$LAB_DIR/out"
status=${PIPESTATUS[0]}
[ "$status" = 0 ] || grep -q '^FAIL' "$LAB_DIR/out" || echo "FAIL kill in the lab: kill_loop ended with status $status"
exit "$status"
