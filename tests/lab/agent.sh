#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent and its shim on real VFs, other devices, ipvlan and VRFs in a virtual machine, driven by the reference library's
# cnitool.   tests/lab/agent.sh [PART...]      parts: sriov, devices, kinds, vfio, reboot (all); --list prints them
# RAILBED is the program (build/railbed); the shim railbed-cni is beside it.
set -uo pipefail
all_parts=(sriov devices kinds vfio reboot)
[ "${1:-}" != --list ] || { printf '%s\n' "${all_parts[@]}"; exit 0; }
cd "$(dirname "$0")/../.."
suite=agent
. tests/lab/agent/harness.sh
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")

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
    same_soon "sriov $version: the VF is as before" "$before" on "sh attach.sh vf $vf"
    has "sriov $version: DEL again" "$(tool del rail a net1)" "status 0"
  done
  other=$(tool add rail a net1; tool add rail b net1)
  has "sriov: a second pod does not get the same VF" "$other" "belongs to pod"
  on "ip netns del a; ip netns add a" # the namespace is gone without a DEL
  has "sriov: DEL without the namespace" "$(tool del rail a net1)" "status 0"
  same_soon "sriov: and the VF is as before" "$before" on "sh attach.sh vf $vf"
  same "sriov: nothing is attached" "$(attached)" "$nothing_attached"
  # No DEL is sent at all.
  has "gc: ADD" "$(tool add rail a net1)" "status 0"
  on "ip netns del a; ip netns add a; ip -n a link set lo up"
  got=$(on 'railbed gc')
  has "gc: shows the interface" "$got" "interface"
  has "gc: and how to remove it" "$got" "railbed gc --yes removes them"
  has "gc: changes nothing by looking" "$(attached)" '"device":"'"$vf"'"'
  has "gc: removes it" "$(on 'railbed gc --yes; echo status $?')" "status 0"
  same_soon "gc: the VF is as before" "$before" on "sh attach.sh vf $vf"
  same "gc: nothing is attached" "$(attached)" "$nothing_attached"
  has "gc: nothing is left" "$(on 'railbed gc')" "nothing is orphaned"
  has "gc: the VF is to be had again" "$(tool add rail b net1)" "status 0"
  has "gc: and goes back" "$(tool del rail b net1)" "status 0"
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

