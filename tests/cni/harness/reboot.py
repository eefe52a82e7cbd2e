# SPDX-License-Identifier: Apache-2.0
"""The machine boots, or the state is lost while pods run: what only a DEL gives back is given back, and no running pod's
address goes to another one. A boot is another boot id, mounted over the kernel's, and namespaces that are gone."""
import json
import pathlib
import shutil
import signal
import subprocess
import time

import machine
import sides

BOOT_ID = "/proc/sys/kernel/random/boot_id"
RECORDS = pathlib.Path("/var/lib/railbed/records")
STATE = pathlib.Path("/run/railbed")
CALLS = pathlib.Path("/run/cluster.calls")
POD, OTHER = "boot-1", "boot-2"
SECRET = "eyJhbGciOi-SECRET"

# Writes down how it is called, with the names of what it is given.
CLUSTER = """#!/bin/sh
input=$(cat)
case $input in *prevResult*) with=" prevResult" ;; *) with="" ;; esac
echo "$CNI_COMMAND $CNI_CONTAINERID netns=$CNI_NETNS$with" >>/run/cluster.calls
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion": "1.0.0", "interfaces": [{"name": "eth0", "sandbox": "x"}], "ips": []}'
"""


def host_local(subnet):
    return {"type": "host-local", "subnet": subnet}


META = {"cniVersion": "1.1.0", "name": "boot", "type": "railbed", "delegates": [
    {"cniVersion": "1.0.0", "name": "cluster", "type": "cluster", "token": SECRET},
    {"cniVersion": "1.0.0", "name": "boot-lan", "type": "macvlan", "master": "p0", "ipam": host_local("10.90.0.0/24")},
    {"cniVersion": "1.0.0", "name": "boot-bridge", "type": "bridge", "bridge": "br9", "ipam": host_local("10.91.0.0/24")}]}
RAIL = {"cniVersion": "1.0.0", "name": "boot-rail", "type": "macvlan", "master": "p0", "ipam": {"type": "whereabouts", "range": "10.92.0.0/24"}}
HIDDEN = RAIL | {"name": "boot-hidden", "ipam": {"type": "whereabouts", "range": "10.93.0.0/24"}}


