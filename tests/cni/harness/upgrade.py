# SPDX-License-Identifier: Apache-2.0
"""Upgrade and downgrade: pods live on while shim and agent change between the previous release (tools/previous-release) and this
build, in all four pairs. In a rollout the shim on disk is the new one first, and the agent for some minutes still the old one.

In each stage pods come, all that live are checked, and pods of the stage before go. No address may be there twice, and in the
end nothing is left.
"""
import json
import os
import pathlib
import signal
import subprocess

import machine

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSION = "1.0.0"
STAGES = (("old", "old"), ("new", "old"), ("new", "new"), ("old", "new"), ("old", "old"), ("new", "new"))  # shim, agent
KINDS = ("direct", "device", "meta")
IFNAMES = {"direct": "net1", "device": "net1", "meta": "eth0"}


def host_local(network):
    return {"type": "host-local", "ranges": [[{"subnet": f"10.{140 + network}.0.0/24"}]]}


BRIDGE = {"cniVersion": VERSION, "name": "up-bridge", "type": "bridge", "bridge": "up0", "isGateway": True, "ipam": host_local(0)}
LAN = {"cniVersion": VERSION, "name": "up-lan", "type": "macvlan", "master": "p0", "ipam": host_local(1)}
META = {"cniVersion": VERSION, "name": "up-meta", "type": "railbed", "delegates": [BRIDGE, LAN]}


def conf_of(kind, device):
    if kind == "meta":
        return META
    if kind == "direct":
        return {"cniVersion": VERSION, "name": "up-direct", "type": "macvlan", "master": "p0", "ipam": host_local(2)}
    return {"cniVersion": VERSION, "name": "up-device", "type": "host-device", "device": device, "ipam": host_local(3)}


class Pod:
    def __init__(self, name, kind, device):
        self.name, self.kind, self.device = name, kind, device
        self.conf, self.ifname, self.result = conf_of(kind, device), IFNAMES[kind], None

    def addresses(self):
        return {one["address"] for one in self.result["ips"]}


class Upgrade:
    def __init__(self, report, side, programs, devices):
        self.report, self.side, self.programs, self.wrong = report, side, programs, []
        self.devices = list(devices)
        self.living = []
        self.held = []

    def expect(self, good, text):
        if not good:
            self.wrong.append(text)

    def ask(self, command, pod, conf):
        done = self.side.raw(conf["type"], json.dumps(conf), {
            "CNI_COMMAND": command, "CNI_CONTAINERID": pod.name, "CNI_NETNS": machine.netns_path(pod.name), "CNI_IFNAME": pod.ifname,
            "CNI_PATH": self.side.folder, "CNI_ARGS": f"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={pod.name}"})
        self.expect(done.returncode == 0, f"{command} {pod.name}: {done.stdout.strip()}{done.stderr.strip()}")
        return done

    def exchange(self, shim, agent, how):
        """The shims on disk first, as the DaemonSet's init container does."""
        done = subprocess.run([str(self.programs[shim] / "railbed"), "cni", "install", "--bin-dir", self.side.folder,
                               "--shim", str(self.programs[shim] / "railbed-cni")], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"railbed cni install of the {shim} shim: {done.stderr.strip()}")
        self.side.program = str(self.programs[agent] / "railbed")
        self.side.end_agent(how)
        self.side.start_agent()
        runs = os.readlink(f"/proc/{self.side.agent.pid}/exe")
        self.expect(runs.startswith(str(self.programs[agent])), f"the agent that runs is {runs}")

    def add(self, name, kind):
        pod = Pod(name, kind, self.devices.pop() if kind == "device" else None)
        machine.run("ip", "netns", "add", name)
        done = self.ask("ADD", pod, pod.conf)
        if done.returncode != 0:
            return
        pod.result = json.loads(done.stdout)
        for other in self.living:
            self.expect(not pod.addresses() & other.addresses(), f"{pod.name} and {other.name} both have {pod.addresses()}")
        self.living.append(pod)

    def remove(self, pod):
        self.ask("DEL", pod, pod.conf)
        self.living.remove(pod)
        if pod.device is not None:
            self.expect(pod.device in machine.see()["links"], f"{pod.device} did not come home from {pod.name}")
        machine.del_netns(pod.name)

    def strip_names(self, prefix):
        """While something holds the namespaces; then the agent is killed."""
        for pod in self.of(prefix):
            self.held.append(os.open(machine.netns_path(pod.name), os.O_RDONLY))
            machine.run("umount", "--lazy", machine.netns_path(pod.name))
            os.unlink(machine.netns_path(pod.name))
        self.side.end_agent(signal.SIGKILL)
        self.side.start_agent()

    def of(self, prefix):
        return [pod for pod in self.living if pod.name.startswith(prefix)]

    def nameless(self, number):
        if number == 2:
            self.strip_names("up1")
            self.add("up2-direct-more", "direct")
        if number == 3:  # before the old agent, which takes a namespace without a name for one that has ended
            for pod in self.of("up1"):
                self.remove(pod)
        if number == 4:  # it must go on all the same
            self.strip_names("up4-direct-stays")
            self.remove(self.of("up4-direct-stays")[0])
            self.add("up4-direct-more", "direct")

    def stage(self, number, shim, agent):
        self.exchange(shim, agent, signal.SIGTERM if number % 2 else signal.SIGKILL)
        for pod in self.living:
            if pathlib.Path(machine.netns_path(pod.name)).exists():
                self.ask("CHECK", pod, {**pod.conf, "prevResult": pod.result})
        for kind in KINDS:
            for one in ("goes", "stays"):
                self.add(f"up{number}-{kind}-{one}", kind)
        self.nameless(number)
        for pod in self.of(f"up{number - 1}"):
            if number != 2 and pod.name.endswith("goes"):
                self.remove(pod)
        self.report.check(f"upgrade: {shim} shim and {agent} agent, after {number} changes", not self.wrong, self.wrong)
        self.wrong = []

    def end(self):
        for pod in list(self.living):
            self.remove(pod)
        self.expect(not machine.reserved_addresses(), f"still reserved: {machine.reserved_addresses()}")
        self.expect(not self.side.left("up"), f"attachments are left: {self.side.left('up')}")
        records = [path.name for path in pathlib.Path("/var/lib/railbed/records").glob("*.json")]
        self.expect(not records, f"records of programs are left: {records}")
        self.report.check("upgrade: in the end nothing is left", not self.wrong, self.wrong)


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
    devices = [f"d{i}" for i in range(2 * len(STAGES))]
    parents = machine.Parents(["p0", *devices])
    upgrade = Upgrade(report, side, programs, devices)
    try:
        for number, (shim, agent) in enumerate(STAGES):
            upgrade.stage(number, shim, agent)
        upgrade.end()
    finally:
        for held in upgrade.held:
            os.close(held)
        side.program = str(now)
        upgrade.exchange("new", "new", signal.SIGTERM)
        machine.run("ip", "link", "del", "up0", check=False)
        parents.remove()
