#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent and its shim on real VFs, ipvlan and VRFs in a virtual machine, driven by the reference library's
# cnitool.   tests/lab/agent.sh [PART...]      parts: sriov, kinds, vfio (all)
# RAILBED is the program (build/railbed); the shim railbed-cni is beside it.
set -uo pipefail
cd "$(dirname "$0")/../.."
suite=agent
. tests/lab/agent/harness.sh
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(sriov kinds vfio)

part_sriov() {
  boot sriov --pf rail0 --pf rail1 && agent || return
  local devices vf version before got
  devices=$(on 'sh vfs.sh 2')
  vf=${devices%%,*}
  before=$(on "sh attach.sh vf $vf")
  local ipam='"ipam":{"type":"host-local","ranges":[[{"subnet":"10.77.0.0/24"}]]}'
  for version in 0.3.1 0.4.0 1.0.0 1.1.0; do
    conf rail "$version" "{\"type\":\"sriov\",\"deviceID\":\"$vf\",\"vlan\":77,\"spoofchk\":\"off\",\"trust\":\"on\",$ipam}" \
      '{"type":"tuning","mtu":1400,"sysctl":{"net.ipv4.conf.IFNAME.arp_filter":"1"}}' '{"type":"sbr"}'
    got=$(tool add rail a net1)
    has "sriov $version: ADD" "$got" "status 0"
    has "sriov $version: its address in the result" "$got" '"10.77.0.'
    got=$(on "sh attach.sh inside a; ip netns exec a cat /proc/sys/net/ipv4/conf/net1/arp_filter")
    has "sriov $version: its interface with the MTU of tuning" "$got" "net1: <BROADCAST,MULTICAST,UP> mtu 1400"
    has "sriov $version: a rule of its own" "$got" "from 10.77.0."
    has "sriov $version: VLAN, spoof check and trust at the PF" "$(on "ip link show eth0 | grep 'vf 0 '")" "vlan 77, spoof checking off, link-state auto, trust on"
    [ "$version" = 0.3.1 ] || has "sriov $version: CHECK" "$(tool check rail a net1)" "status 0"
    if [ "$version" != 0.3.1 ]; then
      on "ip -n a link set net1 mtu 1300"
      has "sriov $version: CHECK sees another MTU" "$(tool check rail a net1)" "status 1"
    fi
    has "sriov $version: DEL" "$(tool del rail a net1)" "status 0"
    same "sriov $version: the VF is as before" "$(on "sh attach.sh vf $vf")" "$before"
    has "sriov $version: DEL again" "$(tool del rail a net1)" "status 0"
  done
  other=$(tool add rail a net1; tool add rail b net1)
  has "sriov: a second pod does not get the same VF" "$other" "belongs to pod"
  on "ip netns del a; ip netns add a" # the namespace is gone without a DEL
  has "sriov: DEL without the namespace" "$(tool del rail a net1)" "status 0"
  same "sriov: and the VF is as before" "$(on "sh attach.sh vf $vf")" "$before"
  same "sriov: nothing is attached" "$(attached)" "$nothing_attached"
  agent_log
}

# What this machine's own kernel may lack: in turn through ours and through the original plugin, in a namespace each (two
# ipvlans of one parent cannot have the same address at once).
beside_original() { # NAME PLUGIN...
  local name=$1 ours theirs original
  shift
  conf "$name" 1.0.0 "$@"
  has "$name: ADD" "$(tool add "$name" a net1)" "status 0"
  ours=$(on 'sh attach.sh inside a')
  has "$name: CHECK" "$(tool check "$name" a net1)" "status 0"
  has "$name: DEL" "$(tool del "$name" a net1)" "status 0"
  original="CNI_PATH=/opt/originals NETCONFPATH=/etc/cni/net.d CNI_IFNAME=net1 /opt/originals/cnitool"
  has "$name: the original's ADD" "$(on "$original add $name /run/netns/b; echo status \$?")" "status 0"
  theirs=$(on 'sh attach.sh inside b')
  on "$original del $name /run/netns/b"
  same "$name: links, addresses, routes and rules as the original's" "$ours" "$theirs"
  same "$name: after DEL as after the original's" "$(on 'sh attach.sh inside a')" "$(on 'sh attach.sh inside b')"
}

part_kinds() {
  boot kinds && agent || return
  on 'modprobe dummy; modprobe ipvlan; modprobe vrf; ip link add dum0 type dummy; ip link set dum0 up'
  local static='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24","gateway":"10.78.0.1"},{"address":"fd78::5/64"}],"routes":[{"dst":"10.99.0.0/16"}]}'
  local mode
  for mode in l2 l3 l3s; do
    beside_original "ipvlan-$mode" "{\"type\":\"ipvlan\",\"master\":\"dum0\",\"mode\":\"$mode\",\"mtu\":1400,$static}"
  done
  beside_original vrf "{\"type\":\"ipvlan\",\"master\":\"dum0\",$static}" '{"type":"vrf","vrfname":"blue"}'
  beside_original vrf-table "{\"type\":\"ipvlan\",\"master\":\"dum0\",$static}" '{"type":"vrf","vrfname":"red","table":1234}'
  # With IPv4 only: the original copies the IPv6 subnet into the IPv4 address's table too.
  local v4='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24","gateway":"10.78.0.1"}]}'
  beside_original sbr "{\"type\":\"ipvlan\",\"master\":\"dum0\",$v4}" '{"type":"sbr"}'
  agent_log
}

part_vfio() {
  boot vfio --pf rail0 --iommu && agent || return
  local vf
  vf=$(on 'echo 1 >/sys/bus/pci/devices/0000:01:00.0/sriov_numvfs; basename "$(readlink /sys/bus/pci/devices/0000:01:00.0/virtfn0)"')
  on "echo vfio-pci >/sys/bus/pci/devices/$vf/driver_override; echo $vf >/sys/bus/pci/devices/$vf/driver/unbind 2>/dev/null; echo $vf >/sys/bus/pci/drivers_probe"
  conf dpdk 1.0.0 "{\"type\":\"sriov\",\"deviceID\":\"$vf\",\"vlan\":78}"
  has "vfio: ADD" "$(tool add dpdk a net1)" "status 0"
  has "vfio: the VLAN is set through the PF" "$(on "ip link show eth0 | grep 'vf 0 '")" "vlan 78"
  has "vfio: the device is attached" "$(on 'railbed attachments -o json')" "\"device\": \"$vf\""
  has "vfio: and its file" "$(on 'railbed attachments -o json')" "/dev/vfio/"
  has "vfio: DEL" "$(tool del dpdk a net1)" "status 0"
  if [[ "$(on "ip link show eth0 | grep 'vf 0 '")" == *"vlan 78"* ]]; then fail "vfio: the VLAN is gone"; else pass "vfio: the VLAN is gone"; fi
  agent_log
}

run_parts "${parts[@]}"
