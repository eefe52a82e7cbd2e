#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed perf between two virtual machines over soft-RoCE: what it measures, and what it says when something breaks.
#   tests/lab/perf.sh [PART...]      parts: mesh, collective, ping, jitter, measure, verbs, perftest, documents, faults (all); --list prints them
# Speed means nothing here; that traffic flows, is counted right and ends in time, does. RAILBED is the program.
set -uo pipefail
all_parts=(mesh collective ping jitter measure verbs perftest documents faults)
[ "${1:-}" != --list ] || { printf '%s\n' "${all_parts[@]}"; exit 0; }
cd "$(dirname "$0")/../.."
railbed=${RAILBED:-$PWD/build/railbed}
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=("${all_parts[@]}")
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-perf.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
failed=0

pass() { echo "PASS perf: $*"; }
fail() { echo "FAIL perf: $*"; failed=1; }
has() { if [[ "$2" == *"$3"* ]]; then pass "$1"; else fail "$1: no \"$3\" in"; printf '%s\n' "$2" | sed 's/^/    /'; fi; }  # NAME TEXT PART
on() { local guest=$1; shift; lab/lab exec "$guest" -t 150 -- "$*"; }
# What a Python expression over the result `m` (one measurement) says of a client's JSON.
holds() { # NAME JSON EXPRESSION
  if python3 -c 'import json,sys
m = json.loads(sys.argv[1])["measurements"][0]
bw, lat = m["bandwidth"], m["latency"]
sys.exit(0 if eval(sys.argv[2]) else 1)' "$2" "$3" 2>/dev/null; then pass "$1"; else fail "$1: not ($3) in"; printf '%s\n' "$2" | tail -40 | cut -c1-300 | sed 's/^/    /'; fi
}

# Guest N: 10.R.0.N with a soft device on each of its rails R, and a server.
prepare() {
  local n ready=()
  for n in 1 2; do
    lab/lab start "p$n" --pf rail0 --pf rail1 --stripped "$railbed:/usr/bin/railbed" >"$LAB_DIR/p$n.log" 2>&1 &
  done
  wait
  for n in 1 2; do
    on "p$n" "hostname p$n
      for r in 0 1; do ip link set eth\$r up; done
      for r in 0 1; do
        for i in \$(seq 600); do ip link show eth\$r | grep -q LOWER_UP && break; sleep 0.1; done
        ip addr add 10.\$r.0.$n/24 dev eth\$r && rdma link add rxe\$r type rxe netdev eth\$r || exit 1
      done" &
    ready+=($!)
  done
  for n in 1 2; do wait "${ready[$((n - 1))]}" || { fail "guest p$n is not ready"; cat "$LAB_DIR/p$n.log"; exit 1; }; done
}
serve() { on p1 'railbed perf serve >/tmp/serve.log 2>&1 & for i in $(seq 600); do grep -q serving /tmp/serve.log && exit 0; sleep 0.1; done; exit 1' || fail "the server does not start"; }
served() { # NAME PART: the server says so, after a while
  local end=$((SECONDS + 60)) said
  until said=$(on p1 cat /tmp/serve.log); [[ "$said" == *"$2"* ]] || [ $SECONDS -ge $end ]; do sleep 0.1; done
  has "$1" "$said" "$2"
}
packets() { on p1 cat /sys/class/net/eth0/statistics/rx_packets; }
# Until a client measures: many more packets have come to p1 than it takes to connect.
measuring() { # PACKETS-BEFORE
  on p1 "for i in \$(seq 1000); do [ \$(cat /sys/class/net/eth0/statistics/rx_packets) -gt $(($1 + 1000)) ] && exit 0; sleep 0.1; done"
}
# A client on p2, killed when it measures, which 1000 packets more show.
killed_in_the_middle() { # COMMAND
  on p2 "rx() { cat /sys/class/net/eth0/statistics/rx_packets; }; before=\$(rx); $1 >/dev/null 2>&1 & client=\$!
    for i in \$(seq 1000); do [ \$(rx) -gt \$((before + 1000)) ] && break; sleep 0.1; done; kill -9 \$client" || fail "a client that is to be killed has ended: $1"
}

# A client's JSON. On a machine with much other work packets are sent again, and soft-RoCE's responder may take one of them in the
# middle of a message for an invalid request, which ends the measurement: then it is made again, twice at most.
measured() { # MEASUREMENT...
  local json try
  for try in 1 2 3; do
    json=$(on p2 railbed perf "$@" -o json)
    [[ "$json" == *"remote invalid request error"* ]] || break
    echo "figure: measurement $* was made again (try $try): remote invalid request error" >&2
  done
  printf '%s\n' "$json"
}

