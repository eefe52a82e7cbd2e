# SPDX-License-Identifier: Apache-2.0
"""Runs a command and writes down the processor time of everything that it started:

    measured.py FILE SECONDS COMMAND...

Daemons that leave their parent (virtual machines, a kubelet) become children of this process, so their time counts too. After
SECONDS, or when this process is asked to end, all of them are ended. The status is the command's; 124 after SECONDS.
"""
import ctypes
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def descendants(pid):
    """All processes below `pid`, parents first."""
    found = []
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            names = children.read_text().split()
        except OSError:
            continue
        for name in names:
            found += [int(name), *descendants(name)]
    return found


def end_all(first, then, grace_s):
    """Sends `first`, and `then` to those that live after the grace."""
    for sign, wait_s in ((first, grace_s), (then, 1)):
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, sign)
            except OSError:
                pass
        end = time.monotonic() + wait_s
        while time.monotonic() < end and reap():
            time.sleep(0.02)


def reap():
    """Takes up those that have ended. Whether any child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


def run(limit_s, command):
    deadline = time.monotonic() + limit_s
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 125
        if pid == child.pid:
            return os.waitstatus_to_exitcode(status)
        if pid == 0:
            if time.monotonic() > deadline:
                end_all(signal.SIGTERM, signal.SIGKILL, 10)
                return 124
            time.sleep(0.05)


def main():
    file, limit_s, command = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

    def asked_to_end(number, _):
        end_all(signal.SIGTERM, signal.SIGKILL, 10)
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, asked_to_end)
    signal.signal(signal.SIGINT, asked_to_end)
    status = run(limit_s, command)
    for _ in range(50):  # what the command has ended takes a moment to be gone
        if not reap():
            break
        time.sleep(0.02)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    pathlib.Path(file).write_text(f"{used.ru_utime + used.ru_stime:.1f}\n")
    sys.exit(status if status >= 0 else 128 - status)


main()
