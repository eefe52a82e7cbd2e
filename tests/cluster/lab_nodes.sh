# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by what runs inside tests/cluster/enter-lab: a control plane on this machine's loopback, and virtual machines of the lab as
# its nodes, each with two SR-IOV NICs (rail0, rail1), containerd and a kubelet.
#
# A node reaches the API server at 10.0.2.2, which is QEMU's user networking for the host's loopback. The API server reaches a
# node's kubelet (exec, logs) at the node's own address, which here is a local one: QEMU listens there and passes on. What it
# passes on must come from 127.0.0.1, which QEMU turns into 10.0.2.2; else the guest would see its own address as the source.
here=$ROOT/tests/cluster
. "$here/wait.sh"
export API_ADDRESS=10.0.2.2 LAB_DIR=$WORK/lab KUBECONFIG=$WORK/control-plane/admin.conf PATH=$TOOLS_API_SERVER:$PATH:/usr/sbin:/sbin
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY
plane=$WORK/control-plane
trap 'exit 143' INT TERM  # the first process of a namespace ignores what it does not handle

on() { lab/lab exec "$1" -t 300 -- "${*:2}"; } # NODE COMMAND-LINE
node_script() { on "$1" "sh /mnt/programs/node ${*:2}"; }
node_address() { echo "10.0.2.$((10 + ${1#guest-}))"; }

start_control_plane() {
  ip link set lo up
  "$here/control-plane" up "$plane" && "$here/control-plane" controllers "$plane"
}

# One folder for all nodes, which QEMU shows them: what is the same everywhere.
make_programs() {
  local folder=$WORK/programs program
  mkdir -p "$folder"/{bin,cni}
  for program in containerd containerd-shim-runc-v2 ctr runc; do cp -L "$(type -P $program)" "$folder/bin/" || return 1; done
  for program in "$TOOLS_KUBELET/kubelet" "$RAILBED" "$RAILBED-cni" "${RAILBED}d" "$RAILBED-cluster"; do
    [ ! -e "$program" ] || cp "$program" "$folder/bin/" || return 1
  done
  cp "$TOOLS_CNI"/{loopback,bridge,host-local} "$folder/cni/" &&
    cp "$here"/guest/* "$here/containerd.toml" "$folder/" &&
    "$here/images" "$folder" && rm "$folder"/{pause,busybox}.tar
}

# start_node NAME: boots it; it is a node of the control plane when the kubelet has said so (wait_ready).
start_node() {
  local name=$1 address keys=$WORK/keys-$1
  address=$(node_address "$name")
  mkdir -p "$keys"
  "$here/control-plane" user "$plane" "system:node:$name" system:nodes "DNS:$name,IP:$address" || return 1
  "$here/control-plane" portable "$plane" "system:node:$name" >"$keys/kubelet.conf" || return 1
  cp "$plane/pki/ca.crt" "$keys/" && cp "$plane/pki/system:node:$name.crt" "$keys/kubelet.crt" &&
    cp "$plane/pki/system:node:$name.key" "$keys/kubelet.key" || return 1
  ip route replace local "$address" dev lo src 127.0.0.1 &&
    lab/lab start "$name" --mem 1024 --pf rail0 --pf rail1 --uplink "$address:10250" --programs "$WORK/programs" \
      --file "$keys:/etc/kubernetes" && node_script "$name" join "$name" "$address"
}
start_nodes() { # NAME...: beside each other
  local name pids=() status=0
  for name; do
    start_node "$name" >"$LOGS/start-$name.log" 2>&1 &
    pids+=($!)
  done
  for name in "${pids[@]}"; do wait "$name" || status=1; done
  return $status
}
is_ready() { # NODE
  [ "$(kubectl get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')" = True ]
}
allocatable() { kubectl get node "$1" -o "jsonpath={.status.allocatable.openshift\.io/$2}"; } # NODE RESOURCE

# An agent of railbed on a node. What it knows of the cluster, a folder of manifests or a kubeconfig, is among the options.
start_agent() { # NODE OPTION...
  node_script "$1" agent --soft-rdma "${@:2}"
}
kill_agent() { # NODE [SIGNAL]
  on "$1" "pkill -${2:-TERM} -x 'railbed(d|-cluster)?' && sh /mnt/programs/node wait-gone 'railbed(d|-cluster)?'"
}

# What a user has asked of the API server since the line FROM of its log: "VERB PATH STATUS" each. A watch is there when it has ended.
requests_of() { # USER [FROM]
  tail -n "+${2:-1}" "$plane/audit.log" | sed -n '/"username":"'"$1"'"/s/.*"requestURI":"\([^?"]*\)[^"]*","verb":"\([a-z]*\)".*"code":\([0-9]*\).*/\2 \1 \3/p'
}
next_request() { echo $(($(wc -l <"$plane/audit.log") + 1)); }

# What nodes and control plane have logged.
keep_logs() {
  local node
  cp "$plane"/*.log "$LOGS/" 2>/dev/null
  for node; do
    mkdir -p "$LOGS/$node"
    on "$node" 'tar -C /var/log -cf - containerd.log kubelet.log agent.log agents 2>/dev/null | base64' 2>/dev/null | base64 -d 2>/dev/null | tar -C "$LOGS/$node" -xf - 2>/dev/null
    lab/lab log "$node" >"$LOGS/$node/console.log" 2>&1
  done
}
