#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The API server and etcd are away for five minutes (AWAY_S: others) under an agent that goes on from its caches: running pods, ADD,
# DEL, a start of the agent; then what waited is written. The checks are those of tests/cluster/cluster_pods. Needs root.
set -uo pipefail
cd "$(dirname "$0")/.."
ninja -C build railbed railbed-cni >/dev/null || exit 1
out=$(AWAY_S=${AWAY_S:-300} tests/cluster/cluster_pods)
echo "$out"
if grep -q '^SKIP ' <<<"$out"; then exit 0; fi
failed=$(grep -c '^FAIL ' <<<"$out")
away=$(sed -n 's/^figure: the API server was away for \([0-9]*\) s$/\1/p' <<<"$out")
echo "figure away_seconds ${away:-0} s - ok"
echo "figure away_failed_checks $failed checks <=0 $([ "$failed" = 0 ] && [ -n "$away" ] && echo ok || echo short)"
[ "$failed" = 0 ]
