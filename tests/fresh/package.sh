#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The package on a machine that has never seen railbed:  tests/fresh/package.sh ROOT DEB
#
# ROOT is a bare Debian 12 tree in which apt works (mmdebstrap --variant=apt bookworm ROOT), reached by chroot, as root. It is
# left as it was, except for the packages that railbed depends on and what apt and dpkg note for themselves. Nothing is
# mounted. Prints "PASS name", or "FAIL name" with indented details.
set -uo pipefail
[ $# = 2 ] && [ -d "$1/etc/apt" ] && [ -f "$2" ] && [ "$(id -u)" = 0 ] || {
  echo "usage, as root: tests/fresh/package.sh ROOT DEB" >&2
  exit 2
}
root=$(realpath "$1")
deb=$(realpath "$2")
# In the one place of the root that is not looked at: ROOT may be /, in a bare system that is thrown away.
work=$root/tmp/railbed-test/work
failed=0
trap 'rm -rf "$root/tmp/railbed-test"' EXIT
mkdir -p "$work"
cp "$deb" "$root/tmp/railbed-test/railbed.deb"
chmod -R a+rX "$root/tmp/railbed-test"

# A command in the root; what it prints, on both streams, is in $out, its exit status in $status.
inside() {
  out=$(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 \
    chroot "$root" /bin/bash -c "cd /tmp/railbed-test && $1" 2>&1 </dev/null)
  status=$?
}

pass() { echo "PASS fresh/package $1"; }
fail() { # NAME DETAIL...
  echo "FAIL fresh/package $1"
  printf '%s\n' "${@:2}" | tail -25 | sed 's/^/    /'
  failed=1
}

# A command that ends with a status and prints a text.
expect() { # NAME STATUS TEXT COMMAND
  inside "$4"
  if [ "$status" = "$2" ] && [[ $out == *"$3"* ]]; then
    pass "$1"
  else
    fail "$1" "$4" "exit status $status instead of $2, with \"$3\" in:" "$out"
  fi
}

# Every path of the root but those that apt, dpkg and the linker's cache keep for themselves, and this test's.
paths() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/cache/apt -o -path ./var/lib/apt \
    -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache/ldconfig -o -path ./var/cache/debconf \
    -o -path ./tmp/railbed-test -o -path ./etc/ld.so.cache \) -prune -o -print) | cut -c2- | sort
}

