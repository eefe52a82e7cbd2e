#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In the guest: bare writes and railbed up, in random order; prints "bare MS" and "railbed MS" lines.   rounds.sh ROUNDS SEED
cd "$(dirname "$0")" || exit 1
RANDOM=$2
ready() { # both PFs up, with a carrier, without VFs
  for pf in 1 2; do echo 0 >/sys/bus/pci/devices/0000:0$pf:00.0/sriov_numvfs; done
  rm -rf /run/railbed
  ip link set eth0 up
  ip link set eth1 up
  until [ "$(cat /sys/class/net/eth[01]/carrier 2>/dev/null | xargs)" = "1 1" ]; do sleep 0.1; done
  sleep 0.5$((RANDOM % 10))$((RANDOM % 10)) # each begins at another moment of the kernel's clock
}
timed() { # NAME COMMAND...
  local name=$1 took vfs
  shift
  took=$(./took run.log "$@") || { cat run.log; exit 1; }
  vfs=$(ls -d /sys/bus/pci/drivers/igbvf/0000:* | wc -l)
  [ "$vfs" = 14 ] || { echo "$name made $vfs VFs with a driver"; exit 1; }
  echo "$name $took"
}
bare() { timed bare ./bare 7 0000:01:00.0 0000:02:00.0; }
railbed_up() { timed railbed railbed up manifests; }
for ((round = 0; round <= $1; ++round)); do # round 0 warms up and does not count
  ways=(bare railbed_up bare)
  first=$((RANDOM % 2))
  for one in "${ways[@]:first:2}"; do
    ready
    if [ $round = 0 ]; then "$one" >/dev/null; else "$one"; fi
  done
done
