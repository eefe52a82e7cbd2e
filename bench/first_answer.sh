#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# From the start of the agent to its first answer, on a node with NAMESPACES (300) attached namespaces and PROCESSES (20000)
# processes: after a kill, after the state was lost, and while the kernel's network lock is held for 5 s. Needs root and a C compiler.
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build railbed railbed-cni >/dev/null
work=$(mktemp -d "${TMPDIR:-/tmp}/railbed-first.XXXXXX")
trap 'rm -rf "$work"' EXIT
cc -O1 -static -o "$work/processes" bench/first_answer/processes.c
cc -O1 -static -pthread -o "$work/hold_lock" bench/first_answer/hold_lock.c
PROCESSES_PROGRAM=$work/processes LOCK_PROGRAM=$work/hold_lock tests/cni/run bench_first
