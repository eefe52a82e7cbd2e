# SPDX-License-Identifier: Apache-2.0
"""Two journals of one case side by side: what differs, and which of it differences.md accepts."""
import json
import re


def normalise(journal, case):
    """Replaces what is random on both sides: MACs that the kernel chose, names of veths."""
    known = {mac for mac in re.findall(r"[0-9a-f]{2}(?::[0-9a-f]{2}){5}", json.dumps(case))}
    text = json.dumps([[step, {k: v for k, v in seen.items() if k != "macs"} if isinstance(seen, dict) else seen]
                       for step, seen in journal])

    def replace(match):
        mac = match[0]
        return mac if mac in known or mac.startswith(("02:00:00:0", "00:00:00:00", "ff:ff")) else "random MAC"

    text = re.sub(r"(?<![0-9a-f:])[0-9a-f]{2}(?::[0-9a-f]{2}){5}(?![0-9a-f:])", replace, text)
    ends = {}  # of veths that bridge and ptp make on the host, in the order in which they are listed
    return json.loads(re.sub(r"\bveth[0-9a-f]{6,8}\b", lambda match: ends.setdefault(match[0], f"end{len(ends)}"), text))


SETS = ("routes", "rules", "addresses", "entries", "left")


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


def of_specification(left, right):
    """Whether both failed, the reference with one of the specification's own codes: then they must be equal."""
    return not left["ok"] and not right["ok"] and 0 < left["code"] < 100 and left["code"] != 7


def said(seen):
    """What a side said about its failure, for people and for the patterns of differences.md."""
    return next((str(seen[key]) for key in TEXTS if seen.get(key) and key != "code"), "")


def left_by_reference(step, line, refused):
    """Whether a line is about an interface whose ADD both have refused, and which only the reference still has."""
    if step.endswith(" host"):  # a device that the reference's refused ADD has left in the pod
        return bool(refused) and re.search(r'links\.(d\d+p?\..*: reference has nothing|p\d\.promiscuity|(br|end)\d\.)|"dev": "(br|end)\d"', line)
    if step.startswith("check with damage"):
        return any(name == "net1" for _, name in refused)
    return any(step.endswith(f" {pod}") and ("railbed has nothing" in line and re.search(rf"\b{name}\b|: rules\[", line) or
                                            re.search(r': sysctls\.|"type": "anycast"|"table": "1\d\d"|: links\.eth0\.promiscuity', line)) for pod, name in refused)


def compare(one, two):
    """Lines "step: place: reference has X, railbed has Y (what the one that failed said)"."""
    found, refused = [], set()
    for (step, reference), (also, railbed) in zip(one, two):
        if (one_add := re.fullmatch(r"add (pod\d) (net\d)", step)) and not reference["ok"] and not railbed["ok"]:
            refused.add(one_add.groups())
        assert step == also, f"the journals went apart: {step} / {also}"
        left, right = dict(flat(reference)), dict(flat(railbed))
        for place in sorted(left.keys() | right.keys(), key=lambda place: (place != "ok", place)):
            if left.get(place) == right.get(place) or (place in TEXTS and not (place == "code" and of_specification(left, right))):
                continue
            line = f"{step}: {place}: reference has {left.get(place, 'nothing')}, railbed has {right.get(place, 'nothing')}"
            if place in ("ok", "check"):
                line += f" ({said(railbed if left.get(place) else reference)})"
            if refused and re.match(r"add .*: result\.ips\[\d\]\.address: ", line):
                return found  # host-local's next address, where a refused ADD has taken one: round robin or the lowest free one
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


