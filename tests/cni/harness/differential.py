# SPDX-License-Identifier: Apache-2.0
"""The same configurations through the reference plugins and through railbed, and what differs afterwards.

Each case runs twice on a topology made anew: first the reference, then railbed. After every step the pods and the host
are looked at; the two journals are compared value by value. A difference counts unless differences.md names it.
"""
import copy
import json
import re
import shutil
import time

import machine
from generator import Generator



def run_case(side, case):
    """A journal: a list of (step, what was seen)."""
    pods = [f"pod{i}" for i in range(case["pods"])]
    addresses = ["addr add 198.51.100.2/24 dev p1", "route add default via 198.51.100.1"] if case["host_default_route"] else []
    parents = machine.Parents(["p0", "p1"] + [f"d{i}" for i in range(case["devices"])], addresses=addresses)
    shutil.rmtree(machine.HOST_LOCAL, ignore_errors=True)
    machine.add_netns(*pods)
    journal = []
    try:
        if case["pod_has_eth0"]:
            for pod in pods:
                machine.ip_batch(["link add eth0 type veth peer name eth1", "addr add 203.0.113.9/24 dev eth0", "link set eth0 up",
                                  "link set eth1 up", "link set lo up", "route add default via 203.0.113.1"], netns=pod)
        attach(side, case, pods, journal)
        detach(side, case, pods, journal)
    finally:
        machine.del_netns(*pods)
        parents.remove()
    journal.append(("reserved in the end", {"entries": machine.reserved_addresses()}))
    return journal


def requests(case, pods):
    """(pod, interface, request) for every attachment, in the order of ADD."""
    per_pod = case["devices"] // case["pods"]
    for p, pod in enumerate(pods):
        for n, network in enumerate(case["networks"]):
            conf = copy.deepcopy(network["conf"])
            main = conf["plugins"][0]
            if re.fullmatch(r"d\d+", main.get("device", "")):
                index = int(main["device"][1:]) + p * per_pod
                if main["by"] == "hwaddr":
                    del main["device"]
                    main["hwaddr"] = f"02:00:00:00:64:{index + 2:02x}"  # after p0 and p1, see Parents
                else:
                    main["device"] = f"d{index}"
            main.pop("by", None)
            yield pod, f"net{n + 1}", {"conf": conf, "netns": machine.netns_path(pod), "containerID": f"c{case['number']}-{pod}",
                                       "ifname": f"net{n + 1}", "args": network["args"], "caps": network["caps"]}


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


def damage(kind, pod):
    """Breaks net1; says whether there was something to break."""
    seen = machine.see(pod)["links"].get("net1")
    if seen is None or (kind in ("address", "route") and not seen["addresses"]):
        return False
    lines = {"address": ["addr flush dev net1 scope global"], "mtu": ["link set net1 mtu 1290"], "gone": ["link set net1 name elsewhere"],
             "route": ["route flush dev net1"]}
    machine.ip_batch(["link set net1 down"] * (kind == "gone") + lines[kind], netns=pod, check=False)
    return True


def settled(netns, quiet):
    """Looks until what the kernel does on its own time is done, or for three seconds."""
    end = time.monotonic() + 3
    while not quiet(seen := machine.see(netns)) and time.monotonic() < end:
        time.sleep(0.02)
    return seen


def addresses_are_ready(seen):
    """An IPv6 address gets its route in the table "local" from a worker of the kernel."""
    local = [json.loads(route) for route in seen["routes"]]
    local = {route.get("dst") for route in local if route.get("table") == "local"}
    return all(one["local"] in local for name, link in seen["links"].items() if name != "lo" and "UP" in link["flags"]
               for one in map(json.loads, link["addresses"]) if one["family"] == "inet6")


def devices_are_back(seen):
    """A namespace ends some time after its name; its veths end with it, and their peers."""
    links = seen["links"]
    return all(name[:-1] in links for name in links if re.fullmatch(r"d\d+p", name)) and all(
        links[name]["promiscuity"] == 0 for name in ("p0", "p1"))


def look(case, pods, journal, when):
    for pod in pods:
        seen = settled(pod, addresses_are_ready)
        names = [name for name in seen["links"] if name != "lo"]
        seen["sysctls"] = machine.sysctls(pod, names)
        journal.append((f"{when} {pod}", seen))
    gone = case["netns_gone"] and when == "after del"
    journal.append((f"{when} host", settled(None, devices_are_back) if gone else machine.see()))
    journal.append((f"{when} reserved", {"entries": machine.reserved_addresses()}))


