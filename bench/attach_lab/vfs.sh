#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# In the guest: makes COUNT VFs on each of two PFs and prints their PCI addresses, joined by commas.   vfs.sh COUNT
# The VFs have interfaces and a carrier was seen on the PFs; nothing is up but those.
devices=
for pf in 1 2; do
  ip link set eth$((pf - 1)) up
  until [ "$(cat /sys/class/net/eth$((pf - 1))/carrier 2>/dev/null)" = 1 ]; do sleep 0.1; done
  echo "$1" >/sys/bus/pci/devices/0000:0$pf:00.0/sriov_numvfs || exit 1
  vf=0
  while [ $vf -lt "$1" ]; do
    address=$(basename "$(readlink /sys/bus/pci/devices/0000:0$pf:00.0/virtfn$vf)")
    tries=100
    until [ -n "$(ls "/sys/bus/pci/devices/$address/net" 2>/dev/null)" ]; do
      tries=$((tries - 1))
      [ $tries -gt 0 ] || { echo "VF $address has no interface" >&2; exit 1; }
      sleep 0.1
    done
    devices=$devices${devices:+,}$address
    vf=$((vf + 1))
  done
done
echo "$devices"