measure() {
  local json
  json=$(measured bw 10.0.0.1 -D 1 --label rail0)
  holds "bw: traffic flows" "$json" 'bw[0]["average_gbps"] > 0 and bw[0]["messages"] > 0 and bw[0]["peak_gbps"] >= bw[0]["average_gbps"]'
  holds "bw: the average is bytes over time" "$json" 'abs(bw[0]["average_gbps"] * bw[0]["duration_s"] / (8e-9 * 65536 * bw[0]["messages"]) - 1) < 1e-6'
  holds "bw: device and GID by rule" "$json" 'm["client"]["device"] == "rxe0" and m["client"]["gid_reason"].endswith("RoCE v2, 10.0.0.2 on eth0, by rule") and m["server"]["address"] == "10.0.0.1"'
  holds "bw: marked soft" "$json" 'm["soft"] and m["client"]["soft"] and m["server"]["soft"]'
  holds "bw: what was really used, and the link of both ends" "$json" 'bw[0]["used_tx_depth"] == 128 and bw[0]["used_post_batch"] == 1 and not bw[0]["used_inline"] and m["client"]["link"] != "" and m["server"]["link"] != ""'
  holds "bw: a series over time" "$json" 'len(bw[0]["series"]["gbps"]) >= 3'
  json=$(measured lat 10.1.0.1 -D 1)
  holds "lat: takes the device toward the address" "$json" 'm["client"]["device"] == "rxe1"'
  holds "lat: percentiles in order" "$json" '(lambda p: len(p) > 2 and p[0] > 0 and p == sorted(p))([lat[0]["round_trip_" + k + "_us"] for k in ("min", "p50", "p90", "p99", "p99_9", "max") if "round_trip_" + k + "_us" in lat[0]])'
  holds "lat: deviation and series" "$json" 'lat[0]["round_trip_stddev_us"] > 0 and sum(lat[0]["round_trip_series"]["samples"]) == lat[0]["samples"]'
  holds "lat: the samples fill the time" "$json" '0.5 < 1e-6 * lat[0]["round_trip_mean_us"] * lat[0]["samples"] / lat[0]["duration_s"] <= 1.001'
  json=$(measured lat 10.0.0.1 --rate 20 -D 1)
  holds "lat --rate: every ping that was due" "$json" 'lat[0]["samples"] == 20 and lat[0]["duration_s"] > 0.94'
  json=$(measured lat 10.0.0.1 -n 200 -s 8192)
  holds "lat: as many iterations as asked, too large for inline" "$json" 'lat[0]["samples"] == 200 and lat[0]["size_bytes"] == 8192'
  json=$(measured bw 10.0.0.1 -a --max-size 256KiB -D 0.1 -q 2)
  holds "bw -a: every power of two, two queue pairs" "$json" '[p["size_bytes"] for p in bw] == [2 ** i for i in range(1, 19)] and all(p["messages"] > 0 for p in bw)'
  json=$(measured bw 10.0.0.1 -n 70 -s 4096 -q 3)
  holds "bw: as many iterations as asked, per queue pair" "$json" 'bw[0]["messages"] == 210'
  json=$(measured bw 10.0.0.1 -b -D 1)
  holds "bw -b: both directions" "$json" 'bw[0]["reverse_average_gbps"] > 0 and bw[0]["average_gbps"] > 0'
  json=$(measured bw 10.0.0.1 --tcp -q 2 -D 1)
  holds "bw --tcp" "$json" 'bw[0]["average_gbps"] > 0 and m["parameters"]["transport"] == "tcp" and not m["soft"]'
  json=$(measured lat 10.0.0.1 --tcp -D 1)
  holds "lat --tcp" "$json" 'lat[0]["samples"] > 10'
  both_rails
  in_a_namespace
}

# Both guests are endpoints with two rails, on a port of their own; p2 coordinates.
mesh() {
  local n out
  for n in 1 2; do
    on "p$n" '(umask 077; echo open-sesame-of-the-lab >/tmp/token); railbed perf serve --port 18700 --token-file /tmp/token >/tmp/mesh.log 2>&1 & echo $! >/tmp/mesh.pid; for i in $(seq 600); do grep -q serving /tmp/mesh.log && exit 0; sleep 0.1; done; exit 1' || fail "mesh: an endpoint does not start"
  done
  out=$(on p2 'railbed perf mesh p1=10.0.0.1,10.1.0.1 p2=10.0.0.2,10.1.0.2 --port 18700 --token-file /tmp/token -D 0.2 -q 1 --save /tmp/mesh -o json')
  if python3 -c 'import json, sys
m = json.loads(sys.argv[1])
c = m["coverage"]
sys.exit(0 if m["complete"] and m["soft"] and c["planned"] == 2 and c["measured"] + c["failed"] == 2 and c["measured"] > 0
         and len(m["loop_back"]) == 4 and not m["lost"] and not m["skipped"] else 1)' "$out"; then pass "mesh: all rails of two hosts, over soft RDMA"; else fail "mesh: $out"; fi
  out=$(on p2 'railbed perf mesh --from /tmp/mesh --compare /tmp/mesh')
  has "mesh: the file says it again" "$out" "2 hosts, 2 rails, quick, same-rail: "
  has "mesh: against itself" "$out" "no NIC is worse than in the baseline"
  on p1 'kill -INT $(cat /tmp/mesh.pid); for i in $(seq 600); do kill -0 $(cat /tmp/mesh.pid) 2>/dev/null || exit 0; sleep 0.1; done; exit 1' || fail "mesh: the endpoint does not end"
  out=$(on p2 'railbed perf mesh p1=10.0.0.1,10.1.0.1 p2=10.0.0.2,10.1.0.2 --port 18700 --token-file /tmp/token 2>&1; echo status $?')
  has "mesh: says who is not there" "$out" "a mesh needs two endpoints, 1 of 2 can be used; p1: connecting to 10.0.0.1 port 18700"
  on p2 'kill -INT $(cat /tmp/mesh.pid); for i in $(seq 600); do kill -0 $(cat /tmp/mesh.pid) 2>/dev/null || exit 0; sleep 0.1; done'
  registered_mesh
}

