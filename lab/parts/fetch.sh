# SPDX-License-Identifier: Apache-2.0
# Fetches Debian packages: installs QEMU on the host, unpacks guest and kernel under the cache.
#
# apt runs on private state, so that packages of trixie can be unpacked while the host's own sources, lists and cache
# stay as they are. What is installed on the host comes from bookworm's sources alone: with trixie among them apt
# replaces the host's libc6 and dpkg, even with "-t bookworm-backports".

# Everything is read from $CACHE/packages-<key>/{root,kernel}; the folder appears when it is complete.
packages_dir() { echo "$CACHE/packages-$(hash_of "$HERE"/parts/{packages,fetch}.sh)"; }

# apt_private TOOL ARGS...: apt-get or apt-cache on the private state. APT_SOURCES and APT_STATUS select what it sees.
apt_private() {
  local tool=$1; shift
  "$tool" -q \
    -o Dir::State="$CACHE/apt" -o Dir::State::lists="$CACHE/apt/lists" \
    -o Dir::State::status="${APT_STATUS:-$CACHE/apt/status}" -o Dir::Cache="$CACHE/apt/cache" \
    -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$CACHE/apt/${APT_SOURCES:-guest.d}" \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
    -o APT::Default-Release=bookworm -o APT::Sandbox::User=root -o Acquire::Retries=3 "$@"
}

# The first mirror in the host's own sources for a suite.
mirror_of() {
  apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' |
    awk -v suite="$1" '$1 == suite && !found++ { print $2 }'
}

write_sources() {
  local main security suite
  local deb='deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  main=$(mirror_of bookworm)
  security=$(mirror_of bookworm-security)
  [ -n "$main" ] || {
    echo "No source for bookworm is configured on this host, so there is no mirror to fetch from."
    echo "The lab needs Debian 12: add one to /etc/apt/sources.list.d and run apt-get update."
    return 1
  }
  mkdir -p "$CACHE/apt"/{lists,cache/archives}/partial "$CACHE/apt"/{host,guest}.d
  : >"$CACHE/apt/status"
  for suite in bookworm bookworm-updates bookworm-backports; do echo "$deb $main $suite main"; done >"$CACHE/apt/host.d/host.list"
  [ -z "$security" ] || echo "$deb $security bookworm-security main" >>"$CACHE/apt/host.d/host.list"
  cp "$CACHE/apt/host.d/host.list" "$CACHE/apt/guest.d/guest.list"
  for suite in trixie trixie-backports; do echo "$deb $main $suite main"; done >>"$CACHE/apt/guest.d/guest.list"
}

update_lists() {
  write_sources
  apt_private apt-get -o APT::Update::Error-Mode=any update || {
    echo "The package lists cannot be fetched from $(mirror_of bookworm): check the network or the proxy (http_proxy)."
    return 1
  }
}

# QEMU 8 is the first with an SR-IOV NIC; bookworm itself has 7.2.
qemu_has_igb() { "$QEMU" -device help 2>/dev/null | grep '"igb"' >/dev/null; }

missing_host_packages() {
  local tool
  for tool in "${HOST_TOOLS[@]}"; do command -v "${tool%%:*}" >/dev/null || echo "${tool##*:}"; done
  qemu_has_igb || echo qemu-system-x86
}

# --no-remove: rather fail than take something away from the host.
install_on_host() {
  [ "$(id -u)" = 0 ] || { echo "Only root can install packages. Run: sudo lab/lab setup"; return 1; }
  APT_SOURCES=host.d APT_STATUS=/var/lib/dpkg/status DEBIAN_FRONTEND=noninteractive \
    apt_private apt-get install -y --no-install-recommends --no-remove -t bookworm-backports \
    -o DPkg::Lock::Timeout=120 "$@"
}

# download PACKAGE[/SUITE]...: into $CACHE/debs, what is not there yet. By way of a temporary folder, so that a file
# in debs/ is always complete.
download() {
  local package missing=() temporary
  mkdir -p "$CACHE/debs"
  for package; do
    compgen -G "$CACHE/debs/${package%%/*}_*.deb" >/dev/null || missing+=("$package")
  done
  (( ${#missing[@]} )) || { echo "note: all ${#} were there"; return 0; }
  temporary=$(mktemp -d "$CACHE/tmp.XXXXXX")
  (cd "$temporary" && apt_private apt-get download "${missing[@]}")
  echo "note: ${#missing[@]} packages, $(du -sm "$temporary" | cut -f 1) MB"
  mv "$temporary"/*.deb "$CACHE/debs/"
  rmdir "$temporary"
}

# The packages that hold the kernel and its modules: the newest of the wanted series, so that all hosts test with the
# same kernel while the suite moves on; the newest of all, with a warning, when the series is gone from the mirror.
kernel_packages() {
  local all version series=${KERNEL_SERIES//./\\.}
  all=$(apt_private apt-cache pkgnames linux-binary- | sed -nE 's/^linux-binary-([0-9].*\+deb13-amd64)$/\1/p' | sort -V)
  version=$(grep -E "^$series\." <<<"$all" | tail -n 1) || true
  if [ -z "$version" ]; then
    version=$(tail -n 1 <<<"$all")
    [ -n "$version" ] || return 1
    say "warning: the mirror has no kernel $KERNEL_SERIES any more; taking $version, with which this is untested"
  fi
  echo "linux-base-$version/$KERNEL_SUITE linux-binary-$version/$KERNEL_SUITE linux-modules-$version/$KERNEL_SUITE"
}

unpack_into() {   # DIR PACKAGE[/SUITE]...
  local dir=$1 package; shift
  mkdir -p "$dir"
  for package; do dpkg-deb -x "$CACHE/debs/${package%%/*}"_*.deb "$dir"; done
}

unpack_all() {    # FINAL_DIR KERNEL_PACKAGE...
  local final=$1 temporary; shift
  temporary=$(mktemp -d "$CACHE/tmp.XXXXXX")
  unpack_into "$temporary/root" "${GUEST_PACKAGES[@]}"
  unpack_into "$temporary/kernel" "$@"
  chmod 755 "$temporary"
  mv "$temporary" "$final"
  keep_newest 2 "$CACHE"/packages-*
}

fetch() {
  local missing kernel
  [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || die "the lab needs Debian 12 on amd64"
  step "package lists of bookworm, its backports, and trixie" update_lists
  missing=$(missing_host_packages)
  # shellcheck disable=SC2086  # a list of package names
  [ -z "$missing" ] || step "installed on the host: ${missing//$'\n'/ }" install_on_host $missing
  [ ! -d "$(packages_dir)" ] || return 0
  kernel=$(kernel_packages) || die "no kernel for the guest is found in $KERNEL_SUITE"
  # shellcheck disable=SC2086
  step "guest and kernel downloaded" download "${GUEST_PACKAGES[@]}" $kernel
  # shellcheck disable=SC2086
  step "unpacked" unpack_all "$(packages_dir)" $kernel
}
