#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the agent, 10,000 times at random calls and times, after every call once (tests/kill/run); what is lost or
# there twice afterwards. KILLS: another number.
#   bench/kill.sh lab     on VFs and their RDMA devices in a virtual machine (tests/lab/kill.sh); 100 at random
set -uo pipefail
cd "$(dirname "$0")/.."
tools/build dev railbed kill_loop kill_shim || exit 1
where=${1:-} per_second=15
if [ "$where" = lab ]; then
  KILLS=${KILLS:-100} per_second=0.1  # under emulation
  out=$(tests/lab/kill.sh --every --kills "$KILLS")
else
  out=$(tests/kill/run --every --kills "${KILLS:-10000}")
fi
status=$?
echo "$out"
figure() { # NAME VALUE UNIT BOUND
  local verdict=short
  awk -v v="$2" -v b="${4#*=}" -v o="${4%%=*}" 'BEGIN { exit !(o == "<" ? v <= b : v >= b) }' && verdict=ok
  echo "figure $1 $2 $3 $4 $verdict"
}
read -r kills lost doubled refused rate < <(awk '/ kills: / { text = $1 " " $3 " " $5 " " $7 " " $11 } END { print text }' <<<"$out")
[ -n "${rate:-}" ] || exit 1
figure "kills${where:+_$where}" "$kills" times ">=${KILLS:-10000}"
figure "kills_lost${where:+_$where}" "$lost" things "<=0"
figure "kills_doubled${where:+_$where}" "$doubled" things "<=0"
figure "kills_retry_refused${where:+_$where}" "$refused" times "<=0"
figure "kills_per_second${where:+_$where}" "$rate" 1/s ">=$per_second"
exit $status
