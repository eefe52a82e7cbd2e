# SPDX-License-Identifier: Apache-2.0
# Settings and messages. Sourced by lab/lab before every other part.

export LC_ALL=C                     # output of tools is parsed; text passes through as bytes
PATH=$PATH:/usr/sbin:/sbin          # depmod and modprobe live there

CACHE=${RAILBED_CACHE:-/var/cache/railbed}/lab      # downloads, unpacked packages, images
LAB_DIR=$(realpath -m "${LAB_DIR:-$CACHE/run/default}")  # the running guests of one lab
QEMU=qemu-system-x86_64

# Statuses of lab/lab itself, chosen beside those of "timeout" so that they do not look like the guest's.
readonly STATUS_TIMEOUT=124 STATUS_LAB=125

say() { printf 'lab: %s\n' "$*" >&2; }
die() { say "error: $*"; exit "$STATUS_LAB"; }

# step TEXT COMMAND...: runs the command and says in one line what was done and how long it took. The command's own
# output goes to a log, whose end is shown when it fails; then the lab ends. A line "note: …" of it joins the line.
# Call it as a plain statement: after "||" or in "if" the shell would ignore failures inside the command.
step() {
  local text=$1 log start=${EPOCHREALTIME/./} status=0 ms; shift
  log=$(mktemp "$CACHE/step.XXXXXX")
  "$@" >"$log" 2>&1 &
  wait $! || status=$?
  ms=$(( (${EPOCHREALTIME/./} - start) / 1000 ))
  text=$(printf '%4d.%d s  %s%s' $((ms / 1000)) $((ms % 1000 / 100)) "$text" "$(sed -n 's/^note: / — /p' "$log" | tail -n 1)")
  if (( status != 0 )); then
    say "$text: FAILED"
    tail -n 15 "$log" | sed 's/^/lab:     /' >&2
    rm -f "$log"
    die "setup stopped. What is complete is kept; run it again"
  fi
  say "$text"
  rm -f "$log"
}

# hash_of FILE...: 12 hex digits that change when a file does. Names the folders that were made from these files.
hash_of() { cat "$@" | sha256sum | cut -c 1-12; }

# keep_newest COUNT DIR...: removes the others. Some are kept, because checkouts of several versions may share a cache.
keep_newest() {
  local count=$1; shift
  ls -td "$@" | tail -n "+$((count + 1))" | xargs -r rm -rf
}
