# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by what runs inside tests/cluster/sandbox: a node with containerd and a kubelet, and pods on it.
# Wants: ROOT (the repository), TOOLS_CNI, TOOLS_KUBELET (folders with the reference plugins and the kubelet), LOGS.
here=$ROOT/tests/cluster
. "$here/wait.sh"
mkdir -p "$LOGS" /run/manifests /run/pids /etc/cni/net.d /opt/cni/bin

# start NAME COMMAND...: a daemon whose output goes to a log.
start() {
  "${@:2}" >>"$LOGS/$1.log" 2>&1 </dev/null &
  echo $! >"/run/pids/$1"
}
# A process holds its sockets until its last thread has ended, which may be after its first one has.
running() { grep -Eqs '^State:[[:space:]]+[^ZX[:space:]]' "/proc/$1"/task/*/status; }
ended() { ! running "$1"; }
stop() { # NAME [SIGNAL]
  local pid
  pid=$(<"/run/pids/$1")
  kill "-${2:-TERM}" "$pid" 2>/dev/null
  until_true 60 ended "$pid" || { kill -KILL "$pid"; until_true 60 ended "$pid"; }
  rm -f "/run/pids/$1"
}

bridge_plugin() { # TYPE-OF-IPAM: what the reference's bridge plugin gets as the pods' first network
  echo '{"type": "bridge", "bridge": "cni0", "isGateway": true, "ipam": {"type": "'"$1"'",
    "ranges": [[{"subnet": "10.88.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}'
}
# The node's CNI configuration; containerd reads it when it changes.
network_config() { # JSON
  echo "$1" >/etc/cni/net.d/.new
  mv /etc/cni/net.d/.new /etc/cni/net.d/10-pods.conflist
}

start_kubelet() {
  start kubelet "$TOOLS_KUBELET/kubelet" --config /run/kubelet.yaml --hostname-override node1 --node-ip 127.0.0.1 -v 2
  until_true 120 busybox wget -qO- http://127.0.0.1:10255/healthz
}

# The socket of an agent that was killed is still there, so it is asked.
agent_answers() { python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("/run/railbed/agent.sock")'; }

# Everything but the pods' networks. Prints the reason where it cannot be.
start_node() {
  sed "s|@CGROUP@|$CGROUP_ROOT|" "$here/kubelet.yaml" >/run/kubelet.yaml
  cp "$TOOLS_CNI"/{loopback,bridge,host-local,macvlan,host-device,tuning,static} /opt/cni/bin/
  cp "$TOOLS_CNI/host-local" /opt/cni/bin/reference-host-local
  ip link add cni0 type bridge && ip address add 10.88.0.1/24 dev cni0 && ip link set cni0 up || return 1
  start containerd containerd --config "$here/containerd.toml"
  until_true 120 ctr version || { tail -1 "$LOGS/containerd.log"; return 1; }
  "$here/images" /run/images && ctr -n k8s.io images import /run/images/pause.tar >/dev/null &&
    ctr -n k8s.io images import /run/images/busybox.tar >/dev/null || return 1
  start_kubelet || { tail -1 "$LOGS/kubelet.log"; return 1; }
}

# A static pod's manifest; the kubelet calls the pod NAME-node1.
pod_manifest() { # NAME ANNOTATION
  cat <<M
apiVersion: v1
kind: Pod
metadata:
  name: $1
  namespace: default
  annotations: {k8s.v1.cni.cncf.io/networks: '$2'}
spec:
  terminationGracePeriodSeconds: 1
  enableServiceLinks: false
  containers:
    - name: main
      image: localhost/busybox:1
      imagePullPolicy: Never
      command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"]
M
}
# The id of a pod's running container ("main", or "pause" for the sandbox).
container_of() { # POD
  local id
  for id in $(ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.name\"==$1-node1,labels.\"io.kubernetes.container.name\"==main"); do
    ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" >/dev/null && { echo "$id"; return 0; }
  done
  return 1
}
# Everything that containerd still has of a pod.
containers_of() { ctr -n k8s.io containers ls -q "labels.\"io.kubernetes.pod.name\"==$1-node1"; }
runs() { container_of "$1" >/dev/null; }
# Whether nothing of a pod runs and its sandbox's namespace has ended, which comes after CNI's DEL.
gone() {
  local id path
  for id in $(containers_of "$1"); do
    ctr -n k8s.io tasks ls | grep "^$id .*RUNNING" >/dev/null && return 1
    path=$(ctr -n k8s.io containers info "$id" | sed -n 's|.*"path": "\(/var/run/netns/[^"]*\)".*|\1|p')
    [ -z "$path" ] || [ ! -e "$path" ] || return 1
  done
}
in_pod() { # POD COMMAND...: inside the pod's own container
  local id
  id=$(container_of "$1") || { echo "pod $1 does not run"; return 1; }
  ctr -n k8s.io tasks exec --exec-id "x$RANDOM$RANDOM" "$id" "${@:2}"
}
start_pod() { # NAME ANNOTATION
  pod_manifest "$1" "$2" >"/run/manifests/.$1"
  mv "/run/manifests/.$1" "/run/manifests/$1.yaml"
}
stop_pod() { rm -f "/run/manifests/$1.yaml"; }

# "SUM COUNT" of the kubelet's own measurement of RunPodSandbox, in seconds.
run_pod_sandbox() {
  busybox wget -qO- http://127.0.0.1:10255/metrics |
    awk '/^kubelet_runtime_operations_duration_seconds_(sum|count)\{operation_type="run_podsandbox"\}/ { print $2 }' | xargs
}
