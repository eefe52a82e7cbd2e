# SPDX-License-Identifier: Apache-2.0
# Builds the guest: an uncompressed kernel and an uncompressed initramfs that is the whole root file system.
#
# Uncompressed, because under software emulation unpacking is what costs: 2.7 s to a shell against 4.3 s with Debian's
# vmlinuz and a zstd initramfs. It also lets a second archive be appended at boot without padding.

image_dir() {
  echo "$CACHE/image-$(hash_of "$HERE"/parts/{packages,fetch,image}.sh "$HERE"/guest/*)"
}

# setup: everything that guests need. Costs nothing when all of it is there.
setup() {
  local lock
  [ ! -d "$(image_dir)" ] || ! command -v "$QEMU" >/dev/null || return 0
  mkdir -p "$CACHE" 2>/dev/null && [ -w "$CACHE" ] ||
    die "$CACHE is not writable: run as root, or set RAILBED_CACHE to a folder of yours"
  exec {lock}>"$CACHE/lock"
  flock -n "$lock" || { say "another setup is at work; waiting for it"; flock "$lock"; }
  if [ ! -d "$(image_dir)" ] || ! command -v "$QEMU" >/dev/null; then
    rm -rf "$CACHE"/tmp.* "$CACHE"/step.*             # left by one that was killed
    if [ ! -d "$(packages_dir)" ] || [ -n "$(missing_host_packages)" ]; then fetch; fi
    [ -d "$(image_dir)" ] || step "image built" build_image "$(image_dir)"
  fi
  exec {lock}>&-
}

build_image() {   # FINAL_DIR
  local final=$1 packages temporary
  packages=$(packages_dir)
  temporary=$(mktemp -d "$CACHE/tmp.XXXXXX")
  local source=$packages/root root=$temporary/root
  mkdir -p "$root"/{proc,sys,dev,run,tmp,root,mnt/{lab,share,programs},etc,lab,usr/{bin,sbin,lib/modules,lib64,share}}
  local dir
  for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
  add_tools
  add_libraries
  add_files
  add_modules "$packages/kernel"
  extract_kernel "$packages/kernel" "$temporary/vmlinux"
  (cd "$root" && find . | cpio --quiet -o -H newc -R 0:0) >"$temporary/initramfs"
  rm -rf "$root"
  chmod 755 "$temporary"
  mv "$temporary" "$final"
  keep_newest 3 "$CACHE"/image-*
  echo "note: kernel $(kernel_version "$packages/kernel"), initramfs $(( $(stat -c %s "$final/initramfs") >> 20 )) MiB"
}

# The functions below share $source (unpacked packages) and $root (the guest's root) with build_image.

find_tool() {
  local dir
  for dir in bin sbin usr/bin usr/sbin; do
    [ ! -e "$source/$dir/$1" ] || { echo "$source/$dir/$1"; return 0; }
  done
  echo "no tool $1 in the unpacked packages" >&2
  return 1
}

add_tools() {
  local tool busybox
  busybox=$(find_tool busybox)
  cp "$busybox" "$root/usr/bin/busybox"
  for tool in $("$busybox" --list); do
    [ "$tool" = busybox ] || ln -sf busybox "$root/usr/bin/$tool"
  done
  for tool in "${GUEST_TOOLS[@]}"; do
    rm -f "$root/usr/bin/$tool"
    cp -L "$(find_tool "$tool")" "$root/usr/bin/$tool"
  done
  ln -sf dash "$root/usr/bin/sh"
  # kmod for modules, not busybox: the kernel itself runs /sbin/modprobe.
  for tool in modprobe insmod lsmod rmmod modinfo depmod; do ln -sf kmod "$root/usr/bin/$tool"; done
  ln -sf ../bin/kmod "$root/usr/sbin/modprobe"
}