# Endpoints that are there before the coordinator, and say their rails themselves.
registered_mesh() {
  local n out
  for n in 1 2; do
    on "p$n" 'railbed perf serve --port 18700 --token-file /tmp/token --register 10.0.0.2:18701 --rail eth0,eth1 >/tmp/mesh.log 2>&1 & echo $! >/tmp/mesh.pid; for i in $(seq 600); do grep -q "not registered" /tmp/mesh.log && exit 0; sleep 0.1; done; exit 1' || fail "mesh: an endpoint does not start, or does not say that it cannot register"
  done
  out=$(on p2 'railbed perf mesh --listen 18701 --wait 2 --wait-time 60 --token-file /tmp/token -D 0.2 -q 1 -o json 2>/dev/null')
  if python3 -c 'import json, sys
m = json.loads(sys.argv[1])
c = m["coverage"]
sys.exit(0 if m["complete"] and c["planned"] == 2 and c["measured"] > 0 and not m["lost"] else 1)' "$out"; then pass "mesh: endpoints that register, two rails each"; else fail "mesh, registered: $out"; fi
  for n in 1 2; do on "p$n" 'kill -INT $(cat /tmp/mesh.pid)'; done
}

# Two ranks with two rails, and four ranks as two servers of each guest; p2 coordinates.
collective() {
  local n port out
  for n in 1 2; do
    for port in 18710 18711; do
      on "p$n" "(umask 077; echo open-sesame-of-the-lab >/tmp/token); railbed perf serve --port $port --token-file /tmp/token >/tmp/rank.$port 2>&1 & echo \$! >>/tmp/ranks.pid; for i in \$(seq 600); do grep -q serving /tmp/rank.$port && exit 0; sleep 0.1; done; exit 1" || fail "collective: a rank does not start"
    done
  done
  local right='m["complete"] and m["right"] and m["soft"] and all(r["busbw_gbytes_per_s"] > 0 and len(x["ranks"]) == len(m["ranks"]) and all(t["waited_p50_us"] > 0 for t in x["ranks"]) for r in m["results"] for x in r["rails"])'
  out=$(on p2 'railbed perf collective p1=10.0.0.1,10.1.0.1 p2=10.0.0.2,10.1.0.2 --port 18710 --token-file /tmp/token -b 8 -e 1MiB -f 512 -n 3 -w 1 --save /tmp/collective.json -o json')
  if python3 -c "import json, sys
m = json.loads(sys.argv[1])
sys.exit(0 if $right and len(m['results']) == 4 and len(m['results'][0]['rails']) == 2 else 1)" "$out"; then pass "collective: two ranks, two rails, over soft RDMA"; else fail "collective: $out"; fi
  [ "$out" = "$(on p2 'cat /tmp/collective.json')" ] && pass "collective: the same is saved" || fail "collective: --save wrote something else"
  on p2 'printf "hosts:\n- {name: a, port: 18710, rails: [{address: 10.0.0.1}]}\n- {name: b, port: 18711, rails: [{address: 10.0.0.1}]}\n- {name: c, port: 18710, rails: [{address: 10.0.0.2}]}\n- {name: d, port: 18711, rails: [{address: 10.0.0.2}]}\n" >/tmp/ranks.yaml'
  out=$(on p2 'railbed perf collective --endpoints /tmp/ranks.yaml --token-file /tmp/token -b 64 -e 32KiB -f 512 -n 3 -w 1 -o json')
  if python3 -c "import json, sys
m = json.loads(sys.argv[1])
sys.exit(0 if $right and len(m['ranks']) == 4 and len(m['results'][0]['rails'][0]['steps']) == 6 else 1)" "$out"; then pass "collective: four ranks, two on each guest"; else fail "collective: $out"; fi
  on p1 'kill -KILL $(head -1 /tmp/ranks.pid)'
  out=$(on p2 'railbed perf collective --endpoints /tmp/ranks.yaml --token-file /tmp/token -e 64 2>&1; echo status $?')
  has "collective: says who is not there" "$out" "a collective needs all its ranks; a: connecting to 10.0.0.1 port 18710"
  for n in 1 2; do on "p$n" 'kill -INT $(cat /tmp/ranks.pid) 2>/dev/null; rm -f /tmp/ranks.pid; true'; done
}

