#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 8 VFs of two PFs for one pod, in turn in one virtual machine with one CPU: through the shim, the agent and its meta
# plugin, and as the reference stack does it: one process per VF that asks the kernel what the reference SR-IOV plugin
# asks (sriov_replay.cc), each starting the reference host-local. The reference plugin is a Go program: what the start of one
# costs more than the replay's, measured with the reference host-device's VERSION, is counted; the ratios without it are reported, too.
#   bench/sriov_lab.sh [ROUNDS]
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-9}
command -v qemu-system-x86_64 >/dev/null || { echo "SKIP sriov_vs_reference: needs QEMU (make setup-lab)"; exit 0; }
originals=$(tests/tools/build cni) || { echo "SKIP sriov_vs_reference: the reference plugins cannot be built here"; exit 0; }
ninja -C build sriov_replay railbed railbed-cni >/dev/null
LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/railbed-bench.XXXXXX")
export LAB_DIR
trap 'lab/lab stop --all >/dev/null 2>&1; rm -rf "$LAB_DIR"' EXIT
lab/lab start bench --pf rail0 --pf rail1 --file build/railbed:/usr/bin/railbed --file build/railbedd:/usr/libexec/railbed/railbedd \
  --file build/railbed-cni:/usr/bin/railbed-cni \
  --file build/bench/sriov_replay:/usr/bin/sriov_replay --file "$originals/host-local:/opt/originals/host-local" --file "$originals/host-device:/opt/originals/host-device" \
  --file bench/attach_lab/vfs.sh:/t/vfs.sh --file bench/sriov_lab/rounds.sh:/t/rounds.sh >&2
lab/lab exec bench -t 60 -- "sh /t/vfs.sh 4 >/tmp/devices" || exit 1
lab/lab exec bench -t 500 -- "bash /t/rounds.sh $rounds \$(cat /tmp/devices)" | tee "$LAB_DIR/out" >&2
grep '^round ' "$LAB_DIR/out" | python3 -c '
import statistics, sys
rows = [list(map(float, line.split()[1:])) for line in sys.stdin]
ours_add, ours_del, their_add, their_del, starts = (statistics.median(column) for column in zip(*rows))
print(f"8 VFs, median of {len(rows)}: ours {ours_add:.1f} + {ours_del:.1f} ms, "
      f"reference {their_add:.1f} + {their_del:.1f} ms and {starts:.1f} ms for its starts")
for name, ratio in (("add", their_add / ours_add), ("del", their_del / ours_del)):
    print("figure sriov_%s_vs_replay_alone %.2f ratio - -" % (name, ratio))
for name, ratio in (("add", (their_add + starts) / ours_add), ("del", (their_del + starts) / ours_del)):
    print("figure sriov_%s_vs_reference %.2f ratio >=2.5 %s" % (name, ratio, "ok" if ratio >= 2.5 else "short"))'
