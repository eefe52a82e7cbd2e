# SPDX-License-Identifier: Apache-2.0
"""Many pods at once, and what comes too early, too late, twice or without room: the right result or a clear error, and
nothing left in the end."""
import json
import pathlib
import random
import signal
import threading
import time

import machine

HOST_LOCAL = {"type": "host-local", "ranges": [[{"subnet": "10.70.0.0/16"}]]}
WHEREABOUTS = {"type": "whereabouts", "range": "10.71.0.0/16"}


def macvlan(name, ipam=HOST_LOCAL, version="1.0.0", **keys):
    main = {"type": "macvlan", "master": "p0", **({"ipam": ipam} if ipam else {}), **keys}
    return {"cniVersion": version, "name": name, "plugins": [main]}


def device(name, ipam=None):
    main = {"type": "host-device", "device": "d0", **({"ipam": ipam} if ipam else {})}
    return {"cniVersion": "1.0.0", "name": name, "plugins": [main]}


PENDING = pathlib.Path("/var/lib/railbed/pending-del")


class Load(threading.Thread):
    """One pod after another, each in a namespace of its own, until it is asked to stop; as a runtime starts the plugins."""

    def __init__(self, side, number):
        super().__init__()
        self.side, self.number = side, number
        self.ending = threading.Event()
        self.added, self.interrupted, self.wrong = 0, 0, []

    def call(self, command, pod):
        conf = {**macvlan("restart")["plugins"][0], "cniVersion": "1.0.0", "name": "restart"}
        done = self.side.raw("macvlan", json.dumps(conf), {
            "CNI_COMMAND": command, "CNI_CONTAINERID": pod, "CNI_NETNS": machine.netns_path(pod), "CNI_IFNAME": "net1",
            "CNI_PATH": self.side.folder, "RAILBED_RETRY_MS": "30000"})  # a busy machine starts an agent slowly
        return done.returncode == 0, done.stdout

    def run(self):
        round = 0
        while not self.ending.is_set():
            round += 1
            pod = f"race{self.number}x{round}"
            machine.run("ip", "netns", "add", pod)
            ok, reported = self.call("ADD", pod)
            self.added += ok
            # A request that the agent had begun when it was killed is not asked again.
            if not ok and '"code": 11' in reported and "closed the connection before it answered" in reported:
                self.interrupted += 1
            elif not ok:
                self.wrong.append(f"ADD: {reported}")
            elif "net1" not in machine.see(pod)["links"]:
                self.wrong.append("ADD succeeded, and there is no net1")
            ok, reported = self.call("DEL", pod)
            if not ok:
                self.wrong.append(f"DEL: {reported}")
            machine.del_netns(pod)


