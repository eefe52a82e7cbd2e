#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints what `up` may change of a guest, so that two prints can be compared: PFs, VFs, interfaces, namespaces, RDMA
# devices, and with an argument what railbed's own state still holds. Not shown: MACs of VFs, since new VFs get new ones,
# and carriers, which come and go by themselves after a PF's VFs have changed.
for pf in /sys/bus/pci/devices/*; do
  [ -e "$pf/sriov_numvfs" ] || continue
  echo "pf ${pf##*/} vfs $(cat "$pf/sriov_numvfs") autoprobe $(cat "$pf/sriov_drivers_autoprobe")"
  for vf in "$pf"/virtfn*; do
    [ -e "$vf" ] || continue
    driver=none
    [ -e "$vf/driver" ] && driver=$(basename "$(readlink "$vf/driver")")
    echo "  vf $(basename "$(readlink "$vf")") driver $driver override $(cat "$vf/driver_override") interfaces $(ls "$vf/net" 2>/dev/null | wc -l)"
  done
done
ip -o link | sed 's/^[0-9]*: //' | grep -v '^eth[2-9]' | sed 's/ qdisc.*//; s/@if[0-9]*//; s/NO-CARRIER,//; s/,LOWER_UP//' | sort
echo "namespaces $(ls /run/netns 2>/dev/null | xargs)"
for name in $(ls /run/netns 2>/dev/null); do
  ip netns exec "$name" ip -o -4 addr | sed "s/^[0-9]*: \([^ ]*\) *inet \([^ ]*\) .*/  $name \1 \2/"
done
echo "rdma $(rdma link | wc -l)"
if [ -n "${1:-}" ]; then
  railbed status -o json | tr -d ' \n' | grep -o '"pods":\[.*\],"pfs"\|"leases":\[[^]]*\]\|"begunSteps":\[[^]]*\]'
fi
