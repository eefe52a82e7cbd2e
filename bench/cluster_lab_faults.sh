#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Half an hour of policies that change and pods that come and go on two nodes with VFs, while operator, agents and kubelets are
# killed (tests/cluster/lab_random.sh): what is wrong afterwards.   SECONDS_OF_FAULTS, SEED: others
set -uo pipefail
cd "$(dirname "$0")/.."
ninja -C build railbed railbedd railbed-cni >/dev/null || exit 1
out=$(FAULT_SECONDS=${SECONDS_OF_FAULTS:-1800} SEED=${SEED:-$RANDOM} tests/cluster/lab nodes operator random)
echo "$out"
kills=$(sed -n 's/.* \([0-9]*\) steps, \([0-9]*\) kills$/\2/p' <<<"$out")
[ -n "$kills" ] || { grep '^SKIP ' <<<"$out"; grep -q '^FAIL ' <<<"$out" && exit 1; exit 0; }
wrong=$(grep -c '^FAIL ' <<<"$out")
echo "figure cluster_lab_faults_kills $kills kills - ok"
echo "figure cluster_lab_faults_wrong $wrong checks <=0 $([ "$wrong" = 0 ] && echo ok || echo short)"
