#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Recording one latency sample: figure histogram_record_ns. The best of five repetitions, as other programs share the
# processor.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build histogram_bench >&2
result=$(build/bench/histogram_bench --benchmark_repetitions=5 --benchmark_min_time=0.2 --benchmark_format=json 2>/dev/null)
python3 - "$result" <<'PY'
import json, sys
runs = [b for b in json.loads(sys.argv[1])["benchmarks"] if b["run_type"] == "iteration"]
def best(name):
    return min(b["cpu_time"] for b in runs if b["run_name"] == name)
value = best("histogram_record")
print(f"with the series over time: {best('latency_meter_add'):.1f} ns")
print(f"figure histogram_record_ns {value:.1f} ns <=20 {'ok' if value <= 20 else 'short'}")
PY