# Copies each library that the files on the command line need, resolved among the unpacked packages only: one that
# happened to come from the host would make a guest that works on this host alone.
add_closure() {
  local loader path name
  local library=$root/usr/lib/x86_64-linux-gnu
  loader=$(readlink -f "$(find "$source" -name ld-linux-x86-64.so.2 | head -n 1)")
  cp "$loader" "$root/usr/lib64/ld-linux-x86-64.so.2"
  for path; do
    "$loader" --library-path "$source/lib/x86_64-linux-gnu:$source/usr/lib/x86_64-linux-gnu" --list "$path" ||
      echo "cannot be resolved: $path"
  done | awk '/not found|cannot be/ { print "!", $0 } $2 == "=>" && $1 !~ /^\// && $3 ~ /^\// { print $1, $3 }' |
    sort -u | while read -r name path; do
      case $path in
        "$source"/*) cp -L "$path" "$library/$name" ;;
        *) echo "not among the unpacked packages: $name $path"; return 1 ;;
      esac
    done
}

add_libraries() {
  local library=$root/usr/lib/x86_64-linux-gnu name seeds=()
  # The verbs provider; libibverbs has both of its places built in.
  mkdir -p "$library/libibverbs" "$root/etc/libibverbs.d"
  cp -P "$source"/usr/lib/x86_64-linux-gnu/libibverbs/*rxe* "$library/libibverbs/"
  cp "$source/etc/libibverbs.d/rxe.driver" "$root/etc/libibverbs.d/"
  for name in "${GUEST_LIBRARIES[@]}"; do
    cp -L "$(find "$source" -name "$name" | head -n 1)" "$library/$name"
    seeds+=("$library/$name")
  done
  for name in "${GUEST_TOOLS[@]}"; do seeds+=("$root/usr/bin/$name"); done
  add_closure "${seeds[@]}" "$library"/libibverbs/*.so
}

add_files() {
  local entry
  echo 'root:x:0:0:root:/root:/bin/bash' >"$root/etc/passwd"
  echo 'root:x:0:' >"$root/etc/group"
  echo '127.0.0.1 localhost' >"$root/etc/hosts"
  mkdir -p "$root/usr/share/misc" "$root/usr/share/terminfo"
  cp -L "$source/usr/share/misc/pci.ids" "$root/usr/share/misc/"
  for entry in l/linux v/vt100 v/vt220 x/xterm x/xterm-256color s/screen t/tmux; do
    mkdir -p "$root/usr/share/terminfo/${entry%/*}"
    cp -L "$source/lib/terminfo/$entry" "$root/usr/share/terminfo/$entry" 2>/dev/null || true
  done
  install -m 755 "$HERE/guest/init" "$root/init"
  install -m 755 "$HERE/guest/agent" "$HERE/guest/mount-share" "$HERE/guest/resume" "$root/lab/"
  cp "$HERE/guest/profile" "$root/etc/profile"
}

kernel_version() { basename "$(modules_of "$1")"; }
modules_of() { find "$1" -path '*/lib/modules/*' -prune -type d | head -n 1; }

add_modules() {   # KERNEL_DIR
  local modules version tree module file target
  modules=$(modules_of "$1")
  version=$(basename "$modules")
  # depmod and modprobe find the dependencies, on a tree of hard links.
  tree=$(dirname "$root")/tree
  mkdir -p "$tree/lib/modules"
  cp -al "$modules" "$tree/lib/modules/$version"
  depmod -b "$tree" "$version"
  for module in "${GUEST_MODULES[@]}"; do
    modprobe -d "$tree" -S "$version" --show-depends "$module" || { echo "no module $module in $version"; return 1; }
  done | awk '$1 == "insmod" { print $2 }' | sort -u | while read -r file; do
    target=$root/usr/lib/modules/$version/${file#"$tree/lib/modules/$version/"}
    mkdir -p "$(dirname "$target")"
    case $file in
      *.xz) xz -dc "$file" >"${target%.xz}" ;;
      *) cp "$file" "$target" ;;
    esac
  done
  cp "$modules"/modules.{order,builtin,builtin.modinfo} "$root/usr/lib/modules/$version/"
  depmod -b "$root" "$version"
  rm -rf "$tree"
}

# QEMU boots the ELF kernel inside vmlinuz directly, without the kernel's own unpacking, which costs 1 to 3 s here.
extract_kernel() {   # KERNEL_DIR OUTPUT
  local vmlinuz magic unpack offset
  vmlinuz=$(find "$1" -name 'vmlinuz*' -type f | head -n 1)
  while read -r magic unpack; do
    for offset in $(grep -obUaP "$magic" "$vmlinuz" | cut -d : -f 1); do
      tail -c "+$((offset + 1))" "$vmlinuz" | $unpack >"$2" 2>/dev/null || true     # trailing bytes are an error to them
      [ "$(head -c 4 "$2" | tail -c 3)" != ELF ] || return 0
    done
  done <<'END'
\x28\xb5\x2f\xfd zstd -dcq
\xfd7zXZ\x00 xz -dcq
END
  cp "$vmlinuz" "$2"      # QEMU takes it too, only slower
}
