# SPDX-License-Identifier: Apache-2.0
"""One generated case on one side, on a topology made again: a journal of what was answered and of what could be seen."""
import copy
import json
import pathlib
import re
import shutil
import time

import addresses
import machine


def run_case(side, case):
    """A journal: a list of (step, what was seen)."""
    pods = [f"pod{i}" for i in range(case["pods"])]
    lines = ["addr add 198.51.100.2/24 dev p1", "route add default via 198.51.100.1"] if case["host_default_route"] else []
    dhcp = any(one["conf"]["plugins"][0].get("ipam", {}).get("type") == "dhcp" for one in case["networks"])
    devices = [f"d{i}" for i in range(case["devices"])]
    parents = machine.Parents(["p0", "p1"] + devices, addresses=lines + device_lines(devices, case["device"]), bridges=("br0", "br1"))
    for folder in (machine.HOST_LOCAL, machine.OTHER_DATA):
        shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(addresses.RESOLV_CONF).write_text("# of a test\nnameserver 10.7.7.7\nsearch b.test c.test\noptions ndots:3 rotate\n")
    machine.add_netns(*pods)
    server = machine.DhcpServer(parents.names) if dhcp else None
    journal = []
    try:
        for pod in pods:
            own_things(case, pod)
        attach(side, case, pods, journal)
        if case["twice"] and journal[0][1]["ok"]:
            again(side, case, pods, journal)
        detach(side, case, pods, journal)
    finally:
        machine.del_netns(*pods)
        parents.remove()
        if server:
            server.stop()
    journal.append(("reserved in the end", {"entries": machine.reserved_addresses(), "left": side.left(f"c{case['number']}-")}))
    return journal


def device_lines(devices, state):
    lines = []
    for i, name in enumerate(devices):
        for key in ("mtu", "txqueuelen"):
            if key in state:
                lines.append(f"link set {name} {key} {state[key]}")
        if "allmulticast" in state:
            lines.append(f"link set {name} allmulticast on")
        if "up" in state or "address" in state:
            lines.append(f"link set {name} up")
        if "address" in state:
            lines.append(f"addr add 198.18.{i}.7/24 dev {name}")
        lines.append(f"link property add dev {name} altname other-name-of-{name}")
    return lines


def own_things(case, pod):
    """What the pod has before anything is attached."""
    lines = []
    if case["pod_has_eth0"]:
        lines += ["link add eth0 type veth peer name eth1", "addr add 203.0.113.9/24 dev eth0", "link set eth0 up", "link set eth1 up",
                  "link set lo up", "route add default via 203.0.113.1"]
    if case["pod_has_rule"]:
        lines.append("rule add from 203.0.113.50 table 100")
    if case["pod_has_vrf"]:
        lines += ["link add blue type vrf table 500", "link set blue up"]
    if lines:
        machine.ip_batch(lines, netns=pod)


