# SPDX-License-Identifier: Apache-2.0
"""The record of what passed: a program whose bytes, libraries, data and environment are those of a run that passed within a week is not run
again. Only of tasks that give the same result for the same bytes (Task.recordable); what failed, was skipped or was run again is
never written down. RAILBED_RECORD=OFF runs everything.

A key is the hash of the program, the libraries that it loads, the command's words, the folders that tests read, the variables that they
listen to, the compiler and the kernel. An entry is a file $RAILBED_CACHE/passed/KEY.
"""
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import time

from runner.task import ROOT, Outcome

FOLDER = pathlib.Path(os.environ.get("RAILBED_CACHE", "/var/cache/railbed")) / "passed"
KEPT_S = 7 * 24 * 3600
DATA = ("testdata", "third_party", "docs", "deploy", "src/check/data", "src/schema/data")
HEARD = re.compile(r"^(RC_|GTEST_|ASAN_|UBSAN_|TSAN_|RAILBED_|RUNS$|TZ$|LANG$|LC_|TMPDIR$|HOME$|USER$)")
NOT_HEARD = {"RAILBED_RECORD", "RAILBED_ATTEMPTS", "RAILBED_CACHE", "RAILBED_BATCHES", "RAILBED_PCH", "RAILBED_SEED"}


@functools.cache
def hash_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@functools.cache
def libraries_of(program):
    """What the loader maps, by path."""
    out = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return sorted(set(re.findall(r"(/\S+) \(0x", out)))


@functools.cache
def machine():
    compilers = [subprocess.run([name, "--version"], capture_output=True, text=True).stdout for name in ("g++", "clang++-19")]
    return [os.uname().release, str(os.getuid()), *compilers]


@functools.cache
def data_hash():
    digest = hashlib.sha256()
    for folder in DATA:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file():
                digest.update(f"{path.relative_to(ROOT)} {hash_of(path)} {path.stat().st_mode & 0o111}\n".encode())
    return digest.hexdigest()


def key_of(task, program):
    """The task's key; `program` is what decides its result, beside the tree's data."""
    heard = {name: value for name, value in {**os.environ, **task.env}.items() if HEARD.match(name) and name not in NOT_HEARD}
    if b"RC_PARAMS" not in pathlib.Path(program).read_bytes():  # it has no properties: the day's seed is nothing to it
        heard.pop("RC_PARAMS", None)
    parts = [hash_of(program), *(hash_of(path) for path in libraries_of(str(program))), data_hash(), *task.command, *machine(),
             *(f"{name}={heard[name]}" for name in sorted(heard))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def wanted():
    return os.environ.get("RAILBED_RECORD", "ON") == "ON"


def find(key):
    """The outcome of a run with this key that passed within a week, or nothing."""
    try:
        entry = json.loads((FOLDER / key).read_text())
    except (OSError, ValueError):
        return None
    if not wanted() or time.time() - entry["passed_at"] > KEPT_S:
        return None
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["passed_at"]))
    return Outcome(recorded=entry["passed"], lines=[f"  recorded: {entry['name']}: {entry['passed']} passed on {day}"])


def keep(key, task, outcome):
    """Writes down a run that passed whole. A record that cannot be written is one that is not used."""
    if not wanted() or outcome.failed or outcome.skipped or outcome.reruns or not outcome.passed:
        return
    entry = {"name": task.name, "passed": outcome.passed, "passed_at": time.time(), "seconds": round(outcome.wall_s, 1)}
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        new = FOLDER / f".{key}.{os.getpid()}"
        new.write_text(json.dumps(entry) + "\n")
        new.rename(FOLDER / key)
        for old in FOLDER.iterdir():
            if time.time() - old.stat().st_mtime > KEPT_S:
                old.unlink(missing_ok=True)
    except OSError:
        pass
