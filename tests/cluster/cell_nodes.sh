# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced inside tests/cluster/sandbox: nodes that are agents with their own files, machine and boot beside one API server, with the
# service account, roles and policies of deploy/rbac. Pods are objects that are bound to a node; railbed-cni is called for them as a
# runtime does. Wants checks.sh, RAILBED, LOGS and part; `plane` is the control plane's folder.
plane=/run/control-plane
export KUBE_FOLDER=$plane
. tests/cluster/wait.sh
kubectl() { tests/cluster/kubectl "$@"; }
apply() { kubectl apply --server-side -f - >>"$LOGS/apply.log" 2>&1; }

# --- nodes: a mount namespace each, with files of its own

on() { nsenter --mount="/proc/$(<"/run/node/$1.holder")/ns/mnt" --wd=/ "${@:2}"; } # NODE COMMAND...
new_boot() { cat /proc/sys/kernel/random/uuid >"/run/node/$1.boot"; }
make_node() { # NODE
  cat /proc/sys/kernel/random/uuid >"/run/node/$1.uuid"
  new_boot "$1"
  unshare --mount --propagation private sleep infinity &
  echo $! >"/run/node/$1.holder"
  until_true 60 prints sleep cat "/proc/$!/comm"  # unshare has become it, with everything done
  on "$1" sh -ec '
    mkdir -p /run/railbed /run/netns
    for folder in /run/railbed /run/netns /var/lib/railbed; do mount -t tmpfs tmpfs $folder; done
    mount --bind "/run/node/'"$1"'.boot" /proc/sys/kernel/random/boot_id
    for file in /etc/machine-id /sys/class/dmi/id/product_uuid; do
      if [ -e $file ]; then mount --bind "/run/node/'"$1"'.uuid" $file; exit; fi
    done'
}
node_object() { # NODE
  echo "{apiVersion: v1, kind: Node, metadata: {name: $1}}" | apply
  kubectl patch node "$1" --subresource=status --type=merge -p \
    "{\"status\": {\"nodeInfo\": {\"machineID\": \"m\", \"systemUUID\": \"$(<"/run/node/$1.uuid")\", \"bootID\": \"$(<"/run/node/$1.boot")\", \"kernelVersion\": \"k\", \"osImage\": \"o\", \"containerRuntimeVersion\": \"c\", \"kubeletVersion\": \"v\", \"kubeProxyVersion\": \"v\", \"operatingSystem\": \"linux\", \"architecture\": \"amd64\"}}}" >>"$LOGS/apply.log" 2>&1
}

# --- agents, with a token that is bound to a pod of their node, as the kubelet gives it to a DaemonSet's

agent_access() { # NODE
  local token
  echo "{apiVersion: v1, kind: Pod, metadata: {name: agent-$1, namespace: railbed}, spec: {nodeName: $1, serviceAccountName: railbed-agent,
    automountServiceAccountToken: false, containers: [{name: main, image: none}]}}" | apply
  token=$(kubectl -n railbed create token railbed-agent --bound-object-kind Pod --bound-object-name "agent-$1" \
    --bound-object-uid "$(kubectl -n railbed get pod "agent-$1" -o 'jsonpath={.metadata.uid}')")
  cat >"/run/node/$1.conf" <<CONFIG
apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: agent}}]
clusters: [{name: test, cluster: {server: "https://127.0.0.1:6443", certificate-authority: $plane/pki/ca.crt}}]
users: [{name: agent, user: {token: "$token"}}]
CONFIG
}
start_agent() { # NODE [OPTIONS...]; `program` may name another one than RAILBED
  # Not by on(): a function has a shell of its own, which would be killed instead.
  nsenter --mount="/proc/$(<"/run/node/$1.holder")/ns/mnt" --wd=/ "${program:-$RAILBED}" agent --kubeconfig "/run/node/$1.conf" --node "$1" --metrics "127.0.0.1:947${1#node}" "${@:2}" >>"$LOGS/$1.log" 2>&1 </dev/null &
  echo $! >"/run/node/$1.pid"
  until_true 60 on "$1" python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/run/railbed/agent.sock")' ||
    { fail "the agent of $1 does not start: $(tail -2 "$LOGS/$1.log")"; exit 1; }
}
kill_agent() { # NODE
  local pid
  pid=$(<"/run/node/$1.pid")
  { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null
  until_true 60 eval '! grep -Eqs "^State:[[:space:]]+[^ZX[:space:]]" /proc/'"$pid"'/task/*/status'  # its sockets end with its last thread
}
metric() { # NODE NAME
  python3 -c 'import sys, urllib.request
text = urllib.request.urlopen("http://127.0.0.1:947" + sys.argv[1][4:] + "/metrics", timeout=10).read().decode()
print(int(sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(sys.argv[2]))))' "$1" "$2"
}

