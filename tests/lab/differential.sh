#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The differential test of tests/cni in a virtual machine, whose kernel has ipvlan and VRFs: generated configurations through
# the reference plugins and through railbed, and what differs.  tests/lab/differential.sh [COUNT [SEED]]   (8, 1)
# RAILBED is the program (build/railbed); the shim railbed-cni is beside it. What differs is kept as JSON in $KEEP, if set.
set -uo pipefail
cd "$(dirname "$0")/../.."
railbed=${RAILBED:-$PWD/build/railbed}
count=${1:-8} seed=${2:-1}
originals=$(tests/tools/build cni) && drive=$(tests/tools/build cnidrive) ||
  { echo "SKIP differential: the reference plugins cannot be built here (see above)"; exit 0; }
packages=$(lab/lab packages 2>/dev/null) || { echo "SKIP differential: no lab here (lab/lab setup)"; exit 0; }
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-differential.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT

# Python, the tests and both sides: for this guest only, so that the image stays small for the others.
library=$packages/root/usr/lib/python3.11
mkdir -p "$LAB_DIR/python/lib-dynload"
for part in "$library"/*; do
  case ${part##*/} in
    lib-dynload | lib2to3 | idlelib | test | unittest | xml | wsgiref | pydoc_data | asyncio | multiprocessing | sqlite3 | curses | dbm) ;;
    *) cp -r "$part" "$LAB_DIR/python/" ;;
  esac
done
cp "$library"/lib-dynload/_{ctypes,json,hashlib,contextvars,opcode}.*.so "$LAB_DIR/python/lib-dynload/" 2>/dev/null
files=(--stripped "$railbed:/usr/bin/railbed" --stripped "${railbed}d:/usr/libexec/railbed/railbedd" --stripped "$railbed-cni:/usr/bin/railbed-cni"
  --file "$drive/cnidrive:/opt/reference/cnidrive"
  --file "$packages/root/usr/bin/python3.11:/usr/bin/python3" --file "$LAB_DIR/python:/usr/lib/python3.11" --file tests/cni:/t/cni)
for plugin in bandwidth bridge dummy host-device host-local ipvlan loopback macvlan ptp sbr static tuning vrf; do
  files+=(--file "$originals/$plugin:/opt/reference/$plugin")
done
library=$packages/root/usr/lib/x86_64-linux-gnu
for name in libexpat.so.1 libffi.so.8; do
  for place in "$library/$name" "$packages/root/lib/x86_64-linux-gnu/$name"; do
    [ ! -e "$place" ] || files+=(--file "$(readlink -f "$place"):/usr/lib/x86_64-linux-gnu/$name")
  done
done

lab/lab start differential --smp 2 --mem 2400 "${files[@]}" >"$LAB_DIR/start.log" 2>&1 ||
  { echo "FAIL differential: the guest did not start"; sed 's/^/    /' "$LAB_DIR/start.log"; exit 1; }
lab/lab exec differential -t 3000 -- "for module in veth macvlan ipvlan dummy vrf bridge; do modprobe \$module; done
  export CNI_REFERENCE=/opt/reference CNIDRIVE=/opt/reference RAILBED=/usr/bin/railbed RAILBED_CNI=/usr/bin/railbed-cni
  mkdir -p /var/lib /opt/cni /tmp; /t/cni/run differential --kinds host-device,macvlan,ipvlan,ipvlan,dummy,vrf --count $count --seed $seed ${KEEP:+--keep /tmp/kept}"
status=$?
[ -z "${KEEP:-}" ] || for share in 0 1; do lab/lab pull differential "/tmp/kept.$share" "$KEEP.$share"; done
exit $status
