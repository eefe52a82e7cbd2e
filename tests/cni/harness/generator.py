# SPDX-License-Identifier: Apache-2.0
"""Configurations at random, the same for the same seed: valid combinations, and some with one mistake.

A case is a value: what the machine looks like, the networks, the pods, and how each pod is attached. It names no side.
"""
import random

VERSIONS = ("0.3.1", "0.4.0", "1.0.0", "1.1.0")
MTU = 1500
POD_MACS = ("02:42:ac:00:00:01", "06:11:22:33:44:55", "0a:58:0a:01:02:03", "00:11:22:33:44:66")


class Generator:
    def __init__(self, seed, kinds):
        self.seed = seed
        self.kinds = kinds  # of main plugins that this kernel can do

    def case(self, number):
        return Case(random.Random(f"{self.seed}/{number}"), number, self.kinds).make()


class Case:
    def __init__(self, rng, number, kinds):
        self.rng = rng
        self.number = number
        self.kinds = kinds
        self.devices = 0
        self.subnets = 0
        self.faults = []

    def chance(self, probability):
        return self.rng.random() < probability

    def make(self):
        rng = self.rng
        pods = rng.choices((1, 2, 3), (6, 2, 1))[0]
        networks = [self.network(i, pods) for i in range(rng.choices((1, 2, 3), (6, 3, 1))[0])]
        if self.chance(0.2):
            self.break_something(networks)
        return {
            "number": self.number,
            "networks": networks,
            "pods": pods,
            "devices": max(self.devices, 1) * pods,
            "faults": self.faults,
            "host_default_route": any("master" not in n["conf"]["plugins"][0] for n in networks),
            "pod_has_eth0": self.chance(0.25) or any(n["conf"]["plugins"][0].get("linkInContainer") for n in networks),
            "damage": rng.choice((None, None, "address", "mtu", "gone", "route")),
            "netns_gone": self.chance(0.1),
        }

    # One network: its list, and what a runtime adds to it.
    def network(self, index, pods):
        rng = self.rng
        kind = rng.choice(self.kinds)
        caps, args, self.hints = {}, [], {}
        main = {"type": kind}
        if kind == "host-device":
            main["device"] = f"d{self.devices}"  # the harness counts up from here for each pod
            main["by"] = rng.choices(("name", "hwaddr"), (3, 1))[0]  # and says it this way
            self.devices += 1
        elif kind == "macvlan":
            self.macvlan(main, caps, args, pods)
        elif kind == "ipvlan":
            main.update(master="p0", mode=rng.choice(("l2", "l3", "l3s")))
            if self.chance(0.3):
                main["mtu"] = rng.choice((1280, 1400, MTU))
        ipam = self.ipam(caps, args, pods)
        if ipam:
            main["ipam"] = ipam
        if self.hints:
            main["args"] = {"cni": self.hints}
        if self.chance(0.15):
            main["dns"] = {"nameservers": ["10.9.9.9"], "domain": "rail.test", "search": ["a.test"], "options": ["ndots:2"]}
        plugins = [main]
        if self.chance(0.4):
            plugins.append(self.tuning(kind, caps))
        if ipam and self.chance(0.3):
            plugins.append(self.sbr())
        declared = {key: True for key in caps}
        if declared:
            for plugin in plugins:
                if self.chance(0.8):
                    plugin["capabilities"] = declared
        conf = {"cniVersion": rng.choice(VERSIONS), "name": f"net-{self.number}-{index}", "plugins": plugins}
        return {"conf": conf, "caps": caps, "args": args}

    def macvlan(self, main, caps, args, pods):
        rng = self.rng
        if self.chance(0.1):
            main.update(master="eth0", linkInContainer=True)
        elif self.chance(0.85):
            main["master"] = rng.choice(("p0", "p1"))
        if self.chance(0.8):
            main["mode"] = rng.choice(("bridge", "bridge", "private", "vepa"))
        if self.chance(0.3):
            main["mtu"] = rng.choice((0, 1280, 1400, MTU))
        if pods == 1 and self.chance(0.3):
            way = rng.choice(("key", "caps", "args"))
            if way == "key":
                main["mac"] = rng.choice(POD_MACS)
            elif way == "caps":
                caps["mac"] = rng.choice(POD_MACS)
            else:
                args += [["IgnoreUnknown", "1"], ["MAC", rng.choice(POD_MACS)]]

    def tuning(self, kind, caps):
        rng = self.rng
        plugin = {"type": "tuning"}
        if self.chance(0.6):
            choices = {
                "net.ipv4.conf.IFNAME.arp_filter": "1", "net.ipv4.conf.IFNAME.rp_filter": "2",
                "net.ipv6.conf.IFNAME.accept_ra": "0", "net/ipv4/conf/IFNAME/arp_ignore": "1",
                "net.core.somaxconn": "512", "net.ipv4.ip_local_port_range": "10000 60000",
                "net.ipv4.conf.all.rp_filter": "0", "net.ipv4.tcp_keepalive_time": "600",
            }
            names = rng.sample(sorted(choices), rng.randint(1, 3))
            plugin["sysctl"] = {name: choices[name] for name in names}
        if self.chance(0.3):
            plugin["mtu"] = rng.choice((1280, 1300, 1450))
        if self.chance(0.2) and "mac" not in caps:
            plugin["mac"] = rng.choice(POD_MACS)
        for key in ("promisc", "allmulti"):
            if self.chance(0.2):
                plugin[key] = rng.choice((True, False))
        if self.chance(0.2):
            plugin["txQLen"] = rng.choice((0, 100, 5000))
        return plugin

    def sbr(self):
        return {"type": "sbr", **({"table": self.rng.choice((200, 300, 4000))} if self.chance(0.3) else {})}

    # Addresses.
    def ipam(self, caps, args, pods):
        kind = self.rng.choices(("host-local", "static", None), (5, 3, 2))[0]
        if kind == "host-local":
            return self.host_local(caps, args, pods)
        if kind == "static":
            return self.static(caps, args, pods)
        return None

    def subnet(self, six):
        """A prefix that no other range of the case has, with a formatter of its hosts."""
        self.subnets += 1
        n = self.subnets
        if six:
            length = self.rng.choice((64, 112, 120))
            return f"fd00:{self.number % 65536:x}:{n:x}::", length, lambda host: f"fd00:{self.number % 65536:x}:{n:x}::{host:x}"
        length = self.rng.choice((24, 24, 26, 16))
        return f"10.{n + 20}.0.0", length, lambda host: f"10.{n + 20}.{host // 256}.{host % 256}"

    def range(self, six):
        rng = self.rng
        base, length, host = self.subnet(six)
        one = {"subnet": f"{base}/{length}"}
        if self.chance(0.4):
            one["rangeStart"] = host(rng.choice((10, 20)))
        if self.chance(0.4):
            one["rangeEnd"] = host(rng.choice((40, 50)))
        if self.chance(0.5):
            one["gateway"] = host(rng.choice((1, 2, 30)))
        return one, host

    def routes(self, hosts):
        """Routes through the networks' gateways or straight through the interface."""
        rng = self.rng
        routes = []
        for six, host in hosts:
            for _ in range(rng.choice((0, 0, 1, 2))):
                n = len(routes)
                route = {"dst": rng.choice((f"fd99:{n:x}::/48", "::/0" if n == 0 else f"fd98:{n:x}::/64")) if six else
                         rng.choice((f"172.{16 + n}.0.0/16", "0.0.0.0/0" if n == 0 else f"192.168.{n}.0/24"))}
                if self.chance(0.4):
                    route["gw"] = host(60)  # railbed never gives out the gateway of a route
                for key, values in (("priority", (50, 500)), ("table", (60, 70)), ("mtu", (1300,)), ("advmss", (1200,))):
                    if self.chance(0.12):
                        route[key] = rng.choice(values)
                if "gw" not in route and self.chance(0.1):
                    route["scope"] = 253
                routes.append(route)
        return routes

    def families(self):
        return self.rng.choices(((False,), (True,), (False, True)), (5, 2, 3))[0]

    def host_local(self, caps, args, pods):
        rng = self.rng
        ipam = {"type": "host-local"}
        made = [(six, *self.range(six)) for six in self.families()]
        hosts = [(six, host) for six, _, host in made]
        if len(made) == 1 and self.chance(0.4):
            ipam.update(made[0][1])  # the older form
        else:
            ipam["ranges"] = [[one] for _, one, _ in made]
            if self.chance(0.2):  # a second range of the same set
                extra, _ = self.range(made[0][0])
                ipam["ranges"][0].append(extra)
        if routes := self.routes(hosts):
            ipam["routes"] = routes
        if self.chance(0.1):
            caps["ipRanges"] = [[self.range(made[0][0])[0]]]
        if pods == 1 and self.chance(0.25):
            six, host = rng.choice(hosts)
            wanted = host(rng.choice((25, 33)))
            way = rng.choice(("caps", "caps", "env", "hint"))
            if way == "caps":
                caps["ips"] = [wanted]
            elif way == "env":
                args += [["IgnoreUnknown", "1"], ["IP", wanted]]
            else:
                self.hints["ips"] = [wanted]
        return ipam

    def static(self, caps, args, pods):
        ipam = {"type": "static"}
        # The same IPv6 address in two pods on one wire: duplicate address detection decides who keeps it.
        families = self.families() if pods == 1 else (False,)
        made = [(six, *self.subnet(six)) for six in families]
        addresses = []
        for six, _, length, host in made:
            one = {"address": f"{host(5)}/{length}"}
            if self.chance(0.6):
                one["gateway"] = host(1)
            addresses.append(one)
        way = self.rng.choices(("key", "caps", "args", "hint"), (7, 2, 1, 1))[0]
        if way == "hint":
            self.hints["ips"] = [one["address"] for one in addresses]
        elif way == "key":
            ipam["addresses"] = addresses
        elif way == "caps":
            caps["ips"] = [one["address"] for one in addresses]
        else:
            args += [["IgnoreUnknown", "1"], ["IP", ",".join(one["address"] for one in addresses)]]
            if gateways := [one["gateway"] for one in addresses if "gateway" in one]:
                args.append(["GATEWAY", ",".join(gateways)])
        if routes := self.routes([(six, host) for six, _, _, host in made]):
            ipam["routes"] = routes
        if self.chance(0.15):
            ipam["dns"] = {"nameservers": ["10.8.8.8"], "search": ["s.test"]}
        return ipam

    # One mistake, of those that fit.
    def break_something(self, networks):
        rng = self.rng
        network = rng.choice(networks)
        plugins = network["conf"]["plugins"]
        main, ipam = plugins[0], plugins[0].get("ipam", {})
        tuning = next((plugin for plugin in plugins if plugin["type"] == "tuning"), None)
        options = {"version": lambda: network["conf"].update(cniVersion="2.0.0")}
        if main["type"] == "macvlan":
            options["mode"] = lambda: main.update(mode="sideways")
            options["mtu"] = lambda: main.update(mtu=MTU + 500)
            options["master"] = lambda: main.update(master="nowhere0")
            options["mac"] = lambda: main.update(mac="zz:00")
        else:
            options["device"] = lambda: main.update({"device": "nowhere0"} if "device" in main else {"master": "nowhere0"})
            options["no device"] = lambda: [main.pop(key, None) for key in ("device", "master", "by")]
        if ipam:
            options["ipam type"] = lambda: ipam.update(type="no-such-ipam")
        if ipam.get("type") == "host-local":
            first = ipam["ranges"][0][0] if "ranges" in ipam else ipam
            options["subnet"] = lambda: first.update(subnet="10.300.0.0/24")
            options["no subnet"] = lambda: first.pop("subnet")
            options["range start"] = lambda: first.update(rangeStart="192.0.2.1")
            options["range order"] = lambda: first.update(rangeStart=first["subnet"].split("/")[0] + "9", rangeEnd=first["subnet"].split("/")[0] + "8")
            options["wanted ip"] = lambda: (network["caps"].update(ips=["192.0.2.77"]), main.update(capabilities={"ips": True}))
            options["overlap"] = lambda: ipam.update(ranges=[[{"subnet": "10.1.0.0/16"}], [{"subnet": "10.1.2.0/24"}]])
            options["tiny"] = lambda: ipam.update(ranges=[[{"subnet": "10.1.0.0/31"}]])
        if ipam.get("type") == "static":
            options["address"] = lambda: ipam.update(addresses=[{"address": "10.1.2.3"}])
            options["route"] = lambda: ipam.update(routes=[{"dst": "10.0.0.0/33"}])
        if tuning:
            options["sysctl"] = lambda: tuning.update(sysctl={"net.ipv4.conf.IFNAME.no_such": "1"})
            options["sysctl value"] = lambda: tuning.update(sysctl={"net.ipv4.conf.IFNAME.arp_filter": "many"})
            options["tuning mac"] = lambda: tuning.update(mac="zz")
        fault = rng.choice(sorted(options))
        self.faults.append(fault)
        options[fault]()
