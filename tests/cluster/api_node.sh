# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced inside tests/cluster/sandbox, as node.sh: the same node in a cluster with an API server, and an agent that asks it.
# Wants what node.sh wants, TOOLS_API_SERVER, TOOLS_CONTROLLERS, and fail(), which prints what is wrong.
. tests/cluster/node.sh
plane=/run/control-plane
export KUBE_FOLDER=$plane
kubectl() { tests/cluster/kubectl "$@"; }

start_kubelet() {
  start kubelet "$TOOLS_KUBELET/kubelet" --config /run/kubelet.yaml --kubeconfig "$plane/system:node:node1.conf" \
    --hostname-override node1 --node-ip 10.88.0.1 -v 2
  until_true 180 kubectl wait --for=condition=Ready --timeout=1s node/node1
}
container_of() { # POD
  local id
  for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.name\"==$1,labels.\"io.kubernetes.container.name\"==main"); do
    ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" >/dev/null && { echo "$id"; return 0; }
  done
  return 1
}
# The sandbox's own container.
sandbox_of() { # POD
  local id
  for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.name\"==$1,labels.\"io.cri-containerd.kind\"==sandbox"); do
    ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" >/dev/null && { echo "$id"; return 0; }
  done
  return 1
}
agent_user=system:railbed:node:node1  # deploy/rbac/agent-limits.yaml knows the node by it
agent_access=(--kubeconfig "$plane/$agent_user.conf")  # how it finds the API server
start_agent() {
  start agent env KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=6443 "$RAILBED" agent "${agent_access[@]}" --node node1
  until_true 60 agent_answers
}
kill_agent() { { stop agent KILL; } 2>/dev/null; }
ready_page() { busybox wget -qO- http://127.0.0.1:9470/readyz 2>/dev/null; }
metric() { # NAME-WITH-LABELS
  busybox wget -qO- http://127.0.0.1:9470/metrics | awk -v name="$1" 'index($0, name) == 1 { sum += $NF } END { print sum + 0 }'
}

network() { # NAME PLUGIN-JSON [ANNOTATIONS]
  cat <<M
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: $1, namespace: default, annotations: {${3:-}}}
spec:
  config: '{"cniVersion": "1.0.0", "plugins": [$2]}'
M
}
macvlan() { # MASTER SUBNET
  echo '{"type": "macvlan", "master": "'"$1"'", "ipam": {"type": "host-local", "subnet": "'"$2"'"}}'
}
pod() { # NAME NETWORKS
  echo ---
  pod_manifest "$1" "$2" | sed 's/^  enableServiceLinks: false/&\n  nodeName: node1\n  automountServiceAccountToken: false/'
}
apply() { kubectl apply -f - >>"$LOGS/apply.log" 2>&1; }
is_ready() { kubectl wait --for=condition=Ready --timeout=1s "pod/$1"; }
status_of() { kubectl get pod "$1" -o 'jsonpath={.metadata.annotations.k8s\.v1\.cni\.cncf\.io/network-status}'; }
interfaces() { in_pod "$1" ip -4 -o addr show | awk '$2 != "lo" { print $2 }' | xargs; }
mac_of() { in_pod "$1" cat "/sys/class/net/$2/address"; }  # POD INTERFACE
# The network-status of POD has the MAC that its INTERFACE has now.
status_has_mac() { # POD INTERFACE
  local mac
  mac=$(mac_of "$1" "$2") && [ -n "$mac" ] && [[ "$(status_of "$1")" == *"$mac"* ]]
}
event_of() { kubectl get events --field-selector "involvedObject.name=$1" -o 'jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}'; }
event_has() { event_of "$1" | grep -F -- "$2"; }

prepare() {
  tests/cluster/control-plane up $plane >"$LOGS/up" 2>&1 || { echo "SKIP cluster/pods: no API server starts here: $(tail -1 "$LOGS/up")"; exit 0; }
  tests/cluster/control-plane controllers $plane
  tests/cluster/control-plane user $plane system:node:node1 system:nodes
  tests/cluster/control-plane user $plane $agent_user
  start_node >"$LOGS/start" 2>&1 || { echo "SKIP cluster/pods: containerd and a kubelet do not start here: $(tail -1 "$LOGS/start")"; exit 0; }
}

attach_with_railbed() {
  local i
  for i in mv0 mv1; do ip link add $i type veth peer name ${i}p && ip link set ${i}p up && ip link set $i up; done
  "$RAILBED" cni install --bin-dir /opt/cni/bin >"$LOGS/install.log" 2>&1 || fail "cni install: $(tail -3 "$LOGS/install.log")"
}
# Without a configuration the node does not get ready.
configure() {
  network_config '{"cniVersion": "1.0.0", "name": "railbed", "plugins": [{"type": "railbed",
    "delegates": [{"cniVersion": "1.0.0", "name": "pods", "plugins": ['"$(bridge_plugin host-local)"']}]}]}'
}
