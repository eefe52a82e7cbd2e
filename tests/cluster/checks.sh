# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the parts of tests/cluster that print PASS and FAIL lines: `part` is their name. What another process brings about
# is waited for (within, becomes); a deadline is as long as a machine takes that is slow and has other work, and what something
# took is printed (took), not asserted.
failed=0
soon=90  # seconds: what must come, comes in a fraction of that
pass() { echo "PASS $part: $*"; }
fail() { echo "FAIL $part: $*"; failed=1; }
show_text() { printf '%s\n' "$1" | tail -20 | sed 's/^/    /'; }
holds() { local name=$1; shift; if "$@" >/dev/null 2>&1; then pass "$name"; else fail "$name: $*"; fi; }                                # NAME COMMAND...
within() { local name=$1 seconds=$2; shift 2; if until_true "$seconds" "$@"; then pass "$name"; else fail "$name: not within $seconds s: $*"; fi; } # NAME SECONDS COMMAND...
same() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1"; diff <(echo "$3") <(echo "$2") | sed 's/^/    /'; fi; }                  # NAME GOT WANTED
has() { if [[ "$2" == *"$3"* ]]; then pass "$1"; else fail "$1: no \"$3\" in"; show_text "$2"; fi; }                                   # NAME TEXT PART

prints() { [ "$("${@:2}" 2>/dev/null)" = "$1" ]; }             # TEXT COMMAND...
prints_part() { [[ "$("${@:2}" 2>/dev/null)" == *"$1"* ]]; }   # PART COMMAND...
# What COMMAND prints becomes WANTED, or has a PART at last.
becomes() { # NAME WANTED COMMAND...
  if until_true $soon prints "$2" "${@:3}"; then pass "$1"; else same "$1: not within $soon s" "$("${@:3}" 2>&1)" "$2"; fi
}
comes_to_have() { # NAME PART COMMAND...
  if until_true $soon prints_part "$2" "${@:3}"; then pass "$1"; else has "$1: not within $soon s" "$("${@:3}" 2>&1)" "$2"; fi
}
took() { echo "figure: $1: $(($(now_ms) - $2)) ms"; }  # WHAT SINCE-MS
