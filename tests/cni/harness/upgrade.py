# SPDX-License-Identifier: Apache-2.0
"""Upgrade and downgrade: pods live on while shim and agent change between the previous release (tools/previous-release) and this
build, in all four pairs. In a rollout the shim on disk is the new one first, and the agent for some minutes still the old one.

In each stage pods come, all that live are checked, and pods of the stage before go: with the agent, while there is none (the shim of
one version keeps the DEL, the agent of the other one carries it out), and after their namespace has ended. No address may be there
twice, and in the end nothing is left.
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import machine

ROOT = pathlib.Path(__file__).resolve().parents[3]
PENDING = pathlib.Path("/var/lib/railbed/pending-del")
VERSION = "1.0.0"
STAGES = (("old", "old"), ("new", "old"), ("new", "new"), ("old", "new"), ("old", "old"), ("new", "new"))  # shim, agent
KINDS = ("direct", "device", "meta", "chain")
IFNAMES = {"direct": "net1", "device": "net1", "meta": "eth0", "chain": "net1"}
ENDS = ("goes", "stays", "kept", "ended")  # by a DEL one stage later, in the end, while there is no agent, after its namespace
DEVICES = len(STAGES) * (len(ENDS) - 1)  # a veth ends with its namespace


def host_local(network):
    return {"type": "host-local", "ranges": [[{"subnet": f"10.{140 + network}.0.0/24"}]]}


def plugin(kind, name, **more):
    return {"cniVersion": VERSION, "name": name, "type": kind, **more}


BRIDGE = plugin("bridge", "up-bridge", bridge="up0", isGateway=True, ipam=host_local(0))
LAN = plugin("macvlan", "up-lan", master="p0", ipam=host_local(1))
POOL = {"type": "whereabouts", "range": "10.144.0.0/24"}


def plugins_of(kind, device):
    """The chain of one interface."""
    if kind == "meta":
        return [plugin("railbed", "up-meta", delegates=[BRIDGE, LAN])]
    if kind == "device":
        return [plugin("host-device", "up-device", device=device, ipam=host_local(3))]
    if kind == "chain":
        return [plugin("macvlan", "up-chain", master="p0", ipam=POOL), plugin("tuning", "up-chain", mtu=1400, sysctl={"net.core.somaxconn": "512"}),
                plugin("sbr", "up-chain")]
    return [plugin("macvlan", "up-direct", master="p0", ipam=host_local(2))]


class Pod:
    def __init__(self, name, kind, device, agent):
        self.name, self.kind, self.device, self.agent = name, kind, device, agent
        self.plugins, self.ifname, self.result = plugins_of(kind, device), IFNAMES[kind], None

    def addresses(self):
        return {one["address"] for one in self.result["ips"]}

    def ends(self, how):
        return self.name.endswith(how)


class Upgrade:
    def __init__(self, report, side, programs, devices):
        self.report, self.side, self.programs, self.wrong = report, side, programs, []
        self.devices = list(devices)
        self.living = []
        self.held = []  # what keeps namespaces without a name alive

    def expect(self, good, text):
        if not good:
            self.wrong.append(text)

    # --- requests

    def call(self, command, pod, conf, netns=None):
        done = self.side.raw(conf["type"], json.dumps(conf), {
            "CNI_COMMAND": command, "CNI_CONTAINERID": pod.name, "CNI_NETNS": machine.netns_path(pod.name) if netns is None else netns,
            "CNI_IFNAME": pod.ifname, "CNI_PATH": self.side.folder,
            "CNI_ARGS": f"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={pod.name}"})
        self.expect(done.returncode == 0, f"{command} {pod.name} by {conf['type']}: {done.stdout.strip()}{done.stderr.strip()}")
        return done

    def add(self, name, kind, agent):
        pod = Pod(name, kind, self.devices.pop() if kind == "device" else None, agent)
        machine.run("ip", "netns", "add", name)
        for one in pod.plugins:
            done = self.call("ADD", pod, {**one, "prevResult": pod.result} if pod.result else one)
            if done.returncode != 0:
                return
            pod.result = json.loads(done.stdout)
        for other in self.living:
            self.expect(not pod.addresses() & other.addresses(), f"{pod.name} and {other.name} both have {pod.addresses()}")
        self.living.append(pod)

    def check(self, pod):
        for one in pod.plugins:
            self.call("CHECK", pod, {**one, "prevResult": pod.result})

    def delete(self, pod, netns=None):
        for one in reversed(pod.plugins):
            self.call("DEL", pod, {**one, "prevResult": pod.result}, netns)

    def collect(self):
        """GC as a runtime asks for it: none of those that live may go."""
        for conf in (plugins_of("direct", None)[0], plugins_of("meta", None)[0], plugins_of("chain", None)[0]):
            valid = [{"containerID": pod.name, "ifname": pod.ifname} for pod in self.living]
            done = self.side.raw(conf["type"], json.dumps({**conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": valid}),
                                 {"CNI_COMMAND": "GC", "CNI_PATH": self.side.folder})
            self.expect(done.returncode == 0, f"GC of {conf['name']}: {done.stdout.strip()}{done.stderr.strip()}")

    # --- how pods go

    def gone(self, pod):
        self.living.remove(pod)
        if pod.device is not None:
            self.expect(pod.device in machine.see()["links"], f"{pod.device} did not come home from {pod.name}")
        machine.del_netns(pod.name)

    def remove(self, pod):
        self.delete(pod)
        self.gone(pod)

    def end(self, pod):
        """Its namespace ends, and the runtime, which knows it no more, sends a DEL without one."""
        machine.del_netns(pod.name)
        self.delete(pod, netns="")
        self.living.remove(pod)

    def keep_dels(self):
        """There is no agent. Runtimes end the namespace as soon as DEL has succeeded. Records of the old agent prove no end, so
        their pods would stay orphaned until the machine boots: here those namespaces outlive the exchange."""
        kept = [pod for pod in self.living if pod.ends("kept")]
        for pod in kept:
            self.delete(pod)
            if pod.agent == "new" and pod.device is None:
                machine.del_netns(pod.name)
        return kept

    def carried_out(self, kept):
        end = time.monotonic() + 60
        while (waiting := [path.name for path in PENDING.glob("*.del*")]) and time.monotonic() < end:
            time.sleep(0.05)
        self.expect(not waiting, f"DELs that were kept are not carried out: {waiting}: {self.side.log_tail()}")
        for pod in kept:
            self.gone(pod)

    def of(self, prefix):
        return [pod for pod in self.living if pod.name.startswith(prefix)]

    def strip_names(self, prefix):
        """While something else holds the namespaces; then the agent is killed."""
        for pod in self.of(prefix):
            self.held.append(open(machine.netns_path(pod.name)))
            machine.run("umount", "--lazy", machine.netns_path(pod.name))
            os.unlink(machine.netns_path(pod.name))
        self.side.end_agent(signal.SIGKILL)
        self.side.start_agent()

    def nameless(self, number, agent):
        if number == 2:
            self.strip_names("up1")
            self.add("up2-direct-more", "direct", agent)
        if number == 3:  # before the old agent, which takes a namespace without a name for one that has ended
            for pod in self.of("up1"):
                self.remove(pod)
            self.orphan(agent)
        if number == 4:  # it continues anyway
            self.strip_names("up4-direct-stays")
            self.remove(self.of("up4-direct-stays")[0])
            self.add("up4-direct-more", "direct", agent)

    def orphan(self, agent):
        """A pod whose namespace only a socket keeps alive, where no search finds it: the new agent keeps its address, and the old one
        must get along with the record."""
        name = "up-orphan"
        self.add(name, "direct", agent)
        if self.living[-1].name != name:
            return
        self.held.append(machine.in_netns(name, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)))
        machine.del_netns(name)
        pod = self.living.pop()
        self.delete(pod)
        self.expect(self.side.left(name), f"{name} is not orphaned: {self.side.log_tail()}")
        self.expect(any(name in (machine.HOST_LOCAL / one).read_text() for one in machine.reserved_addresses()), f"the address of {name} is free")

    # --- stages

    def install(self, shim):
        """As the DaemonSet's init container does, before its agent starts."""
        done = subprocess.run([str(self.programs[shim] / "railbed"), "cni", "install", "--bin-dir", self.side.folder,
                               "--shim", str(self.programs[shim] / "railbed-cni")], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"railbed cni install of the {shim} shim: {done.stderr.strip()}")

    def exchange(self, shim, agent, how):
        self.install(shim)
        self.side.end_agent(how)
        kept = self.keep_dels()
        self.side.program = str(self.programs[agent] / "railbed")
        self.side.start_agent()
        runs = os.readlink(f"/proc/{self.side.agent.pid}/exe")
        self.expect(runs.startswith(str(self.programs[agent])), f"the agent that runs is {runs}")
        self.carried_out(kept)

    def stage(self, number, shim, agent):
        self.exchange(shim, agent, signal.SIGTERM if number % 2 else signal.SIGKILL)
        self.collect()
        for pod in self.living:
            if pathlib.Path(machine.netns_path(pod.name)).exists():
                self.check(pod)
        if agent == "new":  # the old one takes a namespace without a name for one that has ended
            for pod in [one for one in self.living if one.ends("ended")]:
                self.end(pod)
        for kind in KINDS:
            for end in ENDS:
                if end != "ended" or kind != "device":
                    self.add(f"up{number}-{kind}-{end}", kind, agent)
        self.nameless(number, agent)
        for pod in self.of(f"up{number - 1}"):
            if number != 2 and pod.ends("goes"):
                self.remove(pod)
        self.report.check(f"upgrade: {shim} shim and {agent} agent, after {number} changes", not self.wrong, self.wrong)
        self.wrong = []

    def let_go(self):
        for one in self.held:
            one.close()
        self.held = []

    def finish(self):
        for pod in list(self.living):
            self.remove(pod)
        self.let_go()
        end = time.monotonic() + 60
        while self.side.left("up") and time.monotonic() < end:
            time.sleep(0.2)
        self.expect(not machine.reserved_addresses(), f"still reserved: {machine.reserved_addresses()}")
        self.expect(not self.side.left("up"), f"attachments are left: {self.side.left('up')}")
        records = [path.name for path in pathlib.Path("/var/lib/railbed/records").glob("*.json")]
        self.expect(not records, f"records of programs are left: {records}")
        done = subprocess.run([self.side.program, "gc"], capture_output=True, text=True)
        self.expect(done.returncode == 0 and "up" not in done.stdout, f"gc: {done.stdout}{done.stderr}")
        self.report.check("upgrade: in the end nothing is left", not self.wrong, self.wrong)
        self.wrong = []


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        return
    found = subprocess.run([str(ROOT / "tests/tools/previous"), "--cached"], capture_output=True, text=True)
    if found.returncode != 0:
        report.skip("upgrade", found.stderr.strip())
        return
    now = pathlib.Path(side.program)
    programs = {"old": pathlib.Path(found.stdout.strip()), "new": now.parent}
    devices = [f"d{i}" for i in range(DEVICES)]
    parents = machine.Parents(["p0", *devices])
    upgrade = Upgrade(report, side, programs, devices)
    try:
        for number, (shim, agent) in enumerate(STAGES):
            upgrade.stage(number, shim, agent)
        upgrade.finish()
    finally:
        upgrade.let_go()
        machine.del_netns(*[pod.name for pod in upgrade.living])
        side.program = str(now)
        upgrade.living = []
        upgrade.exchange("new", "new", signal.SIGTERM)
        machine.run("ip", "link", "del", "up0", check=False)
        parents.remove()
