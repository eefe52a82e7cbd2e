#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# RDMA devices that move with their VFs: namespaces that do not share them (rdma system set netns exclusive), and soft-RoCE
# devices which a module of the lab makes movable (movable_rxe/), as the devices of RDMA NICs are.
#   tests/lab/rdma.sh [PART...]      parts: moves, soft (all); --list prints them
# RAILBED is the program (build/railbed); the shim railbed-cni is beside it.
set -uo pipefail
all_parts=(moves soft)
[ "${1:-}" != --list ] || { printf '%s\n' "${all_parts[@]}"; exit 0; }
cd "$(dirname "$0")/../.."
suite=rdma
. tests/lab/agent/harness.sh
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")

devices_of() { if [ "$1" = host ]; then on "rdma link | cut -d ' ' -f 2-4"; else on "ip netns exec $1 rdma link | cut -d ' ' -f 2-4"; fi; }
# What the host has: RDMA devices, those of the VFs in sysfs, the VFs.
whole_host() { on "rdma link; ls -d /sys/bus/pci/devices/*/infiniband/*; sh attach.sh vf $vf0; sh attach.sh vf $vf1"; }

# vf0 has two RDMA devices, roce1 on its interface and roce2 on a macvlan of that; vf1 has roce3. roce0 was there before
# them and is gone, so that the kernel numbers files again in a move.
make_devices() {
  local nic0 nic1
  read -r vf0 _ vf1 _ < <(on 'sh vfs.sh 2' | tr , ' ')
  nic0=$(on "ls /sys/bus/pci/devices/$vf0/net") nic1=$(on "ls /sys/bus/pci/devices/$vf1/net")
  on "set -e; ip link set $nic0 up; ip link set $nic1 up; rdma link add roce0 type rxe netdev $nic1
    rdma link add roce1 type rxe netdev $nic0; ip link add mv0 link $nic0 type macvlan; rdma link add roce2 type rxe netdev mv0
    rdma link delete roce0; rdma link add roce3 type rxe netdev $nic1; ip link set $nic0 down; ip link set $nic1 down
    ls -d /sys/bus/pci/devices/$vf0/infiniband/roce1 /sys/bus/pci/devices/$vf0/infiniband/roce2 /sys/bus/pci/devices/$vf1/infiniband/roce3"
}

# What a network's ADD, CHECK and DEL do with the devices of vf0.
one_network() { # NAME VERSION PLUGIN...
  local name=$1 before files file got
  conf "$@" '{"type":"rdma"}'
  before=$(whole_host)
  has "$name: ADD" "$(tool add "$name" a net1)" "status 0"
  same_soon "$name: both devices are in the pod" $'roce1/1 state ACTIVE\nroce2/1 state DOWN' devices_of a
  same_soon "$name: and not on the host" "roce3/1 state DOWN" devices_of host
  same "$name: programs in the pod see them" "$(on "ip netns exec a ibv_devices | awk 'NR > 2 { print \$1 }'")" $'roce1\nroce2'
  has "$name: and open them" "$(on 'ip netns exec a ibv_devinfo -d roce1 2>&1')" "PORT_ACTIVE"
  has "$name: programs on the host do not" "$(on 'ibv_devinfo -d roce1 2>&1')" "wasn't found"
  files=$(attached | grep -o '"charDevices":\[[^]]*\]' | head -1 | grep -o '/dev/[^"]*')
  got=$(for file in $files; do on "[ -c $file ] && cat /sys/class/infiniband_*/${file##*/}/ibdev"; done | sort | uniq -c | awk '{ print $2, $1 }')
  same "$name: verbs files of both, and none for management datagrams" "$got" $'roce1 1\nroce2 1'
  has "$name: CHECK" "$(tool check "$name" a net1)" "status 0"
  for file in roce1 roce2; do
    on "touch /run/netns/host; mount --bind /proc/1/ns/net /run/netns/host; ip netns exec a rdma dev set $file netns host"
    got=$(tool check "$name" a net1)
    has "$name: CHECK misses $file" "$got" "RDMA device $file is no longer in the pod's namespace"
    on "rdma dev set $file netns a; umount /run/netns/host; rm /run/netns/host"
  done
  has "$name: CHECK again" "$(tool check "$name" a net1)" "status 0"
  has "$name: DEL" "$(tool del "$name" a net1)" "status 0"
  same_soon "$name: the host has what it had" "$before" whole_host
  has "$name: DEL again" "$(tool del "$name" a net1)" "status 0"
}

