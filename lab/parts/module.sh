# SPDX-License-Identifier: Apache-2.0
# Kernel modules of tests, built for the guests' kernel.
#
# A module wants the kernel's own headers, its kbuild programs and its compiler, all of the kernel's release (trixie),
# which do not run on this host's libc. So they are unpacked into the cache like the guest's packages, and the build runs
# in a chroot there.

# What the headers package does not ask for by itself.
MODULE_PACKAGES=(binutils make bash dash coreutils sed grep mawk findutils)
# Asked for by the compiler, and of no use here: 140 MB.
MODULE_NEEDLESS='^(lib(a|hwa|l|t|ub)san|libquadmath|libgprofng|debconf|pahole|openssl|libssl|linux-base-)'

# The kernel that guests boot; the packages that it came from may be gone from the cache.
module_kernel() { grep -aom 1 'Linux version [^ ]*' "$(image_dir)/vmlinux" | cut -d ' ' -f 3; }
toolchain_dir() { echo "$CACHE/toolchain-$(hash_of "$HERE/parts/module.sh")-$(module_kernel)"; }

# Costs nothing when it is there. The image is (setup).
toolchain_setup() {
  local kernel lock
  [ ! -d "$(toolchain_dir)" ] || return 0
  exec {lock}>"$CACHE/lock"
  flock "$lock"
  if [ ! -d "$(toolchain_dir)" ]; then
    kernel=$(module_kernel)
    # The lists are those of the guest's kernel, where it was fetched just now.
    [ -n "$(find "$CACHE/apt/lists" -name '*trixie*Packages*' -mmin -60 2>/dev/null)" ] ||
      step "package lists of bookworm, its backports, and trixie" update_lists
    step "compiler and headers of kernel $kernel downloaded" toolchain_download "$kernel"
    step "unpacked" toolchain_unpack "$kernel" "$(toolchain_dir)"
  fi
  exec {lock}>&-
}

# With no package installed in its eyes, apt hands over everything that is needed.
toolchain_download() {   # KERNEL
  mkdir -p "$CACHE/toolchain-debs/partial"
  apt_private apt-get install -y --download-only --no-install-recommends -o APT::Default-Release=trixie \
    -o Dir::Cache::archives="$CACHE/toolchain-debs" "${MODULE_PACKAGES[@]}" "linux-headers-$1/$KERNEL_SUITE"
}

toolchain_unpack() {     # KERNEL FINAL_DIR
  local root directory package wanted have
  root=$(mktemp -d "$CACHE/tmp.XXXXXX")
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,tmp,src}
  for directory in bin sbin lib lib64; do ln -s "usr/$directory" "$root/$directory"; done
  for package in "$CACHE"/toolchain-debs/*.deb; do
    ! grep -qE "$MODULE_NEEDLESS" <<<"${package##*/}" || continue
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/*' \
      --exclude='*/lto1' --exclude='*/vmlinux'    # vmlinux: the build would want pahole
  done
  ln -sf dash "$root/usr/bin/sh"
  ln -sf mawk "$root/usr/bin/awk"
  wanted=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\(.*\)"$/\1/p' "$root/usr/src/linux-headers-$1/.config")
  have=$(chroot "$root" "/usr/bin/${wanted%% *}" --version | head -n 1)
  [ "$have" = "$wanted" ] || { echo "kernel $1 was built by \"$wanted\", and this is \"$have\""; return 1; }
  chmod 755 "$root"
  mv "$root" "$2"
  rm -rf "$CACHE/toolchain-debs"
  keep_newest 2 "$CACHE"/toolchain-*
  echo "note: $wanted, $(du -sm "$2" | cut -f 1) MB"
}

# Prints the built file of a folder with a Kbuild and the module of the folder's name. A second call takes no time.
module_build() {         # DIR
  local folder name out lock
  folder=$(realpath "${1:?}")
  name=$(basename "$folder")
  [ -e "$folder/Kbuild" ] || die "$1 is no folder of a module: no Kbuild"
  [ "$(id -u)" = 0 ] || die "only root can build modules: it is done in a chroot"
  setup
  toolchain_setup
  out=$CACHE/module-$name-$(hash_of "$folder"/* "$HERE/parts/module.sh")-$(module_kernel)
  exec {lock}>"$CACHE/lock"
  flock "$lock"
  [ -d "$out" ] || step "module $name built for kernel $(module_kernel)" module_make "$folder" "$name" "$out"
  exec {lock}>&-
  echo "$out/$name.ko"
}

module_make() {          # DIR NAME FINAL_DIR
  local scratch root
  scratch=$(mktemp -d "$CACHE/tmp.XXXXXX")
  root=$(toolchain_dir)
  cp "$1"/* "$scratch"
  # Its mounts are its own, and end with it. objtool reads /proc.
  unshare --mount bash -c 'mount --bind "$1" "$2/src" && mount --rbind /proc "$2/proc" && mount --rbind /dev "$2/dev" &&
    exec chroot "$2" /usr/bin/env -i PATH=/usr/bin:/usr/sbin HOME=/ \
      sh -c "make -s -C /usr/src/linux-headers-$3 M=/src modules && strip -g /src/$4.ko"' - \
    "$scratch" "$root" "$(module_kernel)" "$2"
  chmod 755 "$scratch"
  mv "$scratch" "$3"
  keep_newest 3 "$CACHE/module-$2"-*
}
