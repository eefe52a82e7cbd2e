# SPDX-License-Identifier: Apache-2.0
# Commands in a guest, and files to and from it. The guest's side is guest/agent, which also describes the protocol.
#
# A guest has CHANNELS serial ports, each with an agent. A command takes a free one by a lock. Channel 0 is kept for
# the lab: waiting for the boot, and cancelling what a client left running when it was killed.

# channel_run NAME CHANNEL SECONDS COMMAND: prints the output as it comes, returns the command's status.
channel_run() {
  local name=$1 channel=$2 limit=$3 command=$4
  local path=$LAB_DIR/guest/$name/c$2 token=$BASHPID-$RANDOM reader text='' chunk status begun='' mark=$'\001'
  local deadline=$(( SECONDS + limit + 20 ))      # the guest's own timeout comes first, when the guest works
  [ ! -e "$path.busy" ] || channel_cancel "$name" "$channel"
  exec {reader}<>"$path.out"
  : >"$path.busy"
  command=${command//\\/\\\\}
  printf '%s %s %s\n' "$token" "$limit" "${command//$'\n'/\\n}" 1<>"$path.in"
  while :; do
    status=0
    IFS= read -r -t 0.5 -u "$reader" chunk || status=$?
    text+=$chunk
    if (( status != 0 )); then                    # nothing for half a second: show the unfinished line
      if [ -n "$begun" ] && [[ $text != *"$mark"* ]]; then printf %s "$text"; text=''; fi
      alive "guest/$name" || { guest_last_words "$name"; return "$STATUS_LAB"; }
      (( SECONDS < deadline )) || { say "guest $name does not answer"; return "$STATUS_LAB"; }
    elif [ -z "$begun" ]; then
      [[ $text != *"$mark$token begin" ]] || begun=1
      text=''
    elif [[ $text == *"$mark$token end "* ]]; then
      printf %s "${text%%"$mark$token end "*}"
      rm -f "$path.busy"
      status=${text##* }
      # 137: it withstood the first signal, and "timeout" had to kill it
      (( status != 137 || SECONDS < deadline - 20 )) || status=$STATUS_TIMEOUT
      exec {reader}<&-
      return "$status"
    else
      printf '%s\n' "$text"
      text=''
    fi
  done
}

# Ends the command that runs on a channel.
channel_cancel() {    # NAME CHANNEL
  local lock path=$LAB_DIR/guest/$1/c0
  [ "$2" != 0 ] || return 0
  exec {lock}>"$path.lock"
  flock -w 30 "$lock" || return 0
  channel_run "$1" 0 10 "p=\$(cat /run/lab/process.$2 2>/dev/null) || exit 0
    kill -TERM -\$p; i=0
    while kill -0 -\$p 2>/dev/null && [ \$i -lt 10 ]; do sleep 0.1; i=\$((i + 1)); done
    kill -KILL -\$p" >/dev/null 2>&1 || true
  exec {lock}>&-
}

# on_free_channel NAME SECONDS COMMAND: takes a channel, waits for one when all are at work.
on_free_channel() {
  local name=$1 limit=$2 command=$3 channel lock status=0
  guest_must_run "$name"
  while :; do
    for (( channel = 1; channel < CHANNELS; channel++ )); do
      exec {lock}>"$LAB_DIR/guest/$name/c$channel.lock"
      ! flock -n "$lock" || break 2
      exec {lock}>&-
    done
    sleep 0.2
    guest_must_run "$name"
  done
  # shellcheck disable=SC2064  # the values of now
  trap "trap - INT TERM HUP; channel_cancel '$name' $channel; exit 130" INT TERM HUP
  channel_run "$name" "$channel" "$limit" "$command" || status=$?
  trap - INT TERM HUP
  exec {lock}>&-
  return "$status"
}

guest_exec() {
  local name='' limit=120
  while (( $# )); do
    case $1 in
      --) shift; break ;;
      -t) limit=${2:?}; shift 2 ;;
      -*) die "unknown option of exec: $1" ;;
      *) [ -z "$name" ] || break; name=$1; shift ;;
    esac
  done
  [ -n "$name" ] && (( $# )) || die "usage: lab/lab exec NAME [-t SECONDS] -- CMD..."
  [[ $limit =~ ^[0-9]+$ ]] || die "-t wants whole seconds: '$limit'"
  # One argument is a shell command line; several are the words of one command.
  if (( $# == 1 )); then on_free_channel "$name" "$limit" "$1"
  else on_free_channel "$name" "$limit" "$(printf '%q ' "$@")"; fi
}

# Files go by way of a 9p folder, mounted when first used. A folder per transfer keeps the file's own name, so that
# the target may be a directory, as with cp.
guest_push() {
  local name=${1:?} file=${2:?} target=${3:?} folder status=0
  guest_must_run "$name"
  [ -e "$file" ] || die "no file $file"
  folder=$(mktemp -d "$LAB_DIR/guest/$name/folder/XXXXXX")
  cp -rL --preserve=mode "$file" "$folder/"
  on_free_channel "$name" 300 "/lab/mount-share lab /mnt/lab && cp -r $(printf '%q %q' "/mnt/lab/${folder##*/}/$(basename "$file")" "$target")" || status=$?
  rm -rf "$folder"
  return "$status"
}

guest_pull() {
  local name=${1:?} file=${2:?} target=${3:?} folder status=0
  guest_must_run "$name"
  folder=$(mktemp -d "$LAB_DIR/guest/$name/folder/XXXXXX")
  on_free_channel "$name" 300 "/lab/mount-share lab /mnt/lab && cp -rL $(printf '%q %q' "$file" "/mnt/lab/${folder##*/}/")" || status=$?
  (( status != 0 )) || cp -r "$folder/$(basename "$file")" "$target" || status=$?
  rm -rf "$folder"
  return "$status"
}

# A shell on a terminal of its own; Ctrl-] leaves it, the guest goes on. From a standard input that is no terminal it
# runs the lines and ends after the last.
guest_shell() {
  local name=${1:?} path reader lock
  guest_must_run "$name"
  path=$LAB_DIR/guest/$name/shell
  exec {lock}>"$path.lock"
  flock -n "$lock" || die "somebody else has the shell of $name"
  exec {reader}<>"$path.out"
  if [ -t 0 ]; then shell_interactive "$name" "$path" "$reader"; else shell_lines "$path" "$reader"; fi
}

shell_interactive() { # NAME PATH READER
  local key printer keys typist saved rows columns
  saved=$(stty -g)
  say "shell of $1; Ctrl-] leaves it, the guest goes on"
  cat <&"$3" &
  printer=$!
  # By way of a pipe: from a terminal, bash's read would take Ctrl-C for itself.
  exec {keys}< <(exec cat </dev/tty)
  typist=$!
  # shellcheck disable=SC2064  # the values of now
  trap "kill $printer $typist 2>/dev/null; stty $saved; echo" EXIT
  read -r rows columns < <(stty size)
  # Ctrl-U: what was typed before and never sent
  (( rows == 0 )) || printf '\025 stty rows %s cols %s; clear\n' "$rows" "$columns" 1<>"$2.in"
  stty raw -echo
  while alive "guest/$1"; do                      # looked at every 5 s when nothing is typed
    IFS= read -rN 1 -t 5 -u "$keys" key || continue
    [ "$key" != $'\035' ] || return 0
    printf %s "$key" 1<>"$2.in"
  done
}

shell_lines() {       # PATH READER
  local line token=lab-$BASHPID
  # The terminal echoes what is sent, so the end is sent in two words.
  { printf '\025'; cat; printf '\necho lab-"%s"\n' "$BASHPID"; } 1<>"$1.in"
  while IFS= read -r -t 120 -u "$2" line; do
    line=${line//$'\r'/}
    [[ $line != *"$token" ]] || return 0
    printf '%s\n' "$line"
  done
}
