#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed's installation and upgrade on a cluster of two virtual machines with SR-IOV NICs: the time from `kubectl apply -k` to the
# first pod with a VF of each rail, images being there; and, while all agents are replaced and pods with VFs start on both nodes all
# the time, what an ADD waited at most: how long no agent of a node answered. None may fail. The longest ADD (containerd's
# RunPodSandbox) is reported, too: here it has more in it, since one emulated processor starts the new agent's containers meanwhile, and
# what was under way when the old agent ended is begun again. From the end of one agent to the registration of the next the
# kubelet has no devices of its node, and refuses pods that were bound to it before that was known (UnexpectedAdmissionError): such a
# pod has no ADD, and is made again here as a Deployment does. How many those are, and how long that time is, are reported.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "${1:-}" = --inside ] || exec tests/cluster/enter-lab build/bench-logs/upgrade_lab "$PWD/bench/upgrade_lab.sh" --inside
. tests/cluster/lab_nodes.sh
nodes=(guest-1 guest-2) imports=()
finish() {
  keep_logs "${nodes[@]}" >/dev/null 2>&1
  lab/lab stop --all >/dev/null 2>&1
  "$here/control-plane" down "$plane" >/dev/null 2>&1
}
trap finish EXIT
fail() { echo "$*" >&2; kubectl get pods,events -A 2>&1 | tail -20 >&2; exit 1; }
verdict() { if [ "$1" -le "$2" ]; then echo ok; else echo short; fi; }

echo "load of the machine: $(cut -d ' ' -f 1-3 /proc/loadavg)"
tools/image >"$LOGS/image" || fail "the images: $(tail -1 "$LOGS/image")"
start_control_plane >"$LOGS/control-plane" 2>&1 || { echo "SKIP upgrade_lab: no control plane starts here"; exit 0; }
make_programs >"$LOGS/programs" 2>&1 && cp build/railbed-{node,control}-image.tar "$WORK/programs/" || fail "programs of the nodes: $(tail -1 "$LOGS/programs")"
start_nodes "${nodes[@]}" || fail "a node did not start: $(tail -n 3 "$LOGS"/start-*.log)"
for node in "${nodes[@]}"; do
  until_true 300 is_ready "$node" || fail "$node is not ready"
  on "$node" 'PATH=$PATH:/mnt/programs/bin; for kind in node control; do ctr -n k8s.io images import /mnt/programs/railbed-$kind-image.tar || exit; done' >"$LOGS/import-$node" &
  imports+=($!)
done
for import in "${imports[@]}"; do wait "$import" || fail "the images cannot be imported: $(tail -n 2 "$LOGS"/import-*)"; done
kubectl label node "${nodes[@]}" feature.node.kubernetes.io/network-sriov.capable=true >/dev/null
kubectl create namespace llm >/dev/null
until_true 180 kubectl -n llm get serviceaccount default || fail "no service account"