# A virtio NIC by all that can name it; moved as the original moves it.
part_devices() {
  boot devices --pf rail0 --virtio && agent || return
  local nic device function before key name static
  nic=$(on 'modprobe virtio_net; until ls -d /sys/bus/virtio/drivers/virtio_net/virtio*/net/* >/dev/null 2>&1; do sleep 0.1; done
    basename "$(ls -d /sys/bus/virtio/drivers/virtio_net/virtio*/net/*)"')
  device=$(on "readlink -f /sys/class/net/$nic/device") function=$(on "basename \$(dirname $device)")
  static='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24","gateway":"10.78.0.1"}],"routes":[{"dst":"10.99.0.0/16"}]}'
  on "ip link set $nic mtu 1450 up; ip addr add 192.0.2.9/24 brd + dev $nic"
  at_home() { on "ip link show $nic | grep -o 'mtu [0-9]*'; ip -4 -o addr show $nic; ip route show dev $nic"; }
  before=$(at_home)
  for key in "\"device\":\"$nic\"" "\"hwaddr\":\"$(on "cat /sys/class/net/$nic/address")\"" "\"kernelpath\":\"$device\"" \
    "\"pciBusID\":\"$function\"" "\"deviceID\":\"$function\""; do
    name=virtio-by-$(cut -d '"' -f 2 <<<"$key")
    conf "$name" 1.0.0 "{\"type\":\"host-device\",$key,$static}"
    has "$name: ADD" "$(tool add "$name" a net1)" "status 0"
    has "$name: it is in the pod" "$(on 'sh attach.sh inside a')" "net1: <BROADCAST,MULTICAST,UP> mtu 1450"
    has "$name: CHECK" "$(tool check "$name" a net1)" "status 0"
    has "$name: DEL" "$(tool del "$name" a net1)" "status 0"
    same "$name: on the host as before" "$(at_home)" "$before"
  done
  for name in kernelpath pciBusID; do
    beside_original "original-$name" "$(on "grep -o '{\"type\":\"host-device\".*}' /etc/cni/net.d/virtio-by-$name.conflist" | sed 's/\]}$//')"
  done
  conf none 1.0.0 "{\"type\":\"host-device\",\"pciBusID\":\"0000:7f:00.0\",$static}"
  has "virtio: a device that is not there" "$(tool add none a net1)" "0000:7f:00.0"
  same "virtio: nothing is attached" "$(attached)" "$nothing_attached"
  agent_log
}

part_kinds() {
  boot kinds && agent || return
  on 'modprobe dummy; modprobe ipvlan; modprobe vrf; ip link add dum0 type dummy; ip link set dum0 up'
  local static='"ipam":{"type":"static","addresses":[{"address":"10.78.0.5/24","gateway":"10.78.0.1"},{"address":"fd78::5/64"}],"routes":[{"dst":"10.99.0.0/16"}]}'
  local mode
  for mode in l2 l3 l3s; do
    beside_original "ipvlan-$mode" "{\"type\":\"ipvlan\",\"master\":\"dum0\",\"mode\":\"$mode\",\"mtu\":1400,$static}"
  done
  beside_original dummy "{\"type\":\"dummy\",$static}"
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

# A VF but for its address: igbvf takes a random one at each boot.
still() { on "sh attach.sh vf $1 | grep -v address | sed 's/ether [0-9a-f:]*//'"; }

# What the agent writes lies on the host (9p) and outlives the machine; the runtime sends DEL for the pods of before. The
# machine boots, both times.
part_reboot() {
  local disk=$LAB_DIR/disk vf got turn before
  mkdir -p "$disk"/{state,cni,railbed,net.d}
  # The folder again with shared memory, which SQLite wants; the places that a disk would keep are on it.
  local mounts='umount /mnt/share; mount -t 9p -o trans=virtio,version=9p2000.L,cache=mmap share /mnt/share || exit 1
    mkdir -p /var/lib/cni /var/lib/railbed /etc/cni/net.d
    mount --bind /mnt/share/cni /var/lib/cni; mount --bind /mnt/share/railbed /var/lib/railbed; mount --bind /mnt/share/net.d /etc/cni/net.d'
  for turn in first second; do
    boot "$turn" --boot --pf rail0 --pf rail1 --share "$disk" && on "$mounts" && agent --state-dir /mnt/share/state || { fail "reboot: $turn boot"; return; }
    vf=$(on 'sh vfs.sh 2')
    vf=${vf%%,*}
    if [ "$turn" = first ]; then
      before=$(still "$vf")
      local one='"ranges":[[{"subnet":"10.77.0.0/24","rangeStart":"10.77.0.7","rangeEnd":"10.77.0.7"}]]'
      conf kept 1.0.0 "{\"type\":\"sriov\",\"deviceID\":\"$vf\",\"vlan\":77,\"ipam\":{\"type\":\"host-local\",$one}}" '{"type":"tuning","mtu":1400}'
      conf other 1.0.0 '{"type":"macvlan","master":"eth1","ipam":{"type":"whereabouts","range":"10.79.0.0/30"}}'
      conf queued 1.0.0 "{\"type\":\"macvlan\",\"master\":\"eth1\",\"ipam\":{\"type\":\"host-local\",\"dataDir\":\"/var/lib/cni/queued\",${one//10.77/10.80}}}"
      has "reboot: ADD of a VF" "$(tool add kept a net1)" "status 0"
      has "reboot: ADD of a macvlan" "$(tool add other a net2)" '"10.79.0.1/30"'
      has "reboot: ADD of another" "$(tool add queued a net3)" "status 0"
      on 'kill -9 $(pgrep -x railbedd)'
      has "reboot: DEL without the agent is kept" "$(tool del queued a net3)" "status 0"
      same "reboot: on disk" "$(on 'ls /var/lib/railbed/pending-del | wc -l')" 1
      on sync
      lab/lab stop first
      continue
    fi
    same_soon "reboot: the VF is one that was free" "$before" still "$vf"
    same "reboot: nothing is attached" "$(on 'railbed attachments --state-dir /mnt/share/state -o json' | tr -d ' \n')" "$nothing_attached"
    same "reboot: the DEL on disk is done" "$(on 'i=0; while [ -n "$(ls /var/lib/railbed/pending-del)" ] && [ $i -lt 900 ]; do sleep 0.1; i=$((i + 1)); done; ls /var/lib/railbed/pending-del | wc -l')" 0
    for got in "kept a net1" "other a net2" "kept a net1"; do has "reboot: DEL of $got" "$(tool del $got)" "status 0"; done
    same "reboot: no address is held" "$(on 'find /var/lib/cni -name "10.*"')" ""
    has "reboot: the only address again" "$(tool add kept b net1)" '"10.77.0.7/24"'
    has "reboot: the other one" "$(tool add other b net2)" '"10.79.0.1/30"'
    has "reboot: and the third" "$(tool add queued b net3)" '"10.80.0.7/24"'
    for got in "kept b net1" "other b net2" "queued b net3"; do has "reboot: DEL of $got" "$(tool del $got)" "status 0"; done
    same "reboot: nothing is attached afterwards" "$(on 'railbed attachments --state-dir /mnt/share/state -o json' | tr -d ' \n')" "$nothing_attached"
    same_soon "reboot: the VF afterwards" "$before" still "$vf"
  done
  agent_log
}

run_parts "${parts[@]}"
