#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: bare writes and railbed up, in turn; prints "bare MS" and "railbed MS" lines.   rounds.sh ROUNDS
cd "$(dirname "$0")" || exit 1
ready() { # both PFs up, with a carrier, without VFs
  for pf in 1 2; do echo 0 >/sys/bus/pci/devices/0000:0$pf:00.0/sriov_numvfs; done
  rm -rf /run/railbed
  ip link set eth0 up
  ip link set eth1 up
  until [ "$(cat /sys/class/net/eth[01]/carrier 2>/dev/null | xargs)" = "1 1" ]; do sleep 0.1; done
  sleep 0.5
}
timed() { # NAME COMMAND...
  local name=$1 start=$EPOCHREALTIME
  shift
  "$@" >run.log 2>&1 || { cat run.log; exit 1; }
  local end=$EPOCHREALTIME vfs
  vfs=$(ls -d /sys/bus/pci/drivers/igbvf/0000:* | wc -l)
  [ "$vfs" = 14 ] || { echo "$name made $vfs VFs with a driver"; exit 1; }
  echo "$name $(((${end/./} - ${start/./}) / 1000))"
}
bare() { timed bare ./bare 7 0000:01:00.0 0000:02:00.0; }
railbed_up() { timed railbed railbed up manifests; }
for ((round = 0; round <= $1; ++round)); do
  # The order changes from round to round; round 0 warms up and does not count.
  for one in $([ $((round % 2)) = 0 ] && echo bare railbed_up || echo railbed_up bare); do
    ready
    if [ $round = 0 ]; then "$one" >/dev/null; else "$one"; fi
  done
done
