# SPDX-License-Identifier: Apache-2.0
"""The generator's IPAM blocks: ranges, requested and fixed addresses, routes, name servers."""

RESOLV_CONF = "/run/resolv-of-test.conf"  # the harness writes it
DATA_DIR = "/var/lib/cni/networks-of-test"  # machine.OTHER_DATA


class Addresses:
    """Part of generator.Case, which has rng, chance, number, subnets, kinds."""

    def ipam(self, main, caps, args, pods):
        kind = main["type"]
        kinds, weights = ["host-local", "static", None], [5, 3, 2]
        if kind in ("bridge", "ptp"):
            weights[2] = 0 if kind == "ptp" else 2
        elif "dhcp" in self.kinds and kind in ("macvlan", "host-device") and not main.get("linkInContainer"):
            kinds.append("dhcp")
            weights.append(1)
        chosen = self.rng.choices(kinds, weights)[0]
        if chosen is None:
            return self.rng.choice((None, None, None, {}))
        return getattr(self, chosen.replace("-", "_"))(caps, args, pods)

    def subnet(self, six):
        """A prefix that no other range of the case has, with a formatter of its hosts."""
        self.subnets += 1
        n = self.subnets
        if six:
            length = self.rng.choice((64, 112, 120))
            base = f"fd00:{self.number % 65536:x}:{n:x}::"
            if self.chance(0.1):
                base = base.upper()
            return base, length, lambda host: f"fd00:{self.number % 65536:x}:{n:x}::{host:x}"
        length = self.rng.choice((24, 24, 26, 16))
        return f"10.{n + 20}.0.0", length, lambda host: f"10.{n + 20}.{host // 256}.{host % 256}"

    def range(self, six):
        rng = self.rng
        base, length, host = self.subnet(six)
        one = {"subnet": f"{base}/{length}"}
        if self.chance(0.4):
            one["rangeStart"] = host(rng.choice((1, 2, 10, 20)))
        if self.chance(0.4):
            one["rangeEnd"] = host(rng.choice((22, 40, 50)))
        if self.chance(0.5):
            one["gateway"] = host(rng.choice((1, 2, 20, 30)))
        return one, host

    def routes(self, hosts):
        """Routes through the networks' gateways or straight through the interface."""
        rng = self.rng
        routes = []
        for six, host in hosts:
            for _ in range(rng.choice((0, 0, 1, 2))):
                n = len(routes)
                route = {"dst": self.route6() if six else
                         rng.choice((f"172.{16 + n}.0.0/16", "0.0.0.0/0" if n == 0 else f"192.168.{n}.0/24", f"192.0.2.{n + 1}/32"))}
                if self.chance(0.4):
                    route["gw"] = host(60)  # railbed never gives out the gateway of a route
                for key, values in (("priority", (50, 500)), ("table", (60, 70)), ("mtu", (1300,)), ("advmss", (1200,))):
                    if self.chance(0.12):
                        route[key] = rng.choice(values)
                if "gw" not in route and self.chance(0.1):
                    route["scope"] = 253
                routes.append(route)
        return routes

    def route6(self):
        """None twice in a case: the kernel makes one route with two ways of them, which the reference's sbr cannot take apart again."""
        self.routes6 += 1
        n = self.routes6
        return self.rng.choice((f"fd99:{n:x}::/48", "::/0" if n == 1 else f"fd98:{n:x}::/64", f"fd97::{n:x}/128"))

    def families(self):
        return self.rng.choices(((False,), (True,), (False, True), (False, False), (True, True)), (10, 4, 6, 1, 1))[0]

    def host_local(self, caps, args, pods):
        rng = self.rng
        ipam = {"type": "host-local"}
        made = [(six, *self.range(six)) for six in self.families()]
        hosts = [(six, host) for six, _, host in made]
        if len(made) == 1 and self.chance(0.4):
            ipam.update(made[0][1])  # the older form
        elif self.chance(0.1):  # both forms: the older one is the first set
            ipam.update(made[0][1])
            ipam["ranges"] = [[one] for _, one, _ in made[1:]]
        else:
            ipam["ranges"] = [[one] for _, one, _ in made]
            if self.chance(0.2):  # a second range of the same set
                extra, _ = self.range(made[0][0])
                ipam["ranges"][0].append(extra)
        if routes := self.routes(hosts):
            ipam["routes"] = routes
        if self.chance(0.1):
            caps["ipRanges"] = [[self.range(made[0][0])[0]]]
            if self.chance(0.3):  # nothing but these
                for key in ("ranges", "subnet", "rangeStart", "rangeEnd", "gateway"):
                    ipam.pop(key, None)
        if self.chance(0.1):
            ipam["resolvConf"] = RESOLV_CONF
        if self.chance(0.1):
            ipam["dataDir"] = DATA_DIR
        if pods == 1 and self.chance(0.25):
            wanted = [host(rng.choice((12, 15, 21))) for _, host in rng.sample(hosts, rng.randint(1, len(hosts)))]
            self.ask_for(wanted, caps, args)
        elif pods > 1 and self.chance(0.05):  # one address for all pods: the second must be refused
            caps["ips"] = [hosts[0][1](21)]
        return ipam

    def ask_for(self, wanted, caps, args):
        way = self.rng.choice(("caps", "caps", "env", "hint"))
        if way == "caps":
            caps["ips"] = wanted
        elif way == "env":
            args += [["IgnoreUnknown", "1"], ["IP", wanted[0]]]
        else:
            self.hints["ips"] = wanted

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
        if len(made) == 1 and self.chance(0.1):  # a second one of the same subnet
            addresses.append({"address": f"{made[0][3](6)}/{made[0][2]}"})
        way = self.rng.choices(("key", "caps", "args", "hint", "key and args"), (7, 2, 1, 1, 1))[0]
        if way == "hint":
            self.hints["ips"] = [one["address"] for one in addresses]
        elif way == "caps":
            caps["ips"] = [one["address"] for one in addresses]
        elif way != "args":
            ipam["addresses"] = addresses
        if way == "key and args":  # beside the configured ones
            six, _, length, host = made[0]
            args += [["IgnoreUnknown", "1"], ["IP", f"{host(7)}/{length}"]]
        if way == "args":
            args += [["IgnoreUnknown", "1"], ["IP", ",".join(one["address"] for one in addresses)]]
            if gateways := [one["gateway"] for one in addresses if "gateway" in one]:
                args.append(["GATEWAY", ",".join(gateways)])
        if routes := self.routes([(six, host) for six, _, _, host in made]):
            ipam["routes"] = routes
        if self.chance(0.15):
            ipam["dns"] = {"nameservers": ["10.8.8.8"], "search": ["s.test"]}
        return ipam

    def dhcp(self, caps, args, pods):
        # The reference takes every route of the server, railbed those that are listed.
        ipam = {"type": "dhcp", "routes": [{"dst": "0.0.0.0/0"}, {"dst": "172.29.0.0/16"}]}
        if self.chance(0.3):
            ipam["request"] = self.rng.choice(([{"option": "6"}, {"option": "15"}], [{"option": "121"}], [{"option": "routers", "skipDefault": True}]))
        if self.chance(0.3):
            ipam["provide"] = self.rng.choice(([{"option": "host-name", "value": "rail-pod"}], [{"option": "12", "fromArg": "K8S_POD_NAME"}]))
        if self.chance(0.3):
            ipam["priority"] = 120
        return ipam
