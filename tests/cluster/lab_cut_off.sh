# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/cluster/lab: guest-1 is cut off from the API server while its pods go on, its Node is deleted, and guest-2 joins
# again under that name. No address is given twice. When guest-1 was taken for gone although it runs, which the documentation
# forbids, it says so as soon as it hears the API server again.
#
# The network is a macvlan on a PF with a range of six addresses that the nodes share. Agents give none without the API server for
# `quiet` seconds. The operator ends no lease in the first half; for the second one it is started again with a short time.
quiet=15
range=10.75.0

# A pod of the network. With a LATE one, the kubelet waits for a volume that is not there before it has the runtime make a sandbox.
shared_pod() { # NAME NODE [ADDRESS|late]
  local ips='' volume='' mount=''
  case ${3:-} in
    late)
      volume=', { name: late, configMap: { name: not-there } }'
      mount=', { name: late, mountPath: /late }'
      ;;
    ?*) ips=', "ips": ["'$3'/29"]' ;;
  esac
  kubectl apply -f - >/dev/null <<M
apiVersion: v1
kind: Pod
metadata: { name: $1, namespace: llm, annotations: { k8s.v1.cni.cncf.io/networks: '[{ "name": "shared", "interface": "shared"$ips }]' } }
spec:
  nodeSelector: { kubernetes.io/hostname: $2 }
  terminationGracePeriodSeconds: 1
  automountServiceAccountToken: false
  dnsPolicy: Default
  containers:
    - name: worker
      image: localhost/guest:1
      imagePullPolicy: Never
      command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"]
      volumeMounts: [{ name: usr, mountPath: /usr, readOnly: true }$mount]
  volumes: [{ name: usr, hostPath: { path: /usr } }$volume]
M
}
shared_network() {
  kubectl apply -f - >/dev/null <<M
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: { name: shared, namespace: llm }
spec:
  config: '{ "cniVersion": "1.0.0", "name": "shared", "type": "macvlan", "master": "eth0", "capabilities": { "ips": true },
    "ipam": { "type": "whereabouts", "range": "$range.0/29" } }'
M
}
# What interfaces have, as the kernels of the machines report: "10.75.0.1 10.75.0.2 ", sorted.
addresses_on() { # MACHINE...
  local machine
  for machine; do
    on "$machine" 'for ns in /run/netns/*; do ip -n "${ns##*/}" -4 -o addr show 2>/dev/null; done'
  done | awk '{ sub(/\/.*/, "", $4); print $4 }' | grep "^$range\." | sort
}
twice() { addresses_on "${nodes[@]}" | uniq -d; }
# How many addresses a machine has leased.
leased_by() { # UUID
  "$RAILBED" addresses list --kubeconfig "$plane/admin.conf" -o json |
    python3 -c 'import json, sys; print(sum(lease["held"] for cell in json.load(sys.stdin)["cells"] for lease in cell["leases"] if lease["systemUUID"] == sys.argv[1]))' "$1"
}
uuid_of() { kubectl get node "$1" -o 'jsonpath={.status.nodeInfo.systemUUID}'; } # NODE
heard_seconds() { on "$1" 'railbed status -o json' | python3 -c 'import json, sys; print(json.load(sys.stdin)["agent"]["addresses"]["heardSeconds"])'; } # MACHINE
silent_for() { [ "$(heard_seconds "$1")" -ge "$2" ]; } # MACHINE SECONDS
add_late() { # what railbed-cni says, called as the runtime does
  on guest-1 "ip netns add late; echo '{\"cniVersion\": \"1.0.0\", \"name\": \"pods\", \"type\": \"railbed\"}' | env CNI_COMMAND=ADD CNI_CONTAINERID=late \
    CNI_NETNS=/run/netns/late CNI_IFNAME=eth0 CNI_PATH=/opt/cni/bin CNI_ARGS='K8S_POD_NAMESPACE=llm;K8S_POD_NAME=late' /opt/cni/bin/railbed"
}

