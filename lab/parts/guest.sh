# SPDX-License-Identifier: Apache-2.0
# Guests: start, stop, list. One folder each, $LAB_DIR/guest/NAME:
#   alive, pid, qemu.log   see qemu.sh             console.log   what the kernel and init print
#   c0 … c8 .in .out       ports of the agents     shell.in .out terminal of "lab shell"
#   qmp.in .out            monitor                 folder/       9p folder of push and pull
#   rails                  the rail of each PF     started       seconds since the epoch

CHANNELS=9            # commands at the same time in one guest, and one for the lab itself

guest_names() { [ ! -d "$LAB_DIR/guest" ] || ls "$LAB_DIR/guest"; }

guest_must_run() {
  alive "guest/$1" && return 0
  [ ! -d "$LAB_DIR/guest/$1" ] || { guest_last_words "$1"; exit "$STATUS_LAB"; }
  die "no guest $1 runs in $LAB_DIR (lab/lab list)"
}

guest_last_words() {
  local dir=$LAB_DIR/guest/$1
  say "guest $1 has ended. The last lines of its console:"
  { grep -E 'Kernel panic|Oops:|BUG:' "$dir/console.log" | head -n 3; tail -n 25 "$dir/console.log"; cat "$dir/qemu.log"; } 2>/dev/null |
    tr -d '\r' | sed 's/^/lab:     /' >&2 || true      # no line that matches is fine
}

with_lab_lock() {     # COMMAND...: one start or stop at a time changes processes and the switch
  local lock status
  mkdir -p "$LAB_DIR"
  exec {lock}>"$LAB_DIR/lock"
  flock "$lock"
  "$@"
  status=$?                                 # where the caller looks at it; else a failure has ended the lab
  exec {lock}>&-
  return "$status"
}

# A PF's address: the guest's name gives four digits, its number the last; the same at every start. 52:54 is QEMU's.
mac_of() {            # NAME PF
  local hash
  hash=$(printf %s "$1" | sha256sum)
  printf '52:54:%s:%s:%s:%02x\n' "${hash:0:2}" "${hash:2:2}" "${hash:4:2}" "$2"
}

# "start" parses into these; what starts the machine reads them.
declare -a pfs=() files=() kernel_args=()
declare -A stripped=()    # targets of files
name='' smp=1 mem=640 icount='' iommu='' share='' programs='' uplink='' virtio=0 real_boot=${LAB_BOOT:-}

