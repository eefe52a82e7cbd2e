#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What railbed adds to the start of a kubelet's pod: RunPodSandbox as the kubelet itself measures it (pause container and
# all of CNI), of three kinds of pods in turn: the bridge only, without railbed; railbed with the bridge as first network;
# the same with eight macvlans and addresses by whereabouts' fields. TURNS (30) of each; means with their standard error.
set -uo pipefail
cd "$(dirname "$0")/.."
turns=$((${TURNS:-30} + 1)) # the first does not count
[ "${1:-}" = --inside ] || exec tests/cluster/enter build/bench-logs/cluster "$PWD/bench/cluster.sh" --inside
. tests/cluster/node.sh
start_node || exit 1
ip link add mv0 type veth peer name mv0p && ip link set mv0p up && ip link set mv0 up
kinds=(plain meta eight)
manifests=/etc/railbed
list=""
for i in 1 2 3 4 5 6 7 8; do
  printf -- '---\napiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: m%s, namespace: default}\nspec:\n  config: |\n    {"cniVersion": "1.0.0", "name": "m%s", "type": "macvlan", "master": "mv0", "ipam": {"type": "whereabouts", "range": "10.6%s.0.0/24"}}\n' $i $i $i
  list+="${list:+, }m$i"
done >$manifests/networks.yaml
for ((turn = 0; turn < turns; ++turn)); do
  pod_manifest "meta$turn-node1" '' >$manifests/meta$turn.yaml
  pod_manifest "eight$turn-node1" "$list" >$manifests/eight$turn.yaml
done
plain='{"cniVersion": "1.0.0", "name": "pods", "plugins": ['"$(bridge_plugin reference-host-local)"']}'
ours='{"cniVersion": "1.0.0", "name": "railbed", "plugins": [{"type": "railbed",
  "delegates": [{"cniVersion": "1.0.0", "name": "pods", "plugins": ['"$(bridge_plugin reference-host-local)"']}]}]}'
declare -A sum squares count mean error
one_pod() { # KIND TURN
  local pod=$1$2 before after
  if [ "$1" = plain ]; then network_config "$plain"; else network_config "$ours"; fi
  sleep 0.5  # containerd reads it when the kernel notifies it
  before=$(run_pod_sandbox)
  start_pod "$pod" "$list"
  until_true 40 runs "$pod" || { echo "$pod does not start" >&2; return 1; }
  after=$(run_pod_sandbox)
  local links
  links=$(in_pod "$pod" ip -o link | wc -l)
  [ "$1" != eight ] || [ "$links" = 10 ] || { echo "$pod has $links interfaces" >&2; return 1; }
  # Failed tries would count as well: there must be one.
  read -r ms tries < <(echo "${before:-0 0} $after" | awk '{ printf "%.3f %d\n", ($3 - $1) * 1000, $4 - $2 }')
  [ "$tries" = 1 ] || { echo "$pod took $tries tries" >&2; return 1; }
  echo "$1 $2: $ms ms"
  if [ "$2" != 0 ]; then
    sum[$1]=$(awk "BEGIN { print ${sum[$1]:-0} + $ms }")
    squares[$1]=$(awk "BEGIN { printf \"%.6f\", ${squares[$1]:-0} + $ms * $ms }")
    count[$1]=$((${count[$1]:-0} + 1))
  fi
  stop_pod "$pod"
  until_true 40 gone "$pod" || { echo "$pod does not end" >&2; return 1; }
}
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" 'BEGIN { exit !(v <= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}

"$RAILBED" cni install --bin-dir /opt/cni/bin >"$LOGS/install.log" 2>&1 || { cat "$LOGS/install.log"; exit 1; }
start agent "$RAILBED" agent --alone --manifests $manifests
until_true 10 test -S /run/railbed/agent.sock || { cat "$LOGS/agent.log"; exit 1; }
for ((turn = 0; turn < turns; ++turn)); do
  for kind in "${kinds[@]}"; do one_pod "$kind" "$turn" || exit 1; done
done
for kind in "${kinds[@]}"; do
  mean[$kind]=$(awk "BEGIN { printf \"%.1f\", ${sum[$kind]} / ${count[$kind]} }")
  error[$kind]=$(awk -v n="${count[$kind]}" -v sum="${sum[$kind]}" -v squares="${squares[$kind]}" 'BEGIN { printf "%.1f", (n > 1 ? sqrt((squares / n - (sum / n) ^ 2) / (n - 1)) : 0) }')
  echo "$kind: ${mean[$kind]} ms ± ${error[$kind]} (standard error), mean of ${count[$kind]}"
done
both_errors() { awk -v a="${error[plain]}" -v b="${error[$1]}" 'BEGIN { printf "%.1f", sqrt(a * a + b * b) }'; }
echo "standard error of the differences: default network $(both_errors meta) ms, 8 macvlan $(both_errors eight) ms"
figure cluster_default_network_overhead "$(awk "BEGIN { printf \"%.1f\", ${mean[meta]} - ${mean[plain]} }")" ms "<=15"
figure cluster_8_macvlan_overhead "$(awk "BEGIN { printf \"%.1f\", ${mean[eight]} - ${mean[plain]} }")" ms "<=15"
