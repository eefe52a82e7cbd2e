# SPDX-License-Identifier: Apache-2.0
"""Configurations at random, the same for the same seed and kinds: valid combinations, and some with one mistake.

A case is a value: what the machine looks like, the networks, the pods, and how each pod is attached. It names no side.
"""
import copy
import random

from addresses import Addresses
from mistakes import break_something

VERSIONS = ("0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")
MTU = 1500
POD_MACS = ("02:42:ac:00:00:01", "06:11:22:33:44:55", "0a:58:0a:01:02:03", "00:11:22:33:44:66")
SYSCTLS = {
    "net.ipv4.conf.IFNAME.arp_filter": "1", "net.ipv4.conf.IFNAME.rp_filter": "2", "net.ipv6.conf.IFNAME.accept_ra": "0",
    "net/ipv4/conf/IFNAME/arp_ignore": "1", "net/ipv6/conf/IFNAME/disable_ipv6": "1", "net.ipv4.conf.IFNAME.forwarding": "1",
    "net.ipv6.conf.IFNAME.hop_limit": "33", "net.ipv4.neigh.IFNAME.retrans_time_ms": "500", "net.core.somaxconn": "512",
    "net.ipv4.ip_local_port_range": "10000 60000", "net.ipv4.conf.all.rp_filter": "0", "net.ipv4.tcp_keepalive_time": "600",
    "net/ipv4/ip_forward": "1", "net.ipv6.conf.all.forwarding": "1", "net.ipv4.conf.lo.log_martians": "1",
}
# What befalls net1 between two CHECKs.
DAMAGES = ("address", "mtu", "gone", "route", "route6", "down", "mac", "rules", "txqlen")
FOREIGN = ("bridge", "ptp")  # main plugins that railbed leaves to others: executed, with addresses and chained plugins of ours


class Generator:
    def __init__(self, seed, kinds):
        self.seed = seed
        self.kinds = kinds  # what this kernel and this machine can do: main plugins, "vrf", "dhcp", "vf"

    def case(self, number):
        return Case(random.Random(f"{self.seed}/{number}"), number, self.kinds).make()


