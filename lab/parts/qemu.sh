# SPDX-License-Identifier: Apache-2.0
# QEMU processes: started apart from the caller, known to be alive by a lock, asked by QMP. Everything of a process
# lies in one folder under $LAB_DIR, and paths given to QEMU are relative to $LAB_DIR: a socket's path may have 107
# bytes at most, and LAB_DIR may be long.
#
# A process holds a lock on the file "alive" of its folder. So the lock shows whether it lives, also after a reboot of
# the host or when its number has gone to another process.

alive() { [ -e "$LAB_DIR/$1/alive" ] && ! flock -ns "$LAB_DIR/$1/alive" true; }

# launch FOLDER ARGS...: QEMU in a session of its own, with the standard streams and the lock as its only files; it
# would otherwise keep the caller's pipes open.
launch() {
  local folder=$1 fd; shift
  (
    cd "$LAB_DIR" || exit 1
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      (( fd <= 2 || fd == 255 )) || eval "exec $fd>&-"
    done
    exec 9>"$folder/alive"
    flock -w 10 9 || { echo "the lock of $folder is held by another process"; exit 1; }
    exec setsid "$QEMU" -nodefaults -no-user-config -display none "$@"
  ) </dev/null >"$LAB_DIR/$folder/qemu.log" 2>&1 &
  echo $! >"$LAB_DIR/$folder/pid"
  # Until the lock is taken, no other process knows that it lives.
  local i
  for (( i = 0; i < 1500; i++ )); do
    alive "$folder" && return 0
    kill -0 $! 2>/dev/null || break
    sleep 0.02
  done
  say "QEMU did not start:"
  sed 's/^/lab:     /' "$LAB_DIR/$folder/qemu.log" >&2
  return 1
}

kill_qemu() {   # FOLDER
  local pid i
  alive "$1" || return 0
  pid=$(cat "$LAB_DIR/$1/pid")
  kill "$pid" 2>/dev/null || true
  for (( i = 0; i < 100; i++ )); do alive "$1" || return 0; sleep 0.02; done
  kill -KILL "$pid" 2>/dev/null || true
  for (( i = 0; i < 1500; i++ )); do alive "$1" || return 0; sleep 0.02; done
  die "QEMU process $pid of $LAB_DIR/$1 does not end"
}

# make_pipe PATH: the two FIFOs of a "-chardev pipe". Both sides open them for reading and writing, so that no open
# waits for the other side, and no side sees the end of a file: whether QEMU still lives is asked from its lock.
make_pipe() { mkfifo "$1.in" "$1.out"; }

# qmp FOLDER COMMAND [ARGUMENTS]: one QMP command; prints the answer and fails when it is an error or none comes.
qmp() {
  local path=$LAB_DIR/$1/qmp lock in out line token=$BASHPID-$RANDOM found='' i
  exec {lock}>"$path.lock"
  flock "$lock"
  exec {out}<>"$path.out" {in}<>"$path.in"      # held to the end: a QEMU that has just started opens them later
  printf '{"execute":"%s","id":"%s","arguments":%s}\n' "$2" "$token" "${3:-{\}}" >&"$in"
  for (( i = 0; i < 40; )); do
    if IFS= read -r -t 0.5 -u "$out" line; then
      case $line in *"\"id\": \"$token\""*) found=$line; break ;; esac
    else
      alive "$1" || break
      i=$((i + 1))
    fi
  done
  exec {in}>&- {out}<&- {lock}>&-
  printf '%s\n' "$found"
  [[ $found == *'"return"'* ]]
}