class Reboot:
    def __init__(self, report, side):
        self.report, self.side, self.wrong = report, side, []

    def reported(self, name):
        self.report.check(f"reboot: {name}", not self.wrong, self.wrong)
        self.wrong = []

    def expect(self, good, text):
        if not good:
            self.wrong.append(text)

    def ask(self, command, conf, pod, netns=None):
        """As a runtime, which tries again after code 11: after a lost state all namespaces are looked into first."""
        environment = {
            "CNI_COMMAND": command, "CNI_CONTAINERID": pod, "CNI_NETNS": machine.netns_path(pod) if netns is None else netns,
            "CNI_IFNAME": "eth0", "CNI_PATH": self.side.folder,
            "CNI_ARGS": f"IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={pod}"}
        end = time.monotonic() + 20
        while True:
            done = self.side.raw(conf["type"], json.dumps(conf), environment)
            if command != "ADD" or '"code": 11' not in done.stdout or time.monotonic() > end:
                break
            time.sleep(0.1)
        self.expect(done.returncode == 0, f"{command} {pod}: {done.stdout.strip()}")
        return json.loads(done.stdout) if done.returncode == 0 and command == "ADD" else None

    def files(self):
        return sorted(path.name for path in RECORDS.glob("*.json")) if RECORDS.exists() else []

    def boot(self, number):
        """The agent is killed, namespaces end; /run is kept, as where it is no tmpfs: the boot id shows it."""
        if self.side.agent.poll() is None:
            self.side.end_agent(signal.SIGKILL)
        machine.del_netns(POD, OTHER)
        machine.run("ip", "link", "del", "br9", check=False)
        fake = pathlib.Path("/run/boot_id")
        fake.write_text(f"00000000-0000-4000-8000-{number:012}\n")
        if number == 1:
            machine.run("mount", "--bind", str(fake), BOOT_ID)

    def secrets(self):
        found = [str(path) for folder in (STATE, RECORDS) if folder.exists() for path in folder.iterdir()
                 if path.is_file() and SECRET.encode() in path.read_bytes()]
        return found

    def a_del_after_the_boot(self):
        for pod in (POD, OTHER):
            machine.run("ip", "netns", "add", pod)
            self.ask("ADD", META, pod)
        self.expect(len(self.files()) == 4, f"records: {self.files()}")
        self.expect(RECORDS.stat().st_mode & 0o777 == 0o700, "the records' folder is open to others")
        self.expect(all(path.stat().st_mode & 0o777 == 0o600 for path in RECORDS.iterdir()), "a record is open to others")
        self.boot(2)
        self.side.start_agent()
        machine.run("ip", "netns", "add", POD)  # another pod's by now
        calls = CALLS.read_text().split("\n")
        self.expect(not any(line.startswith("DEL") for line in calls), f"executed without a request: {calls}")
        self.ask("DEL", META, POD, netns="")
        self.expect(CALLS.read_text().split("\n")[-2] == f"DEL {POD} netns= prevResult", f"calls: {CALLS.read_text()}")
        reserved = machine.reserved_addresses()
        self.expect(len(reserved) == 2 and len(self.files()) == 2, f"left: {reserved}, {self.files()}")
        self.reported("DEL calls what was executed before it, and frees host-local's files")

    def gc_after_the_boot(self):
        done = subprocess.run([self.side.program, "gc", "--yes"], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"gc: {done.stdout}{done.stderr}")
        self.expect(CALLS.read_text().split("\n")[-2] == f"DEL {OTHER} netns= prevResult", f"calls: {CALLS.read_text()}")
        self.expect(not machine.reserved_addresses() and not self.files(), f"left: {machine.reserved_addresses()}, {self.files()}")
        self.expect(not self.secrets(), f"a configuration is still in {self.secrets()}")
        self.reported("gc gives up what the runtime has no longer, and no file keeps its configuration")

    def lost_state(self):
        self.boot(3)
        self.side.start_agent()
        for pod in (POD, OTHER):
            machine.run("ip", "netns", "add", pod)
        first = self.ask("ADD", RAIL, POD)
        self.side.end_agent(signal.SIGKILL)
        (STATE / "state.db").write_bytes(b"x" * 8192)
        for beside in ("-wal", "-shm"):
            (STATE / f"state.db{beside}").unlink(missing_ok=True)
        done = subprocess.run([self.side.program, "agent"], capture_output=True, text=True)
        advice = f"mkdir {STATE}/damaged && mv {STATE}/state.db* {STATE}/damaged/"
        self.expect(done.returncode != 0 and advice in done.stderr, f"the agent says: {done.stderr}")
        subprocess.run(advice, shell=True, check=True)
        self.side.start_agent()
        second = self.ask("ADD", RAIL, OTHER)
        has = [one["ips"][0]["address"] for one in (first, second) if one]
        self.expect(len(set(has)) == 2, f"addresses: {has}")
        for pod in (POD, OTHER):
            self.ask("DEL", RAIL, pod)
            self.expect("eth0" not in machine.see(pod)["links"], f"eth0 is left in {pod}")
        self.reported("after the advice for a damaged state, a running pod keeps its address for itself")

    def hidden_address(self):
        """As gVisor does: the address is taken off the interface and used all the same. Then the state is lost, and the namespace's
        name with it: only the result that the runtime's library keeps has the address."""
        driver = sides.Driver(self.side.folder, "/var/lib/cni")
        held = None
        try:
            for name in (POD, OTHER):
                machine.run("ip", "netns", "add", name, check=False)
            held = subprocess.Popen(["ip", "netns", "exec", POD, "sleep", "1000"])
            made = driver.ask(op="add", conf=HIDDEN, netns=machine.netns_path(POD), containerID=POD, ifname="eth0")
            self.expect(made["ok"], f"ADD: {made}")
            machine.run("ip", "-n", POD, "addr", "flush", "dev", "eth0")
            machine.run("ip", "netns", "del", POD)
            self.side.end_agent(signal.SIGKILL)
            shutil.rmtree(STATE)
            self.side.start_agent()
            second = self.ask("ADD", HIDDEN, OTHER)
            has = [one["ips"][0]["address"] for one in (made.get("result"), second) if one]
            self.expect(len(set(has)) == 2, f"addresses: {has}")
            self.ask("DEL", HIDDEN, OTHER)
            deleted = driver.ask(op="del", conf=HIDDEN, netns="", containerID=POD, ifname="eth0")
            self.expect(deleted["ok"], f"DEL: {deleted}")
        finally:
            if held:
                held.kill()
            driver.close()
        self.reported("after a lost state, an address that no interface shows stays with its pod")

    def rolled_back_state(self):
        """The state is what it was before one pod went and another one came."""
        for pod in (POD, OTHER):
            machine.run("ip", "netns", "add", pod, check=False)
        self.ask("ADD", META, POD)
        self.side.end_agent(signal.SIGKILL)
        before = {path: path.read_bytes() for path in STATE.glob("state.db*")}
        self.side.start_agent()
        self.ask("DEL", META, POD)
        machine.del_netns(POD)
        self.ask("ADD", META, OTHER)
        self.side.end_agent(signal.SIGKILL)
        for path in STATE.glob("state.db*"):
            path.unlink()
        for path, data in before.items():
            path.write_bytes(data)
        self.side.start_agent()
        self.ask("DEL", META, OTHER)
        left = [one for one in machine.reserved_addresses() if OTHER in (machine.HOST_LOCAL / one).read_text()]
        self.expect(not left, f"left of {OTHER}: {left}")
        self.expect(f"DEL {OTHER}" in CALLS.read_text().split("\n")[-2], f"calls: {CALLS.read_text()}")
        done = subprocess.run([self.side.program, "gc", "--yes"], capture_output=True, text=True)
        self.expect(done.returncode == 0, f"gc: {done.stdout}{done.stderr}")
        self.expect(not machine.reserved_addresses() and not self.files(), f"left: {machine.reserved_addresses()}, {self.files()}")
        self.reported("after a state that was rolled back, DEL and gc release what pods of before and afterwards had")


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        return
    parents = machine.Parents(["p0"])
    plugin = pathlib.Path(side.folder, "cluster")
    plugin.write_text(CLUSTER)
    plugin.chmod(0o755)
    tests = Reboot(report, side)
    try:
        tests.boot(1)
        shutil.rmtree(STATE, ignore_errors=True)
        side.start_agent()
        for step in (tests.a_del_after_the_boot, tests.gc_after_the_boot, tests.lost_state, tests.hidden_address,
                     tests.rolled_back_state):
            step()
    finally:
        if side.agent.poll() is None:
            side.end_agent()
        machine.run("umount", BOOT_ID, check=False)
        machine.del_netns(POD, OTHER)
        machine.run("ip", "link", "del", "br9", check=False)
        parents.remove()
        plugin.unlink()
        shutil.rmtree(STATE, ignore_errors=True)
        side.start_agent()