class Case(Addresses):
    def __init__(self, rng, number, kinds):
        self.rng = rng
        self.number = number
        self.kinds = kinds
        self.mains = [kind for kind in kinds if kind not in ("vrf", "dhcp", "vf")]
        self.devices = 0
        self.subnets = 0
        self.routes6 = 0
        self.faults = []

    def chance(self, probability):
        return self.rng.random() < probability

    def make(self):
        rng = self.rng
        pods = rng.choices((1, 2, 3), (6, 2, 1))[0]
        networks = [self.network(i, pods) for i in range(rng.choices((1, 2, 3), (6, 3, 1))[0])]
        first = networks[0]["conf"]["plugins"][0]
        if self.chance(0.1) and len(networks) < 3 and "device" not in first and first.get("ipam", {}).get("type") != "static":
            networks.append(copy.deepcopy(networks[0]))  # the same network twice, as a pod may ask for it
        plugins = [plugin for network in networks for plugin in network["conf"]["plugins"]]
        dhcp = any(plugin.get("ipam", {}).get("type") == "dhcp" for plugin in plugins)
        if self.chance(0.2) and not dhcp:  # a lease of a refused ADD would shift all later ones
            break_something(self, networks)
        eth0 = any(plugin.get("linkInContainer") for plugin in plugins)
        return {
            "number": self.number,
            "networks": networks,
            "pods": pods,
            "devices": max(self.devices, 1) * pods,
            "device": self.device(),
            "faults": self.faults,
            "host_default_route": any("master" not in n["conf"]["plugins"][0] for n in networks),
            "pod_has_eth0": self.chance(0.25) or eth0,
            "pod_has_rule": self.chance(0.1),
            "pod_has_vrf": "vrf" in self.kinds and self.chance(0.15),
            "pod_names": self.chance(0.3),
            "twice": self.chance(0.25),
            "damage": rng.choice((None, None, None) + DAMAGES),
            # With dhcp the reference's daemon holds the namespace, and with it the device.
            "netns_gone": self.chance(0.1) and not dhcp,
        }

    def device(self):
        """How the host's devices are before they go: what has to be so again afterwards."""
        state = {}
        if self.chance(0.2):
            state["mtu"] = self.rng.choice((1280, 1400, 9000))
        if self.chance(0.2):
            state["txqueuelen"] = 77
        for key in ("up", "allmulticast", "address", "altname"):
            if self.chance(0.15):
                state[key] = True
        return state

    # One network: its list, and what a runtime adds to it.
    def network(self, index, pods):
        rng = self.rng
        kind = rng.choice(FOREIGN) if self.chance(0.08) else rng.choice(self.mains)
        caps, args, self.hints = {}, [], {}
        main = {"type": kind}
        if kind == "host-device":
            self.host_device(main)
        else:
            getattr(self, kind)(main, caps, args, pods)
        ipam = self.ipam(main, caps, args, pods)
        if ipam:
            main["ipam"] = ipam
        if self.chance(0.15):
            main["dns"] = {"nameservers": ["10.9.9.9"], "domain": "rail.test", "search": ["a.test"], "options": ["ndots:2"]}
        plugins = [main] + self.chained(kind, caps, args, pods, ipam)
        if self.hints:
            for plugin in plugins:
                plugin["args"] = {"cni": self.hints}
        declared = {key: True for key in caps}
        if declared:
            for plugin in plugins:
                if self.chance(0.8):
                    plugin["capabilities"] = declared
        conf = {"cniVersion": rng.choice(VERSIONS), "name": f"net-{self.number}-{index}", "plugins": plugins}
        return {"conf": conf, "caps": caps, "args": args}

    def chained(self, kind, caps, args, pods, ipam):
        plugins = []
        if self.chance(0.45):
            plugins.append(self.tuning(kind, caps, args, pods))
        if "vrf" in self.kinds and self.chance(0.4):
            plugins.append(self.vrf())
        if ipam and self.chance(0.3):
            plugins.append(self.sbr())
        if self.chance(0.1):  # without rates it passes the result on: a plugin of others between ours
            plugins.insert(self.rng.randint(0, len(plugins)), {"type": "bandwidth"})
        return plugins

    def host_device(self, main):
        main["device"] = f"d{self.devices}"  # the harness counts up from here for each pod, and says it in one of these ways
        if "vf" in self.kinds:
            main["by"] = self.rng.choice(("name", "hwaddr", "pciBusID", "kernelpath", "deviceID"))
        else:
            main["by"] = self.rng.choices(("name", "hwaddr", "altname"), (5, 3, 1))[0]
        self.devices += 1

    def master(self, main):
        """The interface below, in one of four ways."""
        if self.chance(0.12):
            main["linkInContainer"] = True
            if self.chance(0.7):
                main["master"] = "eth0"
        elif self.chance(0.85):
            main["master"] = self.rng.choice(("p0", "p1"))

    def macvlan(self, main, caps, args, pods):
        rng = self.rng
        self.master(main)
        if self.chance(0.8):
            main["mode"] = rng.choice(("bridge", "bridge", "bridge", "private", "vepa", "passthru"))
        if self.chance(0.3):
            main["mtu"] = rng.choice((0, 1280, 1400, MTU))
        if self.chance(0.15):
            main["bcqueuelen"] = rng.choice((0, 500, 2000))
        if pods == 1 and self.chance(0.3):
            self.mac(main, caps, args)

    def mac(self, plugin, caps, args):
        way = self.rng.choice(("key", "caps", "args"))
        if way == "key":
            plugin["mac"] = self.rng.choice(POD_MACS)
        elif way == "caps":
            caps["mac"] = self.rng.choice(POD_MACS)
        else:
            args += [["IgnoreUnknown", "1"], ["MAC", self.rng.choice(POD_MACS)]]

    def ipvlan(self, main, caps, args, pods):
        self.master(main)
        if self.chance(0.8):
            main["mode"] = self.rng.choice(("l2", "l3", "l3s"))
        if self.chance(0.3):
            main["mtu"] = self.rng.choice((0, 1280, 1400, MTU))

    def dummy(self, main, caps, args, pods):
        pass  # it has nothing but its addresses

    def bridge(self, main, caps, args, pods):
        main["bridge"] = self.rng.choice(("br0", "br1"))
        for key in ("isGateway", "hairpinMode"):
            if self.chance(0.25):
                main[key] = True
        if self.chance(0.2):
            main["mtu"] = 1400

    def ptp(self, main, caps, args, pods):
        if self.chance(0.3):
            main["mtu"] = 1400

    def tuning(self, kind, caps, args, pods):
        rng = self.rng
        plugin = {"type": "tuning"}
        if self.chance(0.6):
            names = rng.sample(sorted(SYSCTLS), rng.randint(1, 4))
            plugin["sysctl"] = {name: SYSCTLS[name] for name in names}
        if self.chance(0.3):
            plugin["mtu"] = rng.choice((0, 1280, 1300, 1450))
        if self.chance(0.2) and "mac" not in caps and kind != "ipvlan":
            if pods == 1 and not args:
                self.mac(plugin, caps, args)
            else:
                plugin["mac"] = rng.choice(POD_MACS)
        for key in ("promisc", "allmulti"):
            if self.chance(0.2):
                plugin[key] = rng.choice((True, False))
        if self.chance(0.2):
            plugin["txQLen"] = rng.choice((0, 100, 5000))
        if self.chance(0.1):
            plugin["dataDir"] = "/run/cni/tuning-of-test"
        if self.chance(0.1):
            self.hints.update(rng.choice(({"mtu": 1290}, {"promisc": True}, {"allmulti": True}, {"txQLen": 66},
                                          {"sysctl": {"net.ipv4.conf.IFNAME.arp_announce": "2"}})))
        return plugin

    def vrf(self):
        plugin = {"type": "vrf", "vrfname": self.rng.choice(("blue", "blue", "red"))}
        if self.chance(0.4):
            plugin["table"] = self.rng.choice((500, 1234))
        return plugin

    def sbr(self):
        return {"type": "sbr", **({"table": self.rng.choice((200, 300, 4000))} if self.chance(0.3) else {})}
