# SPDX-License-Identifier: Apache-2.0
# The virtual switch of a lab: joins all PFs with the same rail name, of any number of guests.
#
# It is a QEMU without a machine: a hub per rail, and on it a unix stream socket per PF. That needs nothing of the
# host's kernel, guests may come and go in any order, and a guest that dies cuts no other guest off. A hub floods: every
# frame goes to every other PF of its rail. Rails do not reach each other.

switch_start() {
  ! alive switch || return 0
  local name
  for name in $(guest_names); do
    ! alive "guest/$name" || [ ! -s "$LAB_DIR/guest/$name/rails" ] ||
      die "the virtual switch has died, and running guests are cut off: lab/lab stop --all, then start them again"
  done
  rm -rf "$LAB_DIR/switch"
  mkdir -p "$LAB_DIR/switch"
  make_pipe "$LAB_DIR/switch/qmp"
  launch switch -machine none -chardev pipe,id=qmp,path=switch/qmp -mon chardev=qmp,mode=control &&
    qmp switch qmp_capabilities >/dev/null || switch_failed "the virtual switch does not start"
}

# A hub's number is the line of the rail's name in a file. Each hub has a port that leads nowhere and takes everything: with
# no other port a hub keeps what a guest sends, and does not read from that guest again when others have come.
rail_number() {
  local rails=$LAB_DIR/switch/rails
  if ! grep -qxF "$1" "$rails" 2>/dev/null; then
    echo "$1" >>"$rails"
    qmp switch netdev_add "{\"type\":\"hubport\",\"id\":\"nowhere-$(wc -l <"$rails")\",\"hubid\":$(wc -l <"$rails")}" >/dev/null || return 1
  fi
  grep -nxF "$1" "$rails" | cut -d : -f 1
}

# switch_plug PORT RAIL: makes the socket switch/PORT and joins it to the rail.
switch_plug() {
  local port=$1 number
  number=$(rail_number "$2") || switch_failed "the switch refuses rail $2"
  switch_unplug "$port"
  qmp switch netdev_add "{\"type\":\"stream\",\"id\":\"$port\",\"server\":true,\"addr\":{\"type\":\"unix\",\"path\":\"switch/$port\"}}" >/dev/null &&
    qmp switch netdev_add "{\"type\":\"hubport\",\"id\":\"$port-hub\",\"hubid\":$number,\"netdev\":\"$port\"}" >/dev/null ||
    switch_failed "the switch refuses port $port on rail $2"
}

switch_failed() { switch_stop_if_unused; die "$1"; }

switch_unplug() {
  alive switch || return 0
  qmp switch netdev_del "{\"id\":\"$1-hub\"}" >/dev/null || true      # not there: fine
  qmp switch netdev_del "{\"id\":\"$1\"}" >/dev/null || true
  rm -f "$LAB_DIR/switch/$1"
}

# Ends with the last guest.
switch_stop_if_unused() {
  local name
  for name in $(guest_names); do ! alive "guest/$name" || return 0; done
  kill_qemu switch
  rm -rf "$LAB_DIR/switch"
}
