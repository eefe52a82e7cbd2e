# SPDX-License-Identifier: Apache-2.0
"""Makes a case that differs smaller, as long as it differs in the same way: what is left says what the difference is about."""
import copy
import re

LEAST = {"pods": 1, "devices": 1, "damage": None, "netns_gone": False, "twice": False, "pod_has_eth0": False, "pod_has_rule": False,
         "pod_has_vrf": False, "pod_names": False}
NEEDED = {"type", "name", "cniVersion", "plugins", "conf", "caps", "args", "number", "networks", "device", "by", "faults", "host_default_route"}


def kind_of(line):
    """A difference without its numbers: what two cases that differ in the same way have in common."""
    return re.sub(r"\d+", "#", re.sub(r"\(.*", "", line)).replace("after del", "after").replace("add again", "add")


def shrink(case, differences, tries=80):
    """The smallest case found, and its differences. `differences(case)` runs it."""
    wanted = {kind_of(line) for line in differences(case)[:1]}
    smallest, tried = case, 0
    progress = bool(wanted)
    while progress and tried < tries:
        progress = False
        for candidate in smaller(smallest):
            tried += 1
            if tried > tries:
                break
            try:
                found = differences(candidate)
            except Exception:  # a case that no generator would make
                continue
            if wanted & {kind_of(line) for line in found}:
                smallest, progress = candidate, True
                break
    return smallest, differences(smallest), tried


def smaller(case):
    """Cases with one thing less, the greatest things first."""
    for i in range(len(case["networks"])):
        if len(case["networks"]) > 1:
            yield changed(case, lambda one, i=i: one["networks"].pop(i))
    for key, least in LEAST.items():
        if case[key] != least:
            if key == "pods":
                yield changed(case, lambda one: one.update(pods=1, devices=one["devices"] // one["pods"]))
            elif key != "devices":
                yield changed(case, lambda one, key=key, least=least: one.update({key: least}))
    if case["device"]:
        yield changed(case, lambda one: one.update(device={}))
    for n, network in enumerate(case["networks"]):
        for i in range(1, len(network["conf"]["plugins"])):
            yield changed(case, lambda one, n=n, i=i: one["networks"][n]["conf"]["plugins"].pop(i))
        for what in ("args", "caps"):
            if network[what]:
                yield changed(case, lambda one, n=n, what=what: one["networks"][n].update({what: type(network[what])()}))
    yield from without_keys(case, case["networks"], ("networks",))


def changed(case, change):
    one = copy.deepcopy(case)
    change(one)
    return one


def without_keys(case, value, path):
    """Each key and each element below, left out one at a time."""
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in members:
        if key not in NEEDED and path[-1] not in ("networks", "plugins"):
            yield changed(case, lambda one, key=key: leave_out(one, path, key))
        yield from without_keys(case, inner, (*path, key))


def leave_out(case, path, key):
    for step in path:
        case = case[step]
    del case[key]
