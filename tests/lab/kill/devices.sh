#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In the guest, for tests/lab/kill.sh: VFs with settings of their own and RDMA devices that move. networks uses them.
set -e
insmod /t/movable_rxe.ko
rdma system set netns exclusive
sh /t/vfs.sh 2
first=$(ls /sys/bus/pci/devices/0000:01:10.0/net) second=$(ls /sys/bus/pci/devices/0000:02:10.0/net)
ip link set eth1 vf 0 vlan 12 spoofchk off
ip link set "$first" up mtu 1450
ip link set "$second" up alias "cable 1"
ip addr add 192.0.2.9/24 dev "$second"
rdma link add roce1 type rxe netdev "$first"
rdma link add roce2 type rxe netdev "$second"
ip link add mv0 link "$second" type macvlan
rdma link add roce3 type rxe netdev mv0
rdma link
