#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# README, typed: every command of it ("    $ …", and "    make …") is run verbatim, in its order, in a virtual machine like the demo's,
# or is named here with the reason why not. A command that this file does not know fails, so that README cannot promise what was never run.
# Prints PASS, FAIL or SKIP and a name per check. RAILBED is the program (build/railbed).
set -uo pipefail
cd "$(dirname "$0")/../.."
railbed=${RAILBED:-$PWD/build/railbed}
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-tour.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
failed=0

pass() { echo "PASS tour: $*"; }
fail() { # NAME TEXT
  echo "FAIL tour: $1"
  printf '%s\n' "$2" | tail -25 | sed 's/^/    /'
  failed=1
}
on() { local guest=$1; shift; lab/lab exec "$guest" -t 300 -- "cd /t && $*"; }

# Runs a command in guest-1, as a person who is there; its status and a part of what it prints are wanted.
typed() { # STATUS TEXT COMMAND
  local out status=0
  out=$(on guest-1 "{ $3
    } 2>&1") || status=$?
  if [ "$status" = "$1" ] && [[ $out == *"$2"* ]]; then pass "$3"; else fail "$3: status $status, not $1, with \"$2\"" "$out"; fi
}
skipped() { echo "SKIP tour: $1: $2"; }

# Waits for a file in guest-1; the agent's socket.
comes() { on guest-1 "for i in \$(seq 600); do [ -e $1 ] && exit 0; sleep 0.2; done; cat *.log; exit 1" || fail "$1 does not come" ""; }

run_command() { # the command as README has it
  case $1 in
    "railbed discover") typed 0 "2 can make VFs" "$1" ;;
    "railbed plan /etc/railbed --soft-rdma") typed 2 "llm/worker-0" "$1" ;;
    "railbed up /etc/railbed --soft-rdma")
      if [ "$ups" = 0 ]; then typed 0 "2 interfaces attached" "$1"; else typed 0 "nothing to do" "$1"; fi
      ups=$((ups + 1)) ;;
    "railbed status") typed 0 "worker-0" "$1" ;;
    "railbed exec worker-0 -- railbed perf bw 10.10.0.11 -a --save bw.json") other_side && typed 0 "avg Gb/s" "$1" ;;
    "railbed exec worker-0 -- railbed perf lat 10.10.0.11 --save lat.json") typed 0 "round trip p50" "$1" ;;
    "railbed perf report bw.json lat.json -o report.html") typed 0 "rail" "$1 && grep -c '</html>' report.html >&2" ;;
    "railbed down") typed 0 "2 PFs restored" "$1" ;;
    "railbed cni install") typed 0 "" "$1" ;;
    "railbed agent") on guest-1 "$1 >agent.log 2>&1 &" && comes /run/railbed/agent.sock && pass "$1" ;;
    "railbed attachments") typed 0 "" "$1" ;;
    "railbed gc") typed 0 "" "$1" ;;
    "railbed generate --profile roce --soft-rdma | railbed check -") typed 0 "0 errors, 0 warnings, 0 notes in 7 objects" "$1" ;;
    "railbed check manifests/ guide.md --facts node.yaml") typed 0 "0 errors" "$1" ;;
    "railbed plan policy.yaml") typed 1 "allows 7 (sriov_totalvfs)" "$1" ;;
    "make demo") skipped "$1" "tests/lab/demo.sh runs what it runs" ;;
    "make test") skipped "$1" "this is a part of it" ;;
    "make build && make image") skipped "$1" "tests/cluster/deploy has the image" ;;
    "kubectl "*) skipped "$1" "needs a cluster: tests/cluster/deploy applies deploy/, tests/cluster/lab the rest" ;;
    *) fail "README has a command that this test does not run: $1" "tests/lab/tour.sh has to know it" ;;
  esac
}

# What README says of the other side: worker-1, on the other machine, serves.
other_side() {
  local out
  out=$(on guest-2 "railbed up /etc/railbed --soft-rdma 2>&1 && { railbed exec worker-1 -- railbed perf serve >serve.log 2>&1 & } &&
    for i in \$(seq 600); do grep -q . serve.log && exit 0; sleep 0.2; done; exit 1") && return 0
  fail "the other side" "$out"
  return 1
}

mkdir "$LAB_DIR/t"
cp -r demo/manifests "$LAB_DIR/t/manifests"
printf '# A guide\n\n    $ railbed discover\n' >"$LAB_DIR/t/guide.md"

sed "s/hostname: lab/hostname: guest-1/" testdata/tour/policy.yaml >"$LAB_DIR/t/policy.yaml"
# They boot: what README promises is tried on machines that have come up by themselves.
for guest in guest-1 guest-2; do
  lab/lab start "$guest" --boot --mem 1400 --pf rail0 --pf rail1 --stripped "$railbed:/usr/bin/railbed" --stripped "${railbed}d:/usr/libexec/railbed/railbedd" \
    --stripped "${railbed}-cni:/usr/bin/railbed-cni" --file demo/manifests:/etc/railbed/manifests --file "$LAB_DIR/t:/t" >"$LAB_DIR/$guest.log" 2>&1 &
done
for guest in guest-1 guest-2; do
  wait -n || { fail "a guest did not start" "$(cat "$LAB_DIR"/guest-?.log)"; exit 1; }
done
on guest-1 "railbed discover -o yaml >node.yaml; mkdir -p /opt/cni/bin" || fail "facts of guest-1" ""

ups=0
commands=$(sed -nE 's/^    (\$ |(make ))/\2/p' README.md | sed -E 's/ +#.*//')
[ "$(wc -l <<<"$commands")" -gt 15 ] || fail "README has commands" "$commands"
while IFS= read -r command <&3; do run_command "$command"; done 3<<<"$commands"
exit $failed
