#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo, with short measurements, on a machine without any network: what `make demo` and `make test` promise once they
# have been set up. Prints PASS, FAIL or SKIP and a name per check. RAILBED is the program (build/railbed).
set -uo pipefail
cd "$(dirname "$0")/../.."
# Everything below runs in a network namespace that has nothing but its own loopback.
if [ -z "${DEMO_OFFLINE:-}" ]; then
  unshare --net true 2>/dev/null || { echo "SKIP demo: needs root, to make a network namespace"; exit 0; }
  exec env DEMO_OFFLINE=1 unshare --net -- tests/lab/demo.sh
fi
ip link set lo up
out=$(mktemp -d "${TMPDIR:-/tmp}/railbed-demo.XXXXXX")
trap 'LAB_DIR=$out/demo/lab lab/lab stop --all >/dev/null 2>&1; rm -rf "$out"' EXIT
failed=0

pass() { echo "PASS demo: $*"; }
fail() { echo "FAIL demo: $*"; failed=1; }
same() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1"; diff <(echo "$3") <(echo "$2") | sed 's/^/    /'; fi; }  # NAME GOT WANTED
has() { if [[ "$2" == *"$3"* ]]; then pass "$1"; else fail "$1: no \"$3\" in"; printf '%s\n' "$2" | tail -30 | sed 's/^/    /'; fi; }  # NAME TEXT PART

has "there is no network here" "$(ip route get 192.0.2.1 2>&1)" "unreachable"

# Setting up again finds everything and asks no question.
setup=$(tools/setup build test lab 2>&1)
same "setup without network: status" $? 0
same "setup without network: nothing to do" "$setup" "setup: packages to build: all there
setup: packages to test: all there"

log=$out/log
DEMO_OUT=$out/demo DEMO_DURATION=0.3 DEMO_SWEEP=0.05 demo/run >"$log" 2>&1
same "demo without network: status" $? 0
text=$(cat "$log")
has "plan for the six-NIC node" "$text" "node seed-six-cx7"
has "discover: two PFs that can make VFs" "$text" "2 can make VFs"
has "both pods are attached: worker-0" "$(cat "$out/demo/up-guest-1.txt")" "llm/worker-0: net2 is VF"
has "both pods are attached: worker-1" "$(cat "$out/demo/up-guest-2.txt")" "llm/worker-1: rail1 is VF"

has "the agent attached them" "$(cat "$out/demo/attachments-guest-1.txt")" "llm/worker-0"

# The table: each rail with RDMA and TCP, a bandwidth and a latency each.
row() { # LABEL TRANSPORT
  if grep -F " $2 " "$out/demo/result.txt" | grep -Eq "^$1 .*guest-1 → guest-2 .* [0-9.]+ [KMG]?b/s .* [0-9.]+ (µs|ms)"; then
    pass "table: $1 over $2"
  else
    fail "table: $1 over $2 is not in"
    sed 's/^/    /' "$out/demo/result.txt"
  fi
}
row rail0 'RDMA (soft)'
row rail0 TCP
row rail1 'RDMA (soft)'
row rail1 TCP
measured=$(ls "$out"/demo/*-rdma-*.json "$out"/demo/*-tcp-*.json | wc -l)
same "ten measurements, two of them on both rails at once" "$measured" 10

# The report: one file, nothing to fetch, and a browser without network draws it.
report=$out/demo/report.html
has "the last line names the report" "$(tail -1 "$log")" "demo: open $report"
same "report: fetches nothing" "$(grep -oE '(src|href)="[^"#][^"]*"|@import|url\([^)]*\)' "$report" | grep -v 'data:' | sort -u)" ""
browser=$(command -v chromium-headless-shell || true)
if [ -n "$browser" ]; then
  drawn=$(timeout 180 "$browser" --no-sandbox --disable-gpu --virtual-time-budget=5000 --dump-dom "file://$report" 2>"$out/browser.log")
  has "report: a browser shows rails" "$drawn" "rail1"
  charts=$(grep -o '<canvas' <<<"$drawn" | wc -l)
  if [ "$charts" -ge 3 ]; then pass "report: a browser draws its charts"; else fail "report: $charts charts are drawn"; sed 's/^/    /' "$out/browser.log" | tail -10; fi
else
  echo "SKIP demo: the report in a browser: no chromium-headless-shell"
fi

for guest in guest-1 guest-2; do
  has "$guest: down gives everything back" "$(cat "$out/demo/down-$guest.txt" 2>/dev/null)" "2 PFs restored"
done
same "no machine is left" "$(LAB_DIR=$out/demo/lab lab/lab list 2>/dev/null | grep -c guest)" 0
echo "demo took $SECONDS s"
exit $failed
