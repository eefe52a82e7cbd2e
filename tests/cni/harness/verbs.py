# SPDX-License-Identifier: Apache-2.0
"""Every plugin type, every version, every verb, each as a process with the environment of the specification.

What a type attaches is in conformance.py, and in the lab where it needs VFs, RDMA or a kernel with ipvlan and VRFs; here is
what every type must answer anywhere, and the whole life of an IPAM type that is executed by itself.
"""
import json

import machine
import sides
from generator import VERSIONS

NETNS = "/run/netns/conform"
NOWHERE = "0000:ff:1f.7"
RANGE = {"type": "host-local", "ranges": [[{"subnet": "10.64.0.0/24"}]]}
IPAM = {
    "host-local": {**RANGE, "routes": [{"dst": "172.20.0.0/16"}]},
    "static": {"type": "static", "addresses": [{"address": "10.64.0.5/24", "gateway": "10.64.0.1"}, {"address": "fd64::5/64"}]},
    "whereabouts": {"type": "whereabouts", "range": "10.64.0.0/24", "routes": [{"dst": "172.21.0.0/16"}]},
    "dhcp": {"type": "dhcp"},
}
CONF = {
    "host-device": {"device": "d0"}, "macvlan": {"master": "p0"}, "ipvlan": {"master": "p0"}, "dummy": {"ipam": RANGE}, "tuning": {"mtu": 1400}, "sbr": {},
    "vrf": {"vrfname": "red"}, "sriov": {"deviceID": NOWHERE}, "ib-sriov": {"deviceID": NOWHERE}, "rdma": {},
    "railbed": {"delegates": [{"cniVersion": "1.0.0", "name": "pods", "type": "macvlan", "master": "p0"}]},
}
SINCE = {"CHECK": "0.4.0", "GC": "1.1.0", "STATUS": "1.1.0"}
NOT_VALID = "GC needs cni.dev/valid-attachments: without it every attachment would be removed"


class Verbs:
    def __init__(self, report, side):
        self.report = report
        self.side = side

    def ask(self, kind, verb, conf, **more):
        """(status, what was reported)"""
        environment = {"CNI_COMMAND": verb, "CNI_PATH": self.side.folder}
        if verb in ("ADD", "DEL", "CHECK"):
            environment |= {"CNI_CONTAINERID": "conform-verbs", "CNI_NETNS": NETNS, "CNI_IFNAME": "net1"}
        done = self.side.raw(kind, json.dumps({**conf, **more}), environment)
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}

    def everywhere(self, kind, version):
        """What is wrong with the answers to verbs for what was never attached."""
        conf = {"cniVersion": version, "name": "conform-verbs", "type": kind, **CONF.get(kind, {})}
        if kind in IPAM:
            conf |= {"type": "bridge", "ipam": IPAM[kind]}  # as a main plugin of others hands its configuration on
        wrong = []

        def expect(what, code, answer, part=""):
            status, reported = answer
            good = (status == 0) == (code == 0) and (code in (0, None) or reported.get("code") == code) and part in str(reported.get("msg", ""))
            if code != 0:
                good = good and reported.get("msg") and isinstance(reported.get("code"), int)
            if not good:
                wrong.append(f"{what}: wanted code {code} {part}, got status {status}: {reported}")

        def since(verb):
            return 1 if version < SINCE[verb] else None

        status, reported = self.ask(kind, "VERSION", {"cniVersion": version})
        if status != 0 or not set(VERSIONS) <= set(reported.get("supportedVersions", [])):
            wrong.append(f"VERSION: {status} {reported}")
        expect("STATUS", since("STATUS") or 0, self.ask(kind, "STATUS", conf))
        expect("GC", since("GC") or 0, self.ask(kind, "GC", conf, **{"cni.dev/valid-attachments": []}))
        expect("GC without a list", since("GC") or 7, self.ask(kind, "GC", conf), "" if since("GC") else NOT_VALID)
        expect("CHECK of what never was", since("CHECK"), self.ask(kind, "CHECK", conf))
        expect("DEL of what never was", 0, self.ask(kind, "DEL", conf))
        if kind in ("sriov", "ib-sriov"):
            expect("ADD of a VF that is not there", None, self.ask(kind, "ADD", conf), NOWHERE)
        if kind in ("tuning", "sbr", "vrf", "rdma"):
            expect("ADD without prevResult", None, self.ask(kind, "ADD", conf), "prevResult")
        if "net1" in machine.see("conform")["links"]:
            wrong.append("net1 is in the pod")
        return wrong

    def life(self, kind, version):
        """An IPAM type by itself: the result's form in this version, CHECK, DEL twice, and ADD again."""
        conf = {"cniVersion": version, "name": "conform-verbs", "type": "bridge", "ipam": IPAM[kind]}
        wrong = []
        for turn in ("ADD", "ADD again"):
            status, result = self.ask(kind, "ADD", conf)
            ips = result.get("ips", [])
            if status != 0 or result.get("cniVersion") != version or not ips:
                return wrong + [f"{turn}: {status} {result}"]
            if any(("version" in one) != (version < "1.0.0") for one in ips):
                wrong.append(f"{turn}: \"version\" belongs to addresses before 1.0.0: {ips}")
            if not all("/" in one["address"] for one in ips):
                wrong.append(f"{turn}: {ips}")
            if version >= SINCE["CHECK"]:
                status, reported = self.ask(kind, "CHECK", conf, prevResult=result)
                wrong += [f"CHECK: {reported}"] if status else []
            for what in ("DEL", "DEL again"):
                status, reported = self.ask(kind, "DEL", conf, **({"prevResult": result} if version >= SINCE["CHECK"] else {}))
                wrong += [f"{what}: {reported}"] if status else []
        if left := self.side.left("conform-verbs") + machine.reserved_addresses():
            wrong.append(f"left: {left}")
        return wrong

    def all(self):
        for kind in sides.TYPES:
            for version in VERSIONS:
                wrong = self.everywhere(kind, version)
                self.report.check(f"conformance: all verbs of {kind}, {version}", not wrong, wrong)
        server = machine.DhcpServer(["p0"]) if machine.has_dhcp_server() else None
        try:
            for kind in IPAM:
                if kind == "dhcp" and server is None:
                    self.report.skip("conformance: dhcp by itself", "no dnsmasq here")
                    continue
                for version in VERSIONS:
                    if kind == "dhcp":
                        machine.ip_batch(["link add net1 link p0 type macvlan", "link set net1 netns conform"])
                    wrong = self.life(kind, version)
                    if kind == "dhcp":
                        machine.ip_batch(["link del net1"], netns="conform")
                    self.report.check(f"conformance: {kind} by itself, {version}", not wrong, wrong)
        finally:
            if server:
                server.stop()
                machine.ip_batch(["addr flush dev p0p"], check=False)
