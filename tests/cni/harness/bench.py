# SPDX-License-Identifier: Apache-2.0
"""Figures of attaching: the reference plugins as Multus drives them, railbed, and the minimal netlink sequence, taking turns.

Reference: libcni executes 8 networks one after another. Railbed: one ADD of the meta plugin for the same 8; also, for
information, the 8 one after another. Floor: build/bench/bare_cni. What is compared with the floor is the request on the
agent's socket, since the start of a process (the shim's) is a figure of its own.

The order of the ways is another one in each round, and each begins at a random moment of the kernel's clock: what one way
leaves the kernel to do (grace periods, which end with a tick of 4 ms) would else always fall on the same other one. For
the same reason the comparison with the floor is of means over many rounds: a median of such steps jumps by a step.
"""
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import threading
import time

import bench_beside
import machine
import wire

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from ratio import middle_mean, ratio_with_error

NETWORKS = 8
ROUNDS = int(os.environ.get("ROUNDS", "9"))
FLOOR_ROUNDS = {"hostdev": 2 * ROUNDS, "macvlan": 10 * ROUNDS}  # of the agent and the floors alone
FLOORS = {"hostdev": ("floor",), "macvlan": ("floor", "gone")}
TICK_S = 0.004
SETTLE_S = 0.05
PODS = int(os.environ.get("PODS", "200"))
MOST_NETWORKS = 64  # that a pod may have
MANIFESTS = pathlib.Path("/etc/railbed")
VERSION = "1.0.0"


def ipam(network):
    return {"type": "host-local", "ranges": [[{"subnet": f"10.{100 + network}.0.0/16"}]]}


def device_list(network):
    return {"cniVersion": VERSION, "name": f"dev{network}", "plugins": [
        {"type": "host-device", "device": f"d{network}", "ipam": ipam(network)},
        {"type": "tuning", "mtu": 1400, "sysctl": {"net.ipv4.conf.IFNAME.arp_filter": "1"}}]}


def macvlan_list(network):
    return {"cniVersion": VERSION, "name": f"mac{network}", "plugins": [
        {"type": "macvlan", "master": "p0", "mode": "bridge", "ipam": ipam(network)}]}


KINDS = {"hostdev": device_list, "macvlan": macvlan_list}


