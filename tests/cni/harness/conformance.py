# SPDX-License-Identifier: Apache-2.0
"""Every plugin type in every version: the verbs, the results as the reference library reads them, and what must be refused."""
import json
import os
import pathlib
import shutil
import subprocess

import machine
from generator import VERSIONS
from verbs import NOT_VALID, Verbs

NETNS = "/run/netns/conform"


def addresses(kind):
    return {
        "host-local": {"type": "host-local", "ranges": [[{"subnet": "10.60.0.0/24", "gateway": "10.60.0.1"}],
                                                        [{"subnet": "fd60::/112"}]], "routes": [{"dst": "172.20.0.0/16"}]},
        "static": {"type": "static", "addresses": [{"address": "10.61.0.5/24", "gateway": "10.61.0.1"}, {"address": "fd61::5/64"}]},
        "whereabouts": {"type": "whereabouts", "range": "10.62.0.0/24", "gateway": "10.62.0.1", "exclude": ["10.62.0.0/29"],
                        "routes": [{"dst": "172.21.0.0/16"}]},
    }[kind]


def chains(side):
    """(name, what the kernel must have, list of plugins)"""
    all_of = [
        ("macvlan without addresses", None, [{"type": "macvlan", "master": "p0"}]),
        ("macvlan with static", None, [{"type": "macvlan", "master": "p0", "ipam": addresses("static")}]),
        ("macvlan with host-local", None, [{"type": "macvlan", "master": "p0", "ipam": addresses("host-local")}]),
        ("host-device with host-local", None, [{"type": "host-device", "device": "d0", "ipam": addresses("host-local")}]),
        ("host-device without addresses", None, [{"type": "host-device", "device": "d0"}]),
        ("macvlan, tuning", None, [{"type": "macvlan", "master": "p0", "ipam": addresses("static")},
                                   {"type": "tuning", "mtu": 1400, "mac": "02:00:00:aa:bb:cc", "promisc": True,
                                    "sysctl": {"net.ipv4.conf.IFNAME.arp_filter": "1"}}]),
        ("macvlan, sbr", None, [{"type": "macvlan", "master": "p0", "ipam": addresses("static")}, {"type": "sbr"}]),
        ("host-device, tuning, sbr", None, [{"type": "host-device", "device": "d0", "ipam": addresses("static")},
                                            {"type": "tuning", "txQLen": 500, "allmulti": True}, {"type": "sbr", "table": 300}]),
        ("ipvlan with static", "ipvlan", [{"type": "ipvlan", "master": "p0", "ipam": addresses("static")}]),
        ("dummy with static", "dummy", [{"type": "dummy", "ipam": addresses("static")}]),
        ("dummy with host-local, tuning", "dummy", [{"type": "dummy", "ipam": addresses("host-local")}, {"type": "tuning", "mtu": 1400}]),
        ("macvlan, vrf", "vrf", [{"type": "macvlan", "master": "p0", "ipam": addresses("static")}, {"type": "vrf", "vrfname": "red"}]),
        ("bridge of the reference, tuning", None, [{"type": "bridge", "bridge": "br0", "ipam": addresses("host-local")},
                                                   {"type": "tuning", "mtu": 1400}]),
    ]
    if side.name == "railbed":
        all_of += [
            ("macvlan with whereabouts", None, [{"type": "macvlan", "master": "p0", "ipam": addresses("whereabouts")}]),
            ("host-device with whereabouts", None, [{"type": "host-device", "device": "d0", "ipam": addresses("whereabouts")}]),
        ]
    return all_of


# What the meta plugin reads: networks, and pods that ask for them.
META_NETWORKS = {
    "mac": [{"type": "macvlan", "master": "p0", "ipam": addresses("whereabouts")}, {"type": "tuning", "mtu": 1400}],
    "dev": [{"type": "host-device", "device": "d0", "ipam": addresses("host-local")}],
}


