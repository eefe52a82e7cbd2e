# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced after lab_nodes.sh: railbed in the cluster of the lab's nodes. Kinds and rights from deploy/, the operator beside the
# control plane, an agent on each node with the rights of its service account, and what they say of nodes, policies and pods.
namespace=openshift-sriov-network-operator
manifests=tests/cluster/lab_manifests
agent_user=system:serviceaccount:$namespace:railbed-agent
export AUDIT_USERS=$agent_user,railbed-operator

make_namespaces() {
  kubectl create namespace llm && kubectl create namespace $namespace && until_true 180 kubectl get -n llm serviceaccount default
}
# Kinds, roles and who has them. Once, whatever part comes first.
prepare_cluster() {
  local file
  [ ! -e "$WORK/prepared" ] || return 0
  kubectl create serviceaccount -n $namespace railbed-agent &&
    kubectl apply --server-side -f deploy/crds &&
    for file in deploy/rbac/*.yaml; do echo ---; sed "s/namespace: railbed/namespace: $namespace/" "$file"; done | kubectl apply -f - -f $manifests/rights.yaml &&
    until_true 180 kubectl wait --for=condition=Established --timeout=30s -f deploy/crds &&
    "$here/control-plane" user "$plane" railbed-operator && touch "$WORK/prepared"
}

# The agent of a machine, which is the node NAME, as a DaemonSet would run it: it finds the API server by its environment and is who
# its token says, of the service account and the Node.
start_agent_as() { # MACHINE NAME [OPTION...]
  local account=$WORK/account-$1/serviceaccount
  mkdir -p "$account"
  kubectl create token -n $namespace railbed-agent --duration 2h --bound-object-kind Node --bound-object-name "$2" \
    --bound-object-uid "$(kubectl get node "$2" -o 'jsonpath={.metadata.uid}')" >"$account/token" || return 1
  cp "$plane/pki/ca.crt" "$account/" && printf %s $namespace >"$account/namespace" &&
    on "$1" mkdir -p /var/run/secrets/kubernetes.io && lab/lab push "$1" "$account" /var/run/secrets/kubernetes.io/ &&
    node_script "$1" agent-in-cluster --soft-rdma --in-cluster --node "$2" "${@:3}"
}
# As a user that stays when the Node is deleted.
start_agent_by_name() { # MACHINE NAME [OPTION...]
  local user=system:railbed:node:$2 folder=$WORK/agent-$1
  mkdir -p "$folder"
  kubectl create clusterrolebinding "agent-$2" --clusterrole railbed-agent --user "$user" --dry-run=client -o yaml | kubectl apply -f - &&
    "$here/control-plane" user "$plane" "$user" && "$here/control-plane" portable "$plane" "$user" >"$folder/agent.conf" &&
    lab/lab push "$1" "$folder/agent.conf" /etc/kubernetes/ && node_script "$1" agent --soft-rdma --kubeconfig /etc/kubernetes/agent.conf --node "$2" "${@:3}"
}
start_cluster_agent() { start_agent_as "$1" "$1" "${@:2}"; } # NODE [OPTION...]

start_operator() { # [OPTION...]
  setsid "$RAILBED" operator --kubeconfig "$plane/railbed-operator.conf" --namespace $namespace "$@" >>"$LOGS/operator.log" 2>&1 </dev/null &
  operator=$!
}
kill_operator() { # SIGNAL
  [ -n "${operator:-}" ] || return 0
  kill "-$1" "$operator" 2>/dev/null
  wait "$operator" 2>/dev/null
}
kill_kubelet() { # NODE
  on "$1" "pkill -KILL -x kubelet; sh /mnt/programs/node wait-gone kubelet"
}
start_kubelet() { node_script "$1" kubelet; } # NODE

state_of() { kubectl get sriovnetworknodestate -n $namespace "$1" -o "jsonpath={$2}"; } # NODE PATH
# Whether a node has carried out the spec that it has now, and that is one with policies.
is_done() {
  [ -n "$(state_of "$1" '.spec.interfaces[*].name')" ] && [ "$(state_of "$1" .status.syncStatus)" = Succeeded ] &&
    [ "$(state_of "$1" .status.observedGeneration)" = "$(state_of "$1" .metadata.generation)" ]
}
offers() { [ "$(allocatable "$1" "$2")" = "$3" ]; } # NODE RESOURCE NUMBER
vfs() { on "$1" cat /sys/bus/pci/devices/0000:0$2:00.0/sriov_numvfs; } # NODE PF
order_vfs() { # POLICY NUMBER
  until_true 60 kubectl patch sriovnetworknodepolicy -n $namespace "$1" --type merge -p "{\"spec\":{\"numVfs\":$2}}"
}
condition() { kubectl get "$1" -n $namespace "$2" -o "jsonpath={.status.conditions[?(@.type==\"$3\")].status}"; }

in_pod() { kubectl exec -n llm "$1" -- sh -c "${*:2}"; } # POD COMMAND-LINE
# What a pod has: its interface's VF, and the one that the kubelet gave it for a resource.
vf_of() { in_pod "$1" "basename \$(readlink /sys/class/net/$2/device)"; } # POD INTERFACE
given() { in_pod "$1" "echo \$PCIDEVICE_OPENSHIFT_IO_$(tr a-z A-Z <<<"$2")"; } # POD RESOURCE
network_status() { kubectl get pod -n llm "$1" -o 'jsonpath={.metadata.annotations.k8s\.v1\.cni\.cncf\.io/network-status}'; } # POD
sandboxes() { on "$1" 'railbed attachments -o json' | tr -d ' \n' | grep -o '"sandboxes":.*'; } # NODE
