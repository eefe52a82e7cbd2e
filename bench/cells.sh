#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Addresses for many nodes from a real API server: NODES (25 50 100) nodes, each with 5 bursts of 10 pods with 8 networks, through
# the agent's own leasing; requests for addresses per pod, at its ADD and in its whole life, against the ten for each network of an
# ADD that whereabouts needs. Then what 5,000 nodes would need, by the line through what was measured.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != --inside ]; then
  ninja -C build bench_cells >/dev/null || exit 1
  TOOLS_API_SERVER=$(tests/tools/build api-server 2>/dev/null) || { echo "SKIP cells_calls_per_pod: the API server does not build here"; exit 0; }
  export TOOLS_API_SERVER
  why=$(tests/cluster/sandbox true 2>&1) || { echo "SKIP cells_calls_per_pod: $why"; exit 0; }
  for nodes in ${NODES:-25 50 100}; do tests/cluster/sandbox "$PWD/bench/cells.sh" --inside "$nodes" || exit 1; done | tee build/bench-logs/cells
  awk '/^nodes / { n += 1; x += $2; c += $4; t += $10; xx += $2 * $2; xc += $2 * $4; xt += $2 * $10 }
    END {
      if (n < 2) exit
      slope = (n * xc - x * c) / (n * xx - x * x); seconds = (n * xt - x * t) / (n * xx - x * x)
      printf "model: %.1f requests and %.3f s of this API server for each further node; 5,000 nodes: %.0f requests, %.0f s\n",
        slope, seconds, c / n + slope * (5000 - x / n), t / n + seconds * (5000 - x / n)
    }' build/bench-logs/cells
  exit 0
fi
nodes=$2
run=/run/control-plane
tests/cluster/control-plane up $run || exit 1
kubectl() { "$TOOLS_API_SERVER/kubectl" --kubeconfig $run/admin.conf "$@" >/dev/null; }
kubectl apply --server-side -f deploy/crds && kubectl wait --for=condition=Established --timeout=60s crd --all || exit 1
result=$(build/bench/bench_cells $run/admin.conf "$nodes" 5 10) || exit 1
read -r calls at_add pods seconds < <(awk '{ print $2 }' <<<"$result" | xargs)
echo "nodes $nodes calls $calls at_add $at_add pods $pods seconds $seconds"
awk -v n="$nodes" -v c="$calls" -v a="$at_add" -v p="$pods" -v s="$seconds" 'BEGIN {
  printf "figure cells_%d_nodes_calls_at_add %.3f calls/pod <=0 %s\n", n, a / p, (a == 0 ? "ok" : "short")
  printf "figure cells_%d_nodes_calls_per_pod %.3f calls/pod <=2 %s\n", n, c / p, (c / p <= 2 ? "ok" : "short")
  printf "figure cells_%d_nodes_times_fewer %.0f x >=100 %s\n", n, 80 * p / c, (80 * p / c >= 100 ? "ok" : "short")
  printf "figure cells_%d_nodes_seconds %.2f s - ok\n", n, s
}'
