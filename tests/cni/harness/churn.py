# SPDX-License-Identifier: Apache-2.0
"""Pods that live and die while everything around them fails: the agent is killed, ended, stopped and run out of space, clients
vanish in the middle of a request, namespaces go before their DEL, or lose their name while the pod lives, some DELs never
come, the state is rolled back to what it was seconds before, and thieves take the addresses of other pods and send DELs for
them. Afterwards nothing may be lost, left or there twice.

A life is what a runtime does with a pod: ADD, sometimes CHECK, DEL until it succeeds. What is said by an ADD that succeeded is
compared with what all others that still live got. `tests/cni/run churn --seconds N --seed N`; bench/churn.sh runs it for half an hour.
"""
import collections
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import threading
import time

import machine

LIVES = 8  # at once
DEVICES = 3  # lives 0 to 2 may have a device of their own
EXTRA = 3  # macvlan networks of an annotated pod
RECORDS = pathlib.Path("/var/lib/railbed/records")
PENDING = pathlib.Path("/var/lib/railbed/pending-del")
MANIFESTS = pathlib.Path("/etc/railbed/churn.json")
STATES = pathlib.Path("/run/railbed")
STATE = STATES / "state.db"
VERSION = "1.0.0"
END_MS = 2000  # of an agent that was asked to end; what takes longer is noted
END_MOST_MS = 15000  # other work on a small machine is no fault of the agent
REASONS = ("no railbed agent answers", "closed the connection before it answered", "is stopping", "No space left on device", "disk is full",
           "network namespaces of this machine for addresses in use")  # that a fault has
FORGOTTEN = ("unknown to railbed", "has no network that railbed attached")  # of CHECK, after a state was rolled back
PATIENCE_S = 150  # of a runtime whose DEL fails
ORDINARY_USER = 65534
LONG_S = 120  # from here on some DELs never come and states are rolled back: the agent releases a minute after the namespace ended, and the end waits for that
RELEASED_S = 120


def host_local(network):
    return {"type": "host-local", "ranges": [[{"subnet": f"10.{80 + network}.0.0/16"}]]}


BRIDGE = {"cniVersion": VERSION, "name": "churn-bridge", "type": "bridge", "bridge": "churn0", "isGateway": True, "ipam": host_local(0)}
MACVLAN = {"cniVersion": VERSION, "name": "churn-direct", "type": "macvlan", "master": "p0", "ipam": host_local(9)}
META = {"cniVersion": VERSION, "name": "churn-meta", "type": "railbed", "delegates": [BRIDGE]}


def device(life):
    return {"cniVersion": VERSION, "name": "churn-device", "type": "host-device", "device": f"d{life}", "ipam": host_local(8)}


def write_manifests():
    """One annotated pod for each life: what every runtime passes by K8S_POD_NAME."""
    objects = []
    for network in range(1, EXTRA + 1):
        conf = {"cniVersion": VERSION, "name": f"extra{network}", "plugins": [
            {"type": "macvlan", "master": "p0", "mode": "bridge", "ipam": host_local(network)}]}
        objects.append({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                        "metadata": {"name": conf["name"], "namespace": "default"}, "spec": {"config": json.dumps(conf)}})
    networks = ", ".join(f"extra{network}" for network in range(1, EXTRA + 1))
    for life in range(LIVES):
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": f"life{life}", "namespace": "default", "annotations": {"k8s.v1.cni.cncf.io/networks": networks}},
            "spec": {"containers": [{"name": "c", "image": "none"}]}})
    MANIFESTS.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


class Ledger:
    """What all lives know together: who holds which address, when a fault was on, what went wrong."""

    def __init__(self):
        self.lock = threading.Lock()
        self.holders = {}
        self.wrong = []
        self.counts = collections.Counter()
        self.fault_until = 0.0
        self.rolled_back = 0.0  # when the state was, last
        self.devices = 0  # pods that have one
        self.devices_wait = False

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def blame(self, text):
        with self.lock:
            self.wrong.append(text[:1500])

    def fault(self, seconds):
        """A failed ADD is right while a fault is on, and a little after it."""
        with self.lock:
            self.fault_until = max(self.fault_until, time.monotonic() + seconds)

    def may_fail(self, begun, text):
        return begun < self.fault_until and any(reason in text for reason in REASONS)

    def may_have_device(self):
        """A pod that may must say when its device is home: drop_device()."""
        with self.lock:
            self.devices += not self.devices_wait
            return not self.devices_wait

    def drop_device(self):
        with self.lock:
            self.devices -= 1

    def hold_devices(self, wait):
        with self.lock:
            self.devices_wait = wait

    def took(self, addresses, pod):
        with self.lock:
            for one in addresses:
                if one in self.holders:
                    self.wrong.append(f"{pod} and {self.holders[one]} both have {one}")
                self.holders[one] = pod

    def others(self, pod):
        """Addresses of other pods, each with its pod."""
        with self.lock:
            return [(address, holder) for address, holder in self.holders.items() if holder != pod]

    def gives(self, pod):
        with self.lock:
            self.holders = {one: holder for one, holder in self.holders.items() if holder != pod}