# Through the connection manager, with railbed's server and with rping in both roles.
ping_path() {
  local out
  out=$(on p2 'railbed perf ping 10.0.0.1 -n 50 -s 4096 -o json')
  if python3 -c 'import json, sys
m = json.loads(sys.argv[1])
ok = m["complete"] and m["soft"] and m["pings"] == 50 and m["size_bytes"] == 4096 and m["device"] == "rxe0"
ok = ok and m["local_address"] == "10.0.0.2" and m["peer_address"] == "10.0.0.1" and m["role"] == "mover"
ok = ok and all(v > 0 for v in m["opening"].values())
sys.exit(0 if ok and all(m[k]["samples"] == 50 and 0 < m[k]["min_us"] <= m[k]["p50_us"] <= m[k]["max_us"] for k in ("message", "read", "write")) else 1)' "$out"
  then pass "ping: each phase has its time"; else fail "ping: $out"; fi
  served "ping: the server says so" "10.0.0.2: pings of 4 KiB"
  on p1 'rping -s -P -S 1000 >/tmp/rping.log 2>&1 & echo $! >/tmp/rping.pid; sleep 1'
  out=$(on p2 'railbed perf ping --peer-rping 10.0.0.1 -n 20 -s 1000 2>&1; echo "status $?"')
  has "ping: an unmodified rping answers" "$out" "20 pings of 1000 B, all data intact"
  has "ping: an unmodified rping answers, status 0" "$out" "status 0"
  out=$(on p2 'railbed perf ping --peer-rping 10.0.0.1 -n 1 -s 2000 2>&1')
  has "ping: more than rping has room for: what to do" "$out" "rping -s -S 2000"
  on p1 'kill -9 $(cat /tmp/rping.pid)'
  out=$(on p2 'railbed perf ping --peer-rping 10.0.0.1 2>&1; echo "status $?"')
  has "ping: no rping there" "$out" "connect: connecting to 10.0.0.1 port 7174: rejected (reason 8)"
  has "ping: no rping there: what to do" "$out" "nothing is listening on this port"
  on p1 'railbed perf ping --peer-rping --listen --once >/tmp/listen.log 2>&1 & for i in $(seq 100); do grep -q serving /tmp/listen.log && break; sleep 0.1; done'
  out=$(on p2 'rping -c -a 10.0.0.1 -C 20 -S 2000 -V -v 2>&1; echo "status $?"')
  has "ping: an unmodified rping asks and checks the data" "$out" "status 0"
  has "ping: it got its own data back" "$out" "ping data: rdma-ping-19"
  out=$(on p1 'for i in $(seq 100); do grep -q WRITE.*20 /tmp/listen.log && break; sleep 0.1; done; cat /tmp/listen.log')
  has "ping: its READs and WRITEs are timed" "$out" "20 pings of 2000 B; rping checks the data (-V)"
  out=$(on p2 'railbed perf ping --peer-rping 10.0.0.77 2>&1; echo "status $?"')
  has "ping: no host has the address" "$out" "address: finding the RDMA device and the neighbour for 10.0.0.77 port 7174"
  has "ping: no host has the address: status 1" "$out" "status 1"
}

# Rounds idle and under load in turns, over soft-RoCE, which has no clock of its own.
jitter() {
  local out
  out=$(on p2 'railbed perf jitter 10.0.0.1 --rate 200 -D 1 --label rail0 --save /tmp/jitter.json -o json')
  if python3 -c 'import json, sys
m = json.loads(sys.argv[1])
ok = m["complete"] and m["soft"] and m["clock"] == "software" and m["client"]["device"] == "rxe0" and m["repeats"] == 3
for kind in ("idle", "loaded"):
    c = m[kind]
    ok = ok and c["repeats"] == 3 and c["whole"]["samples"] == 600 and 0 < c["cpu_percent"] < 50
    ok = ok and all(p["low_us"] <= p["us"] <= p["high_us"] for p in c["percentiles"]) and [p["percent"] for p in c["percentiles"]] == [50, 90]
    ok = ok and c["sending"]["mean_us"] + c["between"]["mean_us"] - c["whole"]["mean_us"] < 1
ok = ok and m["idle"]["load_gbps"] == 0 and m["loaded"]["load_gbps"] > 0 and "drift" in m["idle"]
ok = ok and len(m["worst_windows"]) == 5 and m["worst_windows"][0]["max_us"] == max(m[k]["whole"]["max_us"] for k in ("idle", "loaded"))
sys.exit(0 if ok else 1)' "$out"; then pass "jitter: idle and under load in turns, with intervals"; else fail "jitter: $out"; fi
  out=$(on p2 'railbed perf report /tmp/jitter.json -o /tmp/jitter.html && grep -c "Jitter by a schedule" /tmp/jitter.html')
  has "jitter: the report's table has it" "$out" "rail0  loaded (soft)"
  has "jitter: the report's page has it" "$(tail -1 <<<"$out")" 1
  out=$(on p2 'railbed perf jitter 10.0.0.1 -D 2 --repeats 1 --idle-only 2>&1; echo "status $?"')
  has "jitter: idle only, at the usual rate" "$out" "1000 probes a second by a schedule, 1 x 2 s; software clock"
  has "jitter: status 0" "$out" "status 0"
  echo "figure: jitter:$(printf '%s\n' "$out" | grep 'the probing thread took')" >&2
  out=$(on p2 'railbed perf jitter 10.0.0.1 -D 60 --idle-only >/tmp/jitter.log 2>&1 & sleep 1; kill -INT $!; wait $!; echo "status $?"; cat /tmp/jitter.log')
  has "jitter: Ctrl-C ends it" "$out" "status 1"
}

# Each verb both ways; what it cannot have is in the unit tests.
verbs() {
  local json verb size halves
  for verb in write-imm read send fetch-add send-ud; do
    size=1024 halves='"half_min_us" in lat[0]'
    case $verb in fetch-add) size=8 halves="not $halves" ;; read) halves="not $halves" ;; esac
    json=$(measured bw 10.0.0.1 --verb $verb -s $size -D 0.3)
    holds "$verb: bw" "$json" 'm["parameters"]["verb"] == "'$verb'" and bw[0]["messages"] > 0 and bw[0]["average_gbps"] > 0'
    json=$(measured bw 10.0.0.1 --verb $verb -s $size -D 0.3 -b -q 2)
    holds "$verb: bw -b, two queue pairs" "$json" 'bw[0]["messages"] > 0 and bw[0]["reverse_average_gbps"] > 0'
    json=$(measured lat 10.0.0.1 --verb $verb -s $size -n 20)
    holds "$verb: lat" "$json" 'lat[0]["samples"] + lat[0]["lost_messages"] == 20 and lat[0]["samples"] > 10 and lat[0]["round_trip_min_us"] > 0'
    holds "$verb: halves only where they are known" "$json" "$halves"
  done
  json=$(measured rate 10.0.0.1 --post-list 4 --traffic-class 104 --flow-label 77 --yield on -D 0.3)
  holds "rate: 2 bytes, with the options that were asked for" "$json" 'bw[0]["size_bytes"] == 2 and bw[0]["used_post_batch"] == 4 and m["client"]["yields"] and m["client"]["pkey"] == "0xffff"'
  json=$(measured bw 10.0.0.1 -q 4 --threads 2 -D 0.5)
  holds "threads: two of them, and by what they posted" "$json" 'm["client"]["threads"] == 2 and m["server"]["threads"] == 1 and m["client"]["post"] in ("ibv_wr", "ibv_post_send") and bw[0]["messages"] > 0 and bw[0]["average_gbps"] > 0'
  watched
}