def requests(case, pods):
    """(pod, interface, request) for every attachment, in the order of ADD."""
    per_pod = case["devices"] // case["pods"]
    for p, pod in enumerate(pods):
        for n, network in enumerate(case["networks"]):
            conf = copy.deepcopy(network["conf"])
            main = conf["plugins"][0]
            if re.fullmatch(r"d\d+", main.get("device", "")):
                name_device(main, int(main["device"][1:]) + p * per_pod)
            main.pop("by", None)
            args, container = network["args"], f"c{case['number']}-{pod}"
            if case["pod_names"]:
                args = [one for one in args if one[0] != "IgnoreUnknown"] + [
                    ["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "space"], ["K8S_POD_NAME", pod], ["K8S_POD_INFRA_CONTAINER_ID", container]]
            yield pod, f"net{n + 1}", {"conf": conf, "netns": machine.netns_path(pod), "containerID": container,
                                       "ifname": f"net{n + 1}", "args": args, "caps": network["caps"]}


def name_device(main, index):
    """Says which device in one of the ways that host-device has."""
    way = main["by"]
    if way == "hwaddr":
        del main["device"]
        main["hwaddr"] = f"02:00:00:00:64:{index + 2:02x}"  # after p0 and p1, see Parents
    else:
        main["device"] = f"other-name-of-d{index}" if way == "altname" else f"d{index}"


def attach(side, case, pods, journal):
    for pod, interface, request in requests(case, pods):
        answer = side.ask("add", **request)
        seen = outcome(answer)
        if answer["ok"]:
            seen["result"] = answer["result"]
            check = side.ask("check", **request)
            seen["check"] = bool(check["ok"])
            if not check["ok"]:
                seen["check error"] = check["error"]["msg"]
        journal.append((f"add {pod} {interface}", seen))
        if not answer["ok"]:
            side.ask("del", **request)  # what every runtime does then
    look(case, pods, journal, "after add")


def again(side, case, pods, journal):
    """Another container wants the same name in the same namespace: refused, and nothing changes."""
    pod, interface, request = next(requests(case, pods))
    answer = side.ask("add", **{**request, "containerID": f"c{case['number']}-other"})
    journal.append((f"add again {pod} {interface}", outcome(answer)))
    look(case, pods, journal, "after add again")


def detach(side, case, pods, journal):
    _, interface, request = next(requests(case, pods))
    seen = {}
    if case["damage"] and damage(case["damage"], pods[0]):
        answer = side.ask("check", **request)
        seen = {"ok": answer["ok"], "text": answer.get("error", {}).get("msg")}
    journal.append((f"check with damage: {case['damage']}", seen))
    if case["netns_gone"]:
        machine.del_netns(pods[0])
    for pod, interface, request in reversed(list(requests(case, pods))):
        journal.append((f"del {pod} {interface}", outcome(side.ask("del", **request))))
    look(case, pods[1:] if case["netns_gone"] else pods, journal, "after del")
    for pod, interface, request in list(requests(case, pods))[:1]:
        journal.append((f"del again {pod} {interface}", outcome(side.ask("del", **request))))


def outcome(answer):
    return {"ok": answer["ok"], **({"error": answer["error"]["msg"], "code": answer["error"]["code"]} if answer.get("error") else {})}


DAMAGES = {
    "address": ["addr flush dev net1 scope global"], "mtu": ["link set net1 mtu 1290"], "route": ["route flush dev net1"],
    "gone": ["link set net1 down", "link set net1 name elsewhere"], "down": ["link set net1 down"],
    "mac": ["link set net1 address 02:00:00:0d:0d:0d"], "txqlen": ["link set net1 txqueuelen 33"],
}


def damage(kind, pod):
    """Breaks net1; says whether there was something to break."""
    seen = machine.see(pod)
    link = seen["links"].get("net1")
    if link is None or (kind in ("address", "route", "route6") and not link["addresses"]):
        return False
    lines = DAMAGES.get(kind, [])
    if kind == "route6":
        machine.run("ip", "-n", pod, "-6", "route", "flush", "dev", "net1", check=False)
    if kind == "rules":
        mine = {json.loads(one)["local"] for one in link["addresses"]}
        rules = [rule for rule in map(json.loads, seen["rules"]) if rule.get("src") in mine]
        lines = [f"rule del from {rule['src']} table {rule['table']}" for rule in rules]
    machine.ip_batch(lines, netns=pod, check=False)
    return bool(lines) or kind == "route6"


def settled(netns, quiet):
    """Looks until what the kernel does on its own time is done, or for three seconds."""
    end = time.monotonic() + 3
    while not quiet(seen := machine.see(netns)) and time.monotonic() < end:
        time.sleep(0.02)
    return seen


def addresses_are_ready(seen):
    """An IPv6 address gets its route in the table "local" (or in that of its VRF) from a worker of the kernel."""
    local = [json.loads(route) for route in seen["routes"]]
    local = {(route.get("dev"), route.get("dst")) for route in local if route.get("type") == "local"}
    return all((name, one["local"]) in local for name, link in seen["links"].items() if name != "lo" and "UP" in link["flags"]
               for one in map(json.loads, link["addresses"]) if one["family"] == "inet6")


def devices_are_back(seen):
    """A namespace ends some time after its name; its veths end with it, and their peers."""
    links = seen["links"]
    return all(name[:-1] in links for name in links if re.fullmatch(r"d\d+p", name)) and all(
        links[name]["promiscuity"] == 0 for name in ("p0", "p1")) and not any(name.startswith("veth") for name in links)


def look(case, pods, journal, when):
    for pod in pods:
        seen = settled(pod, addresses_are_ready)
        names = [name for name in seen["links"] if name != "lo"]
        seen["sysctls"] = machine.sysctls(pod, names)
        journal.append((f"{when} {pod}", seen))
    gone = case["netns_gone"] and when == "after del"
    journal.append((f"{when} host", settled(None, devices_are_back if gone else addresses_are_ready)))
    journal.append((f"{when} reserved", {"entries": machine.reserved_addresses()}))
