#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How many of 200 random mutants of the product the unit tests notice: figure mutants_killed, in percent (docs/testing.md).
#   bench/mutate.sh [SEED [COUNT]]
set -euo pipefail
cd "$(dirname "$0")/.."
tests/mutate --seed "${1:-7}" --count "${2:-200}" --results build/mutate/bench.json
python3 - build/mutate/bench.json <<'P'
import json, sys
rows = json.load(open(sys.argv[1]))
percent = 100 * sum(row["kind"] == "killed" for row in rows) / len(rows)
print(f"figure mutants_killed {percent:.1f} % >=90 {'ok' if percent >= 90 else 'short'}")
P
