#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Starting railbed-cni (VERSION, which it answers itself) against an empty static C program, in turn: figure shim_start,
# the ratio of the medians.     bench/shim.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-2000}
ninja -C build railbed-cni >/dev/null
dir=build/bench/shim
mkdir -p "$dir"
echo 'int main(void) { return 0; }' >"$dir/floor.c"
gcc -static -O2 -o "$dir/floor" "$dir/floor.c"
gcc -O2 -o "$dir/spawn" bench/shim/spawn.c
CNI_COMMAND=VERSION "$dir/spawn" "$rounds" "$dir/floor" build/railbed-cni >"$dir/times"
awk '$1 == "first" { floor = $2; low = $3 } $1 == "second" { shim = $2; shim_low = $3 }
  END {
    printf "median of %d starts: an empty static C program %.0f us (shortest %.0f), railbed-cni %.0f us (shortest %.0f)\n",
      '"$rounds"', floor, low, shim, shim_low
    ratio = shim / floor
    printf "figure shim_start %.3f ratio <=1.2 %s\n", ratio, ratio <= 1.2 ? "ok" : "short"
  }' "$dir/times"
