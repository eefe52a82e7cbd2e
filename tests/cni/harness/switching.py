# SPDX-License-Identifier: Apache-2.0
"""A live node is switched over to railbed and back: docs/switching.md, rehearsed; in between docs/break-glass.md.

The pods of before are attached by the original plugins, driven by the library that Multus is built on, with the cache in
Multus' place. Multus itself and whereabouts are not to be had as modules: what they leave is written as their formats have
it, and a script stands in for whereabouts' program, which here only answers an address.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import machine
from sides import Driver

FOLDER = "/var/lib/cni/bin"  # one of those that the agent executes plugins from (docs/agent.md)
NET = pathlib.Path("/run/break-glass")  # in place of /etc/cni/net.d
MULTUS = pathlib.Path("/var/lib/cni/multus")
ADOPT = pathlib.Path("/etc/railbed-adopt")
ORIGINALS = ("bridge", "host-device", "macvlan", "tuning", "host-local", "static", "loopback")
PODS = ("old-a", "old-b", "old-c", "new-1", "new-2", "new-3", "own-m", "own-d", "after")

WHEREABOUTS = """#!/bin/sh
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion": "1.0.0", "ips": [{"address": "10.84.0.1/29"}]}'
"""


def net(name, *plugins):
    return {"cniVersion": "1.0.0", "name": name, "plugins": list(plugins)}


def host_local(subnet):
    return {"type": "host-local", "ranges": [[{"subnet": subnet}]]}


CLUSTER = net("cbr0", {"type": "bridge", "bridge": "br0", "ipam": host_local("10.81.0.0/24")})
LAN = net("lan", {"type": "macvlan", "master": "p0", "ipam": host_local("10.82.0.0/28")})
DEVICE = net("dev", {"type": "host-device", "device": "d0", "ipam": host_local("10.83.0.0/28")})
DEVICE_1 = net("dev", {"type": "host-device", "device": "d1", "ipam": host_local("10.83.0.0/28")})
RAIL = net("rail", {"type": "macvlan", "master": "p0", "ipam": {"type": "whereabouts", "range": "10.84.0.0/29"}},
           {"type": "tuning", "mtu": 1400})
META = net("pods", {"type": "railbed", "delegates": [CLUSTER]})


def pools(*allocations):
    """What `kubectl get ippools -A -o yaml` says; JSON is YAML."""
    listed = {str(offset): {"id": container, "podref": f"default/{container}", "ifname": "net1"} for offset, container in allocations}
    pool = {"apiVersion": "whereabouts.cni.cncf.io/v1alpha1", "kind": "IPPool", "metadata": {"name": "10.84.0.0-29"},
            "spec": {"range": "10.84.0.0/29", "allocations": listed}}
    ADOPT.mkdir(exist_ok=True)
    (ADOPT / "pools.yaml").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [pool]}))


def manifests():
    def metadata(name, **more):
        return {"name": name, "namespace": "default", **more}

    items = [{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": metadata(one["name"]),
              "spec": {"config": json.dumps(one)}} for one in (LAN, RAIL)]
    items += [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, annotations={"k8s.v1.cni.cncf.io/networks": networks}),
               "spec": {"containers": [{"name": "c", "image": "none"}]}}
              for name, networks in (("new-1", "lan, rail"),)]
    pathlib.Path("/etc/railbed/switching.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


class Switching:
    def __init__(self, report, side):
        self.report = report
        self.side = side
        self.wrong = []

    def reported(self, name):
        self.report.check(f"switching: {name}", not self.wrong, self.wrong)
        self.wrong = []

    def expect(self, good, text):
        if not good:
            self.wrong.append(text)

    # --- requests

    def ask(self, drive, op, conf, pod, ifname):
        answer = drive.ask(op=op, conf=conf, netns=machine.netns_path(pod), containerID=pod, ifname=ifname,
                           args=[["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "default"], ["K8S_POD_NAME", pod]])
        return answer

    def must(self, drive, op, conf, pod, ifname):
        answer = self.ask(drive, op, conf, pod, ifname)
        self.expect(answer["ok"], f"{op.upper()} {pod} {ifname}: {answer.get('error')}")
        return answer

    def railbed(self, *arguments, status=0):
        done = subprocess.run([self.side.program, *arguments], capture_output=True, text=True)
        self.expect(done.returncode == status, f"railbed {' '.join(arguments)}: status {done.returncode}: {done.stderr.strip()}")
        return done

    def shims(self, action):
        return self.railbed("cni", action, "--bin-dir", FOLDER, "--shim", os.environ["RAILBED_CNI"])

    @staticmethod
    def address(pod, ifname):
        link = machine.see(pod)["links"].get(ifname)
        found = [json.loads(one)["local"] for one in link["addresses"]] if link else []
        return found[0] if found else None

    @staticmethod
    def reserved():
        """By host-local's files: {network/address: container}"""
        return {name: (machine.HOST_LOCAL / name).read_bytes().decode().split("\r\n")[0] for name in machine.reserved_addresses()}

    # --- the node

    def multus_attaches(self, pod, *networks):
        """As Multus does: the networks in series, each result in the library's cache, the delegates in a file."""
        delegates = []
        for number, conf in enumerate(networks):
            ifname = "eth0" if number == 0 else f"net{number}"
            self.must(self.multus, "add", conf, pod, ifname)
            text = base64.b64encode(json.dumps(conf).encode()).decode()
            delegates.append({"Conf": {"name": conf["name"]}, "ConfListPlugin": True, "Bytes": text, "ifnameRequest": ifname})
        (MULTUS / pod).write_text(json.dumps(delegates))

    def begin(self):
        pathlib.Path(FOLDER).mkdir()
        for name in ORIGINALS:
            shutil.copy(os.path.join(os.environ["CNI_REFERENCE"], name), FOLDER)
        script = pathlib.Path(FOLDER, "whereabouts")
        script.write_text(WHEREABOUTS)
        script.chmod(0o755)
        machine.add_netns(*PODS)
        shutil.rmtree(machine.HOST_LOCAL, ignore_errors=True)
        manifests()
        self.multus = Driver(FOLDER, str(MULTUS))
        self.runtime = Driver(FOLDER, "/run/runtime-cache")
        self.multus_attaches("old-a", CLUSTER, LAN, DEVICE)
        self.multus_attaches("old-b", CLUSTER, RAIL)
        self.must(self.runtime, "add", LAN, "old-c", "net1")
        pools((1, "old-b"), (2, "far"))
        self.expect("d0" not in machine.see()["links"], "d0 is not in old-a")
        self.reported("pods of the original plugins, as Multus leaves them")

    def over(self):
        before = self.reserved()
        seen = {pod: machine.see(pod)["links"] for pod in ("old-a", "old-b", "old-c")}
        self.side.begin_agent("--adopt", str(ADOPT))
        self.shims("install")
        self.wait_for_agent()
        self.expect(self.logged("2 allocations of whereabouts picked up from /etc/railbed-adopt, 0 ended ones released"),
                    f"the log has no line of the allocations: {self.side.log_tail()}")
        self.must(self.runtime, "add", META, "new-1", "eth0")
        self.expect(self.address("new-1", "net2") == "10.84.0.3", f"new-1 has {self.address('new-1', 'net2')} on rail")
        lan = self.address("new-1", "net1")
        self.expect(f"lan/{lan}" not in before, f"new-1 has {lan}, which was reserved: {before}")
        self.expect(all(self.reserved().get(name) == pod for name, pod in before.items()), f"files changed: {self.reserved()}")
        self.expect({pod: machine.see(pod)["links"] for pod in seen} == seen, "pods of before were touched")
        for pod, ifname, conf in (("old-c", "net1", LAN), ("old-a", "net1", LAN)):
            answer = self.ask(self.runtime, "add", conf, "new-2", "net9")
            has = self.address("new-2", "net9")
            self.expect(answer["ok"] and f"lan/{has}" not in before, f"a new pod got {has}: {answer.get('error')}")
            self.must(self.runtime, "del", conf, "new-2", "net9")
        self.reported("over: new pods beside those of before, no address twice")

    def wait_for_agent(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            conf = json.dumps({"cniVersion": "1.1.0", "name": "ready", "type": "macvlan"})
            done = subprocess.run([f"{FOLDER}/macvlan"], input=conf, capture_output=True, text=True,
                                  env={"CNI_COMMAND": "STATUS", "CNI_PATH": FOLDER})
            if done.returncode == 0:
                return
            time.sleep(0.02)
        raise RuntimeError(f"the agent does not answer: {self.side.log_tail()}")

    def logged(self, text):
        """The agent writes its log beside everything else."""
        end = time.monotonic() + 60
        while text not in pathlib.Path(self.side.log).read_text() and time.monotonic() < end:
            time.sleep(0.1)
        return text in pathlib.Path(self.side.log).read_text()

    def restart(self):
        self.side.end_agent()
        self.side.begin_agent("--adopt", str(ADOPT))
        self.wait_for_agent()

    def old_pods_go(self):
        for pod in ("old-a", "old-b"):
            self.must(self.runtime, "del", META, pod, "eth0")
        self.must(self.runtime, "del", LAN, "old-c", "net1")
        for pod in ("old-a", "old-b", "old-c"):
            left = [name for name in machine.see(pod)["links"] if name != "lo"]
            self.expect(not left, f"{pod} still has {left}")
        self.expect("d0" in machine.see()["links"], f"d0 is not back: {sorted(machine.see()['links'])}")
        self.expect(not any(pod.startswith("old") for pod in self.reserved().values()), f"host-local's files: {self.reserved()}")
        left = [str(path) for path in MULTUS.rglob("*old-*")]
        self.expect(not left, f"Multus' files are left: {left}")
        self.reported("DEL of the pods of before gives back what the originals left")

        self.restart()  # the list still has old-b, and must not bring it back
        self.must(self.runtime, "add", RAIL, "new-2", "net1")
        self.expect(self.address("new-2", "net1") == "10.84.0.1", f"new-2 has {self.address('new-2', 'net1')}")
        pools()  # taken again: the pod of the other node is gone
        self.restart()
        self.must(self.runtime, "add", RAIL, "new-3", "net1")
        self.expect(self.address("new-3", "net1") == "10.84.0.2", f"new-3 has {self.address('new-3', 'net1')}")
        for pod in ("new-2", "new-3"):
            self.must(self.runtime, "del", RAIL, pod, "net1")
        self.reported("whereabouts' addresses are free when their pods are gone, here and elsewhere")

    # --- docs/break-glass.md

    def page(self, heading, step):
        """Its commands verbatim, with the folders of this sandbox."""
        root = pathlib.Path(__file__).resolve().parents[3]
        found = subprocess.run([root / "tests/cluster/page_commands", root / "docs/break-glass.md", heading, str(step)], capture_output=True, text=True)
        commands = found.stdout.replace("bin=/opt/cni/bin net=/etc/cni/net.d", f"bin={FOLDER} net={NET}")
        self.expect(found.returncode == 0 and FOLDER in commands, f"{heading}, step {step}: {found.stderr}{found.stdout}")
        commands = commands.replace("railbed cni", f"{self.side.program} cni").replace("install --bin-dir", f"install --shim {os.environ['RAILBED_CNI']} --bin-dir")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"{heading}, step {step}: status {done.returncode}: {done.stderr}")

    @staticmethod
    def chosen():
        """The configuration that a runtime takes: the first file by name."""
        return next((path for path in sorted(NET.iterdir()) if path.is_file()), None)

    def add_as_the_runtime(self, pod):
        return self.ask(self.runtime, "add", json.loads(self.chosen().read_text()), pod, "eth0")

    def writes_its_configuration(self):
        ours = NET / "00-a-railbed.json"
        end = time.monotonic() + 30
        while not ours.is_file() and time.monotonic() < end:
            time.sleep(0.1)
        self.expect(ours.is_file(), f"the agent did not write {ours}: {self.side.log_tail()}")

    def glass(self):
        NET.mkdir(exist_ok=True)
        (NET / "10-pods.conflist").write_text(json.dumps(CLUSTER))
        self.side.end_agent()
        self.side.begin_agent("--cni-config", str(NET))
        self.wait_for_agent()
        self.writes_its_configuration()
        self.must(self.runtime, "add", META, "own-m", "eth0")
        self.side.end_agent(signal.SIGKILL)
        answer = self.add_as_the_runtime("own-d")
        self.expect(not answer["ok"] and answer["error"].get("code") == 11, f"ADD without an agent: {answer}")
        self.page("On the node", 1)
        self.page("On the node", 2)
        self.expect(self.chosen().name == "10-pods.conflist", f"the runtime takes {self.chosen()}")
        for name in ORIGINALS:
            same = pathlib.Path(FOLDER, name).read_bytes() == pathlib.Path(os.environ["CNI_REFERENCE"], name).read_bytes()
            self.expect(same, f"{name} is not the original")
        answer = self.add_as_the_runtime("own-d")
        self.expect(answer["ok"] and self.address("own-d", "eth0"), f"ADD on the default network: {answer}")
        self.must(self.runtime, "del", CLUSTER, "own-d", "eth0")
        self.must(self.runtime, "del", META, "own-m", "eth0")
        self.expect(any(pathlib.Path("/var/lib/railbed/pending-del").iterdir()), "the DEL of a pod of railbed was not kept")
        self.reported("break glass: without agent, image and API server a pod gets the default network, and another one goes")

        self.side.begin_agent("--cni-config", str(NET))
        end = time.monotonic() + 30
        while "eth0" in machine.see("own-m")["links"] and time.monotonic() < end:
            time.sleep(0.1)
        self.expect("eth0" not in machine.see("own-m")["links"], f"the kept DEL was not carried out: {self.side.log_tail()}")
        self.expect(self.chosen().name == "10-pods.conflist", f"an agent that starts takes {self.chosen()}")
        self.page("Back to railbed", 1)
        self.writes_its_configuration()
        answer = self.add_as_the_runtime("own-m")
        self.expect(answer["ok"], f"ADD after the way back: {answer}")
        self.expect("default/own-m" in self.railbed("attachments").stdout, "railbed did not attach it")
        self.must(self.runtime, "del", META, "own-m", "eth0")
        self.restart()
        self.reported("break glass, and back: the agent carries out what was kept and serves new pods")

    def back(self):
        self.must(self.runtime, "add", LAN, "own-m", "net1")
        self.must(self.runtime, "add", DEVICE_1, "own-d", "net1")
        before = self.reserved()
        done = self.shims("uninstall")
        self.expect("2 interfaces attached by railbed are handed over to the original plugins\n" in done.stderr, done.stderr)
        for ifname, kind in (("exec:eth0#0", "exec:bridge"), ("net1", "macvlan"), ("net2", "macvlan")):
            line = (f"not handed over: default/new-1@new-1 {ifname} ({kind}): the meta plugin attached it, so only railbed can "
                    "release it\n")
            self.expect(line in done.stderr, f"no line of {ifname}: {done.stderr}")
        self.expect(not pathlib.Path(FOLDER, "railbed").exists(), "the meta plugin's shim is still there")
        for name in ORIGINALS:
            same = pathlib.Path(FOLDER, name).read_bytes() == pathlib.Path(os.environ["CNI_REFERENCE"], name).read_bytes()
            self.expect(same, f"{name} is not the original")
        self.must(self.runtime, "add", LAN, "after", "net1")  # by the original
        has = self.address("after", "net1")
        self.expect(f"lan/{has}" not in before, f"the original gave {has}, which railbed had given: {before}")
        for pod, conf in (("after", LAN), ("own-m", LAN), ("own-d", DEVICE_1)):
            self.must(self.runtime, "del", conf, pod, "net1")
            left = [name for name in machine.see(pod)["links"] if name != "lo"]
            self.expect(not left, f"{pod} still has {left}")
        self.expect("d1" in machine.see()["links"], f"d1 is not back: {sorted(machine.see()['links'])}")
        self.expect(set(self.reserved().values()) == {"new-1"}, f"host-local's files: {self.reserved()}")
        self.reported("back: the originals give back what railbed attached")

        answer = self.ask(self.runtime, "del", META, "new-1", "eth0")
        self.expect(not answer["ok"] and "railbed" in answer["error"]["msg"], f"DEL without the meta plugin: {answer}")
        self.shims("install")
        self.must(self.runtime, "del", META, "new-1", "eth0")
        self.expect(not self.reserved(), f"host-local's files: {self.reserved()}")
        machine.del_netns("own-m", "own-d")
        self.railbed("gc", "--yes", "--wait", "10")
        left = self.railbed("attachments").stdout
        self.expect(left == "nothing is attached\n", f"still recorded: {left}")
        self.shims("uninstall")
        self.reported("pods of the meta plugin wait for railbed; nothing is left in the end")


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        return
    side.stop()
    shutil.rmtree("/run/railbed", ignore_errors=True)
    parents = machine.Parents(["p0", "d0", "d1"])
    tests = Switching(report, side)
    try:
        for step in (tests.begin, tests.over, tests.old_pods_go, tests.glass, tests.back):
            step()
    finally:
        if side.agent.poll() is None:
            side.end_agent()
        machine.del_netns(*PODS)
        parents.remove()
        machine.run("ip", "link", "del", "br0", check=False)
        shutil.rmtree("/run/railbed", ignore_errors=True)
        shutil.rmtree(NET, ignore_errors=True)
        side.start()