class Races:
    def __init__(self, report, side, options):
        self.report = report
        self.side = side
        self.options = options
        self.rng = random.Random(options.seed)
        self.parents = ["p0", "d0", "d1"]
        self.reported_left = set()  # what a test left behind is reported once, not by all that come after it

    # What each test starts and ends with.
    def pods(self, count):
        names = [f"race{i}" for i in range(count)]
        machine.ip_batch([f"netns add {name}" for name in names])
        return names

    def drop(self, names):
        machine.ip_batch([f"netns del {name}" for name in names], check=False)

    def leftovers(self):
        """What there still is when the kernel and the agent have had the time to end what they do behind an answer."""
        end = time.monotonic() + 20
        while (wrong := self.left_now()) and time.monotonic() < end:
            time.sleep(0.1)
        self.reported_left.update(wrong)
        return wrong

    def left_now(self):
        wrong = []
        links = machine.see()["links"]
        for name in links:
            if name != "lo" and name.removesuffix("p") not in self.parents:
                wrong.append(f"{name} is left on the host")
        wrong += [f"{name} is gone from the host" for name in self.parents if name not in links]
        if left := machine.reserved_addresses():
            wrong.append(f"{len(left)} addresses are still reserved: {left[:4]}")
        if self.side.name == "railbed" and (left := self.side.left("race")):
            wrong.append(f"{len(left)} attachments are still recorded: {left[:3]}")
        return [line for line in wrong if line not in self.reported_left]

    def request(self, conf, pod, ifname="net1", container=None, **more):
        return {"conf": conf, "netns": machine.netns_path(pod), "containerID": container or pod, "ifname": ifname, **more}

    def add(self, conf, pod, **more):
        return self.side.ask("add", **self.request(conf, pod, **more))

    def delete(self, conf, pod, **more):
        return self.side.ask("del", **self.request(conf, pod, **more))

    def at_once(self, jobs):
        return self.side.drive.ask(parallel=len(jobs), jobs=jobs)["answers"]

    def series(self, pods, confs, ops, parallel):
        listed = [{"netns": machine.netns_path(pod), "containerID": pod} for pod in pods]
        return self.side.drive.ask(series={"pods": listed, "confs": confs, "parallel": parallel, "ops": ops})["answers"]

    @staticmethod
    def errors(answers):
        return [answer["error"]["msg"] for answer in answers if not answer["ok"]]

    def reported(self, name, wrong):
        self.report.check(f"races: {name}", not wrong, wrong)

    def addresses_of(self, pods):
        found = []
        for pod in pods:
            for name, link in machine.see(pod)["links"].items():
                found += [json.loads(one)["local"] for one in link["addresses"] if name != "lo"]
        return found

    # The tests.
    def two_pods(self):
        confs, wrong = [macvlan(f"two-{i}") for i in range(3)], []
        for _ in range(8):
            pods = self.pods(2)
            wrong += self.errors(self.series(pods, confs, ["add"], 2)[0]["answers"])
            has = self.addresses_of(pods)
            if len(has) != 6 or len(set(has)) < 2:  # three networks with equal ranges: two addresses, three times
                wrong.append(f"the pods have {has}")
            wrong += self.errors(self.series(pods, confs, ["del"], 2)[0]["answers"])
            self.drop(pods)
        self.reported("two pods at once, eight times", wrong + self.leftovers())

    def burst(self):
        count = self.options.pods
        second = WHEREABOUTS if self.side.name == "railbed" else {**HOST_LOCAL, "ranges": [[{"subnet": "10.71.0.0/16"}]]}
        confs = [macvlan("burst-a"), macvlan("burst-b", second)]
        pods = self.pods(count)
        added = self.series(pods, confs, ["add"], count)[0]
        wrong = self.errors(added["answers"])[:5]
        has = self.addresses_of(pods)
        if len(has) != 2 * count or len(set(has)) != 2 * count:
            wrong.append(f"{len(has)} addresses, {len(set(has))} of them different, in {count} pods with two networks")
        removed = self.series(pods, confs, ["del"], count)[0]
        wrong += self.errors(removed["answers"])[:5]
        self.drop(pods)
        times = sorted(answer["ms"] for answer in added["answers"])
        self.report.note(f"{count} pods at once: ADD of two networks in {added['ms']:.0f} ms for all, median {times[count // 2]:.0f} ms, "
                         f"DEL in {removed['ms']:.0f} ms")
        self.reported(f"{count} pods at once, two networks each", wrong + self.leftovers())

    def next_pod(self):
        """DEL of a pod while its successor asks for the same device, as runtimes do: ADD is tried again until it fits."""
        conf, wrong, refused = device("next", HOST_LOCAL), [], []
        pods = self.pods(2)
        wrong += self.errors([self.add(conf, pods[0], container="race-0")])
        for turn in range(12):
            old, new = pods[turn % 2], pods[(turn + 1) % 2]
            gone = self.request(conf, old, container=f"race-{turn}")
            comes = self.request(conf, new, container=f"race-{turn + 1}")
            answers = self.at_once([{"op": "del", **gone}, {"op": "add", **comes}])
            wrong += self.errors(answers[:1])
            end = time.monotonic() + 60
            while not answers[1]["ok"] and time.monotonic() < end:
                refused.append(answers[1]["error"])
                self.side.ask("del", **comes)
                answers[1] = self.side.ask("add", **comes)
            wrong += self.errors(answers[1:])
            inside = machine.see(new)["links"]
            if "net1" not in inside or not inside["net1"]["addresses"]:
                wrong.append(f"turn {turn}: the new pod has {sorted(inside)}")
                break
        wrong += self.errors([self.delete(conf, pods[0], container="race-12")])
        self.drop(pods)
        if self.side.name == "railbed":
            wrong += [f"a refusal without a device's name: {one}" for one in refused if "d0" not in one["msg"]][:3]
        self.reported("DEL racing ADD of the next pod for the same device", wrong + self.leftovers())

    def namespace_goes(self):
        confs, wrong = [macvlan(f"goes-{i}") for i in range(3)], []
        for _ in range(15):
            pods = self.pods(1)
            delay = self.rng.random() * 0.03
            killer = threading.Thread(target=lambda: (time.sleep(delay), self.drop(pods)))
            killer.start()
            self.series(pods, confs, ["add"], 1)  # either way is right
            killer.join()
            wrong += self.errors(self.series(pods, confs, ["del"], 1)[0]["answers"]) if self.side.name == "railbed" else []
        self.reported("the namespace goes during ADD, fifteen times", wrong + self.leftovers())

    def name_taken(self):
        wrong = []
        for lines in (["link add net1 type veth peer name other"],
                      ["link add other type veth peer name more", "link property add dev other altname net1"]):
            pods = self.pods(1)
            machine.ip_batch(lines, netns=pods[0])
            before = machine.see(pods[0])["links"]
            for conf in (macvlan("taken"), device("taken-d", HOST_LOCAL)):
                answer = self.add(conf, pods[0])
                if answer["ok"]:
                    wrong.append(f"ADD of net1 succeeded after: {lines}")
                elif self.side.name == "railbed" and "net1" not in answer["error"]["msg"]:
                    wrong.append(f"the error does not name net1: {answer['error']}")
                if machine.see(pods[0])["links"] != before:
                    wrong.append(f"the pod's own interfaces changed: {lines}")
                answer = self.delete(conf, pods[0])
                wrong += self.errors([answer]) if self.side.name == "railbed" else []
                if machine.see(pods[0])["links"] != before and self.side.name == "railbed":
                    wrong.append(f"DEL after the refused ADD changed the pod's own interfaces: {lines}")
                    before = machine.see(pods[0])["links"]
            self.drop(pods)
            wrong += self.leftovers()
        self.reported("the interface's name is taken, by a name and by an altname", wrong)

    def way_back_taken(self):
        """While the device is in the pod, somebody on the host takes its name."""
        wrong = []
        pods = self.pods(1)
        conf = device("back", HOST_LOCAL)
        wrong += self.errors([self.add(conf, pods[0])])
        machine.ip_batch(["link property add dev d1 altname d0"])
        answer = self.delete(conf, pods[0])
        if not answer["ok"] and "d0" not in answer["error"]["msg"]:
            wrong.append(f"the error does not name d0: {answer['error']}")
        macs = {**machine.see()["macs"], **machine.see(pods[0])["macs"]}
        if "02:00:00:00:64:01" not in macs.values():
            wrong.append(f"the device is lost: {macs}")
        machine.ip_batch(["link property del dev d1 altname d0"])
        wrong += self.errors([self.delete(conf, pods[0])])
        for name, mac in machine.see()["macs"].items():
            if mac == "02:00:00:00:64:01" and name != "d0":
                machine.ip_batch([f"link set {name} name d0"])
        self.drop(pods)
        self.reported("the device's name on the host is taken when it comes back", wrong + self.leftovers())

    def address_in_use(self):
        conf = macvlan("wanted", capabilities={"ips": True})
        pods, wrong = self.pods(2), []
        wrong += self.errors([self.add(conf, pods[0], caps={"ips": ["10.70.0.77"]})])
        answer = self.add(conf, pods[1], caps={"ips": ["10.70.0.77"]})
        if answer["ok"]:
            wrong.append("two pods have 10.70.0.77")
        elif "10.70.0.77" not in answer["error"]["msg"]:
            wrong.append(f"the error does not name the address: {answer['error']}")
        if "net1" in machine.see(pods[1])["links"]:
            wrong.append("net1 is left in the refused pod")
        wrong += self.errors([self.delete(conf, pods[1]), self.delete(conf, pods[0])])
        self.drop(pods)
        self.reported("an address that another pod has", wrong + self.leftovers())

    def full_range(self):
        wrong = []
        kinds = [{"type": "host-local", "ranges": [[{"subnet": "10.72.0.0/24", "rangeStart": "10.72.0.10", "rangeEnd": "10.72.0.12"}]]}]
        if self.side.name == "railbed":
            kinds.append({"type": "whereabouts", "range": "10.72.0.0/24", "range_start": "10.72.0.10", "range_end": "10.72.0.12"})
        for ipam in kinds:
            conf, pods = macvlan("full-" + ipam["type"], ipam), self.pods(6)
            answers = self.at_once([{"op": "add", **self.request(conf, pod)} for pod in pods])
            if sum(answer["ok"] for answer in answers) != 3:
                wrong.append(f"{sum(answer['ok'] for answer in answers)} of 6 pods got one of 3 addresses")
            wrong += [f"{pod} was refused and has net1" for pod, answer in zip(pods, answers)
                      if not answer["ok"] and "net1" in machine.see(pod)["links"]]
            winner = next(pod for pod, answer in zip(pods, answers) if answer["ok"])
            loser = next(pod for pod, answer in zip(pods, answers) if not answer["ok"])
            wrong += self.errors([self.delete(conf, loser), self.delete(conf, winner), self.add(conf, loser)])
            wrong += self.errors(self.at_once([{"op": "del", **self.request(conf, pod)} for pod in pods]))
            self.drop(pods)
            wrong += self.leftovers()
        self.reported("a range of three addresses and six pods at once", wrong)

    def restarts(self):
        """The agent is restarted, by turns in order and by kill -9, while pods come and go: railbed-cni waits for the next one."""
        if self.side.name != "railbed":
            return
        loads, wrong, times = [Load(self.side, i) for i in range(4)], [], []
        for load in loads:
            load.start()
        for turn in range(20):
            time.sleep(self.rng.random() * 0.3)
            self.side.end_agent(signal.SIGKILL if turn % 2 else signal.SIGTERM)
            begun = time.monotonic()
            self.side.begin_agent()
            while not self.side.ready() and time.monotonic() < begun + 60:
                time.sleep(0.01)
            times.append(time.monotonic() - begun)
        end = time.monotonic() + 60
        while sum(load.added for load in loads) < 40 and time.monotonic() < end:
            time.sleep(0.1)
        for load in loads:
            load.ending.set()
        for load in loads:
            load.join()
            wrong += load.wrong
        end = time.monotonic() + 90
        while any(PENDING.glob("*")) and time.monotonic() < end:
            time.sleep(0.1)
        wrong += [f"{path} is still kept" for path in PENDING.glob("*")]
        added, interrupted = sum(load.added for load in loads), sum(load.interrupted for load in loads)
        if added < 40:
            wrong.append(f"only {added} pods were attached: this tests nothing")
        self.report.note(f"{added} pods attached during 20 restarts, {interrupted} ADDs cut off by kill -9; the agent answers again "
                         f"after {sorted(times)[10] * 1000:.0f} ms, {max(times) * 1000:.0f} ms at most")
        self.reported("20 restarts of the agent while pods come and go", wrong + self.leftovers())

    def same_again(self):
        conf, pods, wrong = macvlan("same"), self.pods(1), []
        for _ in range(6):
            answers = self.at_once([{"op": "add", **self.request(conf, pods[0])} for _ in range(4)])
            if not any(answer["ok"] for answer in answers):
                wrong.append(f"none of four equal ADDs succeeded: {answers[0]['error']}")
            self.at_once([{"op": op, **self.request(conf, pods[0])} for op in ("del", "add", "del", "add")])
            wrong += self.errors([self.delete(conf, pods[0])])
            if "net1" in machine.see(pods[0])["links"]:
                wrong.append("net1 is there after DEL")
        self.drop(pods)
        self.reported("equal requests at once", wrong + self.leftovers())


def main(report, sides, options, folder):
    side = sides[-1]
    tests = Races(report, side, options)
    parents = machine.Parents(tests.parents)
    try:
        for test in (tests.two_pods, tests.burst, tests.next_pod, tests.namespace_goes, tests.name_taken, tests.way_back_taken,
                     tests.address_in_use, tests.full_range, tests.same_again, tests.restarts):
            try:
                test()
            except (RuntimeError, KeyError, StopIteration) as error:
                report.fail(f"races: {test.__name__}", [repr(error)])
                tests.drop(f"race{i}" for i in range(options.pods))
    finally:
        parents.remove()
