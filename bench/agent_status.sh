#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# STATUS of the meta plugin as containerd asks it every five seconds, over the agent's socket and without the shim: figure
# agent_status, the 99th percentile of 2,000 answers in turn, each on a connection of its own.     bench/agent_status.sh
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$(id -u)" != 0 ]; then
  echo "SKIP agent_status: needs root"
  exit 0
fi
railbed=${RAILBED:-$PWD/build/railbed}
dir=$(mktemp -d "${TMPDIR:-/tmp}/railbed-bench.XXXXXX")
mkdir "$dir/manifests"
"$railbed" agent --socket "$dir/agent.sock" --state-dir "$dir/state" --pending "$dir/pending" \
  --manifests "$dir/manifests" --metrics off 2>"$dir/agent.log" &
agent=$!
trap 'kill $agent 2>/dev/null; wait $agent 2>/dev/null; rm -rf "$dir"' EXIT
for _ in $(seq 100); do [ -S "$dir/agent.sock" ] && break; sleep 0.1; done
python3 - "$dir/agent.sock" "$agent" <<'P' || { cat "$dir/agent.log"; exit 1; }
import socket, struct, sys, time
path, agent = sys.argv[1:]
config = b'{"cniVersion": "1.1.0", "name": "pods", "type": "railbed"}'
payload = b"railbed\0CNI_COMMAND=STATUS\0CNI_PATH=/opt/cni/bin\0\0" + config
frame = b"RBC1\1" + struct.pack(">I", len(payload)) + payload
def ask():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(frame)
        answer = b""
        while chunk := s.recv(65536):
            answer += chunk
    return answer
first = ask()
if first[9] != 0:
    sys.exit("STATUS failed: " + first[10:].decode())
times = []
for _ in range(2000):
    began = time.perf_counter()
    ask()
    times.append((time.perf_counter() - began) * 1000)
times.sort()
rss = next(int(l.split()[1]) for l in open(f"/proc/{agent}/status") if l.startswith("VmRSS"))
p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
print(f"median {p50:.3f} ms, worst {times[-1]:.3f} ms; the agent's memory {rss / 1024:.1f} MB")
print(f"figure agent_status {p99:.3f} ms <=1 {'ok' if p99 <= 1 else 'short'}")
P
