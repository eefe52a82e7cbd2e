# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by what waits for a cluster: the only loops that ask again and again.
now_us() { echo "${EPOCHREALTIME/[.,]/}"; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# Rests twice as long as what began at BEGAN_US took, 50 ms to 1 s. A kubectl takes a tenth of a second of a processor: asked
# without a rest it takes the processor from the guests and the API server that it waits for.
rest_since() { # BEGAN_US
  local rest=$(((${EPOCHREALTIME/[.,]/} - $1) * 2))
  [ $rest -ge 50000 ] || rest=50000
  [ $rest -le 1000000 ] || rest=1000000
  sleep "$((rest / 1000000)).$(printf %06d $((rest % 1000000)))"
}
until_true() { # SECONDS COMMAND...: repeats a quiet command until it succeeds
  local end began
  end=$(($(now_us) + $1 * 1000000))
  while began=$(now_us); do
    "${@:2}" >/dev/null 2>&1 && return
    [ "$(now_us)" -lt "$end" ] || return 1
    rest_since "$began"
  done
}
