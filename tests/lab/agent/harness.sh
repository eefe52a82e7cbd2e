# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts in tests/lab that drive an agent in a guest by the reference library's cnitool. Set before: suite, the
# name in the lines PASS and FAIL. Starts in the repository's folder.
railbed=${RAILBED:-$PWD/build/railbed}
originals=$(tests/tools/build cni) || { echo "SKIP $suite: the reference plugins cannot be built here (see above)"; exit 0; }
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-$suite.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
failed=0

pass() { echo "PASS $suite: $*"; }
fail() { echo "FAIL $suite: $*"; failed=1; }
same() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1"; diff <(echo "$3") <(echo "$2") | sed 's/^/    /'; fi; }  # NAME GOT WANTED
# What comes about by itself: a link's state, and what follows from it.
same_soon() { # NAME WANTED COMMAND...
  local got end=$((SECONDS + 60))
  until got=$("${@:3}") && [ "$got" = "$2" ] || [ $SECONDS -ge $end ]; do sleep 0.1; done
  same "$1" "$got" "$2"
}
has() { if [[ "$2" == *"$3"* ]]; then pass "$1"; else fail "$1: no \"$3\" in"; printf '%s\n' "$2" | sed 's/^/    /'; fi; }  # NAME TEXT PART
on() { lab/lab exec "$guest" -t 200 -- "cd /t; $*"; }
tool() { on "sh attach.sh tool $*"; }
conf() { # NAME VERSION PLUGIN...
  local words="" word
  for word in "$@"; do words+=" '$word'"; done
  on "sh attach.sh conf$words"
}

# A guest with the programs in it, and nothing started.
boot() { # GUEST OPTION...
  guest=$1
  shift
  lab/lab start "$guest" --stripped "$railbed:/usr/bin/railbed" --stripped "${railbed}d:/usr/libexec/railbed/railbedd" \
    --stripped "${railbed}-cni:/usr/bin/railbed-cni" \
    --mem 1400 $(for p in cnitool host-local static host-device ipvlan dummy vrf sbr; do echo --file "$originals/$p:/opt/originals/$p"; done) \
    --file tests/lab/agent/attach.sh:/t/attach.sh --file bench/attach_lab/vfs.sh:/t/vfs.sh "$@" \
    >"$LAB_DIR/$guest.log" 2>&1 || { fail "guest $guest did not start"; cat "$LAB_DIR/$guest.log"; return 1; }
}

# The agent, and the namespaces of the pods a and b.
agent() { # OPTION...
  on "railbed cni install --bin-dir /opt/cni/bin >/dev/null && { railbed agent $* >>/tmp/agent.log 2>&1 & }
    until [ -S /run/railbed/agent.sock ]; do sleep 0.05; done
    for pod in a b; do [ -e /run/netns/\$pod ] || ip netns add \$pod; ip -n \$pod link set lo up; done"
}
agent_log() { [ $failed = 0 ] || on 'cat /tmp/agent.log' | tail -30 | sed 's/^/    agent: /'; }
attached() { on 'railbed attachments -o json' | tr -d ' \n'; }
nothing_attached='{"apiVersion":"railbed.dev/v1","kind":"Attachments","sandboxes":[]}'

lab/lab setup >/dev/null 2>&1 || { echo "SKIP $suite: no lab here (lab/lab setup)"; exit 0; }

run_parts() { # PART...
  local part
  for part; do
    echo "== part $part"
    "part_$part"
    lab/lab stop --all >/dev/null 2>&1
  done
  exit $failed
}