def prepare():
    """Before the agent starts."""
    def metadata(name, **more):
        return {"name": name, "namespace": "default", **more}

    objects = [{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": metadata(name),
                "spec": {"config": json.dumps({"cniVersion": "1.0.0", "name": name, "plugins": plugins})}}
               for name, plugins in META_NETWORKS.items()]
    for name, networks in (("meta", "mac, dev@rail0"), ("lost", "mac, nowhere")):
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(name, annotations={"k8s.v1.cni.cncf.io/networks": networks}),
                        "spec": {"containers": [{"name": "c", "image": "none"}]}})
    pathlib.Path("/etc/railbed").mkdir(exist_ok=True)
    pathlib.Path("/etc/railbed/conformance.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


class Conformance:
    def __init__(self, report, side):
        self.report = report
        self.side = side
        self.number = 0

    def new_id(self):
        self.number += 1
        return f"conform-{self.number}"

    def request(self, plugins, version, container=None, ifname="net1", name="conform"):
        return {"conf": {"cniVersion": version, "name": name, "plugins": plugins}, "netns": NETNS,
                "containerID": container or self.new_id(), "ifname": ifname}

    # One chain in one version.
    def verbs(self, plugins, version):
        """What is wrong, in words."""
        wrong = []
        request = self.request(plugins, version)
        if tuple(map(int, version.split("."))) >= (1, 1, 0):
            wrong += self.must(self.side.ask("status", request["conf"]), "STATUS")
        answer = self.side.ask("add", **request)
        wrong += self.must(answer, "ADD")
        if answer["ok"]:
            wrong += self.result_fits(answer, version)
            if version >= "0.4.0":
                wrong += self.must(self.side.ask("check", **request), "CHECK")
            again = self.side.ask("add", **{**request, "containerID": self.new_id()})
            if again["ok"]:
                wrong.append("ADD of an interface name that is taken succeeded")
            if version >= "0.4.0" and (text := self.must(self.side.ask("check", **request), "CHECK after a refused ADD")):
                wrong += text
        wrong += self.must(self.side.ask("del", **request), "DEL")
        wrong += self.nothing_left()
        if self.side.name == "railbed":  # the reference's host-device cannot
            wrong += self.must(self.side.ask("del", **request), "DEL again")
            wrong += self.must(self.side.ask("del", **{**request, "netns": ""}), "DEL without a namespace")
            wrong += self.must(self.side.ask("del", **{**request, "containerID": "never-seen"}), "DEL of what never was")
        return wrong

    @staticmethod
    def must(answer, what):
        return [] if answer["ok"] else [f"{what}: {answer['error']['code']} {answer['error']['msg']} {answer['error'].get('details', '')}"]

    def result_fits(self, answer, version):
        """The result against the library's conversions and against the interface itself."""
        wrong, result = [], answer["result"]
        if result.get("cniVersion") != version:
            wrong.append(f"the result has cniVersion {result.get('cniVersion')}")
        for other in VERSIONS:
            converted = answer["versions"].get(other)
            if not isinstance(converted, dict):
                wrong.append(f"the library cannot convert the result to {other}: {converted}")
        inside = [one for one in result.get("interfaces", []) if one.get("sandbox")]
        if [one["name"] for one in inside] != ["net1"] or inside[0]["sandbox"] != NETNS:
            return wrong + [f"interfaces of the result: {result.get('interfaces')}"]
        seen = machine.see("conform")
        if "net1" not in seen["links"]:
            return wrong + ["the pod has no net1"]
        if seen["macs"]["net1"] != inside[0].get("mac", seen["macs"]["net1"]):
            wrong.append(f"net1 has the MAC {seen['macs']['net1']}, the result says {inside[0]['mac']}")
        link = seen["links"]["net1"]
        if "mtu" in inside[0] and inside[0]["mtu"] != link["mtu"]:
            wrong.append(f"net1 has MTU {link['mtu']}, the result says {inside[0]['mtu']}")
        if "UP" not in link["flags"]:
            wrong.append("net1 is not up")
        has = {f"{one['local']}/{one['prefixlen']}" for one in map(json.loads, link["addresses"])}
        reported = {one["address"] for one in result.get("ips", [])}
        if has != reported:
            wrong.append(f"net1 has {sorted(has)}, the result says {sorted(reported)}")
        for one in result.get("ips", []):
            if result["interfaces"][one.get("interface", 0)].get("name") != "net1":
                wrong.append(f"{one['address']} points at interface {one.get('interface')}")
            if ("version" in one) != (version < "1.0.0"):
                wrong.append(f"{one}: \"version\" belongs to results before 1.0.0 only")
        return wrong

    def nothing_left(self):
        seen = machine.see("conform")
        wrong = [f"{name} is left in the pod" for name in seen["links"] if name != "lo"]
        if "d0" not in machine.see()["links"]:
            wrong.append("d0 is not back")
        if machine.reserved_addresses():
            wrong.append(f"host-local still has {machine.reserved_addresses()}")
        if self.side.name == "railbed" and (left := self.side.left("conform-")):
            wrong.append(f"railbed still has {left}")
        return wrong

    def matrix(self):
        for name, kind, plugins in chains(self.side):
            if not all(self.side.has(plugin["type"]) for plugin in plugins):
                self.report.fail(f"conformance: {name}", ["a plugin is not installed"])
                continue
            if kind and not machine.has_kind(kind):
                self.report.skip(f"conformance: {name}", f"this kernel has no {kind}")
                continue
            for version in VERSIONS:
                wrong = self.verbs(plugins, version)
                self.report.check(f"conformance: {name}, {version}", not wrong, wrong)

    def versions(self):
        import sides
        for kind in sides.TYPES:
            if not self.side.has(kind):
                if self.side.name == "railbed":
                    self.report.fail(f"conformance: VERSION of {kind}", ["it is not installed"])
                continue
            answer = self.side.drive.ask(op="version", type=kind)
            good = answer["ok"] and set(VERSIONS) <= set(answer["info"])
            self.report.check(f"conformance: VERSION of {kind}", good, str(answer))

    # What must be refused, and how.
    def environment(self, **changes):
        env = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": self.new_id(), "CNI_NETNS": NETNS, "CNI_IFNAME": "net1",
               "CNI_PATH": self.side.folder, **changes}
        return {key: value for key, value in env.items() if value is not None}

    def refused(self, name, code, plugin, stdin, **changes):
        done = self.side.raw(plugin, stdin, self.environment(**changes))
        try:
            reported = json.loads(done.stdout)
        except ValueError:
            reported = {}
        good = done.returncode != 0 and isinstance(reported.get("msg"), str) and reported["msg"] and isinstance(reported.get("code"), int)
        if code is not None:
            good = good and reported.get("code") == code
        if "net1" in machine.see("conform")["links"]:
            good, done.stderr = False, "net1 is in the pod"
        self.report.check(f"conformance: refused by {plugin}: {name}", good,
                          [f"status {done.returncode}, wanted code {code}, got: {done.stdout.strip()} {done.stderr.strip()}"])
        return reported

    def foreign_ipam(self, stdin):
        """An IPAM plugin that is not ours, below one of ours, is executed for ADD and DEL."""
        environment = self.environment()
        added = self.side.raw("macvlan", stdin, environment)
        there = machine.see("conform")["links"]
        gone = self.side.raw("macvlan", stdin, {**environment, "CNI_COMMAND": "DEL"})
        good = added.returncode == 0 and '"ips"' in added.stdout and "net1" in there and gone.returncode == 0
        good = good and "net1" not in machine.see("conform")["links"]
        self.report.check("conformance: an IPAM plugin of others below ours", good,
                          [f"ADD: {added.returncode} {added.stdout} {added.stderr}", f"DEL: {gone.returncode} {gone.stdout}"])

    def refusals(self):
        macvlan = {"cniVersion": "1.1.0", "name": "conform", "type": "macvlan", "master": "p0"}

        def text(**changes):
            return json.dumps({key: value for key, value in {**macvlan, **changes}.items() if value is not None})

        for plugin, good in (("macvlan", text()), ("host-device", text(type="host-device", device="d0")),
                             ("host-local", text(ipam=addresses("host-local"))), ("static", text(ipam=addresses("static")))):
            old = json.loads(good)
            self.refused("a version that is not known", 1, plugin, json.dumps({**old, "cniVersion": "9.9.9"}))
            reported = self.refused("no CNI_IFNAME, no CNI_CONTAINERID", 4, plugin, good, CNI_IFNAME=None, CNI_CONTAINERID=None)
            self.report.check(f"conformance: {plugin} names all that is missing",
                              "CNI_IFNAME" in str(reported) and "CNI_CONTAINERID" in str(reported), str(reported))
            self.refused("no CNI_COMMAND's value that is known", 4, plugin, good, CNI_COMMAND="FROB")
            self.refused("no JSON", 6, plugin, good[:-5])
        own = f"/proc/{os.getpid()}/ns/net"
        for plugin, good in (("macvlan", text()), ("host-device", text(type="host-device", device="d0"))):
            for verb in ("ADD", "DEL"):
                self.refused(f"{verb} in the host's own namespace", 8, plugin, good, CNI_COMMAND=verb, CNI_IFNAME="p0", CNI_NETNS=own)
        links = machine.see()["links"]
        self.report.check(f"conformance: the host's interfaces are as they were ({self.side.name})",
                          "p0" in links and "d0" in links, [str(sorted(links))])
        if self.side.name != "railbed":
            return
        self.refused("nothing on standard input", 6, "macvlan", "")
        self.refused("no name", 7, "macvlan", text(name=None))
        self.refused("a name that is a path", 7, "macvlan", text(name="../../etc"))
        self.refused("a mode that is none", 7, "macvlan", text(mode="sideways"))
        self.refused("an MTU that is no number", 7, "macvlan", text(mtu="big"))
        self.refused("no such master", None, "macvlan", text(master="nowhere0"))
        self.refused("no such IPAM", None, "macvlan", text(ipam={"type": "nothing-there"}))
        self.foreign_ipam(text(ipam={**addresses("static"), "type": "foreign-static"}))
        self.refused("an IPAM that is a path", None, "macvlan", text(ipam={"type": "../../bin/true"}))
        self.refused("a range that is none", 7, "macvlan", text(ipam={"type": "host-local", "subnet": "10.0.0.0/99"}))
        self.refused("no namespace at the path", None, "macvlan", text(), CNI_NETNS="/run/netns/not-there")
        self.refused("a namespace that is a file", None, "macvlan", text(), CNI_NETNS="/etc/passwd")
        for odd in ("../up", "a/b", "-x", ".hidden", "a b", "a\nb", "ä", "x" * 4000):
            self.refused(f"container {odd[:12]!r}", None if len(odd) > 100 else 4, "macvlan", text(), CNI_CONTAINERID=odd)
        for odd in (".", "..", "a/b", "a:b", "a b", "sixteen-letters-", "net\n1"):
            self.refused(f"interface {odd!r}", 4, "macvlan", text(), CNI_IFNAME=odd)
        self.refused("tuning without prevResult", None, "tuning", text(type="tuning", mtu=1400))
        chained = {"cniVersion": "1.1.0", "interfaces": [{"name": "net1", "sandbox": NETNS}]}
        self.refused("a sysctl outside the namespace", None, "tuning",
                     text(type="tuning", sysctl={"kernel.core_pattern": "|/bin/true"}, prevResult=chained))
        self.refused("a sysctl that climbs", None, "tuning",
                     text(type="tuning", sysctl={"net.ipv4.../../../kernel/core_pattern": "x"}, prevResult=chained))

    def arguments_are_harmless(self):
        """Strings of a pod that look like paths change nothing but their own record."""
        mark = f"railbed-{os.getpid()}-{os.urandom(4).hex()}"  # not a name that somebody else has put into /tmp
        before = {path: set(os.listdir(path)) for path in ("/", "/etc", "/run")}
        request = self.request([{"type": "macvlan", "master": "p0", "ipam": addresses("static")}], "1.0.0")
        request["args"] = [["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "../../etc"], ["K8S_POD_NAME", f"$(touch /tmp/{mark}-run)"],
                           ["K8S_POD_UID", f"../../../tmp/{mark}"]]
        self.side.ask("add", **request)
        gone = self.side.ask("del", **request)
        wrong = [] if gone["ok"] or gone["error"]["code"] == 4 else self.must(gone, "DEL")
        wrong += self.nothing_left()
        wrong += [f"new in {path}: {set(os.listdir(path)) - was}" for path, was in before.items() if set(os.listdir(path)) - was]
        wrong += [f"{path} is there" for path in (f"/tmp/{mark}-run", f"/tmp/{mark}") if os.path.exists(path)]
        self.report.check("conformance: names of pods that look like paths and commands", not wrong, wrong)

    def seen_by_the_runtime_alone(self):
        """A runtime with mounts of its own: the path of the namespace leads nowhere for the agent, which works with the descriptor."""
        conf = json.dumps({"cniVersion": "1.0.0", "name": "conform-view", "type": "macvlan", "master": "p0", "ipam": addresses("static")})
        view = ("mount -t tmpfs none /run/elsewhere && touch /run/elsewhere/p && mount --bind /run/netns/conform /run/elsewhere/p && "
                "exec /opt/cni/bin/macvlan")
        pathlib.Path("/run/elsewhere").mkdir(exist_ok=True)
        wrong = []
        for command, closed in (("ADD", ""), ("DEL", " >&-")):
            env = {"PATH": os.environ["PATH"], "CNI_COMMAND": command, "CNI_CONTAINERID": "conform-view", "CNI_IFNAME": "net1",
                   "CNI_PATH": "/opt/cni/bin", "CNI_NETNS": "/run/elsewhere/p"}
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", view + closed], input=conf, env=env,
                                  capture_output=True, text=True, timeout=60, check=False)
            there = "net1" in machine.see("conform")["links"]
            if done.returncode != 0 or there != (command == "ADD"):
                wrong.append(f"{command}: status {done.returncode}, net1 in the pod: {there}: {done.stdout}{done.stderr}")
        pathlib.Path("/run/elsewhere").rmdir()
        wrong += self.nothing_left()
        self.report.check("conformance: a namespace that only the runtime's mounts show", not wrong, wrong)

    def collected(self):
        """GC takes away what is not in the list of the valid, and only that."""
        conf = {"cniVersion": "1.1.0", "name": "conform-gc", "plugins": [{"type": "macvlan", "master": "p0", "ipam": addresses("host-local")}]}
        machine.add_netns("conform-b")
        try:
            kept = {"conf": conf, "netns": NETNS, "containerID": "gc-kept", "ifname": "net1"}
            gone = {"conf": conf, "netns": "/run/netns/conform-b", "containerID": "gc-gone", "ifname": "net1"}
            wrong = self.must(self.side.ask("add", **kept), "ADD") + self.must(self.side.ask("add", **gone), "ADD")
            shutil.rmtree(f"/run/libcni-{self.side.name}", ignore_errors=True)  # so that the library sends GC only
            answer = self.side.ask("gc", conf, valid=[{"containerID": "gc-kept", "ifname": "net1"}])
            wrong += self.must(answer, "GC")
            if "net1" not in machine.see("conform")["links"]:
                wrong.append("GC took a valid one")
            left = [one for one in self.side.left("gc-")] if self.side.name == "railbed" else []
            if any("gc-gone" in str(one) for one in left) or not any("gc-kept" in str(one) for one in left):
                wrong.append(f"after GC railbed has {left}")
            again = self.side.ask("add", **{**gone, "containerID": "gc-next", "ifname": "net2"})
            wrong += self.must(again, "ADD after GC")
            wrong += self.must(self.side.ask("del", **{**gone, "containerID": "gc-next", "ifname": "net2"}), "DEL")
            wrong += self.must(self.side.ask("del", **kept), "DEL")
            self.report.check("conformance: GC", not wrong, wrong)
        finally:
            machine.del_netns("conform-b")

    def meta_request(self, pod, version):
        cluster = {"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "bridge", "bridge": "br0", "ipam": {
            "type": "host-local", "subnet": "10.63.0.0/24"}}]}
        request = self.request([{"type": "railbed", "delegates": [cluster]}], version, ifname="eth0", name="railbed")
        request["args"] = [["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "default"], ["K8S_POD_NAME", pod]]
        return request

    def meta(self):
        """The meta plugin: the cluster's network by the reference's bridge, two of ours by annotation."""
        for version in VERSIONS:
            wrong, request = [], self.meta_request("meta", version)
            if version == "1.1.0":
                wrong += self.must(self.side.ask("status", request["conf"]), "STATUS")
            answer = self.side.ask("add", **request)
            wrong += self.must(answer, "ADD")
            links = machine.see("conform")["links"]
            if answer["ok"]:
                if sorted(links) != ["eth0", "lo", "net1", "rail0"]:
                    wrong.append(f"the pod has {sorted(links)}")
                wrong += [f"{name} has no address" for name in ("eth0", "net1", "rail0") if not links.get(name, {}).get("addresses")]
                inside = [one["name"] for one in answer["result"]["interfaces"] if one.get("sandbox")]
                if answer["result"].get("cniVersion") != version or inside[:1] != ["eth0"]:
                    wrong.append(f"the result is {answer['result']}")
                wrong += [f"the library cannot convert the result to {other}" for other in VERSIONS
                          if not isinstance(answer["versions"].get(other), dict)]
                if version >= "0.4.0":
                    wrong += self.must(self.side.ask("check", **request), "CHECK")
            for what in ("DEL", "DEL again"):
                wrong += self.must(self.side.ask("del", **request), what)
            wrong += self.must(self.side.ask("del", **{**request, "netns": ""}), "DEL without a namespace") + self.nothing_left()
            self.report.check(f"conformance: railbed, the meta plugin, {version}", not wrong, wrong)
        request = self.meta_request("lost", "1.0.0")
        answer = self.side.ask("add", **request)
        wrong = [] if not answer["ok"] and "nowhere" in answer["error"]["msg"] else [f"ADD with a network that is not there: {answer}"]
        wrong += self.must(self.side.ask("del", **request), "DEL") + self.nothing_left()
        self.report.check("conformance: railbed, a pod with a network that is not there gets nothing", not wrong, wrong)

    def cnitool(self):
        for version in VERSIONS:
            conf = {"cniVersion": version, "name": "tool", "plugins": [{"type": "macvlan", "master": "p0", "ipam": addresses("host-local")},
                                                                      {"type": "tuning", "mtu": 1400}]}
            pathlib.Path("/etc/cni/net.d/10-tool.conflist").write_text(json.dumps(conf))
            env = {"CNI_PATH": self.side.folder, "NETCONFPATH": "/etc/cni/net.d", "CNI_IFNAME": "net1", "PATH": os.environ["PATH"]}
            tool = os.path.join(os.environ["CNI_REFERENCE"], "cnitool")
            verbs = ["add"] + (["check"] if version >= "0.4.0" else []) + ["del", "del"] + (["status"] if version == "1.1.0" else [])
            wrong = []
            for verb in verbs:
                done = subprocess.run([tool, verb, "tool", NETNS], env=env, capture_output=True, text=True)
                if done.returncode != 0:
                    wrong.append(f"cnitool {verb}: {done.stdout.strip()} {done.stderr.strip()}")
            wrong += self.nothing_left()
            if version == "1.1.0" and self.side.name == "railbed":
                wrong += self.cnitool_gc(tool, env)
            self.report.check(f"conformance: cnitool, {version}", not wrong, wrong)

    def cnitool_gc(self, tool, env):
        """It sends no list of what is valid: the library sends DEL for what it knows of, the plugins' GC is refused and says why."""
        added = subprocess.run([tool, "add", "tool", NETNS], env=env, capture_output=True, text=True)
        done = subprocess.run([tool, "gc", "tool", NETNS], env=env, capture_output=True, text=True)
        reported = done.stdout + done.stderr
        wrong = [f"cnitool add: {added.stderr}"] if added.returncode else []
        return wrong + ([] if done.returncode != 0 and NOT_VALID in reported else [f"cnitool gc: {done.returncode} {reported}"]) + self.nothing_left()


def main(report, sides, options, folder):
    side = sides[-1]
    parents = machine.Parents(["p0", "p1", "d0", "d1"])
    machine.add_netns("conform")
    shutil.copy(os.path.join(os.environ["CNI_REFERENCE"], "static"), "/opt/cni/bin/foreign-static")
    shutil.copy(os.path.join(os.environ["CNI_REFERENCE"], "bridge"), "/opt/cni/bin/bridge")
    try:
        tests = Conformance(report, side)
        tests.versions()
        tests.matrix()
        tests.refusals()
        if side.name == "railbed":
            tests.arguments_are_harmless()
            tests.seen_by_the_runtime_alone()
            tests.collected()
            Verbs(report, side).all()
            tests.meta()
        tests.cnitool()
    finally:
        machine.del_netns("conform")
        parents.remove()
        machine.run("ip", "link", "del", "br0", check=False)
