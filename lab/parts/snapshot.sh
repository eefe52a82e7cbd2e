# SPDX-License-Identifier: Apache-2.0
# Snapshots of booted guests. "start" lets one go on, in a second, instead of booting; docs/lab.md explains.
#
# A snapshot is made of a guest without a name, NICs and folders of the host, so that one does for all guests of a shape
# (memory, CPUs, IOMMU, root ports). QEMU starts with what the guest has of its own, takes memory and devices of the
# snapshot, and the guest finds the rest on the PCI bus (guest/resume).
#
# $CACHE/snapshots/KEY/memory   the guest's memory: a sparse file, which guests map privately
#                      state    QEMU's devices

SNAPSHOTS=$CACHE/snapshots
readonly SNAPSHOTS_KEPT=8 SNAPSHOTS_MIB=4096        # how many, and of what size together

# What was not tried boots.
can_be_restored() { [ -z "$real_boot$icount" ] && (( ! ${#kernel_args[@]} )); }

boots_instead() { say "$name boots, no snapshot is used: $1"; return 1; }

# Most guests have two PFs at most, and an empty port more does no harm.
snapshot_ports() { echo $(( ${#pfs[@]} <= 2 ? 2 : 8 )); }

snapshot_key() {
  local program
  program=$(command -v "$QEMU") || return 1
  { cat "$HERE"/parts/{guest,snapshot,qemu}.sh
    echo "$(basename "$(image_dir)") $mem $smp ${iommu:-0} $(snapshot_ports)"
    stat -Lc '%n %s %Y' "$program"
    # The emulated CPU has what the host's can do.
    grep -m 2 -E '^(model name|flags)' /proc/cpuinfo; } | sha256sum | cut -c 1-16
}

# restore: the guest goes on from a snapshot, which is made where there is none. When it cannot, nothing is left of the guest.
restore() {
  local key snapshot why
  key=$(snapshot_key) && [ -n "$key" ] || { boots_instead "which one is unknown"; return 1; }
  snapshot=$SNAPSHOTS/$key
  [ -d "$snapshot" ] || snapshot_make "$snapshot" || return 1
  touch -c "$snapshot"                      # the newest are kept
  if ! with_lab_lock launch_restored "$snapshot"; then
    why=$(tail -n 1 "$LAB_DIR/guest/$name/qemu.log" 2>/dev/null)
  elif why=$(resume); then
    return 0
  fi
  rm -rf "$snapshot"                        # whatever is wrong with it, the next guest does not meet it
  guest_stop "$name"
  boots_instead "${why:-QEMU does not take it}"
}

launch_restored() {   # SNAPSHOT
  new_guest_folder
  common_machine "$(snapshot_ports)"
  own_devices
  (( ! ${#files[@]} )) || archive_of_files >"$LAB_DIR/guest/$name/folder/files.cpio" || return 1
  snapshot_machine "$1/memory,share=off,readonly=on,rom=off" -incoming defer && load_state "$1/state"
}

# The same for who makes a snapshot and who uses it.
snapshot_machine() {  # MEMORY [ARGS...]
  local image memory_backend=,memory-backend=ram
  image=$(image_dir)
  launch_machine -accel "tcg,thread=multi" -object "memory-backend-file,id=ram,size=${mem}M,mem-path=$1" -kernel "$image/vmlinux" \
    -initrd "$image/initramfs" -append "$KERNEL_ARGUMENTS${iommu:+ intel_iommu=on LAB_IOMMU=1}" "${@:2}" &&
    qmp "guest/$name" migrate-set-capabilities '{"capabilities":[{"capability":"x-ignore-shared","state":true}]}' >/dev/null
}

# QEMU would announce the NICs' addresses on the rails, as after a move to another host.
load_state() {        # STATE
  qmp "guest/$name" migrate-set-parameters '{"announce-rounds":0}' >/dev/null &&
    qmp "guest/$name" migrate-incoming "{\"uri\":\"file:$1\"}" >/dev/null &&
    migrated && qmp "guest/$name" cont >/dev/null
}

migrated() {
  local i answer
  for (( i = 0; i < 600; i++ )); do
    answer=$(qmp "guest/$name" query-migrate) || return 1
    case $answer in
      *'"status": "completed"'*) return 0 ;;
      *'"status": "failed"'*) return 1 ;;
    esac
    sleep 0.05
  done
  return 1
}

resume() {            # prints what went wrong
  local archive=''
  (( ! ${#files[@]} )) || archive=files.cpio
  channel_run "$name" 0 60 "/lab/resume $(printf '%q ' "$name" "$(date +%s)" ${#pfs[@]} $(( ${#share} > 0 )) $(( ${#programs} > 0 )) "$archive")" 2>&1 ||
    return 1
  rm -f "$LAB_DIR/guest/$name/folder/files.cpio"
}

snapshot_make() {     # FINAL_DIR
  local lock room status=0
  mkdir -p "$SNAPSHOTS" 2>/dev/null && [ -w "$SNAPSHOTS" ] || { boots_instead "$SNAPSHOTS is not writable"; return 1; }
  exec {lock}>"$SNAPSHOTS/lock"
  flock "$lock"
  if [ ! -d "$1" ]; then
    room=$(df --output=avail -BM "$SNAPSHOTS" | tail -n 1 | tr -dc 0-9)
    if (( room > mem + 1024 )); then snapshot_boot "$1" || status=1
    else boots_instead "$SNAPSHOTS has only $room MiB left"; status=1; fi
  fi
  exec {lock}>&-
  return "$status"
}

# Boots a guest in a lab of its own and keeps what it is when it answers.
snapshot_boot() {     # FINAL_DIR
  local old start=${EPOCHREALTIME/./} took
  for old in "$SNAPSHOTS"/tmp.*; do         # left by one that was killed
    [ ! -d "$old" ] || (LAB_DIR=$old; kill_qemu guest/template; rm -rf "$old")
  done
  if ! (snapshot_of_template "$1"); then boots_instead "none could be made"; return 1; fi
  snapshots_bound
  took=$(( (${EPOCHREALTIME/./} - start) / 100000 ))
  say "snapshot made: $mem MiB, $smp CPUs${iommu:+, with IOMMU} ($((took / 10)).$((took % 10)) s)"
}

snapshot_of_template() {  # FINAL_DIR; in a shell of its own
  local final=$1 ports template=guest/template
  ports=$(snapshot_ports)
  LAB_DIR=$(mktemp -d "$SNAPSHOTS/tmp.XXXXXX")
  trap 'kill_qemu guest/template; rm -rf "$LAB_DIR"' EXIT
  trap 'exit 1' INT TERM HUP
  name=template pfs=() files=() share='' programs='' uplink='' virtio=0
  mkdir -p "$LAB_DIR/guest/template/folder" "$LAB_DIR/snapshot"
  common_machine "$ports"
  host_folder lab "guest/template/folder" 3
  snapshot_machine "$LAB_DIR/snapshot/memory,share=on" || { guest_last_words template; return 1; }
  channel_run template 0 240 "modprobe 9pnet_virtio && modprobe 9p" || return 1
  qmp "$template" stop >/dev/null && qmp "$template" migrate "{\"uri\":\"file:$LAB_DIR/snapshot/state\"}" >/dev/null && migrated || return 1
  kill_qemu "$template"
  sync "$LAB_DIR"/snapshot/*                # whole, before it is seen
  chmod -R u+rwX,go+rX "$LAB_DIR/snapshot"
  mv "$LAB_DIR/snapshot" "$final"
}

snapshots_bound() {
  local dir all=0
  keep_newest "$SNAPSHOTS_KEPT" "$SNAPSHOTS"/[0-9a-f]*/
  for dir in $(ls -td "$SNAPSHOTS"/[0-9a-f]*/); do
    all=$(( all + $(du -sm "$dir" | cut -f 1) ))
    (( all <= SNAPSHOTS_MIB )) || rm -rf "$dir"
  done
}
