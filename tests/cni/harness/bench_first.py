# SPDX-License-Identifier: Apache-2.0
"""From the start of the agent to its first answer on a full node, and to the first pod with a pool address after the state was
lost; also while the kernel's network lock is held, as a driver in reset does."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import machine
import wire
from bench import figure, must

NAMESPACES = int(os.environ.get("NAMESPACES", "300"))
PROCESSES = int(os.environ.get("PROCESSES", "20000"))
ROUNDS = 5  # of each
VERSION = "1.1.0"
LOCK_MS = 5000
STATE = pathlib.Path("/run/railbed")
STATUS = json.dumps({"cniVersion": VERSION, "name": "first", "type": "railbed"})


def pool_network():
    return {"cniVersion": VERSION, "name": "first", "plugins": [
        {"type": "macvlan", "master": "p0", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.122.0.0/20"}]]}}]}


class Lock:
    """Holds the lock of all network changes (bench/first_answer/hold_lock.c)."""

    def __init__(self):
        machine.add_netns("lock")
        machine.run("ip", "-n", "lock", "link", "add", "v0", "type", "veth", "peer", "name", "v1")

    def begin(self):
        self.process = subprocess.Popen(["ip", "netns", "exec", "lock", os.environ["LOCK_PROGRAM"], "v0", str(LOCK_MS)],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "held\n":
            raise RuntimeError("this kernel does not let userfaultfd hold its network lock")

    def end(self):
        self.process.wait()


def status():
    """Exit status of STATUS, or nothing without an agent."""
    try:
        return wire.ask(str(STATE / "agent.sock"), "railbed", {"CNI_COMMAND": "STATUS", "CNI_PATH": "/opt/cni/bin"}, STATUS)[0]
    except OSError:
        return None


def first_answer(railbed):
    """Milliseconds from the start until STATUS is answered, and until it says that pods can be attached."""
    start = time.monotonic()
    railbed.begin_agent()
    answered = None
    while True:
        code = status()
        now = (time.monotonic() - start) * 1000
        if code is not None and answered is None:
            answered = now
        if code == 0:
            return answered, now
        if now > 60000:
            raise RuntimeError(f"the agent is not ready after 60 s: {railbed.log_tail()}")
        time.sleep(0.002)


def until_a_pod(railbed, start):
    """Milliseconds from `start` until a pod has an address of a pool."""
    while True:
        code, output = wire.call(str(STATE / "agent.sock"), "add", pool_network(), machine.netns_path("new"), "new", "net1")
        if code == 0:
            took = (time.monotonic() - start) * 1000
            wire.call(str(STATE / "agent.sock"), "del", pool_network(), machine.netns_path("new"), "new", "net1")
            return took
        if json.loads(output)["code"] != 11:
            raise RuntimeError(output)
        time.sleep(0.01)


def lose_the_state():
    for path in STATE.iterdir():
        if path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)


def rounds(railbed, name, lost, lock):
    answers, pods = [], []
    for _ in range(ROUNDS):
        railbed.end_agent(signal.SIGKILL)
        if lost:
            lose_the_state()
        if lock:
            lock.begin()
        start = time.monotonic()
        answered, ready = first_answer(railbed)
        answers.append(answered)
        if lock:
            lock.end()
        pods.append(until_a_pod(railbed, start))
        print(f"{name}: first answer {answered:.0f} ms, ready {ready:.0f} ms, first pod with a pool address {pods[-1]:.0f} ms")
    figure(f"first_answer_{name}", max(answers), "ms", 150)
    figure(f"first_pool_address_{name}", max(pods), "ms")


def main(report, sides, options, folder):
    railbed = sides[-1]
    parents = machine.Parents(["p0"])
    names = [f"first{i}" for i in range(NAMESPACES)]
    machine.ip_batch([f"netns add {name}" for name in (*names, "new")])
    jobs = [{"op": "add", "conf": pool_network(), "netns": machine.netns_path(name), "containerID": name, "ifname": "net1"}
            for name in names]
    must(railbed.drive.ask(parallel=50, jobs=jobs))
    processes = subprocess.Popen([os.environ["PROCESSES_PROGRAM"], str(PROCESSES)], stdout=subprocess.PIPE, text=True)
    if processes.stdout.readline() != "there\n":
        raise RuntimeError(f"{PROCESSES} processes cannot be started here")
    lock = Lock()
    try:
        rounds(railbed, "killed", lost=False, lock=None)
        rounds(railbed, "killed_lock_held", lost=False, lock=lock)
        rounds(railbed, "state_lost", lost=True, lock=None)
        rounds(railbed, "state_lost_lock_held", lost=True, lock=lock)
    finally:
        processes.kill()
        processes.wait()
        machine.del_netns("lock")
        machine.ip_batch([f"netns del {name}" for name in (*names, "new")], check=False)
        parents.remove()
