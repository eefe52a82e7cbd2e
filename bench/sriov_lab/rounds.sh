#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: "round OUR-ADD OUR-DEL THEIR-ADD THEIR-DEL STARTS" in ms, per round.   rounds.sh ROUNDS DEVICE,DEVICE,...
# STARTS: what the starts of as many programs of the reference's making (Go, the same libraries) cost more than the replay's.
set -euo pipefail
rounds=$1
IFS=, read -ra devices <<<"$2"
manifests=/etc/railbed/manifests
mkdir -p $manifests /opt/cni/bin
networks=
for i in "${!devices[@]}"; do
  networks+=${networks:+,}rail$i
  cat >$manifests/rail$i.yaml <<Y
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: rail$i, namespace: default}
spec:
  config: '{"cniVersion":"1.0.0","name":"rail$i","type":"sriov","deviceID":"${devices[i]}","spoofchk":"off","trust":"on",
    "ipam":{"type":"host-local","ranges":[[{"subnet":"10.$((90 + i)).0.0/24"}]]}}'
Y
done
cat >$manifests/pod.yaml <<Y
apiVersion: v1
kind: Pod
metadata: {name: worker, namespace: default, annotations: {k8s.v1.cni.cncf.io/networks: "$networks"}}
spec: {containers: [{name: main, image: none}]}
Y
railbed cni install --bin-dir /opt/cni/bin >/dev/null
railbed agent >/tmp/agent.log 2>&1 &
until [ -S /run/railbed/agent.sock ]; do sleep 0.05; done
ip netns add pod
ip -n pod link set lo up

now() { local t=${EPOCHREALTIME/./}; echo "$t"; }
ms() { awk "BEGIN { printf \"%.2f\", ($2 - $1) / 1000 }"; }
ours() { # ADD|DEL
  echo '{"cniVersion":"1.0.0","name":"railbed","type":"railbed","unknownPod":"fail"}' |
    CNI_COMMAND=$1 CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod CNI_IFNAME=eth0 CNI_PATH=/opt/cni/bin \
      CNI_ARGS='K8S_POD_NAMESPACE=default;K8S_POD_NAME=worker' /opt/cni/bin/railbed >/tmp/answer || { cat /tmp/answer /tmp/agent.log; exit 1; }
}
theirs() { # ADD|DEL
  local i
  for i in "${!devices[@]}"; do
    HOST_LOCAL=/opt/originals/host-local \
      HOST_LOCAL_CONF="{\"cniVersion\":\"1.0.0\",\"name\":\"their$i\",\"type\":\"sriov\",\"ipam\":{\"type\":\"host-local\",\"ranges\":[[{\"subnet\":\"10.$((90 + i)).0.0/24\"}]]}}" \
      sriov_replay "$1" "${devices[i]}" pod "net$((i + 1))"
  done
}
start_reference() { local i; for i in "${devices[@]}"; do CNI_COMMAND=VERSION /opt/originals/host-device <<<'{"cniVersion":"1.0.0"}' >/dev/null; done; }
start_replay() { local i; for i in "${devices[@]}"; do sriov_replay || true; done; }
for ((round = 0; round < rounds; ++round)); do
  line=
  for who in ours theirs; do
    begun=$(now); $who ADD; added=$(now); $who DEL; gone=$(now)
    line+=" $(ms "$begun" "$added") $(ms "$added" "$gone")"
  done
  begun=$(now); start_reference; between=$(now); start_replay; ended=$(now)
  echo "round$line $(awk "BEGIN { printf \"%.2f\", (2 * $between - $begun - $ended) / 1000 }")"
done