part_moves() {
  local module before got static='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24"}]}'
  module=$(lab/lab module tests/lab/movable_rxe 2>"$LAB_DIR/module") || { echo "SKIP rdma: moves: the module cannot be built here: $(tail -1 "$LAB_DIR/module")"; return; }
  boot moves --pf rail0 --pf rail1 --file "$module:/t/movable_rxe.ko" || return
  on 'insmod movable_rxe.ko && rdma system set netns exclusive' || { fail "moves: exclusive mode"; return; }
  agent
  make_devices >"$LAB_DIR/made" 2>&1
  has "moves: RDMA devices below their functions" "$(cat "$LAB_DIR/made")" "$vf1/infiniband/roce3"
  one_network sriov 1.0.0 "{\"type\":\"sriov\",\"deviceID\":\"$vf0\",\"vlan\":77,$static}"
  one_network host-device 1.1.0 "{\"type\":\"host-device\",\"pciBusID\":\"$vf0\",$static}"

  before=$(whole_host)
  on "ip netns del a; ip netns add a"  # whatever was there; and the module's view of a new namespace
  has "moves: two pods at once" "$(tool add sriov a net1)" "status 0"
  has "moves: one VF is not for two" "$(tool add sriov b net1)" "belongs to pod"
  conf one 1.0.0 "{\"type\":\"sriov\",\"deviceID\":\"$vf1\",$static}" '{"type":"rdma"}'
  has "moves: another is" "$(tool add one b net1)" "status 0"
  same_soon "moves: its device" "roce3/1 state ACTIVE" devices_of b
  on "ip netns del a; ip netns del b; ip netns add a; ip netns add b"
  has "moves: DEL of a pod without its namespace" "$(tool del sriov a net1)" "status 0"
  has "moves: and of the other" "$(tool del one b net1)" "status 0"
  same_soon "moves: all is on the host again" "$before" whole_host

  on 'rmmod rdma_ucm'
  has "moves: a pod that could not open RDMA" "$(tool add sriov a net1)" \
    "the pod requested RDMA, but cannot open it: /dev/infiniband/rdma_cm not found; check that rdma_ucm is loaded"
  tool del sriov a net1 >/dev/null
  on 'modprobe rdma_ucm'
  same_soon "moves: has changed nothing" "$before" whole_host
  on 'rdma link delete roce3'
  has "moves: a VF without RDMA" "$(tool add one a net1)" "$vf1 has no RDMA device"
  tool del one a net1 >/dev/null
  same_soon "moves: nothing is attached" "$nothing_attached" attached

  on "ip netns del a; ip netns del b; until rdma system set netns shared 2>/dev/null; do sleep 0.2; done; ip netns add a; ip -n a link set lo up"
  before=$(whole_host)
  has "shared: ADD" "$(tool add sriov a net1)" "status 0"
  same_soon "shared: the pod sees the device" yes eval 'devices_of a | grep -q "roce1/1 state ACTIVE" && echo yes'
  same_soon "shared: as the host does" yes eval 'devices_of host | grep -q "roce1/1 state ACTIVE" && echo yes'
  has "shared: CHECK" "$(tool check sriov a net1)" "status 0"
  has "shared: DEL" "$(tool del sriov a net1)" "status 0"
  same_soon "shared: the host has what it had" "$before" whole_host
  agent_log
}

# Debian's own rxe cannot be moved; where namespaces do not share devices, a soft one is of no use to a pod.
part_soft() {
  local vf manifest=$LAB_DIR/pods.yaml static='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24"}]}'
  cat >"$manifest" <<END
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: soft, namespace: default}
spec:
  config: '{"cniVersion":"1.0.0","name":"soft","plugins":[{"type":"sriov","deviceID":"0000:01:10.0",$static},{"type":"rdma"}]}'
---
apiVersion: v1
kind: Pod
metadata: {name: soft, namespace: default, annotations: {k8s.v1.cni.cncf.io/networks: soft}}
spec: {containers: [{name: main, image: none}]}
END
  boot soft --pf rail0 --pf rail1 --file "$manifest:/etc/railbed/manifests/pods.yaml" || return
  on 'rdma system set netns exclusive' || { fail "soft: exclusive mode"; return; }
  agent --soft-rdma
  vf=$(on 'sh vfs.sh 1')
  conf pods 1.0.0 "{\"type\":\"railbed\",\"delegates\":[{\"cniVersion\":\"1.0.0\",\"name\":\"first\",\"plugins\":[{\"type\":\"macvlan\",\"master\":\"eth1\",${static/78/79}}]}]}"
  export_args='export CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=soft;K8S_POD_UID=u1;K8S_POD_INFRA_CONTAINER_ID=c1"'
  has "soft: refused where namespaces do not share devices" "$(on "$export_args; sh attach.sh tool add pods a eth0")" \
    "device ${vf%%,*} would get a soft RDMA device, which cannot be moved into a pod because namespaces do not share RDMA devices"
  on "$export_args; sh attach.sh tool del pods a eth0" >/dev/null
  same "soft: and nothing is left of it" "$(on 'rdma link; ip netns exec a ip -br link | grep -v ^lo')" ""
  same_soon "soft: nothing is attached" "$nothing_attached" attached
  on "ip netns del a; ip netns del b; until rdma system set netns shared 2>/dev/null; do sleep 0.2; done; ip netns add a"
  has "soft: ADD where they do" "$(on "$export_args; sh attach.sh tool add pods a eth0")" "status 0"
  has "soft: the device" "$(on 'ip netns exec a rdma link')" "netdev net1"
  has "soft: CHECK" "$(on "$export_args; sh attach.sh tool check pods a eth0")" "status 0"
  has "soft: DEL" "$(on "$export_args; sh attach.sh tool del pods a eth0")" "status 0"
  same_soon "soft: it is gone" "" on 'rdma link'
  agent_log
}

run_parts "${parts[@]}"
