# SPDX-License-Identifier: Apache-2.0
"""Which tasks make up which suite: the one place to add a suite, a script or a program.

A script that is new in tests/lab/ and a part that is new in tests/cluster/run are found; what they need beside the programs is here.
"""
import os
import pathlib
import subprocess
import time

from runner.task import ROOT, Task

SUITES = ("format", "unit", "asan", "tsan", "fuzz", "netns", "cni", "kill", "lab", "cluster", "fresh")

# About what a task takes on two cores beside others, in seconds, so that the longest begins first; what is not here is short.
WEIGHTS = {
    "cluster lab": 450, "cluster old_api_server": 300, "fresh run": 200, "lab perf.sh": 206, "cluster operator": 204, "cluster cluster_pods": 136, "cluster api": 129,
    "lab agent.sh": 108, "lab up.sh": 98, "cluster whereabouts": 96, "cluster switching": 86, "lab tour.sh": 60, "lab demo.sh": 59,
    "lab differential.sh": 59, "kill run": 59, "cni run": 54, "cluster deploy": 48, "cluster documents": 90, "lab selftest": 48, "lab kill.sh": 46, "lab rdma.sh": 44,
}
# Programs of others (tests/tools/build) that a part of the cluster runs beside; the lab and the namespaces need none.
TOOLS = {
    "api": ("api-server",), "operator": ("api-server",), "cells": ("api-server",), "whereabouts": ("api-server",),
    "pods": ("kubelet", "cni"), "devices": ("kubelet", "cni"), "old_api_server": ("api-server", "old-api-server"),
}
# A kubelet with containerd each: one at a time on this machine's control groups.
KUBELETS = {"pods", "devices", "cluster_pods", "deploy", "documents", "switching"}
ALL_TOOLS = ("cni", "cnidrive", "api-server", "kubelet", "controllers")
# Test programs of minutes, in shares that run beside each other.
SHARES = {"perf_test": 2, "agent_test": 2, "check_test": 2}
# Rooms whose tests read more of the tree than the record looks at.
READS_THE_TREE = {"attach_test", "verbs_test"}
# A sanitizer takes ten times as long, and all cases of a property run the same code.
FEW_CASES = "max_success=25"
# Each day has other ones (the seed); `make fuzz` runs for hours.
FUZZ_RUNS = "8000"
# Sweeps of one thread, which take minutes under ThreadSanitizer.
TSAN_FILTER = ("-HostileTest.EveryOneIsAnswered:ReadBundle.TakesTimeLinearInHostileText:Bundles/Shifts.*:*.EveryFieldHasItsLimits:*.LimitsOfItsReader:"
               "Outliers.NameWhatExplainsTheMost:Events.AreBoundedAndTheOldestGoes:MeshPage.*")
# What the suites of the waiting lane run, beside `railbed` and the shim.
TEST_TOOLS = ("kill_loop", "kill_shim", "netns_test", "kube_api_test", "operator_test", "offer_devices")


def seed():
    """Random suites begin with the day, so that each day has cases of its own and a failure can be had again (RAILBED_SEED)."""
    return int(os.environ.get("RAILBED_SEED") or time.strftime("%Y%m%d"))


def build(name, variant, after, targets=()):
    return Task(f"build {name}", "compile", ["tools/build", variant, *targets], after=after, limit_s=3600, nice=5, counts=False)


def builds(suites, only):
    """In their order: what the waiting suites run comes first, then what is compiled for one suite after the other."""
    targets = [f"{room}_test" for room in only]
    if set(suites) & {"netns", "cni", "kill", "lab", "cluster", "fresh"}:
        yield build("programs", "dev", [], ("railbed", "railbed-cni", *TEST_TOOLS))
    if "unit" in suites:
        yield build("dev", "dev", ["~build programs"], targets)
    for name in ("asan", "fuzz", "tsan"):
        if name in suites:
            yield build(name, name, ["~build programs"], targets if name != "fuzz" else ())


def prepared(suites, everything=False):
    """Programs of others, and with `everything` those of the previous release and of an old Kubernetes. What takes minutes begins when our own programs are
    there, for the suites that need none of it begin then."""
    names = []
    if {"cni", "cluster"} & set(suites):
        names += ["cni", "cnidrive"]
    if everything and "cni" in suites and subprocess.run([ROOT / "tests/tools/previous", "--can"], capture_output=True).returncode == 0:
        names.append("previous")
    if "fresh" in suites:
        names.append("fresh")
    if "cluster" in suites:
        names += ["api-server", "kubelet", "controllers", *(["old-api-server"] if everything else [])]
    for name in names:
        command = {"fresh": ["tests/fresh/root", "--", "true"], "previous": ["tests/tools/previous"]}.get(name, ["tests/tools/build", name])
        yield Task(f"tool {name}", "prepare", command, after=["~build programs"], limit_s=3600, nice=10, counts=False)


