#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 at every changing call of `up` and `down`, then the same verb again: the end must be as without the kill.
#   kill_loop.sh DIR      DIR has small/ and small-no-pods/, state.sh and kill_shim.so
# The calls that make and remove VFs take seconds, so their turns are shared: one kill of `up` and one of `down` each.
# The calls for pods are tried on VFs that stay.
cd "$1" || exit 1
log=$PWD/shim.log
shim() { rm -f "$log"; LD_PRELOAD=$PWD/kill_shim.so SHIM_LOG=$log "$@" >run.log 2>&1; }
calls() { [ -e "$log" ] && wc -l <"$log" || echo 0; }
passed=0
ok() { echo "PASS $1"; passed=$((passed + 1)); }
bad() { echo "FAIL $1"; sed 's/^/    /' run.log; bad=1; }
up() { railbed up small "$@"; }

same() { # NAME WANTED-FILE: the machine is as that file says
  sh state.sh with-state >now
  if diff "$2" now >difference; then return 0; fi
  bad "$1"
  sed 's/^/    /' difference
  return 1
}

# What a run without kills comes to, and how many calls it makes.
sh state.sh with-state >start
shim railbed up small-no-pods --soft-rdma || bad "up without kills"
make_vfs=$(calls)
sh state.sh with-state >only-vfs
shim railbed up small --soft-rdma || bad "attach without kills"
attach=$(calls)
sh state.sh with-state >all
shim railbed up small-no-pods --soft-rdma || bad "detach without kills"
detach=$(calls)
shim railbed up small --soft-rdma && attach=$(calls)      # the very first time /run/netns is mounted, too
shim railbed up small-no-pods --soft-rdma
same "detaching gives back" only-vfs && ok "detaching gives back what attaching took"
shim railbed down || bad "down without kills"
remove_vfs=$(calls)
same "down" start && ok "down leaves the machine as it was"
echo "calls: $make_vfs to make VFs, $attach to attach, $detach to detach, $remove_vfs to remove VFs"

killed() { # NAME AFTER N COMMAND...: runs it, killed at call N
  local name=$1 after=$2 n=$3
  shift 3
  { SHIM_KILL=$n SHIM_AFTER=$after shim "$@"; } 2>/dev/null
  local status=$?
  [ $status = 137 ] || { bad "$name: ended with $status instead of being killed"; return 1; }
}

turns=0
for ((n = 1; n <= make_vfs; ++n)); do
  for after in 0 1; do
    name="up killed at call $n (after: $after)"
    killed "$name" $after "$n" railbed up small-no-pods --soft-rdma
    shim railbed up small-no-pods --soft-rdma || bad "$name: the next up"
    same "$name" only-vfs
    shim railbed up small-no-pods --soft-rdma
    [ "$(calls)" = 0 ] || bad "$name: the up after the next one changes something"
    m=$((turns / 2 % remove_vfs + 1))
    name="down killed at call $m (after: $((turns % 2)))"
    killed "$name" $((turns % 2)) $m railbed down
    shim railbed down || bad "$name: the next down"
    same "$name" start
    turns=$((turns + 1))
  done
done
[ -z "${bad:-}" ] && ok "kill -9 at each of $make_vfs calls that make VFs, and of $remove_vfs that remove them: $turns turns"

bad=
shim railbed up small-no-pods --soft-rdma || bad "up"
for ((n = 1; n <= (attach > detach ? attach : detach); ++n)); do
  for after in 0 1; do
    if ((n <= attach)); then
      name="attaching killed at call $n (after: $after)"
      killed "$name" $after "$n" railbed up small --soft-rdma
      shim railbed up small --soft-rdma || bad "$name: the next up"
      same "$name" all
    else
      shim railbed up small --soft-rdma
    fi
    if ((n <= detach)); then
      name="detaching killed at call $n (after: $after)"
      killed "$name" $after "$n" railbed up small-no-pods --soft-rdma
      shim railbed up small-no-pods --soft-rdma || bad "$name: the next up"
      same "$name" only-vfs
    else
      shim railbed up small-no-pods --soft-rdma
    fi
  done
done
[ -z "$bad" ] && ok "kill -9 at each of $attach calls that attach a pod and of $detach that detach it"
bad=
shim railbed down || bad "down"
same "down at the end" start && [ -z "$bad" ] && ok "down after all kills: the machine is as it was"
[ "$passed" = 5 ]
