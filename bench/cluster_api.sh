#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What railbed adds to the start of a pod of a whole cluster, whose networks the agent knows from the API server: RunPodSandbox
# as the kubelet itself measures it, of three kinds of pods in turn: the bridge only, without railbed; railbed with the bridge as
# first network and eight macvlans with host-local; the same with whereabouts ranges, whose addresses the node leases in cells.
# TURNS (30) of each; means with their standard error. Then what one pod costs in requests, from its creation to its end, and the
# agent's memory, threads and start.
set -uo pipefail
cd "$(dirname "$0")/.."
turns=$((${TURNS:-30} + 1)) # the first does not count
if [ "${1:-}" != --inside ]; then
  for tool in api-server controllers; do
    folder=$(tests/tools/build $tool 2>/dev/null) || { echo "SKIP cluster_api: $tool does not build here"; exit 0; }
    name=${tool^^}
    export "TOOLS_${name//-/_}=$folder"
  done
  exec tests/cluster/enter build/bench-logs/cluster_api "$PWD/bench/cluster_api.sh" --inside
fi
fail() { echo "$*" >&2; exit 1; }
. tests/cluster/api_node.sh
trap 'cp $plane/*.log "$LOGS" 2>/dev/null' EXIT
plain='{"cniVersion": "1.0.0", "name": "pods", "plugins": ['"$(bridge_plugin reference-host-local)"']}'
ours='{"cniVersion": "1.0.0", "name": "railbed", "plugins": [{"type": "railbed",
  "delegates": [{"cniVersion": "1.0.0", "name": "pods", "plugins": ['"$(bridge_plugin reference-host-local)"']}]}]}'
network_config "$ours"
prepare
kubectl apply -f deploy/rbac/agent.yaml >/dev/null
kubectl create clusterrolebinding railbed-agent-user --clusterrole railbed-agent --user $agent_user >/dev/null
kubectl apply --server-side -f deploy/crds/ >/dev/null
attach_with_railbed
start_agent || fail "the agent does not start: $(tail -2 "$LOGS/agent.log")"
until_true 60 kubectl -n default get serviceaccount default || fail "no service account"
until_true 30 ready_page || fail "the agent is not ready: $("$RAILBED" status | head -5)"
for i in 1 2 3 4 5 6 7 8; do
  network m$i "$(macvlan mv0 10.6$i.0.0/24)"
  network w$i '{"type": "macvlan", "master": "mv0", "ipam": {"type": "whereabouts", "range": "10.7'$i'.0.0/24"}}'
done | kubectl apply -f - >/dev/null
declare -A networks_of=([plain]="" [eight]="m1, m2, m3, m4, m5, m6, m7, m8" [cells]="w1, w2, w3, w4, w5, w6, w7, w8")

requests() { metric railbed_api_requests_total; }
declare -A sum squares count mean error
one_pod() { # KIND TURN
  local pod=$1$2 before after networks=${networks_of[$1]} ms tries calls
  if [ "$1" = plain ]; then network_config "$plain"; else network_config "$ours"; fi
  sleep 0.5  # containerd reads it when the kernel notifies it
  before=$(run_pod_sandbox) calls=$(requests)
  pod "$pod" "$networks" | apply || return 1
  until_true 60 is_ready "$pod" || { echo "$pod does not start" >&2; return 1; }
  after=$(run_pod_sandbox)
  [ "$1" = plain ] || [ "$(interfaces "$pod" | wc -w)" = 9 ] || { echo "$pod has $(interfaces "$pod")" >&2; return 1; }
  read -r ms tries < <(echo "${before:-0 0} $after" | awk '{ printf "%.3f %d\n", ($3 - $1) * 1000, $4 - $2 }')
  [ "$tries" = 1 ] || { echo "$pod took $tries tries" >&2; return 1; }
  kubectl delete pod "$pod" --wait=true >/dev/null
  calls=$(($(requests) - calls))
  echo "$1 $2: $ms ms, $calls requests"
  [ "$2" != 0 ] || return 0
  sum[$1]=$(awk "BEGIN { print ${sum[$1]:-0} + $ms }")
  squares[$1]=$(awk "BEGIN { printf \"%.6f\", ${squares[$1]:-0} + $ms * $ms }")
  count[$1]=$((${count[$1]:-0} + 1))
  count[$1 calls]=$((${count[$1 calls]:-0} + calls))
}
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" 'BEGIN { exit !(v <= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}
for ((turn = 0; turn < turns; ++turn)); do
  for kind in plain eight cells; do one_pod $kind "$turn" || exit 1; done
done
for kind in plain eight cells; do
  mean[$kind]=$(awk "BEGIN { printf \"%.1f\", ${sum[$kind]} / ${count[$kind]} }")
  error[$kind]=$(awk -v n="${count[$kind]}" -v sum="${sum[$kind]}" -v squares="${squares[$kind]}" 'BEGIN { printf "%.1f", (n > 1 ? sqrt((squares / n - (sum / n) ^ 2) / (n - 1)) : 0) }')
  echo "$kind: ${mean[$kind]} ms ± ${error[$kind]} (standard error), mean of ${count[$kind]}"
done
for kind in eight cells; do
  echo "standard error of the difference, $kind: $(awk -v a="${error[plain]}" -v b="${error[$kind]}" 'BEGIN { printf "%.1f", sqrt(a * a + b * b) }') ms"
done
figure cluster_api_8_macvlan_overhead "$(awk "BEGIN { printf \"%.1f\", ${mean[eight]} - ${mean[plain]} }")" ms "<=15"
figure cluster_api_8_cells_overhead "$(awk "BEGIN { printf \"%.1f\", ${mean[cells]} - ${mean[plain]} }")" ms "<=15"
figure cluster_api_calls_per_pod "$(awk "BEGIN { printf \"%.2f\", ${count[eight calls]} / ${count[eight]} }")" requests "<=2"
figure cluster_api_cells_calls_per_pod "$(awk "BEGIN { printf \"%.2f\", ${count[cells calls]} / ${count[cells]} }")" requests "<=2"
pid=$(<"/run/pids/agent")
figure cluster_api_agent_rss "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")" MB "<=40"
echo "threads of the agent: $(awk '/^Threads/ { print $2 }' "/proc/$pid/status")"
stop agent
began=$(now_ms)
start_agent && until_true 10 ready_page
figure cluster_api_agent_ready_after_start "$(awk "BEGIN { print ($(now_ms) - $began) / 1000 }")" s "<=1"