guest_start() {
  name=${1:-}; shift || true
  [[ $name =~ ^[a-zA-Z][a-zA-Z0-9-]{0,30}$ ]] || die "a guest's name has letters, digits and '-': '$name'"
  while (( $# )); do
    case $1 in
      --iommu) iommu=1; shift; continue ;;
      --virtio) virtio=$((virtio + 1)); shift; continue ;;
      --boot) real_boot=1; shift; continue ;;
      --smp | --mem | --icount | --pf | --uplink | --share | --programs | --file | --stripped | --kernel-arg) (( $# >= 2 )) || die "$1 wants a value" ;;
      *) die "unknown option of start: $1" ;;
    esac
    case $1 in
      --smp) smp=$2 ;;
      --mem) mem=$2 ;;
      --icount) [[ $2 =~ ^[0-9]$ ]] || die "--icount wants a number of 0 to 9: '$2'"; icount=$2 ;;
      --pf) [[ $2 =~ ^[A-Za-z0-9_.-]+$ ]] || die "not a rail's name: '$2'"; pfs+=("$2") ;;
      --uplink) [[ $2 =~ ^10\.0\.2\.[0-9]+(:[0-9]+)?$ ]] || die "--uplink wants an address of 10.0.2.0/24, or that and a port: '$2'"; uplink=$2 ;;
      --programs) [ -d "$2" ] || die "--programs: no folder $2"; programs=$(realpath "$2") ;;
      --share) [ -d "$2" ] || die "--share: no folder $2"; share=$(realpath "$2") ;;
      --file | --stripped)
        [ -e "${2%%:*}" ] || die "$1: no file ${2%%:*}"
        [[ $2 == *:/* ]] || die "$1 wants SRC:/DST"
        files+=("$2")
        [ "$1" = --file ] || stripped[${2#*:}]=1 ;;
      --kernel-arg) kernel_args+=("$2") ;;
    esac
    shift 2
  done
  (( ${#pfs[@]} <= 8 )) || die "a guest has 8 PFs at most"
  [ -z "$icount" ] || (( smp == 1 )) || die "--icount counts the instructions of one CPU"
  setup
  ! alive "guest/$name" || die "guest $name is running already"
  local start=${EPOCHREALTIME/./} how=restored took
  if ! can_be_restored || ! restore; then
    how=booted
    with_lab_lock boot
    # Outside of the lock, so that guests boot side by side.
    channel_run "$name" 0 240 true || { guest_stop "$name"; die "guest $name did not boot"; }
  fi
  rm -f "$LAB_DIR/guest/$name/initramfs"    # in the guest's memory by now
  took=$(( (${EPOCHREALTIME/./} - start) / 100000 ))
  say "$name is up after $((took / 10)).$((took % 10)) s ($how)"
}

# What all guests of a shape have in common: the machine but for its NICs and the folders of the host. Each device has a
# place of its own, so that it does not depend on which others there are.
declare -a machine=() devices=()
common_machine() {    # NUMBER-OF-ROOT-PORTS
  local folder=guest/$name i
  machine=(-name "$name" -no-reboot -cpu max -smp "$smp" -m "$mem")
  devices=()
  [ -z "$iommu" ] || devices+=(-device "intel-iommu,intremap=on")
  # A root port for each PF: on the root bus VFs appear but never reach their PF, behind a bridge there is no SR-IOV.
  # Their fixed places make PF number i the device 0000:0(i+1):00.0. Without a power controller, which would be off where
  # the snapshot was made without the PF.
  for (( i = 0; i < $1; i++ )); do
    devices+=(-device "pcie-root-port,id=port$i,chassis=$((i + 1)),slot=$((i + 1)),addr=$(printf %x $((i + 8))),power_controller_present=off")
  done
  # A new one at each start: a guest that goes on from a snapshot learns by it that its random numbers are another's, too.
  devices+=(-device "vmgenid,guid=auto")
  make_pipe "$LAB_DIR/$folder/shell"
  devices+=(-device virtio-serial-pci,max_ports=16,addr=2 -chardev "pipe,id=shell,path=$folder/shell" -device virtconsole,chardev=shell)
  for (( i = 0; i < CHANNELS; i++ )); do
    make_pipe "$LAB_DIR/$folder/c$i"
    devices+=(-chardev "pipe,id=c$i,path=$folder/c$i" -device "virtserialport,chardev=c$i,name=lab.$i")
  done
  make_pipe "$LAB_DIR/$folder/qmp"
  devices+=(-chardev "pipe,id=qmp,path=$folder/qmp" -mon chardev=qmp,mode=control
            -chardev "file,id=console,path=$folder/console.log" -serial chardev:console)
}

# What the guest has of its own.
own_devices() {
  local i
  (( ! ${#pfs[@]} )) || switch_start
  for (( i = 0; i < ${#pfs[@]}; i++ )); do
    switch_plug "$name.$i" "${pfs[i]}"
    devices+=(-netdev "stream,id=net$i,server=off,addr.type=unix,addr.path=switch/$name.$i"
              -device "igb,id=pf$i,bus=port$i,netdev=net$i,mac=$(mac_of "$name" "$i")")
  done
  (( ! ${#pfs[@]} )) || printf '%s\n' "${pfs[@]}" >"$LAB_DIR/guest/$name/rails"
  for (( i = 0; i < virtio; i++ )); do
    devices+=(-netdev "hubport,id=spare$i,hubid=$i"
              -device "virtio-net-pci,netdev=spare$i,addr=$(printf %x $((i + 16))),mac=52:54:00:00:ff:$(printf %02x "$i")")
  done
  if [ -n "$uplink" ]; then
    devices+=(-netdev "user,id=uplink,net=10.0.2.0/24$([[ $uplink != *:* ]] || echo ",hostfwd=tcp:$uplink-$uplink")"
              -device virtio-net-pci,netdev=uplink,addr=18,mac=52:54:00:00:fe:00)
  fi
  mkdir -p "$LAB_DIR/guest/$name/folder"
  host_folder lab "guest/$name/folder" 3
  [ -z "$share" ] || host_folder share "$share" 4
  [ -z "$programs" ] || host_folder programs "$programs" 5 ,readonly=on
}
host_folder() {       # TAG DIR PLACE [OPTIONS]
  devices+=(-fsdev "local,id=$1,path=${2//,/,,},security_model=none${4:-}" -device "virtio-9p-pci,fsdev=$1,mount_tag=$1,addr=$3")
}

new_guest_folder() {  # under the lock
  ! alive "guest/$name" || die "guest $name is running already"
  guest_clean "$name"                       # what a killed host left
  mkdir -p "$LAB_DIR/guest/$name"
  date +%s >"$LAB_DIR/guest/$name/started"
}

# The self-tests of the crypto code take a second under emulation. On a host that is busy, the check whether the timer
# ticks in time ends in a panic ("IO-APIC + timer doesn't work"); real hypervisors' guests skip it, too.
readonly KERNEL_ARGUMENTS="console=ttyS0 quiet oops=panic panic=-1 cryptomgr.notests no_timer_check"

# launch_machine ARGS...: KVM is not used: where it is emulated by the host's hypervisor it fails, and tests should run the
# same everywhere.
launch_machine() {
  local type=q35
  [ -z "$iommu" ] || type=q35,kernel-irqchip=split        # interrupt remapping wants it
  launch "guest/$name" "${machine[@]}" -machine "$type${memory_backend:-}" "${devices[@]}" "$@" &&
    qmp "guest/$name" qmp_capabilities >/dev/null
}

boot() {
  local image dir=$LAB_DIR/guest/$name initrd arguments="$KERNEL_ARGUMENTS LAB_NAME=$name"
  local -a emulation=(-accel "tcg,thread=multi")
  new_guest_folder
  image=$(image_dir)
  common_machine ${#pfs[@]}
  own_devices
  [ -z "$iommu" ] || arguments+=' intel_iommu=on LAB_IOMMU=1'
  [ -z "$share" ] || arguments+=' LAB_SHARE=1'
  [ -z "$programs" ] || arguments+=' LAB_PROGRAMS=1'
  initrd=$image/initramfs
  (( ! ${#files[@]} )) || { initrd=$dir/initramfs; { cat "$image/initramfs"; archive_of_files; } >"$initrd"; }
  # sleep=off: while it is idle such a clock jumps to the next timer, so that how soon the host runs it again is not in its times.
  [ -z "$icount" ] || emulation=(-accel "tcg,thread=single" -icount "shift=$icount,sleep=off")
  launch_machine "${emulation[@]}" -kernel "$image/vmlinux" -initrd "$initrd" -append "$arguments ${kernel_args[*]}" ||
    { guest_last_words "$name"; stop_locked "$name"; die "guest $name did not start"; }
}

# The files of --file and --stripped. The kernel unpacks archives that follow each other one by one, so the image itself is never rebuilt.
# The folders /bin, /sbin and /lib are links in it, and a folder of that name in the second archive would replace the link.
archive_of_files() {
  local stage file target
  stage=$(mktemp -d "$LAB_DIR/stage.XXXXXX") || return 1
  for file in "${files[@]}"; do
    target=${file#*:}
    case $target in /bin/* | /sbin/* | /lib/* | /lib64/*) target=/usr$target ;; esac
    mkdir -p "$stage$(dirname "$target")" || return 1
    [ -n "${stripped[${file#*:}]:-}" ] && strip -g -o "$stage$target" "${file%%:*}" 2>/dev/null ||
      cp -rL --preserve=mode "${file%%:*}" "$stage$target" || return 1
  done
  (set -o pipefail; cd "$stage" && find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0) || return 1
  rm -rf "$stage"
}

guest_clean() {       # NAME: everything but its console's log
  local dir=$LAB_DIR/guest/$1 port
  [ -d "$dir" ] || return 0
  if alive switch; then
    for port in "$LAB_DIR/switch/$1."*; do [ ! -S "$port" ] || switch_unplug "${port##*/}"; done
  fi
  mkdir -p "$LAB_DIR/log"
  [ ! -s "$dir/console.log" ] || mv "$dir/console.log" "$LAB_DIR/log/$1.log"
  rm -rf "$dir"
}

stop_locked() {       # NAME...
  local guest
  for guest; do
    kill_qemu "guest/$guest"
    guest_clean "$guest"
  done
  switch_stop_if_unused
}

guest_stop() {
  [ $# -ge 1 ] || die "stop wants a name or --all"
  [ -d "$LAB_DIR" ] || return 0
  if [ "$1" = --all ]; then
    # shellcheck disable=SC2046  # names have no blanks
    with_lab_lock stop_locked $(guest_names)
  else
    with_lab_lock stop_locked "$@"
  fi
}

guest_list() {
  local guest state
  for guest in $(guest_names); do
    if alive "guest/$guest"; then state=running; else state=dead; fi
    printf '%-16s %-8s pid %-7s rails %s\n' "$guest" "$state" "$(cat "$LAB_DIR/guest/$guest/pid" 2>/dev/null || echo -)" \
      "$(paste -sd , "$LAB_DIR/guest/$guest/rails" 2>/dev/null)"
  done
}

guest_log() {
  local file
  for file in "$LAB_DIR/guest/${1:?}/console.log" "$LAB_DIR/log/$1.log"; do
    [ ! -s "$file" ] || { tr -d '\r' <"$file"; return 0; }
  done
  die "no guest $1 has run in $LAB_DIR"
}
