#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Half an hour of pods that live and die while the agent is killed, ended, stopped and out of space and clients vanish; what is lost,
# left or there twice afterwards (tests/cni/harness/churn.py). SECONDS_OF_CHURN, SEED: others. Needs root and, for `bridge`, Go.
set -uo pipefail
cd "$(dirname "$0")/.."
ninja -C build railbed railbed-cni >/dev/null || exit 1
out=$(tests/cni/run churn --seconds "${SECONDS_OF_CHURN:-1800}" --seed "${SEED:-$RANDOM}")
status=$?
echo "$out"
read -r pods wrong longest < <(awk '/ churn: .* pods .* wrong / { print $2, $4, $6 }' <<<"$out")
[ -n "${longest:-}" ] || { echo "$out" | grep '^SKIP '; exit $status; }
verdict() { [ "$1" -le "$2" ] && echo ok || echo short; }
echo "figure churn_pods $pods pods - ok"
echo "figure churn_wrong $wrong things <=0 $(verdict "$wrong" 0)"
echo "figure churn_sigterm_to_exit_longest $longest ms <=2000 $(verdict "$longest" 2000)"
exit $status
