#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In the guest: runs cnitool or describes, for tests/lab/agent.sh.
#   attach.sh conf NAME VERSION PLUGINS...     writes /etc/cni/net.d/NAME.conflist; PLUGINS are JSON objects
#   attach.sh tool VERB NAME POD [IFNAME]      cnitool; its output and "status N"
#   attach.sh vf DEVICE                        the VF's interface on the host, and what its PF says of it
#   attach.sh inside POD                       links, addresses, routes and rules in a namespace, without what changes by itself
#                                              and what is meant to differ (no DAD, a link group, the routes' protocol,
#                                              the alias in which the original keeps a device's name)
export CNI_PATH=/opt/cni/bin NETCONFPATH=/etc/cni/net.d
verb=$1
shift
case $verb in
  conf)
    mkdir -p $NETCONFPATH
    name=$1 version=$2
    shift 2
    plugins=
    for plugin; do plugins=$plugins${plugins:+,}$plugin; done
    echo "{\"cniVersion\":\"$version\",\"name\":\"$name\",\"plugins\":[$plugins]}" >$NETCONFPATH/"$name".conflist
    ;;
  tool)
    command=$1 name=$2 pod=$3
    CNI_IFNAME=${4:-eth0} /opt/originals/cnitool "$command" "$name" "/run/netns/$pod" 2>&1
    echo "status $?"
    ;;
  vf)
    name=$(ls "/sys/bus/pci/devices/$1/net" 2>/dev/null)
    echo "interface ${name:-none}"
    [ -z "$name" ] || ip -j link show "$name" | tr ',{' '\n\n' | grep -E '"(mtu|address|operstate|txqlen)":'
    pf=$(ls "/sys/bus/pci/devices/$1/physfn/net")
    index=0
    until [ "$(basename "$(readlink "/sys/bus/pci/devices/$1/physfn/virtfn$index")")" = "$1" ]; do index=$((index + 1)); done
    ip link show "$pf" | grep "vf $index "
    ;;
  inside)
    ip netns exec "$1" sh -c 'ip -d link show; ip addr show; ip route show table all; ip -6 route show table all; ip rule' |
      grep -v ' lo:\| lo ' | sed -E 's/^[0-9]+: //; s/@if[0-9]+/@if/g; s/(valid_lft|preferred_lft) [0-9a-z]+( |$)//g; s/ether [0-9a-f:]+ /ether MAC /; s/fe80::[0-9a-f:]+/fe80::X/g; s/ (state|qlen) [A-Z0-9]+//g; s/link-netnsid [0-9]+//; s/numtxqueues.*//; s/ (nodad|tentative|proto kernel_ll|proto kernel|proto static|mode DEFAULT)//g; s/ group [a-z0-9]+//; s/,?(LOWER_UP|NO-CARRIER),?//g' |
      grep -v 'ff00::/8\|fe80::/64\|fe80::X\|expires\|^local f[de]\|^ *alias ' | sed 's/ *$//' | grep . | sort -u
    ;;
esac