# A pod with a VF of each rail.
pod() { sed -n '/^---/q; p' demo/cluster/3-pods.yaml | sed "s/worker-0/$1/; s/guest-1/guest-$2/" | kubectl apply -f - >/dev/null; } # NAME NODE-NUMBER
refused_by_kubelet=0 waited=0
# As a Deployment: a pod that the kubelet has refused is made again.
ready() { # NAME NODE-NUMBER
  local end=$(($(now_ms) + 300000))
  until kubectl -n llm wait --for=condition=Ready --timeout=1s "pod/$1" >/dev/null 2>&1; do
    if [ "$(kubectl -n llm get pod "$1" -o 'jsonpath={.status.reason}')" = UnexpectedAdmissionError ]; then
      refused_by_kubelet=$((refused_by_kubelet + 1))
      kubectl -n llm delete pod "$1" --timeout=60s >/dev/null
      pod "$1" "$2"
    fi
    [ "$(now_ms)" -lt $end ] || fail "not ready: $1"
  done
}
# Milliseconds, the longest, for which the kubelet of a node had none of a resource's devices: from the end of a stream to the next
# registration that came to something.
longest_without_devices() { # LOG
  awk '
    function ms(time,  part) { split(time, part, /[:.]/); return ((part[1] * 60 + part[2]) * 60 + part[3]) * 1000 + substr(part[4], 1, 3) }
    { resource = ""; if (match($0, /resource(Name)?="[^"]*"/)) resource = $0; sub(/.*resource(Name)?="/, "", resource); sub(/".*/, "", resource) }
    /ListAndWatch ended unexpectedly/ { ended[resource] = ms($2) }
    /Got registration request/ && resource in ended { took[resource] = ms($2) - ended[resource] }
    END { for (each in took) if (took[each] > longest) longest = took[each]; print longest + 0 }' "$1"
}

# As links, because the kubelet deletes the log of a pod with the pod.
keep_agent_logs() {
  local node
  for node in "${nodes[@]}"; do
    on "$node" 'mkdir -p /var/log/agents; for log in /var/log/pods/railbed_railbed-agent-*/*/*.log; do ln -f "$log" "/var/log/agents/$(echo "$log" | cut -d / -f 5- | tr / .)"; done'
  done >>"$LOGS/keep-agent-logs" 2>&1
}

begun=$(now_ms)
kubectl apply --server-side -k demo/cluster >"$LOGS/apply" 2>&1 || fail "kubectl apply -k: $(tail -3 "$LOGS/apply")"
until_true 120 kubectl apply -f demo/cluster/1-policies.yaml -f demo/cluster/2-networks.yaml || fail "policies and networks"
pod first 1
ready first 1
took=$(($(now_ms) - begun))
echo "figure apply_to_first_pod $((took / 1000)) s <=300 $(verdict $took 300000)"

until_true 300 kubectl -n railbed rollout status daemonset/railbed-agent --timeout=1s || fail "the agents are not ready"
keep_agent_logs
kubectl -n railbed rollout restart daemonset/railbed-agent >/dev/null
until_true 60 eval '! kubectl -n railbed rollout status daemonset/railbed-agent --timeout=1s'
pods_of_round() { # NAME
  for n in 1 2; do pod "$1-$n" $n; done
  for n in 1 2; do ready "$1-$n" $n; done
  # Until they are gone: soft RDMA devices are numbered when they are made, and a pod gets the number before (docs/kubernetes.md).
  kubectl -n llm delete pod "$1-1" "$1-2" --timeout=300s >/dev/null
}
round=0
until kubectl -n railbed rollout status daemonset/railbed-agent --timeout=1s >/dev/null 2>&1; do
  round=$((round + 1))
  [ $round -le 60 ] || fail "the upgrade does not end"
  pods_of_round during-$round
done
for after in 1 2 3; do pods_of_round after-$after; done
keep_agent_logs
refused=$(kubectl -n llm get events -o 'jsonpath={range .items[?(@.reason=="FailedCreatePodSandBox")]}{.involvedObject.name}: {.message}{"\n"}{end}')
[ -z "$refused" ] || fail "refused meanwhile: $refused"
keep_logs "${nodes[@]}" >/dev/null 2>&1
during=$(tests/cluster/longest_sandbox during- "$LOGS"/guest-*/containerd.log)
after=$(tests/cluster/longest_sandbox after- "$LOGS"/guest-*/containerd.log)
echo "upgrade of two nodes: longest ADD $during in $round rounds, none refused; afterwards $after"
for node in "${nodes[@]}"; do echo "$node: its kubelet was without devices for $(longest_without_devices "$LOGS/$node/kubelet.log") ms at most"; done
echo "pods that a kubelet refused in that time, and that were made again: $refused_by_kubelet"
for node in "${nodes[@]}"; do
  silence=$(tests/cluster/longest_silence "$LOGS/$node"/agents/*.agent.*.log)
  [ -n "$silence" ] || fail "no agent was replaced on $node"
  echo "$node: no agent answered for $silence ms at most"
  [ "$silence" -le $waited ] || waited=$silence
done
echo "figure upgrade_longest_wait $waited ms <=10000 $(verdict "$waited" 10000)"
