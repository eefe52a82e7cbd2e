#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed check on bundles of 1,000 and 10,000 objects and the facts of 10 and 100 nodes: time, memory, linear in both;
# beside kubeconform on the same manifests, the two in turn. kubeconform is built from the Go module that tests/tools
# pins and has no schemas here, so it only parses: the least that it can do. Times are the shortest of several runs of
# the whole process, from a script's point of view (start, reading, checking, printing), and are reported as ratios to others
# of the same run: the machine and its load are in both. The floor is bench_parse, which turns the same files into
# values and ends.
set -euo pipefail
cd "$(dirname "$0")/.."
railbed=$PWD/build/railbed
facts=testdata/discover/gpu8-ib8/facts.json
dir=build/bench/check
mkdir -p "$dir"
bench/check_bundle "$facts" 1000 100 "$dir/1000x100"
bench/check_bundle "$facts" 10000 100 "$dir/10000x100"
bench/check_bundle "$facts" 1000 10 "$dir/1000x10"

# Shortest wall time of N runs in ms, and the largest resident size in MB.
shortest() { # N COMMAND...
  python3 - "$@" <<'P'
import os, subprocess, sys, time, resource
best = 1e9
for _ in range(int(sys.argv[1])):
    begin = time.perf_counter()
    subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    best = min(best, time.perf_counter() - begin)
print(f"{best * 1000:.1f} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:.0f}")
P
}
check() { echo "$railbed" check --facts "$dir/$1/facts.json" "$dir/$1/bundle.yaml"; }
least() { awk "BEGIN { print ($2 < $1) ? $2 : $1 }"; }
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" -v o="${4%%=*}" 'BEGIN { exit !(o == "<" ? v <= b : v >= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}

$(check 1000x100) >"$dir/out.txt" || { cat "$dir/out.txt"; exit 1; }   # a bundle without findings, or nothing is measured
ninja -C build bench_parse >/dev/null
one_ms=1000000 parse_ms=1000000
for _ in 1 2 3 4 5 6 7 8 9; do
  read -r ms one_mb < <(shortest 1 $(check 1000x100))
  one_ms=$(least "$one_ms" "$ms")
  read -r ms _ < <(shortest 1 build/bench/bench_parse "$dir/1000x100/facts.json" "$dir/1000x100/bundle.yaml")
  parse_ms=$(least "$parse_ms" "$ms")
done
echo "railbed check $one_ms ms, parsing only $parse_ms ms"
read -r objects_ms _ < <(shortest 3 $(check 10000x100))
read -r nodes_ms _ < <(shortest 9 $(check 1000x10))
figure check_1000_objects_100_nodes_to_parsing "$(awk "BEGIN { printf \"%.2f\", $one_ms / $parse_ms }")" ratio "<=2"
figure check_memory "$one_mb" MB "<=100"
figure check_10x_objects "$(awk "BEGIN { printf \"%.2f\", $objects_ms / $one_ms }")" ratio "<=11"
figure check_10x_nodes "$(awk "BEGIN { printf \"%.2f\", $one_ms / $nodes_ms }")" ratio "<=11"

if ! kubeconform=$(tests/tools/build kubeconform 2>"$dir/tools.log"); then
  echo "SKIP check_vs_kubeconform: $(tail -1 "$dir/tools.log")"
  exit 0
fi
kubeconform=$kubeconform/kubeconform
best_ours=1000000 best_theirs=1000000
for _ in 1 2 3 4 5; do
  read -r ours _ < <(shortest 1 "$railbed" check "$dir/1000x100/bundle.yaml")
  read -r theirs _ < <(shortest 1 "$kubeconform" -ignore-missing-schemas -schema-location /nowhere/{{.ResourceKind}}.json "$dir/1000x100/bundle.yaml")
  best_ours=$(least "$best_ours" "$ours")
  best_theirs=$(least "$best_theirs" "$theirs")
done
echo "railbed $best_ours ms, kubeconform $best_theirs ms"
figure check_faster_than_kubeconform "$(awk "BEGIN { printf \"%.2f\", $best_theirs / $best_ours }")" ratio ">=1"
