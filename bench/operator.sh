#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `railbed operator` against a real API server: one change of a policy that all nodes have, until all node states are written,
# at 100 and at 1,000 nodes with ten NICs each: seconds, API calls per node, peak memory.      bench/operator.sh [NODES...]
set -uo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" != --inside ]; then
  ninja -C build bench_operator railbed >/dev/null || exit 1
  TOOLS_API_SERVER=$(tests/tools/build api-server 2>/dev/null) || { echo "SKIP operator_change: the API server does not build here"; exit 0; }
  export TOOLS_API_SERVER
  why=$(tests/cluster/sandbox true 2>&1) || { echo "SKIP operator_change: $why"; exit 0; }
  for nodes in "${@:-100 1000}"; do
    for count in $nodes; do tests/cluster/sandbox "$PWD/bench/operator.sh" --inside "$count" || exit 1; done
  done
  exit 0
fi
nodes=$2
run=/run/control-plane
tests/cluster/control-plane up $run || exit 1
kubectl() { "$TOOLS_API_SERVER/kubectl" --kubeconfig $run/admin.conf "$@" >/dev/null; }
kubectl create namespace railbed && kubectl apply --server-side -f deploy/crds &&
  kubectl wait --for=condition=Established --timeout=30s crd --all || exit 1
build/railbed operator --kubeconfig $run/admin.conf --namespace railbed --log-level warning 2>$run/operator.log &
operator=$!
bench="build/bench/bench_operator $run/admin.conf $nodes"
$bench prepare || { cat $run/operator.log; exit 1; }
$bench change 1 >/dev/null || { cat $run/operator.log; exit 1; }
calls() { curl -sf --noproxy '*' http://127.0.0.1:9471/metrics | awk '/^railbed_kube_requests_total/ { sum += $2 } END { print sum }'; }
sleep 10  # statuses of the policy are written
before=$(calls)
seconds=$($bench change 4) || { cat $run/operator.log; exit 1; }
sleep 2
after=$(calls)
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" 'BEGIN { exit !(v <= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}
figure "operator_change_${nodes}_nodes" "$seconds" s "<=30"
figure "operator_calls_per_node_$nodes" "$(awk "BEGIN { printf \"%.2f\", ($after - $before) / $nodes }")" calls "<=2"
figure "operator_peak_rss_$nodes" "$(awk '/^VmHWM/ { printf "%.1f", $2 / 1024 }' /proc/$operator/status)" MB "<=100"
kill $operator && wait $operator
cat $run/operator.log >&2