# --- pods

network() { # NAME RANGE
  echo "{apiVersion: k8s.cni.cncf.io/v1, kind: NetworkAttachmentDefinition, metadata: {name: $1, namespace: default}, spec: {config:
    '{\"cniVersion\": \"1.0.0\", \"type\": \"macvlan\", \"master\": \"rail\", \"mode\": \"bridge\", \"capabilities\": {\"ips\": true}, \"ipam\": {\"type\": \"whereabouts\", \"range\": \"$2\"}}'}}" | apply
}
pod_object() { # NODE NAME NETWORKS
  printf '%s\n' --- "{apiVersion: v1, kind: Pod, metadata: {name: $2, namespace: default, annotations: {k8s.v1.cni.cncf.io/networks: '$3'}},
    spec: {nodeName: $1, automountServiceAccountToken: false, containers: [{name: main, image: none}]}}"
}
pods_of() { # NODE PREFIX FIRST LAST NETWORKS: all of them in one call
  local i
  for i in $(seq "$3" "$4"); do pod_object "$1" "$2$i" "$5"; done | apply
}
cni() { # NODE COMMAND POD
  echo '{"cniVersion": "1.0.0", "name": "pods", "type": "railbed"}' | on "$1" env CNI_COMMAND="$2" CNI_CONTAINERID="$3" \
    CNI_NETNS="/run/netns/$3" CNI_IFNAME=eth0 CNI_PATH=/opt/cni/bin CNI_ARGS="K8S_POD_NAMESPACE=default;K8S_POD_NAME=$3" \
    /opt/cni/bin/railbed
}
add() { # NODE POD: what railbed-cni says where it fails
  on "$1" ip netns add "$2" && cni "$1" ADD "$2" >"/run/node/$2.out" 2>&1 && return 0
  local status=$?
  cat "/run/node/$2.out"
  on "$1" ip netns del "$2"
  return $status
}
del() { cni "$1" DEL "$2" && on "$1" ip netns del "$2"; } # NODE POD
address_of() { on "$1" ip -n "$2" -4 -o addr show dev "${3:-net1}" | awk '{ sub("/.*", "", $4); print $4 }'; } # NODE POD
# The control plane, and NODES with the rights of their agents.
prepare_nodes() { # NODE...
  local node account
  tests/cluster/control-plane up $plane >"$LOGS/up" 2>&1 || { echo "SKIP $part: no API server starts here: $(tail -1 "$LOGS/up")"; exit 0; }
  mkdir -p /run/node /opt/cni/bin
  ip link add rail type veth peer name railp && ip link set railp up && ip link set rail up
  "$RAILBED" cni install --bin-dir /opt/cni/bin >"$LOGS/install.log" 2>&1 || fail "cni install: $(tail -3 "$LOGS/install.log")"
  kubectl apply --server-side -f deploy/crds/ -f deploy/namespace.yaml >>"$LOGS/apply.log" 2>&1
  for account in railbed/railbed-agent default/default; do
    echo "{apiVersion: v1, kind: ServiceAccount, metadata: {name: ${account#*/}, namespace: ${account%/*}}}" | apply
  done
  kubectl apply --server-side -f deploy/rbac/agent.yaml -f deploy/rbac/agent-limits.yaml >>"$LOGS/apply.log" 2>&1
  for node; do
    make_node $node
    node_object $node
    agent_access $node
  done
}

added() { until_true $soon add "$1" "$2" || fail "ADD of $2 on $1: $(<"/run/node/$2.out")"; } # NODE POD: as a kubelet, again and again
all_added() { # NODE:POD...: at once
  local one pids=()
  for one; do
    added "${one%:*}" "${one#*:}" &
    pids+=($!)
  done
  wait "${pids[@]}"
}
