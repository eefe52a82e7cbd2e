#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed perf against ib_write_bw and ib_write_lat on one soft-RoCE pair, two virtual machines: figures perf_bw_ratio and
# perf_lat_ratio, each the median of the ratios of adjacent runs, interleaved and in alternating order.
#   bench/perf_vs_perftest.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-9}
railbed=${RAILBED:-$PWD/build/railbed}
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-perf-bench.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
on() { local guest=$1; shift; lab/lab exec "$guest" -t 200 -- "$*"; }

for n in 1 2; do lab/lab start "b$n" --pf rail0 --file "$railbed:/usr/bin/railbed" >"$LAB_DIR/b$n.log" 2>&1 & done
wait
for n in 1 2; do
  on "b$n" "ip link set eth0 up; for i in \$(seq 100); do ip link show eth0 | grep -q LOWER_UP && break; sleep 0.1; done
    ip addr add 10.0.0.$n/24 dev eth0; rdma link add rxe0 type rxe netdev eth0"
done
on b1 'railbed perf serve >/tmp/serve.log 2>&1 & sleep 0.5'
gid=$(basename "$(on b2 'grep -l ffff:0a00:0002 /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null; true')")

stock() { # TOOL SIZE ITERATIONS COLUMN
  on b1 "$1 -d rxe0 -x $gid -F -n $3 -s $2 >/dev/null 2>&1 & sleep 0.4"
  on b2 "timeout 150 $1 -d rxe0 -x $gid -F -n $3 -s $2 --report_gbits 10.0.0.1" | awk -v size="$2" -v column="$4" '$1 == size { print $column }'
}
stock_lat() { stock ib_write_lat 2 1000 5; }   # t_typical: the median
stock_bw() { stock ib_write_bw 65536 400 4; }  # BW average
ours() { on b2 "railbed perf $* -o json" | python3 -c 'import json,sys; m = json.load(sys.stdin)["measurements"][0]
print(m["latency"][0]["half_p50_us"] if m["latency"] else m["bandwidth"][0]["average_gbps"])'; }
ours_lat() { ours lat 10.0.0.1 -s 2 -n 1000; }
ours_bw() { ours bw 10.0.0.1 -s 65536 -n 400; }

for what in lat bw; do
  for round in $(seq "$rounds"); do
    if [ $((round % 2)) = 1 ]; then theirs=$(stock_$what) mine=$(ours_$what); else mine=$(ours_$what) theirs=$(stock_$what); fi
    echo "$what $theirs $mine"
  done
done | tee "$LAB_DIR/runs" | awk '{ print $1 ": perftest " $2 ", railbed " $3 }'
python3 - "$LAB_DIR/runs" <<'PY'
import statistics, sys
runs = [line.split() for line in open(sys.argv[1])]
def ratio(what):
    return statistics.median(float(mine) / float(theirs) for kind, theirs, mine in runs if kind == what)
def medians(what):
    return [statistics.median(float(r[i]) for r in runs if r[0] == what) for i in (1, 2)]
bw, lat = ratio("bw"), ratio("lat")
print("medians: perftest %.4f Gb/s, %.1f us; railbed %.4f Gb/s, %.1f us" % (medians("bw")[0], medians("lat")[0], medians("bw")[1], medians("lat")[1]))
print(f"figure perf_bw_ratio {bw:.3f} x >=0.98 {'ok' if bw >= 0.98 else 'short'}")
print(f"figure perf_lat_ratio {lat:.3f} x <=1.02 {'ok' if lat <= 1.02 else 'short'}")
PY