# The client's own port while it measures.
watched() {
  local out
  out=$(on p2 'railbed perf watch rxe0 --interval 0.5 -n 4 -o json & railbed perf bw 10.0.0.1 -D 1.5 >/dev/null; wait')
  if python3 -c 'import json,sys
lines = [json.loads(l) for l in sys.argv[1].splitlines()]
f = [l["figures"] for l in lines]
sys.exit(0 if len(lines) == 4 and all(l["netdev"] == "eth0" and l["state"] == "there" for l in lines)
  and sum(x["sent_packets"] for x in f) == sum(l["counters"].get("port_xmit_packets", 0) for l in lines) > 0
  and all(x["cnps_sent"] is None for x in f) else 1)' "$out"
  then pass "watch: what moves, and what the driver does not count"; else fail "watch: $out"; fi
  pauses
}

# The driver of eth0 (igb) counts pause frames, and none come here; that of a veth has no such counter, which is not 0.
pauses() {
  local out json
  out=$(on p2 'ip link add veth0 type veth peer name veth1; rdma link add rxe_v type rxe netdev veth0
    railbed perf watch rxe0 rxe_v --interval 0.2 -n 1 -o json; rdma link del rxe_v; ip link del veth0')
  if python3 -c 'import json,sys
f = {l["device"]: l["figures"] for l in map(json.loads, sys.argv[1].splitlines())}
sys.exit(0 if (f["rxe0"]["pauses_sent"], f["rxe0"]["pauses_received"]) == (0, 0)
  and (f["rxe_v"]["pauses_sent"], f["rxe_v"]["pauses_received"]) == (None, None) else 1)' "$out"
  then pass "watch: pause frames of a driver that counts them, and of one that does not"; else fail "watch: pause frames: $out"; fi
  json=$(measured bw 10.0.0.1 -D 0.3)
  holds "pause frames: counted by both drivers, and none came" "$json" 'm["client"]["counts_pauses"] and m["server"]["counts_pauses"] and not any("flow_control" in c for c in m["client_counters"])'
}

# A program in the background on p1, until it listens on perftest's port (18515).
waits_on_p1() { # COMMAND
  on p1 "$1 >/tmp/waits.out 2>/tmp/waits.err & echo \$! >/tmp/waits.pid
    for i in \$(seq 300); do grep -q ':4853 .* 0A ' /proc/net/tcp /proc/net/tcp6 && exit 0; sleep 0.1; done; exit 1" || { fail "no server: $1"; on p1 'tail -5 /tmp/waits.out /tmp/waits.err'; }
}
ended_on_p1() { on p1 'for i in $(seq 300); do kill -0 $(cat /tmp/waits.pid) 2>/dev/null || break; sleep 0.1; done; kill -9 $(cat /tmp/waits.pid) 2>/dev/null; cat /tmp/waits.out'; }
# Our figures against the row that perftest printed for a size: within a hundredth, MiB/s and million messages.
as_printed() { # NAME JSON SIZE PRINTED
  if python3 -c 'import json, sys
m, size = json.loads(sys.argv[1])["measurements"][0], sys.argv[2]
row = next(l.split() for l in sys.argv[3].splitlines() if l.split()[:1] == [size])
bw = next(p for p in m["bandwidth"] if str(p["size_bytes"]) == size)
near = lambda a, b: abs(a - b) <= 0.01 * b + 0.01
sys.exit(0 if near(float(row[3]) * 2**20 * 8e-9, bw["average_gbps"]) and near(float(row[4]), bw["message_rate_per_s"] / 1e6) else 1)' "$2" "$3" "$4"
  then pass "$1"; else fail "$1: perftest printed"; printf '%s\n' "$4" "$2" | tail -60 | cut -c1-200 | sed 's/^/    /'; fi
}

# An unmodified perftest at the other end: its server, its client, and what goes wrong with it.
perftest() {
  local json out verb
  waits_on_p1 "ib_write_bw -d rxe0 -s 65536 -F"
  json=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -n 300 -o json 2>/dev/null')
  as_printed "perftest's server prints our figures" "$json" 65536 "$(ended_on_p1)"
  holds "the peer is marked" "$json" 'm["server"]["program"].startswith("perftest 6.") and m["server"]["address"] == "10.0.0.1" and "program" not in m["client"] and m["soft"]'
  for verb in write read send; do
    waits_on_p1 "ib_${verb}_bw -d rxe0 -s 4096 -n 200 -q 2 -b -F"
    json=$(on p2 "railbed perf bw 10.0.0.1 --peer-perftest --verb $verb -s 4096 -n 200 -q 2 -b -o json 2>/dev/null")
    holds "ib_${verb}_bw -b, two queue pairs" "$json" 'bw[0]["messages"] == 400 and bw[0]["average_gbps"] > 0 and bw[0]["reverse_average_gbps"] > 0'
    ended_on_p1 >/dev/null
    waits_on_p1 "ib_${verb}_lat -d rxe0 -s 64 -n 300 -F"
    json=$(on p2 "railbed perf lat 10.0.0.1 --peer-perftest --verb $verb -s 64 -n 300 -o json 2>/dev/null")
    holds "ib_${verb}_lat" "$json" 'lat[0]["samples"] == (299 if m["parameters"]["verb"] == "write" else 300) and lat[0]["round_trip_min_us"] > 0'
    ended_on_p1 >/dev/null
  done
  for verb in read send; do
    waits_on_p1 "ib_${verb}_bw -d rxe0 -n 300 -F"
    json=$(on p2 "railbed perf bw 10.0.0.1 --peer-perftest --verb $verb -n 300 -o json 2>/dev/null")
    holds "ib_${verb}_bw" "$json" 'bw[0]["messages"] == 300 and bw[0]["average_gbps"] > 0'
    ended_on_p1 >/dev/null
  done
  waits_on_p1 "ib_write_bw -d rxe0 -s 65536 -F"
  json=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -a --max-size 64KiB -n 20 -o json 2>/dev/null')
  holds "all sizes up to that of ib_write_bw" "$json" '[(p["size_bytes"], p["messages"]) for p in bw] == [(2 ** i, 20) for i in range(1, 17)]'
  ended_on_p1 >/dev/null
  perftest_clients
  perftest_faults
}

# railbed as the server on p1.
perftest_clients() {
  local json out verb
  for verb in write read send; do
    waits_on_p1 "railbed perf bw --peer-perftest --verb $verb -s 4096 -o json"
    out=$(on p2 "timeout 60 ib_${verb}_bw -d rxe0 -s 4096 -n 300 -F 10.0.0.1")
    json=$(ended_on_p1)
    if [ $verb = send ]; then
      holds "railbed serves ib_send_bw" "$json" 'bw[0]["messages"] == 300 and bw[0]["average_gbps"] > 0'
    else
      as_printed "railbed serves ib_${verb}_bw, and has its figures" "$json" 4096 "$out"
    fi
  done
  for verb in write send read; do
    waits_on_p1 "railbed perf lat --peer-perftest --verb $verb -n 300 -o json"
    out=$(on p2 "timeout 60 ib_${verb}_lat -d rxe0 -n 300 -F 10.0.0.1; echo status \$?")
    json=$(ended_on_p1)
    has "railbed serves ib_${verb}_lat" "$out" "status 0"
    holds "railbed serves ib_${verb}_lat: samples" "$json" '[p["samples"] for p in lat] == {"write": [300], "send": [299], "read": []}[m["parameters"]["verb"]] and m["client"]["program"].startswith("perftest 6.")'
  done
}

perftest_faults() {
  local out before
  waits_on_p1 "ib_write_bw -d rxe0 -s 4096 -F"
  out=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -s 1MiB -n 50 2>&1; echo "status $?"')
  has "perftest for another size: says what it must be" "$out" "run on the other end: ib_write_bw -s 1048576 -F"
  has "perftest for another size: status 1" "$out" "status 1"
  ended_on_p1 >/dev/null
  waits_on_p1 "ib_write_bw -d rxe0 -F"
  before=$(packets)
  out=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -D 60 2>&1; echo "status $?"' & measuring "$before"; on p1 'kill -9 $(cat /tmp/waits.pid)'; wait)
  has "perftest killed in the middle: says so" "$out" "the peer closed the connection"
  has "perftest killed in the middle: status 1" "$out" "status 1"
  out=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest --port 18600 2>&1; echo "status $?"')
  has "no perftest: says what it is not" "$out" "the peer does not speak perftest's protocol: as its version it sent"
  out=$(on p2 'railbed perf lat 10.0.0.1 --peer-perftest --port 1 2>&1; echo "status $?"')
  has "wrong port: says what must run there" "$out" "run on the other end: ib_write_lat -s 2 -n 1000 -p 1 -F"
  waits_on_p1 "railbed perf lat --peer-perftest -n 100000"
  killed_in_the_middle "ib_write_lat -d rxe0 -n 100000 -F 10.0.0.1"
  ended_on_p1 >/dev/null
  has "perftest's client killed in the middle: says so" "$(on p1 cat /tmp/waits.err)" "the peer closed the connection"
}

# The lines of published documents (docs/documents.md), verbatim but for the device and the address, against railbed.
documents() {
  local json out before
  waits_on_p1 "ib_write_bw -d rxe0 -a --report_gbits"
  json=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -a -D 0.3 -o json 2>/dev/null')
  holds "document A, its server: figures of each size" "$json" '[p["size_bytes"] for p in bw] == [2 ** i for i in range(1, 24)] and all(p["messages"] > 0 and p["average_gbps"] > 0 for p in bw)'
  # Each end prints what the other one sends, in the sender's unit: a client without the option sends MiB/s.
  as_printed_in "MiB/s" "document A, its server prints our figure of the last size, in MiB/s" "$json" "$(ended_on_p1)"

  # The client's line has a slip, which perftest refuses before it connects: the server still waits for the right one.
  waits_on_p1 "railbed perf bw --peer-perftest -a -o json"
  out=$(on p2 'ib_write_bw -d rxe0 -a --report_bgits 10.0.0.1 2>&1; echo "status $?"')
  has "document A, its client as printed: perftest names the option that it does not know" "$out" "unrecognized option '--report_bgits'"
  # All 23 sizes of 5,000 messages are 84 GB, an hour of these machines: as many as a minute has, then a few messages of each size.
  before=$(packets)
  on p2 'timeout -s KILL 60 ib_write_bw -d rxe0 -a --report_gbits 10.0.0.1 >/tmp/client.out 2>&1; true'
  ended_on_p1 >/dev/null
  if [ "$(packets)" -gt $((before + 20000)) ]; then pass "document A, its client: railbed serves it"; else fail "document A, its client: no traffic"; on p2 'tail -5 /tmp/client.out'; fi
  has "document A, its client is cut off: railbed says so" "$(on p1 cat /tmp/waits.err)" "the peer closed the connection"
  waits_on_p1 "railbed perf bw --peer-perftest -a -o json"
  out=$(on p2 'timeout 140 ib_write_bw -d rxe0 -a --report_gbits -n 5 10.0.0.1 2>&1; echo "status $?"')
  json=$(ended_on_p1)
  has "document A, its client with 5 messages of each size: done" "$out" "status 0"
  same_sizes "document A, its client prints all sizes" "$out"
  as_printed_in "Gb/s" "document A, its client prints our figures of the last size" "$json" "$out"

  waits_on_p1 "ib_write_bw -d rxe0"
  json=$(on p2 'railbed perf bw 10.0.0.1 --peer-perftest -n 300 -o json 2>/dev/null')
  as_printed "document B, its server" "$json" 65536 "$(ended_on_p1)"
  waits_on_p1 "railbed perf bw --peer-perftest -o json"
  out=$(on p2 'timeout 140 ib_write_bw -d rxe0 10.0.0.1')
  as_printed "document B, its client" "$(ended_on_p1)" 65536 "$out"
}
# The row of 8 MiB that perftest printed in this unit, against our last figure, within a hundredth.
as_printed_in() { # Gb/s|MiB/s NAME JSON PRINTED
  local unit=$1
  shift
  if python3 -c 'import json, sys
bw = json.loads(sys.argv[1])["measurements"][0]["bandwidth"][-1]
row = next(l.split() for l in sys.argv[2].splitlines() if l.split()[:1] == ["8388608"])
wanted = bw["average_gbps"] * (1 if sys.argv[3] == "Gb/s" else 1e9 / 8 / 2 ** 20)
sys.exit(0 if bw["size_bytes"] == 8388608 and abs(float(row[3]) - wanted) <= 0.01 * wanted + 0.01 else 1)' "$2" "$3" "$unit"
  then pass "$1"; else fail "$1: perftest printed"; printf '%s\n' "$2" "$3" | tail -60 | cut -c1-200 | sed 's/^/    /'; fi
}
# One row of five figures for each size. The guest's console may lose the end of a line.
same_sizes() { # NAME PRINTED
  if python3 -c 'import re, sys
sizes = [int(size) for size in re.findall(r"(?<!\S)(\d+)\s+\d+\s+\d+\.\d+\s+\d+\.\d+\s+\d+\.\d+(?!\S)", sys.argv[1])]
sys.exit(0 if sizes == [2 ** i for i in range(1, 24)] else 1)' "$2"
  then pass "$1"; else fail "$1: it printed"; printf '%s\n' "$2" | tail -40 | sed 's/^/    /'; fi
}

both_rails() {
  local out
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 >/tmp/a 2>&1 & railbed perf bw 10.1.0.1 -D 1 >/tmp/b 2>&1; echo "rail1: $?"; wait $!; echo "rail0: $?"; cat /tmp/a /tmp/b')
  has "two clients at once, rail0" "$out" "rail0: 0"
  has "two clients at once, rail1" "$out" "rail1: 0"
}

# A pod's view: the table of a shared device lists entries of other namespaces, whose interface numbers may be the same.
in_a_namespace() {
  local json
  json=$(on p2 'rdma link del rxe1; ip netns add pod; ip link set eth1 netns pod
    ip -n pod link set lo up; ip -n pod link set eth1 up; ip -n pod addr add 10.1.0.2/24 dev eth1
    for i in $(seq 600); do ip -n pod link show eth1 | grep -q LOWER_UP && break; sleep 0.1; done
    ip netns exec pod rdma link add rxe1 type rxe netdev eth1 && ip netns exec pod railbed perf bw 10.1.0.1 -D 1 -o json')
  holds "in a namespace: its own device and GID" "$json" 'm["client"]["device"] == "rxe1" and m["client"]["address"] == "10.1.0.2" and bw[0]["messages"] > 0'
  json=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --device rxe1 2>&1; echo "status $?"')
  has "a device of another namespace: says so" "$json" "belongs to another network namespace"
  has "a device of another namespace: status 1" "$json" "status 1"
  on p2 'rdma link del rxe1; ip netns del pod; for i in $(seq 600); do ip link show eth1 >/dev/null 2>&1 && break; sleep 0.1; done
    ip link set eth1 up; for i in $(seq 600); do ip link show eth1 | grep -q LOWER_UP && break; sleep 0.1; done
    ip addr add 10.1.0.2/24 dev eth1; rdma link add rxe1 type rxe netdev eth1' || fail "eth1 does not come back"
}

wrong_places() {
  local out
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --gid-rule index=77 2>&1; echo "status $?"')
  has "no such GID: says why each was passed over" "$out" "rule requires index 77"
  has "no such GID: status 1" "$out" "status 1"
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --gid-rule index=0 2>&1; echo "status $?"')
  has "wrong GID: says what to do" "$out" "use --gid-rule auto"
  has "wrong GID: status 1" "$out" "status 1"
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --device rxe1 2>&1; echo "status $?"')
  has "device of the other rail: toward which GID" "$out" "toward GID 10.0.0.1"
  has "device of the other rail: status 1" "$out" "status 1"
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --device mlx5_0 2>&1; echo "status $?"')
  has "no such device: lists those there are" "$out" "this machine has rxe0, rxe1"
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 1 --remote-device mlx5_0 2>&1; echo "status $?"')
  has "no such device at the server: the client reports it" "$out" "at the server: the peer says: no RDMA device mlx5_0"
  out=$(on p2 'railbed perf bw 10.7.0.1 -D 1 2>&1; echo "status $?"')
  has "no route to the server: says so" "$out" "ENETUNREACH"
  has "no route to the server: what to do" "$out" "ip route get 10.7.0.1"
  out=$(on p2 'railbed perf bw 10.0.0.1 --port 1 -D 1 2>&1; echo "status $?"')
  has "no listener: says so" "$out" 'check that `railbed perf serve` is running on 10.0.0.1 with port 1'
  out=$(on p2 'ip link set eth1 down; railbed perf bw 10.0.0.1 -D 1 --device rxe1 2>&1; echo "status $?"; ip link set eth1 up')
  has "port down: says so" "$out" "rxe1 port 1 is DOWN, not ACTIVE"
  has "port down: what to do" "$out" "bring its network interface up"
  out=$(on p2 'grep -q nobody /etc/passwd || echo nobody:x:65534:65534::/:/bin/sh >>/etc/passwd
    ulimit -l 64; su nobody -s /bin/sh -c "railbed perf bw 10.0.0.1 -D 1 -s 1MiB" 2>&1; echo "status $?"')
  has "memlock too small: the limit" "$out" "the limit of locked memory is 64 KiB"
  has "memlock too small: what to do" "$out" "ulimit -l unlimited"
}

bad_peers() {
  local out json before
  on p2 'printf "GET / HTTP/1.0\r\n\r\n" | timeout 5 nc 10.0.0.1 18600 >/dev/null; printf "RBP1\377\377\377\377" | timeout 5 nc 10.0.0.1 18600 >/dev/null; true'
  served "nonsense on the control port: the server says so" 'does not speak railbed'"'"'s control protocol: it sent "GET / HT"'
  served "a lie about the size: the server says so" "announces a message of 4294967295 bytes"
  local kind
  for kind in "bw 10.0.0.1" "lat 10.0.0.1" "bw 10.0.0.1 --tcp" "lat 10.0.0.1 --tcp"; do
    killed_in_the_middle "railbed perf $kind -D 20"
  done
  json=$(on p2 railbed perf lat 10.0.0.1 -D 0.5 -o json)
  holds "clients killed in the middle: the server goes on" "$json" 'lat[0]["samples"] > 0'
  for kind in "bw 10.0.0.1" "lat 10.0.0.1" "bw 10.0.0.1 --tcp" "lat 10.0.0.1 --tcp"; do
    before=$(packets)
    out=$(on p2 "railbed perf $kind -D 60 2>&1; echo status \$?" & measuring "$before"; on p1 'pkill -9 railbed'; wait)
    has "server killed in the middle of $kind: status 1" "$out" "status 1"
    has "server killed in the middle of $kind: says so" "$out" "the peer closed the connection"
    serve
  done
  before=$(packets)
  out=$(on p2 'railbed perf lat 10.0.0.1 -D 60 2>&1; echo status $?' & measuring "$before"; on p1 'pkill -STOP railbed'; wait)
  has "server stopped: the client gives up" "$out" "no traffic for"
  on p1 'pkill -CONT railbed; true'
  before=$(packets)
  out=$(on p2 'railbed perf bw 10.0.0.1 -D 60 2>&1; echo status $?' & measuring "$before"; lab/lab cable p1 0 out; wait)
  has "cable pulled: the client gives up" "$out" "status 1"
  has "cable pulled: says what" "$out" "railbed: perf bw with 10.0.0.1: measuring 64 KiB: "
  lab/lab cable p1 0 in
  on p1 'for i in $(seq 600); do ip link show eth0 | grep -q LOWER_UP && break; sleep 0.1; done'
  json=$(on p2 railbed perf lat 10.0.0.1 -D 0.5 -o json)
  holds "after all that the server still serves" "$json" 'lat[0]["samples"] > 0'
  out=$(on p1 'pkill -INT railbed; for i in $(seq 600); do pgrep railbed >/dev/null || exit 0; sleep 0.1; done; exit 1'; echo "status $?")
  has "Ctrl-C ends the server" "$out" "status 0"
}

prepare
serve
for part in "${parts[@]}"; do
  echo "== part $part"
  began=$SECONDS
  case $part in
    mesh) mesh ;;
    collective) collective ;;
    ping) ping_path ;;
    jitter) jitter ;;
    measure) measure ;;
    verbs) verbs ;;
    perftest) perftest ;;
    documents) documents ;;
    faults) wrong_places && bad_peers ;;
    *) echo "unknown part $part" >&2; exit 2 ;;
  esac
  echo "figure: perf: part $part took $((SECONDS - began)) s" >&2
done
exit $failed
