# SPDX-License-Identifier: Apache-2.0
"""The same configurations through the reference plugins and through railbed, and what differs afterwards.

Each case runs twice on a topology made again: first the reference, then railbed. After every step the pods and the host
are looked at; the two journals are compared value by value. A difference counts unless differences.md names it.
"""
import copy
import json

import machine
from comparing import accepted, compare, normalise
from generator import Generator
from running import run_case
from shrinking import shrink


def canary(report, generator, reference):
    """The comparison must see a side that does something else."""

    class Other:
        left = staticmethod(lambda prefix: [])

        def ask(self, op, conf, **more):
            if op == "add":
                conf = copy.deepcopy(conf)
                conf["plugins"].append({"type": "tuning", "txQLen": 7001})  # which no case draws
            return reference.ask(op, conf, **more)

    case = next(case for case in map(generator.case, range(1000)) if simple(case))
    first, again, other = (normalise(run_case(side, case), case) for side in (reference, reference, Other()))
    report.check("differential: the same side twice is alike", not compare(first, again), compare(first, again)[:5])
    report.check("differential: another length of a queue is seen", any("txqlen" in line for line in compare(first, other)),
                 compare(first, other)[:5])


def simple(case):
    plugins = [plugin for network in case["networks"] for plugin in network["conf"]["plugins"]]
    # The reference's DHCP client gives up on a busy machine: nothing is attached then, and nothing can differ.
    asks_a_server = any(plugin.get("ipam", {}).get("type") == "dhcp" for plugin in plugins)
    plain = not case["faults"] and not case["netns_gone"] and not case["twice"]
    return plain and not asks_a_server and {plugin["type"] for plugin in plugins} <= {"macvlan", "host-device", "sbr"}


def kinds_here():
    """What the generator may use on this kernel and machine."""
    kinds = ["host-device"] + [kind for kind in ("macvlan", "ipvlan", "dummy", "vrf") if machine.has_kind(kind)]
    return kinds + (["dhcp"] if machine.has_dhcp_server() else [])


# What the reference's DHCP daemon says when a busy machine lets its tries run out: nothing was compared then.
REFERENCE_GAVE_UP = "no more tries"
TRIES = 3


class Comparison:
    def __init__(self, sides, known):
        self.sides = sides
        self.known = known  # patterns of differences.md
        self.used = set()

    def journals(self, case):
        return [normalise(run_case(side, case), case) for side in self.sides]

    def new(self, journals):
        """The differences that differences.md does not know."""
        lines = []
        for line in compare(*journals):
            pattern = next((p for p, _ in self.known if p.search(line)), None)
            self.used.add(pattern)
            if pattern is None:
                lines.append(line)
        return lines

    def looked_at(self, case):
        """The journals of a configuration and what differs in them that differences.md does not know."""
        for left in range(TRIES - 1, -1, -1):
            journals = self.journals(case)
            new = self.new(journals) if len(journals) == 2 else []
            if left == 0 or not any(REFERENCE_GAVE_UP in line for line in new):
                return journals, new
            self.sides[-1].start_empty()

    def differences(self, case):
        found = self.new(self.journals(case))
        if found:
            self.sides[-1].start_empty()
        return found


def main(report, sides, options, folder):
    kinds = options.kinds.split(",") if options.kinds else kinds_here()
    for kind in ("ipvlan", "dummy", "vrf", "dhcp"):
        if kind not in kinds and not options.kinds:
            report.skip(f"differential of {kind}", "no dnsmasq here" if kind == "dhcp" else f"this kernel has no {kind}")
    generator = Generator(options.seed, kinds)
    share, shares = map(int, options.share.split("/"))
    if sides[0].name == "reference" and share == 0 and not options.kinds:
        canary(report, generator, sides[0])
    comparison = Comparison([sides[0], sides[0]] if options.twice else sides, accepted(folder))
    numbers = [options.only] if options.only is not None else range(share, options.count, shares)
    kept, failed = [], 0
    for number in numbers:
        case = generator.case(number)
        journals, new = comparison.looked_at(case)
        if options.verbose:
            print(json.dumps(case, indent=1))
            print(json.dumps(journals, indent=1))
        if len(journals) < 2:
            failed += any(not seen["ok"] for step, seen in journals[0] if step.startswith("add pod") and not case["faults"])
            kept.append({"case": case, "journal": journals[0]})
            continue
        if not new:
            continue
        if any(REFERENCE_GAVE_UP in line for line in new):
            report.skip(f"differential {number} of seed {options.seed}",
                        f"the reference's DHCP daemon gave up {TRIES} times ({REFERENCE_GAVE_UP}): the machine is too busy for it")
            comparison.sides[-1].start_empty()
            continue
        failed += 1
        comparison.sides[-1].start_empty()
        if failed <= 20 or options.verbose:
            report.fail(f"differential {number} of seed {options.seed}", new[:12])
        if options.shrink:
            case, new, tried = shrink(case, comparison.differences)
            report.note(f"smaller, after {tried} tries: {json.dumps(case)}")
            for line in new[:12]:
                report.note(line)
        kept.append({"case": case, "differences": new, "journals": journals})
        keep(options, kept)  # now: who runs thousands may stop it
    conclude(report, options, len(numbers), failed, len(sides))
    keep(options, kept)
    if options.unused:  # which lines of differences.md no case came by
        for pattern, line in comparison.known:
            if pattern not in comparison.used:
                report.note(f"not used: {line.strip()}")


def keep(options, kept):
    share, shares = map(int, options.share.split("/"))
    if options.keep:
        with open(f"{options.keep}.{share}" if shares > 1 else options.keep, "w") as target:
            json.dump(kept, target, indent=1)


def conclude(report, options, count, failed, sides):
    what = f"differential: {count} configurations of seed {options.seed} (share {options.share}), {count - failed} alike"
    if sides < 2:
        report.note(f"{count} configurations on one side, {failed} valid ones refused")
    elif failed == 0:
        report.ok(what)
    else:
        report.fail(what, [f"{failed} differ"])
