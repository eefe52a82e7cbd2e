#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The API client's cache of 5,000 pods of 6 KB: pods a second through decoder and trimming (kube_watched_pods_per_s,
# kube_listed_pods_per_s), memory per pod that is kept (kube_kept_pod_bytes); and, against a real API server in a sandbox,
# memory per watch (kube_watch_kb).
set -euo pipefail
cd "$(dirname "$0")/.."
ninja -C build bench_kube >/dev/null
build/bench/bench_kube
TOOLS_API_SERVER=$(tests/tools/build api-server 2>/dev/null) || { echo "SKIP kube_watch_kb: the API server does not build here"; exit 0; }
export TOOLS_API_SERVER
why=$(tests/cluster/sandbox true 2>&1) || { echo "SKIP kube_watch_kb: $why"; exit 0; }
exec tests/cluster/sandbox sh -c 'tests/cluster/control-plane up /run/control-plane && build/bench/bench_kube /run/control-plane/admin.conf'
