# SPDX-License-Identifier: Apache-2.0
"""What the agent reports, and where: the log, the journal, the service manager, the pages of health, `railbed status`; and that
no unread output makes a pod wait."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import machine

CONTAINER = "reporting-1"
CONF = {"cniVersion": "1.1.0", "name": "reporting", "type": "macvlan", "master": "p0",
        "ipam": {"type": "whereabouts", "range": "10.66.0.0/24"}}
POD = "K8S_POD_NAMESPACE=ai;K8S_POD_NAME=vllm-0"
SLOWEST_S = 15  # of an ADD while nothing reads the log; a noisy machine's
SECRET = "secret-token"


class Reporting:
    def __init__(self, report, side):
        self.report = report
        self.side = side

    def ask(self, verb, conf=None, ifname="net1"):
        environment = {"CNI_COMMAND": verb, "CNI_PATH": self.side.folder, "CNI_CONTAINERID": CONTAINER, "CNI_IFNAME": ifname,
                       "CNI_NETNS": "/run/netns/reporting", "CNI_ARGS": POD}
        began = time.monotonic()
        done = self.side.raw("macvlan", json.dumps(conf or CONF), environment)
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, time.monotonic() - began

    def status(self):
        done = subprocess.run([self.side.program, "status", "-o", "json"], capture_output=True, text=True)
        return json.loads(done.stdout)["agent"]

    @staticmethod
    def page(path):
        try:
            with urllib.request.urlopen("http://127.0.0.1:9470" + path, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def lines(self):
        """One for each ADD, DEL and failure, with what it was about."""
        begin = os.path.getsize(self.side.log)
        self.ask("ADD")
        self.ask("CHECK", {**CONF, "token": SECRET}, ifname="net9")  # that it has not
        self.ask("DEL")


        def written():  # the agent answers before its line is in the file
            with open(self.side.log) as log:
                log.seek(begin)
                return [line.split(" ", 1)[1].strip() for line in log.read().split("\n")[:-1]]
        self.until(lambda: len(written()) >= 3, 60)
        lines = written()
        wanted = (("info ADD ai/vllm-0 container=reporting-1 as macvlan interface=net1 networks=reporting in ", "kernel"),
                  ("warning CHECK ai/vllm-0 container=reporting-1 as macvlan interface=net9 failed after ", ": code 100: "),
                  ("info DEL ai/vllm-0 container=reporting-1 as macvlan interface=net1 networks=reporting in ", " ms"))
        good = len(lines) == len(wanted) and all(line.startswith(begins) and part in line
                                                 for line, (begins, part) in zip(lines, wanted))
        self.report.check("reporting: a line per ADD, DEL and failure", good, lines)
        self.report.check("reporting: no configuration in the log", not any(SECRET in line for line in lines), lines)

    def pages_and_events(self):
        """A full disk: reported by STATUS, /readyz and `railbed status` alike, and over once there is room."""
        good = self.until(lambda: self.page("/healthz") == (200, "ok\n") and self.page("/readyz") == (200, "ok\n"), 60)
        self.report.check("reporting: healthy and ready", good and self.page("/metrics")[0] == 200, [self.page("/readyz")])
        self.ask("ADD")
        filler = pathlib.Path("/run/railbed/filler")
        try:
            with open(filler, "wb") as file:
                while True:
                    file.write(b"x" * 65536)
        except OSError:
            pass
        codes = {verb: self.ask(verb, {**CONF, "prevResult": {"cniVersion": "1.1.0"}} if verb == "CHECK" else None)[1].get("code")
                 for verb in ("ADD", "CHECK", "DEL")}
        self.report.check("reporting: a full disk is no lack of addresses", 102 not in codes.values(), codes)
        reported = self.until(lambda: self.ask("STATUS")[1].get("code") == 50, 90)
        page, status = self.page("/readyz"), self.status()
        good = reported and page[0] == 503 and status["notReady"] and all(reason in page[1] for reason in status["notReady"])
        self.report.check("reporting: STATUS, /readyz and status agree that the disk is full", good, [page, status])
        self.report.check("reporting: it lives all the same", self.page("/healthz") == (200, "ok\n"), [self.page("/healthz")])
        filler.unlink()
        over = self.until(lambda: self.ask("STATUS")[0] == 0 and self.page("/readyz")[0] == 200, 90)
        self.report.check("reporting: ready again with room", over and self.ask("DEL")[0] == 0, [self.page("/readyz")])

    def repeated(self):
        """A journaled DEL that fails again and again is one event, until it is done."""
        pending = pathlib.Path("/var/lib/railbed/pending-del")
        self.side.end_agent()
        # The configuration is of another type than the program: it can never succeed.
        environment = {"CNI_COMMAND": "DEL", "CNI_PATH": self.side.folder, "CNI_CONTAINERID": CONTAINER, "CNI_IFNAME": "net1",
                       "CNI_NETNS": "/run/netns/reporting"}
        self.side.raw("macvlan", json.dumps({**CONF, "type": "tuning"}), environment)
        self.side.start_agent()
        found = self.until(lambda: any(event["kind"] == "pending-del" and event["count"] >= 2
                                       for event in self.status()["events"]), 90)
        self.report.check("reporting: a DEL that fails is an event with its count", found, self.status()["events"])
        for file in pending.glob("*.del"):
            file.unlink()

    def journal(self):
        """Native entries where standard error is the journal, READY once it answers; a hung journald costs nothing."""
        self.side.end_agent()
        os.makedirs("/run/systemd/journal", exist_ok=True)
        journald, manager = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2))
        journald.bind("/run/systemd/journal/socket")
        manager.bind("/run/railbed-notify")
        for one in journald, manager:
            one.settimeout(60)
        log = os.stat(self.side.log)
        os.environ |= {"JOURNAL_STREAM": f"{log.st_dev}:{log.st_ino}", "NOTIFY_SOCKET": "/run/railbed-notify"}
        self.side.begin_agent()
        for name in "JOURNAL_STREAM", "NOTIFY_SOCKET":
            del os.environ[name]
        ready = manager.recv(4096)
        self.ask("ADD")
        entries = [journald.recv(65536).decode() for _ in range(2)]
        fields = ("VERB=ADD", "POD=ai/vllm-0", f"CONTAINER_ID={CONTAINER}", "NETWORK=reporting", "CODE=0", "PRIORITY=6")
        good = ready == b"READY=1" and all(f"\n{field}\n" in "\n" + entries[1] for field in fields)
        self.report.check("reporting: the journal has fields, the manager hears that it is ready", good, [ready, *entries])
        slowest = max(self.ask("ADD")[2] for _ in range(30))  # journald takes no more now
        self.report.check("reporting: a hung journald makes no pod wait", slowest < SLOWEST_S, f"{slowest:.2f} s")
        self.ask("DEL")
        self.side.end_agent()
        journald.close()
        manager.close()
        for path in "/run/systemd/journal/socket", "/run/railbed-notify":
            os.unlink(path)

    def unread_log(self):
        """Standard error that is full, closed, or a full disk: pods come and go, and the agent ends in order."""
        read_end, full = os.pipe()
        os.set_blocking(full, False)
        try:
            while os.write(full, b"x" * 4096):
                pass
        except BlockingIOError:
            os.set_blocking(full, True)
        other, broken = os.pipe()
        os.close(other)
        disk = os.open("/dev/full", os.O_WRONLY)
        for what, stderr in (("a full pipe", full), ("a pipe without a reader", broken), ("a full disk", disk)):
            agent = subprocess.Popen(self.side.command(), stdout=subprocess.DEVNULL, stderr=stderr)
            ready = self.until(self.side.ready, 60)
            outcomes = [self.ask(verb) for verb in ("ADD", "DEL", "CHECK")]
            agent.send_signal(signal.SIGTERM)
            try:
                ended = agent.wait(60)
            except subprocess.TimeoutExpired:
                agent.kill()
                ended = agent.wait()
            good = ready and [one[0] for one in outcomes] == [0, 0, 1] and max(one[2] for one in outcomes) < SLOWEST_S
            self.report.check(f"reporting: a log that is {what} costs nothing", good and ended == 0, [ended, outcomes])
        for one in read_end, full, broken, disk:
            os.close(one)

    @staticmethod
    def until(true, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if true():
                return True
            time.sleep(0.05)
        return False


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        report.skip("reporting", "the reference plugins have no agent")
        return
    parents = machine.Parents(["p0"])
    machine.add_netns("reporting")
    # A file system of its own, that can be filled.
    side.end_agent()
    machine.run("mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "railbed-reporting", "/run/railbed")
    side.start_agent()
    reporting = Reporting(report, side)
    try:
        for part in (reporting.lines, reporting.pages_and_events, reporting.repeated, reporting.journal, reporting.unread_log):
            part()
    finally:
        machine.run("umount", "-l", "/run/railbed")
        side.start_agent()
        parents.remove()
        machine.del_netns("reporting")