class Life(threading.Thread):
    """One pod after another."""

    def __init__(self, side, number, ledger, ending, seed, no_dels):
        super().__init__(name=f"life{number}")
        self.no_dels = no_dels  # whether some DELs never come
        self.side, self.number, self.ledger, self.ending = side, number, ledger, ending
        self.rng = random.Random(f"{seed}.{number}")

    def run(self):
        turn = 0
        while not self.ending.is_set():
            turn += 1
            pod = f"churn{self.number}x{turn}"
            self.has_device = False
            try:
                self.live(pod)
            except (RuntimeError, OSError) as error:
                self.ledger.blame(f"{pod}: {error!r}")
            finally:
                machine.del_netns(pod)
                if self.has_device:
                    self.ledger.drop_device()

    def kind(self):
        kinds = [(MACVLAN, "net1", False), (META, "eth0", False), (META, "eth0", True)]
        if self.number < DEVICES and self.rng.randrange(len(kinds) + 1) == 0 and self.ledger.may_have_device():
            return device(self.number), "net1", False
        return self.rng.choice(kinds)

    def environment(self, verb, pod, interface, arguments):
        return {"CNI_COMMAND": verb, "CNI_CONTAINERID": pod, "CNI_NETNS": machine.netns_path(pod), "CNI_IFNAME": interface,
                "CNI_PATH": self.side.folder, "CNI_ARGS": arguments}

    def call(self, verb, pod, kind, killed_after_s=None):
        """As a runtime starts a plugin; (status, text), or None where the client was killed."""
        conf, interface, named = kind
        arguments = f"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=life{self.number}" if named else ""
        environment = self.environment(verb, pod, interface, arguments)
        plugin = os.path.join(self.side.folder, conf["type"])
        process = subprocess.Popen([plugin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, text=True)
        if killed_after_s is not None:
            timer = threading.Timer(killed_after_s, process.kill)
            timer.start()
        try:
            text, _ = process.communicate(json.dumps(conf), timeout=180)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.ledger.blame(f"{verb} of {pod} ({conf['type']}) hung for 180 s")
            return 1, "hung"
        finally:
            if killed_after_s is not None:
                timer.cancel()
        return None if process.returncode == -signal.SIGKILL else (process.returncode, text)

    def live(self, pod):
        kind = self.kind()
        self.has_device = kind[0]["type"] == "host-device"
        machine.run("ip", "netns", "add", pod)
        begun = time.monotonic()
        vanishes = self.rng.random() < 0.15
        held = None
        answer = self.call("ADD", pod, kind, self.rng.random() * 0.05 if vanishes else None)
        if answer is None:
            self.ledger.count("clients that vanished")
        elif answer[0] == 0:
            self.attached(pod, kind, json.loads(answer[1]))
            if self.rng.random() < 0.15:
                held = self.lose_name(pod)
        elif self.ledger.may_fail(begun, answer[1]):
            self.ledger.count("ADDs refused during a fault")
        else:
            self.ledger.blame(f"ADD of {pod} failed without a fault that explains it: {answer[1]}")
        self.ledger.gives(pod)
        try:
            self.end(pod, kind, nameless=held is not None)
        finally:
            if held is not None:
                os.close(held)

    def lose_name(self, pod):
        """The name goes, the namespace stays as long as the descriptor: its addresses are still the pod's."""
        held = os.open(machine.netns_path(pod), os.O_RDONLY)
        machine.run("umount", "--lazy", machine.netns_path(pod))
        os.unlink(machine.netns_path(pod))
        self.ledger.count("namespaces that lost their name")
        time.sleep(self.rng.random())
        return held

    def steal(self, pod, interface):
        """What a pod with NET_ADMIN and an ordinary user can try: the addresses of other pods on an interface of the thief's, and a
        DEL of one of them. The victims keep what they have, which their CHECK sees, and what the thief has ends with it."""
        victims = self.ledger.others(pod)
        if not victims:
            return
        loot = [address.split("/")[0] for address, _ in self.rng.sample(victims, min(4, len(victims)))]
        machine.ip_batch([f"addr add {address}/32 dev {interface}" for address in loot], netns=pod)
        _, victim = self.rng.choice(victims)
        for conf, name in ((MACVLAN, "net1"), (META, "eth0")):
            done = subprocess.run([os.path.join(self.side.folder, conf["type"])], input=json.dumps(conf), capture_output=True, text=True, timeout=180,
                                  user=ORDINARY_USER, group=ORDINARY_USER, extra_groups=[], env=self.environment("DEL", victim, name, ""))
            if done.returncode == 0:
                self.ledger.blame(f"an ordinary user's DEL of {victim} was a success: {done.stdout}")
        self.ledger.count("thieves")
        time.sleep(self.rng.random() * 0.3)

    def end(self, pod, kind, nameless):
        if self.no_dels and not nameless and kind[0] is MACVLAN and self.rng.random() < 0.05:
            machine.del_netns(pod)
            self.ledger.count("DELs that never came")
            return
        if not nameless and kind[0]["type"] != "host-device" and self.rng.random() < 0.1:  # a veth, which our devices are, ends with its namespace
            machine.del_netns(pod)
            self.ledger.count("namespaces that went before DEL")
        self.detach(pod, kind)

    def attached(self, pod, kind, result):
        added = time.monotonic()
        self.ledger.count("pods attached")
        self.ledger.took([one["address"] for one in result.get("ips", [])], pod)
        links = machine.see(pod)["links"]
        names = [kind[1]] + [f"net{n}" for n in range(1, EXTRA + 1) if kind[2]]
        missing = [name for name in names if name not in links]
        if missing:
            self.ledger.blame(f"ADD of {pod} succeeded, and {', '.join(missing)} is missing: {sorted(links)}")
        for name in names[1:]:
            found = [json.loads(one)["local"] for one in links.get(name, {}).get("addresses", [])]
            self.ledger.took([f"{one}/16" for one in found if ":" not in one], pod)
        time.sleep(self.rng.random() * 0.3)
        if kind[0]["type"] != "host-device" and self.rng.random() < 0.1:
            self.steal(pod, kind[1])
        if self.rng.random() < 0.2:
            begun = time.monotonic()
            answer = self.call("CHECK", pod, ({**kind[0], "prevResult": result}, *kind[1:]))
            forgotten = added < self.ledger.rolled_back and any(reason in (answer or ("", ""))[1] for reason in FORGOTTEN)
            if answer and answer[0] != 0 and not forgotten and not self.ledger.may_fail(begun, answer[1]):
                self.ledger.blame(f"CHECK of {pod} failed without a fault that explains it: {answer[1]}")

    def detach(self, pod, kind):
        """Until it succeeds, as a runtime does."""
        end = time.monotonic() + PATIENCE_S
        while True:
            begun = time.monotonic()
            vanishes = self.rng.random() < 0.1
            answer = self.call("DEL", pod, kind, self.rng.random() * 0.05 if vanishes else None)
            if answer and answer[0] == 0:
                if kind[0]["type"] == "host-device":
                    self.wait_for_device(pod)
                return
            if answer and not self.ledger.may_fail(begun, answer[1]):
                self.ledger.count("DELs refused without a fault")
                if time.monotonic() > end:
                    self.ledger.blame(f"DEL of {pod} ({kind[0]['type']}) is still refused after {PATIENCE_S} s: {answer[1]}")
                    return
            if answer:
                time.sleep(0.2)


    def wait_for_device(self, pod):
        """A DEL without an agent is kept for the next one. A NIC comes home when its namespace goes; a veth, which our devices are, would end with it:
        also where an agent that is killed has brought it home and not forgotten it, or is asked to stop and still works on the ADD."""
        if settle(lambda: f"d{self.number}" not in machine.see()["links"] or is_kept(pod), 30):
            self.ledger.blame(f"DEL of {pod} succeeded, and d{self.number} did not come back, or is still recorded")


class Faults:
    """One after another, at random; each is over when its function returns."""

    def __init__(self, side, ledger, rng, rolls_back):
        self.side, self.ledger, self.rng, self.rolls_back = side, ledger, rng, rolls_back
        self.end_ms = []
        self.slow_ends = []

    def one(self):
        kinds = [("kills of the agent", self.kill), ("ends of the agent", self.end), ("ends of the agent", self.end),
                 ("times without space", self.full_disk), ("stops of the agent", self.stop)]
        if self.rolls_back:
            kinds.append(("states that were rolled back", self.roll_back))
        name, fault = self.rng.choice(kinds)
        self.ledger.count(name)
        fault()

    def again(self):
        self.side.begin_agent()
        begun = time.monotonic()
        while not self.side.ready():
            if time.monotonic() > begun + 60 or self.side.agent.poll() is not None:
                self.ledger.blame(f"the agent does not answer after its start: {self.side.log_tail(3)}")
                return
            time.sleep(0.01)
        self.ledger.fault(3)  # an ADD that the agent before had begun

    def kill(self, meanwhile=lambda: None):
        self.ledger.fault(30)
        self.side.agent.kill()
        self.side.agent.wait()
        self.kept = meanwhile()
        self.back()

    def roll_back(self):
        """As a disk that lost its last writes, or a copy that was put back. Not while a pod has a device: a DEL that knows nothing of it
        cannot bring it home, and a veth, which our devices are, ends with the pod's namespace."""
        self.ledger.hold_devices(True)
        try:
            if settle(lambda: self.ledger.devices or is_recorded("churn-device"), 30):
                return
            self.kill(lambda: [(path, path.read_bytes()) for path in STATES.glob("state.db*")])
            time.sleep(1 + 3 * self.rng.random())
            self.kill(self.put_back)
        finally:
            self.ledger.hold_devices(False)

    def put_back(self):
        for path in STATES.glob("state.db*"):
            path.unlink()
        for path, data in self.kept:
            path.write_bytes(data)
        self.ledger.rolled_back = time.monotonic()

    def end(self):
        self.ledger.fault(30)
        begun = time.monotonic()
        self.side.agent.send_signal(signal.SIGTERM)
        try:
            self.side.agent.wait(30)
        except subprocess.TimeoutExpired:
            self.ledger.blame("the agent did not end within 30 s of SIGTERM")
            self.side.agent.kill()
            self.side.agent.wait()
        self.end_ms.append((time.monotonic() - begun) * 1000)
        if self.end_ms[-1] > END_MS:
            self.slow_ends.append(f"{self.end_ms[-1]:.0f} ms from SIGTERM to exit; the agent's log: {self.side.log_tail(6)}")
        self.back()

    def back(self):
        time.sleep(self.rng.choice((0, 0.2, 2.5)))  # shorter and longer than the shim waits for it
        self.again()
        with self.ledger.lock:
            self.ledger.fault_until = time.monotonic() + 3

    def stop(self):
        self.side.agent.send_signal(signal.SIGSTOP)
        time.sleep(self.rng.random() * 2)
        self.side.agent.send_signal(signal.SIGCONT)

    def full_disk(self):
        """The file systems of the state and of the DELs that wait: each is of a file system of its own (see main)."""
        folder = self.rng.choice(("/run/railbed", "/var/lib/railbed", "/var/lib/cni"))
        self.ledger.fault(30)
        filler = pathlib.Path(folder, ".filler-of-test")
        try:
            with open(filler, "wb", buffering=0) as file:
                while True:
                    file.write(b"\0" * 4096)
        except OSError:
            pass
        time.sleep(0.5 + self.rng.random())
        filler.unlink()
        with self.ledger.lock:
            self.ledger.fault_until = time.monotonic() + 3


def rows(table, where="1"):
    with sqlite3.connect(f"file:{STATE}?mode=ro", uri=True) as state:
        return state.execute(f"SELECT * FROM {table} WHERE {where}").fetchall()


def is_recorded(text):
    """In the state, which an agent may be putting back."""
    try:
        return any(text in str(row) for row in rows("attachment"))
    except sqlite3.Error:
        return True


def is_kept(pod):
    """Whether a DEL of the pod is still to be carried out."""
    try:
        return is_recorded(f"@{pod}'") or any(pod.encode() in path.read_bytes() for path in PENDING.glob("*") if path.is_file())
    except OSError:  # it is being carried out
        return True


def others(side):
    """Processes of this pid namespace that an executed plugin left behind."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                status = entry.joinpath("status").read_text()
                words = entry.joinpath("cmdline").read_text().split("\0")
            except OSError:
                continue
            if words[0].startswith(side.folder + "/") and "State:\tZ" not in status:
                found.append(" ".join(words))
    return found


def settle(test, seconds):
    end = time.monotonic() + seconds
    while (found := test()) and time.monotonic() < end:
        time.sleep(0.2)
    return found


def leftovers(side, parents, no_dels):
    """What must not be there when all pods have gone."""
    wrong = [f"{path.name} is still to be detached: {path.read_bytes()[:300]}; the agent's log: {side.log_tail(6)}"
             for path in settle(lambda: list(PENDING.glob("*")), 60)]
    settle(lambda: rows("attachment"), RELEASED_S if no_dels else 0)
    if no_dels:  # host-local's files of a pod that a state which was rolled back does not know, and whose DEL never came
        done = subprocess.run([side.program, "gc", "--yes"], capture_output=True, text=True)
        wrong += [f"gc: {done.stdout}{done.stderr}"] if done.returncode != 0 else []
    expected = {"lo", "churn0", *parents, *(f"{name}p" for name in parents)}
    wrong += [f"{name} is left on the host" for name in settle(lambda: sorted(set(machine.see()["links"]) - expected), 60)]
    wrong += [f"{name} is gone from the host" for name in sorted(expected - {"churn0"} - set(machine.see()["links"]))]
    if left := machine.reserved_addresses():
        wrong.append(f"{len(left)} addresses are still reserved: {left[:4]}")
    wrong += [f"{path.name} is still recorded for a time after a reboot" for path in RECORDS.glob("*") if path.is_file()]
    for table in ("attachment", "lease", "pod"):
        if left := rows(table):
            wrong.append(f"{len(left)} rows of {table} are left: {left[:2]}")
    if left := others(side):
        wrong.append(f"{len(left)} processes are left: {left[:3]}")
    return wrong


def churn(side, ledger, options):
    ending = threading.Event()
    lives = [Life(side, number, ledger, ending, options.seed, options.seconds >= LONG_S) for number in range(LIVES)]
    faults = Faults(side, ledger, random.Random(options.seed), options.seconds >= LONG_S)
    for life in lives:
        life.start()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end and not ledger.wrong:
        time.sleep(0.2 + faults.rng.random())
        faults.one()
    ending.set()
    for life in lives:
        life.join()
    return faults


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        return
    names = ["p0"] + [f"d{i}" for i in range(DEVICES)]
    parents = machine.Parents(names)
    side.end_agent()
    for place in ("/run/railbed", "/var/lib/railbed", "/var/lib/cni"):
        pathlib.Path(place).mkdir(exist_ok=True)
        machine.run("mount", "-t", "tmpfs", "-o", "mode=700,size=24m", "railbed-churn", place)
    write_manifests()
    side.begin_agent()
    ledger = Ledger()
    try:
        settle(lambda: not side.ready(), 60)
        faults = churn(side, ledger, options)
        wrong = ledger.wrong[:10] + leftovers(side, names, options.seconds >= LONG_S)
    finally:
        MANIFESTS.unlink()
        side.end_agent()
        for place in ("/run/railbed", "/var/lib/railbed", "/var/lib/cni"):
            machine.run("umount", "--lazy", place)
        parents.remove()
        machine.run("ip", "link", "del", "churn0", check=False)
        side.begin_agent()
        settle(lambda: not side.ready(), 60)
    counts = ledger.counts
    report.note(", ".join(f"{number} {what}" for what, number in sorted(counts.items())) + f"; seed {options.seed}")
    ends = sorted(faults.end_ms)
    if ends:
        report.note(f"SIGTERM to exit: median {ends[len(ends) // 2]:.0f} ms, longest {ends[-1]:.0f} ms of {len(ends)}")
        for slow in faults.slow_ends:
            report.note(slow)
        if ends[-1] > END_MOST_MS:
            wrong += faults.slow_ends
    if counts["pods attached"] < options.seconds / 2:
        wrong.append(f"only {counts['pods attached']} pods were attached in {options.seconds} s: this tests nothing")
    print(f"    churn: {counts['pods attached']} pods {len(wrong)} wrong {ends[-1] if ends else 0:.0f} ms")
    report.check(f"churn: pods come and go for {options.seconds} s while everything fails", not wrong, wrong)
