# SPDX-License-Identifier: Apache-2.0
"""What tests/run runs, and how each kind says what came out.

A task is a build, a GoogleTest program (or a share of one), or a script that prints PASS, FAIL and SKIP lines. run() returns an Outcome; it
never raises for what the task does.
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LOGS = ROOT / "build/test-logs"


@dataclasses.dataclass
class Task:
    name: str  # "unit perf_test 1/4"; the first word is the suite
    lane: str  # which workers run it: compile, prepare, test, wait
    command: list
    after: list = dataclasses.field(default_factory=list)  # names of tasks that must have ended well, or ended if "~NAME"
    limit_s: int = 900
    weight_s: int = 0  # what it takes, about: longest first
    nice: int = 0
    env: dict = dataclasses.field(default_factory=dict)
    recordable: bool = False  # the same bytes give the same result
    attempts: int = 1
    alone: str = ""  # not beside another task with the same word here
    counts: bool = True  # builds and tools count only when they fail

    @property
    def suite(self):
        return self.name.split()[0]

    @property
    def log(self):
        return LOGS / (re.sub(r"[^A-Za-z0-9._-]+", ".", self.name) + ".log")


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    recorded: int = 0
    lines: list = dataclasses.field(default_factory=list)  # what the terminal gets: failures, what was skipped
    start: float = 0
    end: float = 0
    processor_s: float = 0
    reruns: int = 0
    cache: str = ""  # of a build: "hits/compilations"
    broken_parts: list = dataclasses.field(default_factory=list)

    @property
    def wall_s(self):
        return self.end - self.start


def measured(task, command, log):
    """Runs a command with its output in `log`. Returns its status and its seconds of processor."""
    file = log.with_suffix(".cpu")
    file.unlink(missing_ok=True)
    environment = {**os.environ, **task.env}
    with open(log, "ab") as out:
        status = subprocess.run(
            ["nice", "-n", str(task.nice), sys.executable, str(HERE / "measured.py"), str(file), str(task.limit_s), *command],
            cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT).returncode
    try:
        used_s = float(file.read_text())
        file.unlink()
    except (OSError, ValueError):
        used_s = 0.0
    return status, used_s


def text_of(log):
    return log.read_text(errors="replace") if log.exists() else ""


def indented(lines):
    return ["    " + line for line in lines]


class Build:
    """tools/build, and tools of others: it fails or it does not."""

    @staticmethod
    def read(task, status, log):
        if status == 0:
            return Outcome(cache=cache_hits(log))
        return Outcome(failed=1, lines=[f"FAIL {task.name}: status {status}", *indented(text_of(log).splitlines()[-40:])])


def cache_hits(log):
    """What tools/build says of the compiler cache, as "hits/objects"."""
    found = re.findall(r"(\d+) of (\d+) objects from the compiler cache", text_of(log))
    return "/".join(found[-1]) if found and found[-1][1] != "0" else ""


class Program:
    """A GoogleTest program."""

    @staticmethod
    def read(task, status, log):
        text = text_of(log)

        def number(word):
            found = re.findall(rf"^\[  {word} {{1,2}}\] (\d+) test", text, re.M)
            return int(found[-1]) if found else 0

        result = Outcome(passed=number("PASSED"), failed=number("FAILED"), skipped=number("SKIPPED"))
        result.lines = [f"  skipped: {line}" for line in re.findall(r"^[^ \n]+: Skipped\n(.*)", text, re.M)]
        if result.failed:
            result.lines += sorted({f"[  FAILED  ] {name}" for name in re.findall(r"^\[  FAILED  \] ([A-Za-z][^ ,\n]*)", text, re.M)})
            result.lines += [f"  its log: {os.path.relpath(log, ROOT)}"]
        elif status != 0:
            result.failed = 1
            result.lines += [f"FAIL {task.name}: status {status}", *indented(text.splitlines()[-25:])]
        elif not re.search(r"^\[==========\] \d+ tests? from .* ran\.", text, re.M):
            result.failed = 1
            result.lines += [f"FAIL {task.name}: it ended before its tests did", *indented(text.splitlines()[-25:])]
        return result


class Script:
    """A script that prints PASS, FAIL and SKIP lines, and "== part NAME" before those of a part that it can run alone."""

    @staticmethod
    def read(task, status, log):
        lines = text_of(log).splitlines()
        result = Outcome()
        part, left = None, 0
        for line in lines:
            if found := re.match(r"== part (\S+)", line):
                part, left = found[1], 0
            elif line.startswith(("PASS ", "FAIL ", "SKIP ", "FLAKY ")):
                result.passed += line.startswith("PASS ")
                result.skipped += line.startswith("SKIP ")
                left = 0
                if line.startswith("FAIL "):
                    result.failed += 1
                    left = 30
                    if part not in result.broken_parts:
                        result.broken_parts.append(part)
                if not line.startswith("PASS "):
                    result.lines.append(line)
            elif line.startswith("    ") and left > 0:  # what was got and wanted
                result.lines.append(line)
                left -= 1
            else:
                left = 0
        if status != 0 and not result.failed:
            result.failed = 1
            result.broken_parts = [None]
            result.lines += [f"FAIL {task.name}: status {status}", *indented(lines[-15:])]
        return result


KINDS = {"compile": Build, "prepare": Build}


def kind_of(task):
    if task.lane in KINDS:
        return KINDS[task.lane]
    return Program if task.command[0].endswith("_test") else Script


def what_again(task, kind, result, log):
    """The command that runs again only what failed, or nothing where that has one attempt: what a sanitizer reports, and a crash."""
    if kind is Script:
        return [*task.command, *([] if None in result.broken_parts else result.broken_parts)]
    text = text_of(log)
    names = sorted(set(re.findall(r"^\[  FAILED  \] ([A-Za-z][^ ,\n]*)", text, re.M)))
    if kind is not Program or not names or re.search(r"Sanitizer|runtime error:", text):
        return None
    return [*task.command, "--gtest_filter=" + ":".join(names)]


def run(task):
    """Runs a task, and what failed of it again as often as it may. What passes then is FLAKY and not counted as failed."""
    start = time.time()
    log = task.log
    log.write_bytes(b"")
    kind = kind_of(task)
    status, used_s = measured(task, task.command, log)
    result = kind.read(task, status, log)
    result.processor_s = used_s
    while result.failed and result.reruns < task.attempts - 1:
        command = what_again(task, kind, result, log)
        if command is None:
            break
        again_log = log.with_suffix(f".again{result.reruns + 1}.log")
        again_log.write_bytes(b"")
        # Without its share: gtest deals out the tests that the filter leaves, and a share of one test may be none.
        whole = dataclasses.replace(task, env={k: v for k, v in task.env.items() if not k.startswith(("GTEST_TOTAL", "GTEST_SHARD"))})
        status, used_s = measured(whole, command, again_log)
        again = kind.read(whole, status, again_log)
        result.processor_s += used_s
        result.reruns += 1
        if not again.failed and again.passed >= (result.failed if kind is Program else 1):
            result.passed += result.failed
            result.failed = 0
            result.lines = [re.sub(r"^(FAIL |\[  FAILED  \] )", "FLAKY passed when run again: ", line) for line in result.lines]
        else:
            result.broken_parts = again.broken_parts
            result.lines += [line for line in again.lines if line not in result.lines]
    result.start, result.end = start, time.time()
    return result
