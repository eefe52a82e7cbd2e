#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# up, status, exec and down on real VFs in virtual machines; prints PASS, FAIL or SKIP and a name per check.
#   tests/lab/up.sh [PART...]      parts: main, kill, vfio (all, beside each other); --list prints them
# RAILBED is the program (build/railbed).
set -uo pipefail
all_parts=(main kill vfio)
[ "${1:-}" != --list ] || { printf '%s\n' "${all_parts[@]}"; exit 0; }
cd "$(dirname "$0")/../.."
railbed=${RAILBED:-$PWD/build/railbed}
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-up.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
failed=0

pass() { echo "PASS up: $*"; }
fail() { echo "FAIL up: $*"; failed=1; }
holds() { local name=$1; shift; if "$@"; then pass "$name"; else fail "$name: $*"; fi; }
same() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1"; diff <(echo "$3") <(echo "$2") | sed 's/^/    /'; fi; }  # NAME GOT WANTED
has() { if [[ "$2" == *"$3"* ]]; then pass "$1"; else fail "$1: no \"$3\" in"; printf '%s\n' "$2" | sed 's/^/    /'; fi; }  # NAME TEXT PART
start() { # GUEST OPTION...
  local guest=$1
  shift
  lab/lab start "$guest" --stripped "$railbed:/usr/bin/railbed" --file testdata/lab/up:/t --file tests/lab/up/state.sh:/t/state.sh \
    --file tests/lab/up/kill_loop.sh:/t/kill_loop.sh --file "$LAB_DIR/kill_shim.so:/t/kill_shim.so" "$@" >"$LAB_DIR/$guest.log" 2>&1 ||
    { fail "guest $guest did not start"; cat "$LAB_DIR/$guest.log"; return 1; }
}
as_nobody='as_nobody() { grep -q nobody /etc/passwd || echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd; su nobody -s /bin/sh -c "$1"; }; '
on() { local guest=$1; shift; lab/lab exec "$guest" -t 200 -- "$as_nobody cd /t; $*"; }
json() { python3 -c 'import json,sys; d=json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"; }

first_up() {
  before=$(on guest 'sh state.sh x')
  local refused
  refused=$(on guest 'as_nobody "railbed up /t/full --node guest"; echo status $?')
  has "without root: says so" "$refused" "privileges are missing, nothing was changed"
  has "without root: names the steps for /sys" "$refused" "CAP_DAC_OVERRIDE: 14 steps write to /sys as root (first: eth0: do not bind drivers to new VFs"
  has "without root: names the interfaces" "$refused" "CAP_SYS_ADMIN: 4 interfaces of pods go into network namespaces"
  has "without root: status 1" "$refused" "status 1"
  same "without root: nothing was changed" "$(on guest 'sh state.sh x')" "$before"

  # Two at once: one works, one gets an error, one waits; status looks at it meanwhile.
  local both
  both=$(on guest 'railbed up full --node guest --soft-rdma >first.log 2>&1 & one=$!
    until grep -q "create" first.log || ! kill -0 $one 2>/dev/null; do sleep 0.05; done
    railbed up full --node guest --soft-rdma 2>&1; echo "second: $?"
    railbed up full --node guest --soft-rdma --wait 60 >waited.log 2>&1 & two=$!
    railbed status >status.log; echo "status: $?"
    wait $one; echo "first: $?"; wait $two; echo "waited: $?"; tail -1 waited.log')
  has "two at once: the second reports who is running" "$both" "is running"
  has "two at once: and ends with status 1" "$both" "second: 1"
  has "two at once: status does not wait" "$both" "status: 0"
  has "two at once: the first does its work" "$both" "first: 0"
  has "two at once: the third waits for it" "$both" "waited: 0"
  has "two at once: and has nothing to do" "$both" "nothing to do"
  on guest cat first.log
}

pods_work() {
  local status
  status=$(on guest railbed status -o json)
  same "status: VFs and their owners" "$(json '[(p["name"], p["numVfs"], [v["owner"] for v in p["vfs"]]) for p in d["pfs"]]' <<<"$status")" \
    "[('eth0', 4, ['llm/a', 'llm/b', '', '']), ('eth1', 4, ['llm/a', '', '', ''])]"
  same "status: interfaces" \
    "$(json '[(p["name"], i["name"], i["network"], i["type"], i["rail"], i["mtu"], i["soft"], i["addresses"]) for p in d["pods"] for i in p["interfaces"]]' <<<"$status" | sed 's/), /),\n/g')" \
    "[('a', 'net1', 'llm/rail0', 'sriov', 'eth0', 1500, True, ['10.10.0.10/24']),
('a', 'net2', 'llm/rail1', 'sriov', 'eth1', 3000, True, ['10.11.0.1/24']),
('b', 'fast', 'llm/rail0', 'sriov', 'eth0', 1500, True, ['10.10.0.11/24']),
('b', 'net2', 'llm/plain', 'macvlan', '', 1500, False, ['10.12.0.2/24'])]"
  same "status: policies" "$(json 'sorted((p["policy"], p["state"]) for p in d["policies"])' <<<"$status")" \
    "[('net/rail0', 'applied'), ('net/rail1', 'applied')]"
  local text
  text=$(on guest 'railbed status')
  has "status as a table" "$text" "10.10.0.11/24"
  has "status marks soft RDMA" "$text" "(soft)"
  text=$(on guest 'as_nobody "railbed status"')
  has "status without root: the state is for root alone" "$text" "look at /run/railbed/state.db: EACCES (Permission denied)"
  has "status without root: what to do" "$text" "run as root"
  holds "exec: one pod reaches the other over its VF" on guest 'railbed exec b -- ping -c 3 -w 20 10.10.0.10 >ping.log'
  has "exec: an RDMA device inside the pod" "$(on guest railbed exec llm/a -- rdma link)" "netdev net1"
  has "exec: an unknown pod" "$(on guest railbed exec c -- true)" "pod c not found on this node (found: llm/a, llm/b)"
}

again() {
  local text
  text=$(on guest 'rm -f shim.log; LD_PRELOAD=/t/kill_shim.so SHIM_LOG=shim.log railbed up full --node guest --soft-rdma 2>/dev/null; echo status $?; cat shim.log 2>/dev/null')
  has "up again: nothing to do" "$text" "nothing to do"
  same "up again: not one changing call" "$(grep -cE '^[0-9]+ (write|netlink|mount|umount|unlink)' <<<"$text")" 0
  has "plan after up: nothing to change" "$(on guest 'railbed plan full --node guest --soft-rdma; echo status $?')" "guest: nothing to change"
  text=$(on guest 'railbed plan no-pods --node guest; echo status $?')
  has "plan without the pods: they are detached" "$text" "llm/b: it is in none of the manifests"
  has "plan without the pods: status 2" "$text" "status 2"
  on guest 'ip netns del railbed-llm-a'
  has "plan of a pod whose namespace is gone" "$(on guest 'railbed plan full --node guest --soft-rdma')" "attach net1 to llm/rail0 (VF 0 of eth0)"
  has "a namespace that vanished: up attaches the pod again" "$(on guest 'railbed up full --node guest --soft-rdma 2>/dev/null')" "llm/a: net1 is VF 0 of eth0"
  has "a namespace that vanished: the pod works" "$(on guest railbed exec a -- ip -br addr)" "10.10.0.10/24"
  has "pods that left the manifests are detached" "$(on guest 'railbed up no-pods --node guest 2>/dev/null')" "llm/b: 2 interfaces detached"
  same "and their namespaces are gone" "$(on guest 'ls /run/netns | wc -l')" 0
}

faults() {
  local text
  text=$(on guest 'railbed up too-many --node guest 2>&1; echo status $?')
  has "too many VFs: reported with the place" "$text" "too-many/1-policies.yaml:7"
  has "too many VFs: status 1" "$text" "status 1"
  has "too many VFs: status shows it" "$(on guest railbed status)" "refused"
  on guest railbed down >/dev/null
  for one in EBUSY:16 ENOMEM:12 EIO:5; do
    text=$(on guest "LD_PRELOAD=/t/kill_shim.so SHIM_REFUSE='01:00.0/sriov_numvfs' SHIM_ERRNO=${one#*:} railbed up no-pods --node guest 2>&1; echo status \$?")
    has "${one%:*} from sysfs: reported" "$text" "sriov_numvfs: ${one%:*}"
    has "${one%:*} from sysfs: status 1" "$text" "status 1"
    has "${one%:*} from sysfs: status shows step and errno" "$(on guest railbed status)" "sriov_numvfs: ${one%:*}"
  done
  same "the other PF was not held up" "$(on guest 'cat /sys/bus/pci/devices/0000:0[12]:00.0/sriov_numvfs' | xargs)" "0 4"
  on guest railbed down >/dev/null
  text=$(on guest 'ip link add link eth0 name eth0.7 type vlan id 7; railbed up small --node guest 2>&1; echo status $?; ip link del eth0.7')
  has "a VLAN on the PF: the host uses it" "$text" "is in use by the host (carries vlan eth0.7)"
  has "a VLAN on the PF: status 1" "$text" "status 1"
  on guest railbed down >/dev/null
  same "down: the machine is as before the first up" "$(on guest 'sh state.sh x')" "$before"
  has "down again: nothing to do" "$(on guest railbed down)" "nothing to do"
}

no_cable() {
  lab/lab cable guest 1 out
  has "without a cable: goes on and says so" "$(on guest 'railbed up small --node guest 2>/dev/null; ip link set eth1 up; sleep 1; sed s/eth0/eth1/ small/1.yaml | railbed up - 2>/dev/null')" "eth1 (0000:02:00.0) has no carrier after 10 s"
  lab/lab cable guest 1 in
  on guest railbed down >/dev/null
}

# What generate writes for a machine is right for it and can be brought up as it is.
generated() {
  local text
  text=$(on guest 'railbed generate --profile roce --soft-rdma --vfs 2 >made.yaml && railbed discover -o yaml >node.yaml && railbed check --facts node.yaml made.yaml')
  has "generate: check finds nothing in it" "$text" "0 errors, 0 warnings, 0 notes"
  has "generate: up takes it as it is" "$(on guest 'railbed up made.yaml 2>&1')" "2 interfaces attached"
  has "generate: up again" "$(on guest 'railbed up made.yaml 2>/dev/null')" "nothing to do"
  text=$(on guest 'sed "s/: rail0, rail1/: rail0, rail0/" made.yaml >wrong.yaml; railbed up wrong.yaml 2>&1; echo status $?')
  has "rules of check stop up: reported with the id" "$text" "[RB-RAIL-002]"
  has "rules of check stop up: nothing was changed" "$text" "the manifests have errors, nothing was changed"
  has "rules of check stop up: status 1" "$text" "status 1"
  has "rules of check: --force goes on" "$(on guest 'railbed up wrong.yaml --force RB-RAIL-002 2>&1')" "up: 0 steps done, 1 interface attached"
  on guest railbed down >/dev/null
}

part_main() {
  start guest --pf rail0 --pf rail1 || return
  first_up
  pods_work
  again
  faults
  no_cable
  generated
}

part_kill() {
  start kill --pf rail0 || return
  lab/lab exec kill -t 800 -- 'bash /t/kill_loop.sh /t' | sed 's/^\(PASS\|FAIL\) /\1 up: /'
  [ "${PIPESTATUS[0]}" = 0 ] || fail "the kill loop did not come to its end, or found something"
}

part_vfio() {
  start vfio --iommu --pf rail0 || return
  local before text
  before=$(on vfio 'sh state.sh x')
  text=$(on vfio 'railbed up vfio 2>&1; echo status $?')
  has "vfio: up" "$text" "status 0"
  same "vfio: both VFs have the driver" "$(on vfio 'for i in 0 1; do basename $(readlink /sys/bus/pci/devices/0000:01:00.0/virtfn$i/driver); done' | xargs)" "vfio-pci vfio-pci"
  has "vfio: the pod has a VF" "$(on vfio railbed status)" "llm/a"
  has "vfio: up again" "$(on vfio 'railbed up vfio 2>/dev/null')" "nothing to do"
  on vfio railbed down >/dev/null
  same "vfio: down" "$(on vfio 'sh state.sh x')" "$before"
}

gcc -shared -fPIC -O1 -Wall -o "$LAB_DIR/kill_shim.so" tests/kill/kill_shim.c || { echo "SKIP up: no gcc for the shim"; exit 0; }
started=$SECONDS
pids=()
for part in "${parts[@]}"; do
  "part_$part" >"$LAB_DIR/$part.out" 2>&1 &
  pids+=($!)
done
for i in "${!parts[@]}"; do
  wait "${pids[$i]}"
  echo "== part ${parts[$i]}"
  cat "$LAB_DIR/${parts[$i]}.out"
  grep -q '^FAIL ' "$LAB_DIR/${parts[$i]}.out" && failed=1
done
echo "up took $((SECONDS - started)) s"
exit $failed
