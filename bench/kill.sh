#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the agent, 10,000 times at random calls and times, after every call once (tests/kill/run); what is lost or
# there twice afterwards. KILLS: another number.
set -uo pipefail
cd "$(dirname "$0")/.."
tools/build dev railbed kill_loop kill_shim || exit 1
out=$(tests/kill/run --every --kills "${KILLS:-10000}")
status=$?
echo "$out"
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" -v o="${4%%=*}" 'BEGIN { exit !(o == "<" ? v <= b : v >= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}
read -r kills lost doubled refused rate < <(tail -1 <<<"$out" | awk '/ kills: / { print $1, $3, $5, $7, $11 }')
[ -n "${rate:-}" ] || exit 1
figure kills "$kills" times ">=${KILLS:-10000}"
figure kills_lost "$lost" things "<=0"
figure kills_doubled "$doubled" things "<=0"
figure kills_retry_refused "$refused" times "<=0"
figure kills_per_second "$rate" 1/s ">=15"
exit $status
