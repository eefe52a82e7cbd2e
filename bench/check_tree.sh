#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# railbed check on a tree of 6,000 generated CustomResourceDefinitions (50 MB of text), as large repositories have them:
# time and memory, beside the size of the texts. Values of all these files at once took 345 MB.
set -euo pipefail
cd "$(dirname "$0")/.."
railbed=$PWD/build/railbed
tree=build/bench/check/tree
mkdir -p build/bench/check
rm -rf "$tree"
bench/check_tree 6000 "$tree"

# Wall time in ms, and the largest resident size in MB.
measured() { # COMMAND...
  python3 - "$@" <<'P'
import resource, subprocess, sys, time
begin = time.perf_counter()
run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)
print(f"{(time.perf_counter() - begin) * 1000:.0f} {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000:.0f}", run.returncode)
P
}
text_mb=$(($(du -sb "$tree" | cut -f1) / 1000000))
read -r ms mb status < <(measured "$railbed" check "$tree")
[ "$status" = 0 ] || { "$railbed" check -q "$tree"; exit 1; }   # a tree without findings, or nothing is measured
echo "railbed check: $ms ms, $mb MB for $text_mb MB of text"
verdict=short
[ "$mb" -le 250 ] && verdict=ok
echo "figure check_tree_memory $mb MB <=250 $verdict"
