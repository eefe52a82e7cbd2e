#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A simulated mesh: schedule and analysis of 4,096 hosts with 8 rails (seconds of the processor, peak memory), and the verdicts on 1,000 random
# faults of a fabric of 64 hosts with 4 rails and 16 leaves, with the confusion matrix (rows: what was planted; columns:
# what was said). The quick pattern, 8 partners a host, is beside it without a bound.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_mesh >/dev/null
scale=$(build/bench/bench_mesh scale 4096 8)
echo "$scale"
awk '{ is[$1] = $2 } END {
  s = is["schedule_s"] + is["analysis_s"]
  printf "figure mesh_4096x8_cpu_seconds %.2f s <=10 %s\n", s, (s <= 10 ? "ok" : "short")
  printf "figure mesh_4096x8_clock %.2f s - ok\n", is["clock_s"]
  printf "figure mesh_4096x8_peak_memory %d MB <=1000 %s\n", is["peak_mb"], (is["peak_mb"] <= 1000 ? "ok" : "short")
}' <<<"$scale"
for pattern in full quick; do
  result=$(build/bench/bench_mesh faults 1000 $pattern)
  echo "$pattern:"
  echo "$result"
  awk -v pattern=$pattern '{ is[$1] = $2 } END {
    split(pattern == "full" ? "98 99" : "0 0", bound, " ")
    text[1] = pattern == "full" ? ">=98" : "-"; text[2] = pattern == "full" ? ">=99" : "-"
    printf "figure mesh_%s_precision %.2f %% %s %s\n", pattern, is["precision"], text[1], (is["precision"] >= bound[1] ? "ok" : "short")
    printf "figure mesh_%s_recall %.2f %% %s %s\n", pattern, is["recall"], text[2], (is["recall"] >= bound[2] ? "ok" : "short")
  }' <<<"$result"
done