def shares_of(suite, program, env, threads, attempts):
    name = program.name
    real_time = name in threads or suite == "netns"
    reads_more = name in READS_THE_TREE
    # Rooms with threads have tests that still wait for real time (src/perf above all), and beside others these may come late.
    attempts = attempts if real_time or reads_more else 1
    recordable = not real_time and not reads_more and suite != "tsan"
    count = SHARES.get(name, 1)
    for number in range(count):
        share = {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(number)} if count > 1 else {}
        yield Task(f"{suite} {name}" + (f" {number + 1}/{count}" if count > 1 else ""), "test", [str(program.relative_to(ROOT))],
                   limit_s=600, nice=5, env={**env, **share}, recordable=recordable, attempts=attempts, weight_s=program.stat().st_size >> 20)


def programs(suite, only, attempts):
    """The test programs of a suite, once they are built; of the rooms in `only`, if there are any."""
    threads = set(subprocess.run([ROOT / "tools/build", "threads"], capture_output=True, text=True).stdout.split())
    params = f"seed={seed()}"
    if suite in ("asan", "tsan"):
        params += " " + FEW_CASES
    env = {"RC_PARAMS": params}
    if suite == "unit":  # a test that needs another one before it fails on most days
        env |= {"GTEST_SHUFFLE": "1", "GTEST_RANDOM_SEED": str(seed() % 99999 + 1)}
    if suite == "asan":
        env |= {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    if suite == "tsan":
        env |= {"GTEST_FILTER": TSAN_FILTER}
    folder = {"unit": "build/tests", "asan": "build-asan/tests", "tsan": "build-tsan/tests", "netns": "build/tests_root"}[suite]
    for program in sorted((ROOT / folder).glob("*_test")):
        if only and program.name.removesuffix("_test") not in only:
            continue
        yield from shares_of(suite, program, env, threads, attempts)


def fuzzers(everything):
    env = {"RAILBED_SEED": str(seed()), "RUNS": "20000" if everything else FUZZ_RUNS}
    for program in sorted((ROOT / "build-asan/fuzz").glob("*_fuzz")):
        yield Task(f"fuzz {program.name}", "test", ["tests/fuzz", program.name], limit_s=400, nice=5, env=env, recordable=True)


def scripts(suite, everything, attempts):
    ready = ["build programs"]

    def script(name, command, after=(), limit_s=1200, env=None):
        return Task(f"{suite} {name}", "wait", command, after=[*ready, *after], limit_s=limit_s, weight_s=WEIGHTS.get(f"{suite} {name}", 20),
                    attempts=attempts, env=env or {}, alone="kubelet" if name in KUBELETS else "")

    drawn = str(seed())
    if suite == "cni":
        yield script("run", ["tests/cni/run", "--seed", drawn], ["~tool cni", "~tool cnidrive", "~tool previous"])
    elif suite == "kill":
        kills = ["--every", "--kills", "2000"] if everything else ["--once", "--kills", "200"]
        yield script("run", ["tests/kill/run", *kills, "--seed", drawn], limit_s=7200 if everything else 1200)
    elif suite == "lab":
        for path in ["lab/selftest", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "tests/lab").glob("*.sh"))]:
            needs = {"differential.sh": ["~tool cni", "~tool cnidrive"]}.get(pathlib.Path(path).name, [])
            yield script(pathlib.Path(path).name, [path], needs, env={"RAILBED": str(ROOT / "build/railbed")})
    elif suite == "cluster":
        parts = subprocess.run([ROOT / "tests/cluster/run", "--list-all" if everything else "--list"], capture_output=True, text=True).stdout.split()
        for part in parts:
            env = {"SEED": drawn} if part == "lab" else {}
            yield script(part, [f"tests/cluster/{part}"], [f"~tool {tool}" for tool in TOOLS.get(part, ALL_TOOLS)], env=env)
    elif suite == "fresh":
        yield script("run", ["tests/fresh/run"], ["~tool fresh"], limit_s=3600)
        yield script("second_clone", ["tests/tools/second_clone", *([] if everything else ["asan"])])
        if everything:
            yield script("planted", ["tests/tools/planted"], limit_s=7200)
            yield script("release_twice", ["tests/tools/release_twice"], limit_s=7200)


def built(suite, only, attempts, everything=False):
    """The tasks of a suite whose programs are known once they are built."""
    return list(fuzzers(everything) if suite == "fuzz" else programs(suite, only, attempts))


# The build after which a suite's programs are there.
PROGRAMS_OF = {"unit": "build dev", "asan": "build asan", "tsan": "build tsan", "fuzz": "build fuzz", "netns": "build programs"}


def format_tasks():
    """The rules over the tree, and the own tests of the runner and of the check of programs' headers."""
    for name, command in (("tidy", "tests/tidy"), ("runner", "tests/runner/selftest.py"), ("hardening", "tests/tools/hardening --self-test"),
                          ("releases", "tests/tools/releases")):
        yield Task(f"format {name}", "test", command.split(), limit_s=600, nice=5)