cut_off_begins() {
  local node
  holds "cut off: kinds and rights are there" prepare_cluster || return 1
  kill_operator TERM
  kubectl delete pod -n llm --all --timeout=600s >/dev/null 2>&1
  start_operator
  for node in "${nodes[@]}"; do
    kill_agent "$node" >/dev/null 2>&1
    { on "$node" "ip link set eth0 up" && start_agent_by_name "$node" "$node" --reclaim-after $((2 * quiet))s &&
      node_script "$node" networks-by-railbed; } >"$LOGS/agent-$node" 2>&1 || { fail "cut off: the agent of $node: $(tail -2 "$LOGS/agent-$node")"; return 1; }
  done
  shared_network
  for node in a1 a2; do shared_pod $node guest-1; done
  shared_pod late guest-1 late
  holds "cut off: two pods run on guest-1" kubectl wait -n llm --for=condition=Ready --timeout=600s pod/a1 pod/a2 || return 1
  first=$(uuid_of guest-1)
  second=$(uuid_of guest-2)
  same_soon "cut off: guest-1 has leased their addresses, and one for a pod that is bound to it" 3 leased_by "$first"
}

# guest-1 goes silent, its Node and pods are deleted, and guest-2 becomes guest-1.
name_is_reused() {
  on guest-1 "ip link set uplink down"
  kubectl delete pod -n llm a1 a2 late --force --grace-period=0 >/dev/null 2>&1
  kill_agent guest-2
  kill_kubelet guest-2
  kubectl delete node guest-1 guest-2 >/dev/null
  mkdir -p "$WORK/joins"
  "$here/control-plane" portable "$plane" system:node:guest-1 >"$WORK/joins/kubelet.conf" && lab/lab push guest-2 "$WORK/joins/kubelet.conf" /etc/kubernetes/ &&
    on guest-2 "sed -i s/name=guest-2/name=guest-1/ /run/node.env" && start_kubelet guest-2 || { fail "cut off: guest-2 joins under the name guest-1"; return 1; }
  within "cut off: guest-2 joins under the name guest-1" 300 is_ready guest-1 || return 1
  same "cut off: another machine has the name now" "$(uuid_of guest-1)" "$second"
  start_agent_by_name guest-2 guest-1 --reclaim-after $((2 * quiet))s >"$LOGS/agent-joins" 2>&1 || { fail "cut off: its agent: $(tail -2 "$LOGS/agent-joins")"; return 1; }
  say "guest-2 is guest-1"
}

no_address_twice() {
  local got address
  address=$(addresses_on guest-1 | head -1)
  for got in b1 b2; do shared_pod $got guest-1; done
  shared_pod rival guest-1 "$address"
  holds "cut off: pods of the same range run on the other machine" kubectl wait -n llm --for=condition=Ready --timeout=600s pod/b1 pod/b2
  has_soon "cut off: a pod that asks for an address of the machine that was cut off gets an Event that names its owner" "another node has leased $address" events_on pod -n llm rival
  same "cut off: pods of both machines have addresses" "$(addresses_on "${nodes[@]}" | sort -u | wc -l)" 4
  same "cut off: no address is given twice" "$(twice)" ""
  same "cut off: the machine's leases stay" "$(leased_by "$first")" 3
  within "cut off: guest-1 has not heard of the API server for $quiet s" 300 silent_for guest-1 $quiet
  has "cut off: then it gives nothing, of what it had leased neither" "$(add_late)" "has not reached the API server for"
  same "cut off: its pods go on" "$(addresses_on guest-1 | wc -l)" 2
}

# The time after which a machine without a Node counts as off passes, and this one is not: its address is given to another pod.
comes_back() {
  kill_operator TERM
  start_operator --reclaim-after $((2 * quiet))s
  has_soon "cut off: the operator frees what the machine had, and says why" "AddressesFreedNameTaken" kubectl get events -A
  holds "cut off: then the pod gets the address that it asked for" kubectl wait -n llm --for=condition=Ready --timeout=600s pod/rival
  # A kubelet that came back would be a second one of that name.
  kill_kubelet guest-1
  on guest-1 "ip link set uplink up"
  say "guest-1 is back"
  has_soon "cut off: guest-1 is back, and says that an address of its pod is another one's" "is in use on this node, but according to the API server node guest-1" on guest-1 railbed status
  on guest-1 railbed status >"$LOGS/status-back.txt" 2>&1
  kubectl get events -A >"$LOGS/events-back.txt" 2>&1
  has_soon "cut off: and so does an Event" AddressConflict kubectl get events -A
  same "cut off: the other one keeps it" "$(in_pod rival 'ip -o -4 addr show dev shared' | grep -c "$range")" 1
}

part_cut_off() {
  cut_off_begins && name_is_reused && no_address_twice && comes_back
  say "a machine was cut off"
}
