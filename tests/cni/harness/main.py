# SPDX-License-Identifier: Apache-2.0
"""Inside the sandbox: reads the options of tests/cni/run and runs the parts."""
import argparse
import importlib
import pathlib
import sys
import time
import traceback

import handles
from report import Report
from sides import Railbed, Reference

PARTS = ("conformance", "differential", "races", "hostile", "reporting", "switching", "reboot", "upgrade", "churn")
BENCHES = ("bench", "bench_first", "records")  # by name only: bench/cni.sh, bench/first_answer.sh, files for testdata


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--side", choices=("reference", "railbed"))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--pods", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--share", default="0/1")
    parser.add_argument("--keep")
    parser.add_argument("--kinds")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--unused", action="store_true")
    found = parser.parse_args()
    for part in found.parts:
        if part not in (*PARTS, *BENCHES):
            parser.error(f'no part "{part}": {", ".join(PARTS)}')
    return found


def main():
    chosen = options()
    report = Report()
    folder = str(pathlib.Path(__file__).resolve().parent.parent)
    sides = []
    if chosen.side != "railbed":
        sides.append(Reference())
    if chosen.side != "reference":
        ours = Railbed()
        if why := ours.available():
            report.skip("cni", why)
            return 0
        sides.append(ours)
    for part in chosen.parts or PARTS:
        if prepare := getattr(importlib.import_module(part), "prepare", None):
            prepare()
    for side in sides:
        side.start()
    try:
        for part in chosen.parts or PARTS:
            start = time.monotonic()
            try:
                importlib.import_module(part).main(report, sides, chosen, folder)
            except Exception as error:  # a part that breaks must not hide the others
                report.fail(f"{part}: the harness broke: {error}", traceback.format_exc().split("\n")[-12:])
            for side in sides:
                if side.name == "railbed" and (open_handles := handles.left(side.agent.pid)):
                    report.fail(f"{part}: the agent at rest keeps namespaces of pods alive", open_handles)
            report.note(f"{part}: {time.monotonic() - start:.1f} s")
    finally:
        for side in sides:
            side.stop()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
