#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What railbed adds to the start of a pod with eight VFs, in a virtual machine that is a node of a whole cluster: RunPodSandbox as
# the kubelet itself measures it, of two kinds of pods in turn: the bridge only, without railbed; railbed with the bridge as first
# network and eight VFs of two PFs, with host-local. TURNS (30) of each; means with their standard error. Then how long it takes
# from a cable that is pulled until the API server has the node's VFs as not allocatable (the kubelet reports its node's state
# every three seconds), and back; LOOKS (5) of each.
set -uo pipefail
cd "$(dirname "$0")/.."
turns=$((${TURNS:-30} + 1)) looks=${LOOKS:-5} # the first turn does not count
[ "${1:-}" = --inside ] || exec tests/cluster/enter-lab build/bench-logs/cluster_lab "$PWD/bench/cluster_lab.sh" --inside
. tests/cluster/lab_nodes.sh
. tests/cluster/lab_cluster.sh
node=guest-1
finish() {
  keep_logs $node
  lab/lab stop --all >/dev/null 2>&1
  "$here/control-plane" down "$plane" >/dev/null 2>&1
}
trap finish EXIT
fail() { echo "$*" >&2; exit 1; }
load() { echo "load of the machine: $(cut -d ' ' -f 1-3 /proc/loadavg)"; }

load
start_control_plane >"$LOGS/control-plane" 2>&1 || { echo "SKIP cluster_lab: no control plane starts here"; exit 0; }
make_programs >"$LOGS/programs" 2>&1 || fail "programs of the node: $(tail -1 "$LOGS/programs")"
start_nodes $node || fail "the node did not start: $(tail -3 "$LOGS/start-$node.log")"
until_true 300 is_ready $node || fail "the node is not ready"
kubectl label node $node feature.node.kubernetes.io/network-sriov.capable=true >/dev/null
make_namespaces >/dev/null && prepare_cluster >"$LOGS/prepare" 2>&1 || fail "the cluster is not prepared: $(tail -3 "$LOGS/prepare")"
start_operator
start_cluster_agent $node >"$LOGS/agent" 2>&1 || fail "the agent: $(tail -3 "$LOGS/agent")"
node_script $node networks-by-railbed >"$LOGS/install" 2>&1 || fail "railbed cni install: $(tail -3 "$LOGS/install")"
sed "s/isRdma: true/isRdma: false/" demo/manifests/1-policies.yaml | kubectl apply -f - >/dev/null
for rail in rail0 rail1; do
  until_true 300 offers $node $rail 4 || fail "$rail is not offered: $(on $node railbed status | tail -5)"
  sed -e '/^---/,$d' -e "s/rail0/$rail/" -e "s|\"type\": \"static\"|\"type\": \"host-local\", \"subnet\": \"10.7${rail#rail}.0.0/24\"|" $manifests/networks.yaml |
    kubectl apply -f - >/dev/null
  until_true 180 kubectl get network-attachment-definition -n llm $rail || fail "network $rail is not rendered"
done

