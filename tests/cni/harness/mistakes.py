# SPDX-License-Identifier: Apache-2.0
"""One mistake in a configuration, of those that fit. The text of a mistake names it in the report."""


def break_something(case, networks):
    rng = case.rng
    network = rng.choice(networks)
    options = {"version": lambda: network["conf"].update(cniVersion="2.0.0"),
               "old version": lambda: network["conf"].update(cniVersion=rng.choice(("0.1.0", "0.2.0")))}
    main, ipam = network["conf"]["plugins"][0], network["conf"]["plugins"][0].get("ipam", {})
    options |= of_main(rng, main)
    if ipam:
        options["ipam type"] = lambda: ipam.update(type="no-such-ipam")
        if ipam["type"] in ("host-local", "static"):
            options["routes"] = lambda: ipam.update(routes=[{"dst": rng.choice(("10.0.0.0/33", "nowhere", ""))}])
            options["route twice"] = lambda: ipam.update(routes=[{"dst": "172.30.0.0/16"}, {"dst": "172.30.0.0/16"}])
    if ipam.get("type") == "host-local":
        options |= of_host_local(rng, network, main, ipam)
    if ipam.get("type") == "static":
        options["address"] = lambda: ipam.update(addresses=[{"address": "10.1.2.3"}])
        options["address of nothing"] = lambda: ipam.update(addresses=[{"address": "ten/24"}])
        options["gateway"] = lambda: ipam.update(addresses=[{"address": "10.1.2.3/24", "gateway": "10.1.2"}])
        options["static ip in args"] = lambda: network["args"].extend([["IgnoreUnknown", "1"], ["IP", "10.1.2.3"]])
        options["static ip of the runtime"] = lambda: (network["caps"].update(ips=["10.1.2"]), main.update(capabilities={"ips": True}))
    if len(network["conf"]["plugins"]) > 1 and rng.random() < 0.5:
        options = of_chained(rng, network["conf"]["plugins"]) or options
    fault = rng.choice(sorted(options))
    case.faults.append(fault)
    options[fault]()


def of_main(rng, main):
    if main["type"] == "macvlan":
        return {
            "mode": lambda: main.update(mode="sideways"), "mtu": lambda: main.update(mtu=2000), "negative mtu": lambda: main.update(mtu=-1),
            "mtu is a text": lambda: main.update(mtu="1400"), "master": lambda: main.update(master="nowhere0"),
            "mac": lambda: main.update(mac=rng.choice(("zz:00", "02:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01"))),
        }
    if main["type"] == "ipvlan":
        return {"mode": lambda: main.update(mode="l4"), "master": lambda: main.update(master="nowhere0"), "mtu": lambda: main.update(mtu=2000)}
    if main["type"] == "dummy":
        return {"no addresses": lambda: main.pop("ipam", None), "an empty ipam": lambda: main.update(ipam={})}
    if main["type"] == "host-device":
        def other(**keys):
            return lambda: ([main.pop(key, None) for key in ("device", "by")], main.update(keys))

        return {"device": other(device="nowhere0"), "no device": other(), "hwaddr": other(hwaddr="02:99:99:99:99:99"),
                "hwaddr is none": other(hwaddr="02:99"), "kernelpath": other(kernelpath="/sys/devices/virtual/net/nowhere0"),
                "kernelpath elsewhere": other(kernelpath="/etc"), "pciBusID": other(pciBusID="0000:ff:1f.7"),
                "deviceID": other(runtimeConfig={"deviceID": "0000:ff:1f.7"}), "loopback": other(device="lo")}
    return {}


def of_host_local(rng, network, main, ipam):
    first = ipam["ranges"][0][0] if ipam.get("ranges") and ipam["ranges"][0] else ipam
    subnet = first.get("subnet", "10.99.0.0/24")
    base = subnet.split("/")[0]
    host = base + ("9" if ":" in base else "")
    ranges = [[{"subnet": "10.1.0.0/16"}], [{"subnet": "10.1.2.0/24"}]]
    options = {
        "subnet": lambda: first.update(subnet="10.300.0.0/24"), "host bits": lambda: first.update(subnet="10.1.2.3/24"),
        "range start": lambda: first.update(rangeStart="192.0.2.1"), "range end": lambda: first.update(rangeEnd="192.0.2.1"),
        "gateway is none": lambda: first.update(gateway="10.1"), "overlap": lambda: ipam.update(ranges=ranges),
        "overlap in a set": lambda: ipam.update(ranges=[ranges[0] + ranges[1]]), "tiny": lambda: ipam.update(ranges=[[{"subnet": "10.1.0.0/31"}]]),
        "mixed set": lambda: ipam.update(ranges=[[{"subnet": "10.1.0.0/16"}, {"subnet": "fd01::/64"}]]),
        "full": lambda: ipam.update(ranges=[[{"subnet": "10.1.0.0/24", "rangeStart": "10.1.0.1", "rangeEnd": "10.1.0.1", "gateway": "10.1.0.1"}]]),
        "wanted ip": lambda: (network["caps"].update(ips=["192.0.2.77"]), main.update(capabilities={"ips": True})),
        "wanted ip is none": lambda: network["args"].extend([["IgnoreUnknown", "1"], ["IP", "10.20.0"]]),
        "resolvConf": lambda: ipam.update(resolvConf="/nowhere/resolv.conf"),
    }
    if "subnet" in first:
        options["no subnet"] = lambda: first.pop("subnet")
    if ":" in base:
        options["range order"] = lambda: first.update(rangeStart=base + "9", rangeEnd=base + "8")
    elif "gateway" in first:
        options["wanted gateway"] = lambda: (network["caps"].update(ips=[first["gateway"]]), main.update(capabilities={"ips": True}))
    return options


def of_chained(rng, plugins):
    options = {}
    for plugin in plugins[1:]:
        def change(plugin=plugin, **keys):
            return lambda: plugin.update(keys)

        if plugin["type"] == "tuning":
            options |= {
                "sysctl": change(sysctl={"net.ipv4.conf.IFNAME.no_such": "1"}),
                "sysctl value": change(sysctl={"net.ipv4.conf.IFNAME.arp_filter": "many"}),
                "sysctl of the machine": change(sysctl={"kernel.panic": "0"}),
                "sysctl that climbs": change(sysctl={"net/../kernel/panic": "0"}),
                "sysctl is a number": change(sysctl={"net.ipv4.conf.IFNAME.arp_filter": 1}),
                "tuning mac": change(mac="zz"), "tuning mtu": change(mtu=70000), "tuning txQLen": change(txQLen=-5),
            }
        elif plugin["type"] == "vrf":
            options |= {"no vrfname": lambda plugin=plugin: plugin.pop("vrfname"), "vrf of no kind": change(vrfname="lo"),
                        "long vrfname": change(vrfname="a-name-too-long-for-it")}
        elif plugin["type"] == "sbr":
            options["sbr table"] = change(table="main")
    return options
