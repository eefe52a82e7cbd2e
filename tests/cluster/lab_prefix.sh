# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by tests/cluster/lab: the operator says another prefix of resource names while pods run, and the manifests of
# NVIDIA's network operator are applied as they are. Afterwards everything is as the operator's part left it.

offered_as() { [ "$(kubectl get node "$1" -o "jsonpath={.status.allocatable.${2//./\\.}}")" = "$3" ]; } # NODE RESOURCE NUMBER
resource_of() { kubectl get network-attachment-definition -n llm "$1" -o 'jsonpath={.metadata.annotations.k8s\.v1\.cni\.cncf\.io/resourceName}'; } # NETWORK
restart_operator() { # [OPTION...]
  kill_operator TERM
  start_operator "$@"
}

# worker-1 and worker-2 run, each with a VF of openshift.io/rail0.
prefix_changes_under_pods() {
  local before
  before=$(kubectl get pods -n llm worker-1 worker-2 -o 'jsonpath={.items[*].metadata.uid}')
  restart_operator --resource-prefix nvidia.com
  for node in "${nodes[@]}"; do
    has_soon "prefix: the node state of $node says it" '"resourcePrefix":"nvidia.com"' state_of "$node" '.metadata.annotations.railbed\.dev/wanted'
    within "prefix: $node offers what no pod has under the new name" 180 offered_as "$node" nvidia.com/rail0 3
    within "prefix: and under the former one what its pod has" 180 offered_as "$node" openshift.io/rail0 1
    has_soon "prefix: railbed status of $node says so" "VFs of openshift.io/rail0 are offered as nvidia.com/rail0 now" on "$node" railbed status
  done
  same_soon "prefix: networks have it, too" nvidia.com/rail0 resource_of rail0
  # A kubelet that starts again knows the former name: it refuses no pod that runs.
  kill_kubelet guest-1
  start_kubelet guest-1
  within "prefix: the kubelet is ready again" 180 is_ready guest-1
  within "prefix: and offers the new name" 180 offered_as guest-1 nvidia.com/rail0 3
  same "prefix: the pods are the same" "$(kubectl get pods -n llm worker-1 worker-2 -o 'jsonpath={.items[*].metadata.uid}')" "$before"
  pods_ready "prefix: and run" 180
  delete_pods prefix
  for node in "${nodes[@]}"; do
    within "prefix: $node offers all under the new name, once the pods have ended" 180 offered_as "$node" nvidia.com/rail0 4
    within "prefix: and nothing under the former one" 180 eval "offered_as $node openshift.io/rail0 0 || offered_as $node openshift.io/rail0 ''"
  done
}

manifests_of_nvidia() {
  local vf
  kubectl delete sriovnetworknodepolicy -n $namespace rail1 --timeout=180s >/dev/null
  kubectl create namespace nvidia-network-operator >/dev/null
  kubectl apply -f $manifests/document-d.yaml >/dev/null || fail "prefix: document D is applied"
  within "prefix: document D's policy is ready" 300 eval \
    '[ "$(kubectl get sriovnetworknodepolicy -n nvidia-network-operator gpu-sriov-policy -o "jsonpath={.status.conditions[0].reason}")" = Applied ]'
  for node in "${nodes[@]}"; do within "prefix: $node offers its resource" 180 eval "kubectl get node $node -o json | grep '\"nvidia.com/sriov_rdma_vf\": \"[34]\"'"; done
  same_soon "prefix: its network is defined in the namespace that it names" nvidia.com/sriov_rdma_vf resource_of gpu-sriov-network
  holds "prefix: its pod is ready" kubectl wait -n llm --for=condition=Ready --timeout=300s pod/gpu-training || describe pod -n llm gpu-training | tail -15 | sed 's/^/    /'
  vf=$(in_pod gpu-training 'echo $PCIDEVICE_NVIDIA_COM_SRIOV_RDMA_VF')
  has "prefix: the kubelet gave it a VF by the published name" "$vf" 0000:02:10.
  same_soon "prefix: and its interface is that one" "$vf" vf_of gpu-training net1
  has_soon "prefix: with an address of the range" 192.168.100. network_status gpu-training
  # One in a namespace that does not count gets an Event.
  sed 's/namespace: nvidia-network-operator/namespace: llm/' $manifests/document-d.yaml | awk 'BEGIN { RS = "---\n"; ORS = RS } /SriovNetworkNodePolicy/' | kubectl apply -f - >/dev/null
  has_soon "prefix: a policy elsewhere gets an Event that it is ignored" "Ignored policies count in namespaces nvidia-network-operator" \
    kubectl get sriovnetworknodepolicy -n llm gpu-sriov-policy -o 'jsonpath={.status.conditions[0].reason} {.status.conditions[0].message}'
  kubectl delete sriovnetworknodepolicy -n llm gpu-sriov-policy --timeout=180s >/dev/null
}

# As the operator's part left it.
prefix_goes_back() {
  kubectl delete -f $manifests/document-d.yaml --timeout=300s >/dev/null
  kubectl delete namespace nvidia-network-operator --timeout=180s >/dev/null
  kubectl apply -f demo/manifests/1-policies.yaml >/dev/null
  restart_operator
  for node in "${nodes[@]}"; do
    for rail in rail0 rail1; do within "prefix: $node offers $rail as before" 300 offers "$node" $rail 4; done
  done
  same_soon "prefix: networks are as before" openshift.io/rail0 resource_of rail0
  operator_pods
}

part_prefix() {
  has_operator || { skip "prefix: this railbed has no operator"; return; }
  [ "$operator_works" = 1 ] || { skip "prefix: the operator's part did not come so far"; return; }
  prefix_changes_under_pods
  manifests_of_nvidia
  operator_works=0
  prefix_goes_back && operator_works=1
}