# Seconds in all, and how many, as the kubelet counts them.
run_pod_sandbox() {
  kubectl get --raw "/api/v1/nodes/$node/proxy/metrics" |
    awk '/^kubelet_runtime_operations_duration_seconds_(sum|count)\{operation_type="run_podsandbox"\}/ { print $2 }' | xargs
}
pod_of() { # NAME KIND
  cat <<M
apiVersion: v1
kind: Pod
metadata:
  name: $1
  namespace: llm
  annotations: { $([ "$2" = plain ] || echo 'k8s.v1.cni.cncf.io/networks: "rail0, rail0, rail0, rail0, rail1, rail1, rail1, rail1"') }
spec:
  terminationGracePeriodSeconds: 5
  dnsPolicy: Default
  containers:
    - name: worker
      image: localhost/guest:1
      imagePullPolicy: Never
      command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"]
      volumeMounts: [{ name: usr, mountPath: /usr, readOnly: true }]
      $([ "$2" = plain ] || echo 'resources: { limits: { openshift.io/rail0: 4, openshift.io/rail1: 4 } }')
  volumes: [{ name: usr, hostPath: { path: /usr } }]
M
}
declare -A sum squares count mean error
one_pod() { # KIND TURN
  local pod=$1$2 before after got ms tries
  if [ "$1" = plain ]; then node_script $node networks-by-bridge; else node_script $node networks-by-railbed >/dev/null; fi
  sleep 2 # containerd reads it when the kernel notifies it
  before=$(run_pod_sandbox)
  pod_of "$pod" "$1" | kubectl apply -f - >/dev/null
  kubectl wait -n llm --for=condition=Ready --timeout=300s pod/"$pod" >/dev/null || { kubectl describe pod -n llm "$pod" | tail -5 >&2; return 1; }
  after=$(run_pod_sandbox)
  got=$(in_pod "$pod" 'ls /sys/class/net' | grep -c '^net')
  [ "$got" = "$([ "$1" = plain ] && echo 0 || echo 8)" ] || { echo "$pod has $got interfaces of networks" >&2; return 1; }
  # Failed tries would count as well: there must be one.
  read -r ms tries < <(echo "${before:-0 0} $after" | awk '{ printf "%.3f %d\n", ($3 - $1) * 1000, $4 - $2 }')
  [ "$tries" = 1 ] || { echo "$pod took $tries tries" >&2; return 1; }
  echo "$1 $2: $ms ms"
  kubectl delete pod -n llm "$pod" --wait=true >/dev/null
  [ "$2" != 0 ] || return 0
  sum[$1]=$(awk "BEGIN { print ${sum[$1]:-0} + $ms }")
  squares[$1]=$(awk "BEGIN { printf \"%.6f\", ${squares[$1]:-0} + $ms * $ms }")
  count[$1]=$((${count[$1]:-0} + 1))
}
for ((turn = 0; turn < turns; ++turn)); do
  for kind in plain eight; do one_pod $kind "$turn" || exit 1; done
done
for kind in plain eight; do
  mean[$kind]=$(awk "BEGIN { printf \"%.1f\", ${sum[$kind]} / ${count[$kind]} }")
  error[$kind]=$(awk -v n="${count[$kind]}" -v sum="${sum[$kind]}" -v squares="${squares[$kind]}" 'BEGIN { printf "%.1f", (n > 1 ? sqrt((squares / n - (sum / n) ^ 2) / (n - 1)) : 0) }')
  echo "$kind: ${mean[$kind]} ms ± ${error[$kind]} (standard error), mean of ${count[$kind]}"
done
echo "standard error of the difference: $(awk -v a="${error[plain]}" -v b="${error[eight]}" 'BEGIN { printf "%.1f", sqrt(a * a + b * b) }') ms"
echo "figure cluster_lab_8_vfs_overhead $(awk "BEGIN { printf \"%.1f\", ${mean[eight]} - ${mean[plain]} }") ms - ok"

measure_link() { # in|out VFS
  local began
  began=$(now_ms)
  lab/lab cable $node 0 "$1"
  until_true 120 offers $node rail0 "$2" || fail "a cable that is $1 is not reported"
  echo "cable $1: $(($(now_ms) - began)) ms" | tee -a "$LOGS/links"
}
for ((look = 0; look < looks; ++look)); do
  measure_link out 0
  measure_link in 4
done
median=$(awk '{ print $3 }' "$LOGS/links" | sort -n | awk '{ all[NR] = $1 } END { printf "%.1f", (all[int((NR + 1) / 2)] + all[int(NR / 2) + 1]) / 2000 }')
echo "figure cluster_lab_link_to_allocatable $median s <=10 $(awk -v v="$median" 'BEGIN { print v <= 10 ? "ok" : "short" }')"
load