# Of the paths on standard input, those that are of no package: neither as they are named nor as they are below a merged /usr.
unowned() {
  cat "$root"/var/lib/dpkg/info/*.list | sed 'p; s|^|/usr|' | sort -u >"$work/owned"
  comm -23 - "$work/owned"
}

write_manifests() {
  cat >"$root/tmp/railbed-test/good.yaml" <<'END'
apiVersion: sriovnetwork.openshift.io/v1
kind: SriovNetworkNodePolicy
metadata: {name: roce, namespace: sriov-network-operator}
spec:
  resourceName: rail0
  nodeSelector: {feature.node.kubernetes.io/network-sriov.capable: "true"}
  numVfs: 4
  mtu: 9000
  nicSelector: {pfNames: [eth0]}
  deviceType: netdevice
  isRdma: true
END
  sed 's/numVfs: 4/numVfs: four/' "$root/tmp/railbed-test/good.yaml" >"$root/tmp/railbed-test/broken.yaml"
}

check_files() {
  inside 'for page in $(railbed --help | sed -n "s/^  \([a-z]*\) .*/railbed-\1/p") railbed; do
    gzip -t /usr/share/man/man1/$page.1.gz || exit 1; done'
  [ "$status" = 0 ] && pass "a manual page per verb" || fail "a manual page per verb" "$out"
  inside 'program=$(sed -n "s/^ExecStart=\([^ ]*\).*/\1/p" /usr/lib/systemd/system/railbed-agent.service); [ -x "$program" ] &&
    dpkg-query -S "$program"'
  [ "$status" = 0 ] && pass "the unit starts what the package installed" ||
    fail "the unit starts what the package installed" "$out"
  inside 'find /etc/systemd /lib/systemd /usr/lib/systemd -name "railbed*" -type l; ls /etc/railbed /run/railbed 2>/dev/null'
  [ -z "$out" ] && pass "nothing is enabled, nothing was made beside the files" || fail "nothing is enabled, nothing was made beside the files" "$out"
  expect "bash completes" 0 "discover" '. /usr/share/bash-completion/completions/railbed && COMP_WORDS=(railbed disc) COMP_CWORD=1 &&
    _railbed && echo "${COMPREPLY[@]}"'
  # What a cluster is given (docs/kubernetes.md), as it is in the source.
  deploy=${deb%/*}/deploy
  [ -d "$deploy" ] || deploy=$(dirname "$0")/../../deploy
  out=$({ cd "$deploy" || exit; for file in crds/*.yaml rbac/*.yaml; do cmp "$file" "$root/usr/share/railbed/deploy/$file" || echo "$file"; done; } 2>&1)
  [ -z "$out" ] && pass "definitions and roles for a cluster" || fail "definitions and roles for a cluster" "$out"
  inside 'ls /usr/share/zsh/vendor-completions/_railbed /usr/share/fish/vendor_completions.d/railbed.fish'
  [ "$status" = 0 ] && pass "zsh and fish have their completions" || fail "zsh and fish have their completions" "$out"
}

check_programs() {
  expect "railbed --version" 0 "railbed $(dpkg-deb -f "$deb" Version)" "railbed --version"
  expect "railbed check says yes" 0 "0 errors, 0 warnings" "railbed check good.yaml"
  expect "railbed check says no" 2 "spec.numVfs must be an integer" "railbed check broken.yaml"
  expect "railbed check cannot say" 1 "nowhere.yaml" "railbed check nowhere.yaml"
  expect "railbed explain prints more" 0 "RB-API-004: " "railbed explain RB-API-004"
  expect "railbed discover reads this machine" 0 "node " "railbed discover"
  expect "and its facts are facts" 0 " on 1 node" "railbed discover -o yaml >node.yaml 2>/dev/null && { railbed check good.yaml node.yaml || [ \$? = 2 ]; }"
  expect "railbed-cni runs" 0 '"supportedVersions"' "echo '{}' | CNI_COMMAND=VERSION railbed-cni"
}

# The agent is another program, which railbed finds where the package put it; it ends in order when it is asked to.
check_agent() {
  expect "railbed agent serves until SIGTERM" 0 "answers on /tmp/railbed-test/socket" "mkdir manifests && timeout --foreground --preserve-status 3 \
    railbed agent --socket /tmp/railbed-test/socket --state-dir state --pending pending --records records --manifests manifests --metrics off"
}

# One with an API server is a third program, with libraries of its own.
check_cluster_agent() {
  expect "railbed agent --kubeconfig reads that file" 1 "nowhere.conf" "railbed agent --socket /tmp/railbed-test/socket --state-dir state \
    --pending pending --records records --metrics off --kubeconfig nowhere.conf"
}

# Shims whose agent goes would let no pod start: the package stays.
check_refusal() {
  inside 'mkdir -p /opt/cni/bin && echo original >/opt/cni/bin/macvlan &&
    railbed cni install --types macvlan,sbr --shim /usr/bin/railbed-cni'
  [ "$status" = 0 ] || { fail "railbed cni install" "$out"; return; }
  expect "apt-get remove refuses while shims are installed" 100 "railbed cni uninstall --bin-dir /opt/cni/bin" \
    "apt-get -y -qq remove railbed"
  expect "and the package is still there" 0 "shim" "railbed cni status --types macvlan"
  expect "railbed cni uninstall puts the originals back" 0 "original" \
    "railbed cni uninstall && cat /opt/cni/bin/macvlan && ! ls /opt/cni/bin/sbr"
  inside 'rm -r /opt/cni'
}

check_removal() {
  paths >"$work/installed"
  inside 'dpkg-query -L railbed'
  echo "$out" | sort >"$work/ours"
  expect "apt-get remove" 0 "" "apt-get -y -qq remove railbed"
  expect "apt-get purge" 0 "" "apt-get -y -qq purge railbed"
  paths >"$work/after"
  local left
  left=$(comm -12 "$work/ours" "$work/after" | comm -23 - "$work/before" | unowned)
  [ -z "$left" ] && pass "no file or directory of the package is left" ||
    fail "no file or directory of the package is left" "$left"
  left=$(comm -13 "$work/before" "$work/after" | unowned)
  [ -z "$left" ] && pass "nothing else came to stay" || fail "nothing else came to stay" "$left"
  left=$(comm -23 "$work/before" "$work/after")
  [ -z "$left" ] && pass "nothing else went" || fail "nothing else went" "$left"
  inside 'find / -xdev -iname "*railbed*" -not -path "/tmp/railbed-test*" -not -path "/proc/*" -not -path "/var/log/*" -not -path "'"${deb%/*}"'/*"
    dpkg-query -W -f "\${Package} \${Status}\n" "railbed*" 2>/dev/null'
  [ -z "$out" ] && pass "nothing is called railbed" || fail "nothing is called railbed" "$out"
}

expect "apt-get update" 0 "" "apt-get -qq update"
# Dependencies first, since they make files of their own (users, caches): what is left of them is theirs.
expect "what it depends on is there" 0 "" "apt-get -y -qq satisfy --no-install-recommends '$(dpkg-deb -f "$deb" Depends)'"
paths >"$work/before"
expect "apt-get install" 0 "" "apt-get -y -qq install --no-install-recommends ./railbed.deb"
write_manifests
if inside "command -v railbed" && [ "$status" = 0 ]; then
  check_programs
  check_files
  check_agent
  check_cluster_agent
  check_refusal
  check_removal
else
  fail "railbed is on the PATH" "$out"
fi
exit "$failed"