# Comparing.
def normalise(journal, case):
    """Replaces what is random on both sides: MACs that the kernel chose, and texts of errors (kept for people)."""
    known = {mac for mac in re.findall(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}", json.dumps(case))}
    text = json.dumps([[step, {k: v for k, v in seen.items() if k != "macs"} if isinstance(seen, dict) else seen]
                       for step, seen in journal])

    def replace(match):
        mac = match[0]
        return mac if mac in known or mac.startswith(("02:00:00:0", "00:00:00:00", "ff:ff")) else "random MAC"

    return json.loads(re.sub(r"(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])", replace, text))


SETS = ("routes", "rules", "addresses", "entries")


def flat(value, path=""):
    if isinstance(value, dict):
        for key, one in value.items():
            yield from flat(one, f"{path}.{key}" if path else key)
        if not value and not path.endswith("dns"):  # {"dns": {}} is what 0.x has instead of no dns
            yield path, "{}"
    elif isinstance(value, list) and path.endswith(SETS):
        for one in value:  # sets of texts
            yield f"{path}[{one}]", "there"
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from flat(one, f"{path}[{i}]")
        if not value:
            yield path, "[]"
    else:
        yield path, value


TEXTS = ("error", "code", "check error", "text")


def said(seen):
    """What a side said about its failure, for people and for the patterns of differences.md."""
    return next((str(seen[key]) for key in TEXTS if seen.get(key) and key != "code"), "")


def left_by_reference(step, line, refused):
    """Whether a line is about an interface whose ADD both have refused, and which only the reference still has."""
    if step.endswith(" host"):  # a device that the reference's refused ADD has left in the pod
        return bool(refused) and re.search(r"links\.d\d+p?\..*: reference has nothing", line)
    if step.startswith("check with damage"):
        return any(name == "net1" for _, name in refused)
    return any(step.endswith(f" {pod}") and "railbed has nothing" in line and re.search(rf"\b{name}\b", line)
               for pod, name in refused)


def compare(one, two):
    """Lines "step: place: reference has X, railbed has Y (what the one that failed said)"."""
    found, refused = [], set()
    for (step, reference), (also, railbed) in zip(one, two):
        if step.startswith("add") and not reference["ok"] and not railbed["ok"]:
            refused.add(tuple(step.split()[1:]))
        assert step == also, f"the journals went apart: {step} / {also}"
        left, right = dict(flat(reference)), dict(flat(railbed))
        for place in sorted(left.keys() | right.keys(), key=lambda place: (place != "ok", place)):
            if place in TEXTS or left.get(place) == right.get(place):
                continue
            line = f"{step}: {place}: reference has {left.get(place, 'nothing')}, railbed has {right.get(place, 'nothing')}"
            if place in ("ok", "check"):
                line += f" ({said(railbed if left.get(place) else reference)})"
            if step.startswith(("after", "check with")) and left_by_reference(step, line, refused):
                continue
            found.append(line)
            if place == "ok" and step.startswith("add"):
                return found  # everything after follows from this
    return found


def accepted(folder):
    """Patterns of differences.md: lines of the table whose first cell is `a pattern`."""
    patterns = []
    for line in open(f"{folder}/differences.md"):
        if match := re.match(r"\| `(.+?)` \|", line):
            patterns.append((re.compile(match[1].replace("\\|", "|")), line))
    return patterns


def canary(report, generator, reference):
    """The comparison must see a side that does something else."""

    class Other:
        def ask(self, op, conf, **more):
            if op == "add":
                conf = copy.deepcopy(conf)
                conf["plugins"].append({"type": "tuning", "txQLen": 77})
            return reference.ask(op, conf, **more)

    case = next(case for case in map(generator.case, range(1000)) if not case["faults"] and not case["netns_gone"])
    first, again, other = (normalise(run_case(side, case), case) for side in (reference, reference, Other()))
    report.check("differential: the same side twice is alike", not compare(first, again), compare(first, again)[:5])
    report.check("differential: another length of a queue is seen", any("txqlen" in line for line in compare(first, other)),
                 compare(first, other)[:5])


def main(report, sides, options, folder):
    kinds = ["host-device"] + [kind for kind in ("macvlan", "ipvlan") if machine.has_kind(kind)]
    if "ipvlan" not in kinds:
        report.skip("differential of ipvlan", "this kernel has no ipvlan")
    generator = Generator(options.seed, kinds)
    share, shares = map(int, options.share.split("/"))
    if sides[0].name == "reference" and share == 0:
        canary(report, generator, sides[0])
    if options.twice:
        sides = [sides[0], sides[0]]
    known = accepted(folder)
    kept, failed, used = [], 0, set()
    numbers = [options.only] if options.only is not None else range(share, options.count, shares)
    for number in numbers:
        case = generator.case(number)
        journals = [normalise(run_case(side, case), case) for side in sides]
        if options.verbose:
            print(json.dumps(case, indent=1))
            print(json.dumps(journals, indent=1))
        if len(journals) < 2:
            failed += any(not seen["ok"] for step, seen in journals[0] if step.startswith("add") and not case["faults"])
            kept.append({"case": case, "journal": journals[0]})
            continue
        new = []
        for line in compare(*journals):
            pattern = next((p for p, _ in known if p.search(line)), None)
            used.add(pattern)
            if pattern is None:
                new.append(line)
        if new:
            failed += 1
            sides[-1].start_anew()
            kept.append({"case": case, "differences": new, "journals": journals})
            if failed <= 20 or options.verbose:
                report.fail(f"differential {number} of seed {options.seed}", new[:12])
        else:
            report.quiet_pass()
    count = len(numbers)
    what = f"differential: {count} configurations of seed {options.seed} (share {options.share}), {count - failed} alike"
    if len(sides) < 2:
        report.note(f"{count} configurations on one side, {failed} valid ones refused")
    elif failed == 0:
        report.ok(what)
    else:
        report.fail(what, [f"{failed} differ"])
    if options.keep:
        with open(f"{options.keep}.{share}" if shares > 1 else options.keep, "w") as target:
            json.dump(kept, target, indent=1)
