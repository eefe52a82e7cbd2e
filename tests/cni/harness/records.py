# SPDX-License-Identifier: Apache-2.0
"""By name only: what the previous release writes, as files for unit tests of this one:

  tests/cni/run records --keep testdata/state/<commit>

Its agent (tests/tools/previous) attaches pods of several kinds and is killed in the middle of an ADD; its shim keeps the DELs of all.
state.sql is the state file as SQL, disk.json every other file that is left, by its path.
"""
import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import time

import machine
from upgrade import ROOT, host_local, plugin

BOOT_ID = "/proc/sys/kernel/random/boot_id"
STATE = pathlib.Path("/run/railbed")
FOLDERS = ("/var/lib/railbed", "/var/lib/cni")
POOL = {"type": "whereabouts", "range": "10.170.0.0/24"}

# The cluster network's: it hangs for the pod that the kill meets.
CLUSTER = """#!/bin/sh
cat >/dev/null
[ "$CNI_COMMAND" != ADD ] || case $CNI_CONTAINERID in *begun) exec sleep 60 ;; esac
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion": "1.0.0", "interfaces": [{"name": "eth0", "sandbox": "x"}], "ips": [{"address": "10.160.0.9/24", "interface": 0}]}'
"""
OUTSIDE_IPAM = """#!/bin/sh
cat >/dev/null
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion": "1.0.0", "ips": [{"address": "10.165.0.9/24"}]}'
"""
META = plugin("railbed", "rec-meta", delegates=[
    plugin("cluster", "rec-cluster", token="S"), plugin("bridge", "rec-bridge", bridge="rec0", ipam=host_local(21)),
    plugin("macvlan", "rec-lan", master="p0", ipam=host_local(22))])
RAIL = {"cniVersion": "1.0.0", "name": "rec-rail", "plugins": [
    {"type": "macvlan", "master": "p0", "ipam": POOL}, {"type": "tuning", "mtu": 1400, "sysctl": {"net.core.somaxconn": "512"}}]}
DIRECT = plugin("macvlan", "rec-direct", master="p0", ipam=host_local(23))
# Container, interface, chain.
PODS = [
    ("rec-meta", "eth0", [META]),
    ("rec-direct", "net1", [DIRECT]),
    ("rec-device", "net1", [plugin("host-device", "rec-device", device="d0", ipam=host_local(24))]),
    ("rec-chain", "net1", [plugin("macvlan", "rec-chain", master="p0", ipam=POOL), plugin("tuning", "rec-chain", mtu=1400), plugin("sbr", "rec-chain")]),
    ("rec-outside", "net1", [plugin("macvlan", "rec-outside", master="p0", ipam={"type": "outside-ipam"})]),
    ("rec-static", "net1", [plugin("macvlan", "rec-static", master="p0", ipam={"type": "static", "addresses": [{"address": "10.166.0.9/24"}]})]),
]


def manifests():
    def metadata(name, **more):
        return {"name": name, "namespace": "default", **more}

    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": metadata("rec-rail"),
         "spec": {"config": json.dumps(RAIL)}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": metadata("rec-meta", annotations={"k8s.v1.cni.cncf.io/networks": "rec-rail"}),
         "spec": {"containers": [{"name": "c", "image": "none"}]}}]})


class Records:
    def __init__(self, side):
        self.side = side

    def command(self, command, container, ifname, conf):
        environment = {"CNI_COMMAND": command, "CNI_CONTAINERID": container, "CNI_NETNS": machine.netns_path(container),
                       "CNI_IFNAME": ifname, "CNI_PATH": self.side.folder,
                       "CNI_ARGS": f"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={container}"}
        return [f"{self.side.folder}/{conf['type']}"], environment, json.dumps(conf)

    def ask(self, command, container, ifname, conf):
        program, environment, text = self.command(command, container, ifname, conf)
        done = subprocess.run(program, env=environment, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{command} {container}: {done.stdout}{done.stderr}")
        return done.stdout

    def attach(self):
        for container, ifname, chain in PODS:
            machine.run("ip", "netns", "add", container)
            result = None
            for conf in chain:
                result = json.loads(self.ask("ADD", container, ifname, {**conf, "prevResult": result} if result else conf))

    def begin(self):
        """An ADD that the kill meets in an executed plugin."""
        machine.run("ip", "netns", "add", "rec-begun")
        program, environment, text = self.command("ADD", "rec-begun", "eth0", META)
        begun = subprocess.Popen(program, env={**environment, "RAILBED_RETRY_MS": "0"}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        begun.stdin.write(text)
        begun.stdin.close()
        end = time.monotonic() + 30
        while not any("rec-begun" in path.read_text() for path in pathlib.Path("/var/lib/railbed/records").glob("*.json")):
            if time.monotonic() > end:
                raise RuntimeError("the ADD did not begin")
            time.sleep(0.02)
        self.side.end_agent(signal.SIGKILL)
        begun.wait()

    def keep_dels(self):
        for container, ifname, chain in [*PODS, ("rec-begun", "eth0", [META])]:
            for conf in reversed(chain):
                self.ask("DEL", container, ifname, conf)


def state_as_sql():
    database = sqlite3.connect(STATE / "state.db")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    lines = list(database.iterdump())
    database.close()
    # Newlines in values stay in the lines of their statement, as the shell of SQLite writes them.
    return "\n".join(["-- SPDX-License-Identifier: Apache-2.0", *lines[:-1], f"PRAGMA user_version = {version};", lines[-1]]) + "\n"


def disk():
    files = [path for folder in FOLDERS for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]
    return json.dumps({str(path): path.read_bytes().decode("latin-1") for path in files}, indent=1) + "\n"


def write(target):
    target.mkdir(parents=True, exist_ok=True)
    (target / "state.sql").write_text(state_as_sql())
    (target / "disk.json").write_text(disk())


def main(report, sides, options, folder):
    side = sides[-1]
    found = subprocess.run([str(ROOT / "tests/tools/previous"), "--cached"], capture_output=True, text=True)
    if found.returncode != 0 or not options.keep:
        report.skip("records", found.stderr.strip() or "--keep names no folder")
        return
    programs = pathlib.Path(found.stdout.strip())
    parents = machine.Parents(["p0", "d0"])
    for name, text in (("cluster", CLUSTER), ("outside-ipam", OUTSIDE_IPAM)):
        pathlib.Path(side.folder, name).write_text(text)
        pathlib.Path(side.folder, name).chmod(0o755)
    pathlib.Path("/etc/railbed/records.json").write_text(manifests())
    pathlib.Path("/run/boot_id").write_text("00000000-0000-4000-8000-000000000001\n")
    side.end_agent()
    for place in ("/run/railbed", *FOLDERS):
        for path in pathlib.Path(place).glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    machine.run("mount", "--bind", "/run/boot_id", BOOT_ID)
    machine.run(str(programs / "railbed"), "cni", "install", "--bin-dir", side.folder, "--shim", str(programs / "railbed-cni"))
    side.program = str(programs / "railbed")
    side.start_agent()
    records = Records(side)
    records.attach()
    records.begin()
    records.keep_dels()
    write(pathlib.Path(options.keep))
    side.start_agent()
    report.check("records: written", True)
    parents.remove()
