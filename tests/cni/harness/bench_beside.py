# SPDX-License-Identifier: Apache-2.0
"""Figures of the agent beside others: many pods whose default network is an executed plugin that calls us back, pods beside plugins
that hang, and how long the agent takes to end while they run."""
import signal
import time

import hanging
import machine
import wire

EXECUTED_PODS = 50
HUNG = 16
ROUNDS = 5  # of each, in turns
SAMPLES = 200  # in each round: ten are beyond the p99 of all
VERSION = "1.0.0"


def bridge():
    delegate = {"cniVersion": VERSION, "name": "beside-bridge", "type": "bridge", "bridge": "beside0", "isGateway": True,
                "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.120.0.0/16"}]]}}
    return {"cniVersion": VERSION, "name": "beside", "plugins": [{"type": "railbed", "delegates": [delegate]}]}


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def executed(railbed, figure, must):
    """50 pods at once; each executes `bridge`, which asks this agent for the pod's address."""
    pods = [f"executed{i}" for i in range(EXECUTED_PODS)]
    machine.ip_batch([f"netns add {name}" for name in pods])
    jobs = [{"conf": bridge(), "netns": machine.netns_path(name), "containerID": name, "ifname": "eth0"} for name in pods]
    added = railbed.drive.ask(parallel=EXECUTED_PODS, jobs=[{"op": "add", **job} for job in jobs])
    failed = [one["error"] for one in added["answers"] if not one["ok"]]
    times = [one["ms"] for one in added["answers"]]
    must(railbed.drive.ask(parallel=EXECUTED_PODS, jobs=[{"op": "del", **job} for job in jobs]))
    machine.ip_batch([f"netns del {name}" for name in pods] + ["link del beside0"], check=False)
    figure("cni_executed_50_p50", percentile(times, 0.5), "ms")
    figure("cni_executed_50_p99", percentile(times, 0.99), "ms", 10000)
    figure("cni_executed_50_failed", len(failed), "pods", 0)


def adds(conf, name):
    """Milliseconds of ADD of one macvlan, one after another."""
    path, times = wire.sockets()[0], []
    for turn in range(SAMPLES):
        start = time.perf_counter()
        status, output = wire.call(path, "add", conf, machine.netns_path(name), f"beside{turn}", "net1")
        times.append((time.perf_counter() - start) * 1000)
        if status != 0:
            raise RuntimeError(output)
        wire.call(path, "del", conf, machine.netns_path(name), f"beside{turn}", "net1")
    return times


def beside_hung(railbed, figure):
    """Without and with 16 plugins that hang, in turns; then SIGTERM while they do."""
    conf = {"cniVersion": VERSION, "name": "beside-direct", "plugins": [
        {"type": "macvlan", "master": "p0", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.121.0.0/16"}]]}}]}
    machine.add_netns("beside")
    alone, beside = [], []
    for turn in range(ROUNDS):
        alone += adds(conf, "beside")
        hung = hanging.Hung(railbed.folder, HUNG)
        beside += adds(conf, "beside")
        if turn + 1 < ROUNDS:
            hung.drop()
    start = time.monotonic()
    railbed.agent.send_signal(signal.SIGTERM)
    railbed.agent.wait(60)
    figure("cni_sigterm_to_exit", (time.monotonic() - start) * 1000, "ms", 2000)
    hung.drop()
    railbed.start_agent()
    machine.del_netns("beside")
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        print(f"ADD {name}, ms: {percentile(alone, share):.2f} alone, {percentile(beside, share):.2f} beside {HUNG} that hang")
    figure("cni_beside_16_hung_p99_ratio", percentile(beside, 0.99) / percentile(alone, 0.99), "x", 1.2)