def write_manifests(pods):
    """Networks 1 to 7 of both kinds, and pods that ask for them; network 0 is the cluster's own."""
    objects = []
    for make in KINDS.values():
        for network in range(1, NETWORKS):
            conf = make(network)
            objects.append({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                            "metadata": {"name": conf["name"], "namespace": "default"}, "spec": {"config": json.dumps(conf)}})
    for name, prefix in pods:
        networks = ", ".join(f"{prefix}{network}" for network in range(1, NETWORKS))
        if name == "wide":
            networks = ", ".join(["mac1"] * (MOST_NETWORKS - 1))  # and the cluster's own
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "namespace": "default", "annotations": {"k8s.v1.cni.cncf.io/networks": networks}},
            "spec": {"containers": [{"name": "c", "image": "none"}]}})
    MANIFESTS.mkdir(exist_ok=True)
    (MANIFESTS / "bench.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def meta_list(kind):
    return {"cniVersion": VERSION, "name": "railbed", "plugins": [{"type": "railbed", "delegates": [KINDS[kind](0)]}]}


def pod_args(name):
    return [["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "default"], ["K8S_POD_NAME", name]]


def must(answer):
    if not answer["ok"]:
        raise RuntimeError(f"{answer.get('op')}: {answer.get('error') or answer.get('answers')}")
    return answer["ms"]


def figure(name, value, unit, bound=None, at_most=True):
    verdict = "ok" if bound is None or (value <= bound if at_most else value >= bound) else "short"
    sign = "-" if bound is None else f"{'<=' if at_most else '>='}{bound:g}"
    print(f"figure {name} {value:.3f} {unit} {sign} {verdict}", flush=True)


class Ways:
    """The ways to attach 8 networks; each gives the milliseconds of "add" and of "del"."""

    def __init__(self, reference, railbed, kind):
        self.reference, self.railbed, self.kind = reference, railbed, kind
        self.confs = [KINDS[kind](network) for network in range(NETWORKS)]
        self.socket = wire.sockets()[0]
        names = [f"d{i}" for i in range(NETWORKS)] if kind == "hostdev" else ["p0"]
        program = os.path.join(os.path.dirname(os.environ["RAILBED"]), "bench", "bare_cni")
        self.floor = subprocess.Popen([program, "move" if kind == "hostdev" else "macvlan", machine.netns_path("bench"), *names],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.floor.stdin.close()
        self.floor.wait()

    def series(self, side, op, container):
        pods = [{"netns": machine.netns_path("bench"), "containerID": container, "args": pod_args(self.kind)}]
        answer = side.drive.ask(series={"pods": pods, "confs": self.confs, "parallel": 1, "ops": [op]})
        return must(answer["answers"][0])

    def way_reference(self, op):
        return self.series(self.reference, op, "bench-r")

    def way_series(self, op):
        return self.series(self.railbed, op, "bench-s")

    def way_meta(self, op):
        return must(self.railbed.ask(op, meta_list(self.kind), netns=machine.netns_path("bench"), containerID="bench-m",
                                     ifname="eth0", args=pod_args(self.kind)))

    def way_agent(self, op):
        start = time.perf_counter()
        status, output = wire.call(self.socket, op, meta_list(self.kind), machine.netns_path("bench"), "bench-a", "eth0",
                                   pod_args(self.kind))
        took = (time.perf_counter() - start) * 1000
        if status != 0:
            raise RuntimeError(output)
        return took

    def way_floor(self, op):
        return self.bare(op)

    def way_gone(self, op):
        """The minimal sequence that, as the agent, does not wait until the kernel has freed the interfaces."""
        return self.bare("gone" if op == "del" else op)

    def bare(self, op):
        self.floor.stdin.write(op + "\n")
        self.floor.stdin.flush()
        return float(self.floor.stdout.readline())


def take_turns(ways, names, rounds, order):
    """Milliseconds of each way and operation, by round."""
    times = {(name, op): [] for name in names for op in ("add", "del")}
    for turn in range(rounds + 1):
        for name in order.sample(names, len(names)):
            for op in ("add", "del"):
                # What is removed and not freed yet would be the next one's to wait for.
                time.sleep(SETTLE_S * (op == "add") + order.uniform(0, TICK_S))
                took = getattr(ways, f"way_{name}")(op)
                if turn > 0:  # the first round warms caches
                    times[name, op].append(took)
    return times


def over_floor(times, floor="floor"):
    """The ratio of ADD and DEL together to the floor's, with its standard error."""
    both = {name: [a + d for a, d in zip(times[name, "add"], times[name, "del"])] for name in ("agent", floor)}
    return ratio_with_error(both["agent"], both[floor])


def compare(reference, railbed, kind, bound):
    ways = Ways(reference, railbed, kind)
    order = random.Random(kind)
    names = ("reference", "meta", "agent", "floor", "series")
    times = take_turns(ways, names, ROUNDS, order)
    floors = FLOORS[kind]
    for key, more in take_turns(ways, ("agent", *floors), FLOOR_ROUNDS[kind], order).items():
        times[key] = times.get(key, []) + more
    ways.close()
    middle = {key: statistics.median(one) for key, one in times.items()}
    for op in ("add", "del"):
        print(f"{kind} {op} of {NETWORKS}, ms: " + ", ".join(f"{name} {middle[name, op]:.1f}" for name in names))
        figure(f"cni_{kind}_{op}_speedup", middle["reference", op] / middle["meta", op], "x", bound, at_most=False)
        figure(f"cni_{kind}_{op}_series_speedup", middle["reference", op] / middle["series", op], "x")
        figure(f"cni_{kind}_{op}_over_floor", middle["agent", op] - middle["floor", op], "ms")
    ratio, error = over_floor(times)
    print(f"{kind} ADD and DEL, agent over floor: {ratio:.3f} (standard error {error:.3f}, {len(times['agent', 'add'])} of each)")
    figure(f"cni_{kind}_add_del_ratio", ratio, "x", 1.10)
    for op in ("add", "del"):
        means = ", ".join(f"{name} {middle_mean(times[name, op]):.2f}" for name in ("agent", *floors))
        print(f"{kind} {op}, means in ms: {means}")
    if "gone" in floors:
        ratio, error = over_floor(times, "gone")
        figure(f"cni_{kind}_add_del_over_gone", ratio, "x")


def burst(railbed):
    pods = [f"burst{i}" for i in range(PODS)]
    machine.ip_batch([f"netns add {name}" for name in pods])
    jobs = [{"op": "add", "conf": meta_list("macvlan"), "netns": machine.netns_path(name), "containerID": name, "ifname": "eth0",
             "args": pod_args(name)} for name in pods]
    answer = railbed.drive.ask(parallel=PODS, jobs=jobs)
    must(answer)
    times = sorted(one["ms"] for one in answer["answers"])
    figure(f"cni_burst_{PODS}x{NETWORKS}_p50", times[len(times) // 2], "ms")
    figure(f"cni_burst_{PODS}x{NETWORKS}_p99", times[int(len(times) * 0.99)], "ms")
    figure(f"cni_burst_{PODS}x{NETWORKS}_total", answer["ms"], "ms")
    gone = railbed.drive.ask(parallel=PODS, jobs=[{**job, "op": "del"} for job in jobs])
    must(gone)
    figure(f"cni_burst_{PODS}x{NETWORKS}_del_total", gone["ms"], "ms")
    figure("cni_agent_rss_after_burst", railbed.rss_kib() / 1024, "MiB", 25 * 1e6 / 1024 / 1024)
    machine.ip_batch([f"netns del {name}" for name in pods], check=False)


def beside_many_networks(railbed):
    """What a pod with as many networks as are allowed costs another one, whose ADD and DEL begin a little later."""
    path = wire.sockets()[0]
    for name in ("wide", "narrow"):
        machine.add_netns(name)

    def narrow(container):
        start = time.perf_counter()
        for op in ("add", "del"):
            code, output = wire.call(path, op, macvlan_list(0), machine.netns_path("narrow"), container, "eth0",
                                     pod_args("narrow"))
            if code != 0:
                raise RuntimeError(output)
            if op == "add":
                took = (time.perf_counter() - start) * 1000
        return took

    alone = [narrow(f"alone{i}") for i in range(ROUNDS)]
    beside = {"add": [], "del": []}
    for i in range(ROUNDS):
        for op in ("add", "del"):
            failed = []

            def wide():
                code, output = wire.call(path, op, meta_list("macvlan"), machine.netns_path("wide"), "wide", "eth0", pod_args("wide"))
                if code != 0:
                    failed.append(output)

            thread = threading.Thread(target=wide)
            thread.start()
            time.sleep(0.002)
            beside[op].append(narrow(f"beside-{op}{i}"))
            thread.join()
            if failed:
                raise RuntimeError(failed[0])
    for op in ("add", "del"):
        cost = statistics.median(beside[op]) - statistics.median(alone)
        figure(f"cni_add_beside_{op}_of_{MOST_NETWORKS}_networks", cost, "ms", 50)
    for name in ("wide", "narrow"):
        machine.del_netns(name)


def status(railbed):
    path, times = wire.sockets()[0], []
    conf = json.dumps({"cniVersion": "1.1.0", "name": "status", "type": "railbed"})
    for _ in range(300):
        start = time.perf_counter()
        code, output = wire.ask(path, "railbed", {"CNI_COMMAND": "STATUS", "CNI_PATH": "/opt/cni/bin"}, conf)
        times.append((time.perf_counter() - start) * 1000)
        if code != 0:
            raise RuntimeError(output)
    figure("cni_status_median", statistics.median(times), "ms", 1)
    figure("cni_status_p99", sorted(times)[int(len(times) * 0.99)], "ms")


def processes(railbed):
    """Programs started for an attachment, by the runtime and by the agent: execve calls under strace."""
    if subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        print("SKIP cni_processes_per_attachment: needs strace")
        return
    from sides import Driver
    traces = ["/run/agent.strace", "/run/driver.strace"]
    tracer = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=execve", "-o", traces[0], "-p", str(railbed.agent.pid)])
    plain = Driver(railbed.folder, "/run/libcni-traced")
    traced = subprocess.Popen(["strace", "-f", "-qq", "-e", "trace=execve", "-o", traces[1], "-p", str(plain.process.pid)])
    time.sleep(0.5)
    count = 25
    for i in range(count):
        for op in ("add", "del"):
            must(plain.ask(op=op, conf=meta_list("macvlan"), netns=machine.netns_path("bench"), containerID=f"bench-p{i}",
                           ifname="eth0", args=pod_args("macvlan")))
    plain.close()
    traced.wait()
    tracer.terminate()
    tracer.wait()
    started = sum(len(re.findall(r"execve\(.* = 0", open(trace).read())) for trace in traces)
    figure("cni_processes_per_pod_request", started / (2 * count), "", 1)


def main(report, sides, options, folder):
    reference, railbed = sides
    names = [f"d{i}" for i in range(NETWORKS)]
    parents = machine.Parents(["p0"] + names)
    machine.add_netns("bench")
    try:
        compare(reference, railbed, "hostdev", 3)
        compare(reference, railbed, "macvlan", 5)
        status(railbed)
        processes(railbed)
        beside_many_networks(railbed)
        burst(railbed)
        bench_beside.executed(railbed, figure, must)
        bench_beside.beside_hung(railbed, figure)
    finally:
        machine.del_netns("bench")
        parents.remove()


def prepare():
    """Before the agent starts."""
    write_manifests([(kind, {"hostdev": "dev", "macvlan": "mac"}[kind]) for kind in KINDS] + [(f"burst{i}", "mac") for i in range(PODS)] +
                    [("wide", "mac")])
