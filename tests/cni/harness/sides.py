# SPDX-License-Identifier: Apache-2.0
"""The two implementations behind one face: the reference plugins, and railbed with its agent."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

TYPES = ("host-device", "macvlan", "ipvlan", "dummy", "tuning", "sbr", "vrf", "sriov", "ib-sriov", "rdma", "host-local", "static",
         "whereabouts", "dhcp", "railbed")


UNIT = pathlib.Path(__file__).resolve().parents[3] / "deploy/systemd/railbed-agent.service"


def unit_values(key):
    """The words of a setting of the agent's unit, which may stand on several lines."""
    return [word for line in UNIT.read_text().split("\n") if line.startswith(key + "=") for word in line.split("=", 1)[1].split()]


class Driver:
    """cnidrive, kept running: one JSON line per request and answer."""

    def __init__(self, folder, cache):
        program = os.path.join(os.environ["CNIDRIVE"], "cnidrive")
        shutil.rmtree(cache, ignore_errors=True)
        with open(cache + ".log", "a") as log:  # what the plugins write to standard error
            self.process = subprocess.Popen([program, "-path", folder, "-cache", cache], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=log, text=True)

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("cnidrive has ended")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Side:
    """`folder` has the plugins; `drive` speaks to them through the reference library."""

    name = ""
    folder = ""

    def start_empty(self):
        pass

    def start(self):
        self.drive = Driver(self.folder, f"/run/libcni-{self.name}")

    def stop(self):
        self.drive.close()

    def ask(self, op, conf, **more):
        return self.drive.ask(op=op, conf=conf, **more)

    def raw(self, plugin, stdin, environment):
        """Starts a plugin as the specification says, with nothing added."""
        return subprocess.run([os.path.join(self.folder, plugin)], input=stdin, capture_output=True, text=True,
                              env=environment)

    def left(self, prefix):
        """Records of attachments whose container id begins so; the reference's plugins have none."""
        return []

    def has(self, plugin):
        return os.path.exists(os.path.join(self.folder, plugin))


class Reference(Side):
    name = "reference"

    def __init__(self):
        self.folder = os.environ["CNI_REFERENCE"]
        self.dhcp = None

    def start(self):
        if shutil.which("dnsmasq"):  # its dhcp is a daemon of its own
            os.makedirs("/run/cni", exist_ok=True)
            pathlib.Path("/run/cni/dhcp.sock").unlink(missing_ok=True)
            self.dhcp = subprocess.Popen([os.path.join(self.folder, "dhcp"), "daemon", "-resendtimeout", "5s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        super().start()

    def stop(self):
        super().stop()
        if self.dhcp:
            self.dhcp.kill()
            self.dhcp.wait()


class Railbed(Side):
    name = "railbed"
    folder = "/opt/cni/bin"

    def __init__(self):
        self.program = os.environ["RAILBED"]
        self.agent = None
        self.log = "/run/agent.log"

    def available(self):
        """Why it cannot be run, or nothing."""
        for path in (self.program, os.environ["RAILBED_CNI"]):
            if not os.path.exists(path):
                return f"{path} is not built"
        done = subprocess.run([self.program, "agent", "--help"], capture_output=True, text=True)
        return "" if done.returncode == 0 else "this railbed has no agent"

    def start(self):
        for name in TYPES:  # what is not ours stays the reference's, for mixed chains
            pathlib.Path(self.folder, name).unlink(missing_ok=True)
        for name in ("bridge", "ptp", "loopback", "bandwidth"):
            target = pathlib.Path(self.folder, name)
            if not target.exists():
                shutil.copy(os.path.join(os.environ["CNI_REFERENCE"], name), target)
        done = subprocess.run([self.program, "cni", "install", "--bin-dir", self.folder], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"railbed cni install: {done.stderr.strip()}")
        self.start_agent()
        super().start()

    def command(self, *options):
        """The agent with the unit's capabilities, which all that it does here has to do with. The lab's guests have neither the
        unit nor setpriv."""
        if not UNIT.exists() or not shutil.which("setpriv"):
            return [self.program, "agent", "--manifests", "/etc/railbed", *options]
        capabilities = unit_values("CapabilityBoundingSet")
        kept = ",".join("+" + name.removeprefix("CAP_").lower() for name in capabilities)
        return ["setpriv", "--bounding-set", f"-all,{kept}", "--inh-caps=-all", "--no-new-privs",
                self.program, "agent", "--manifests", "/etc/railbed", *options]

    def begin_agent(self, *options):
        with open(self.log, "a") as log:
            self.agent = subprocess.Popen(self.command(*options), stdout=log, stderr=subprocess.STDOUT)

    def end_agent(self, how=signal.SIGTERM):
        self.agent.send_signal(how)
        try:
            self.agent.wait(60)
        except subprocess.TimeoutExpired:
            self.agent.kill()
            self.agent.wait()

    def start_agent(self, *options):
        before = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        self.begin_agent(*options)
        end = time.monotonic() + 60
        while True:
            if self.agent.poll() is not None:
                raise RuntimeError(f"railbed agent ended: {self.log_tail()}")
            if self.ready() and not self.looks(before):
                return
            if time.monotonic() > end:
                raise RuntimeError(f"railbed agent is not ready after 60 s: {self.log_tail()}")
            time.sleep(0.02)

    def looks(self, before):
        """Whether the agent still looks into all namespaces, as with a new state: no addresses of pools are given out until then."""
        with open(self.log, errors="replace") as log:
            log.seek(before)
            text = log.read()
        return "searching all network namespaces for addresses in use" in text and "all network namespaces read in" not in text

    def start_empty(self):
        """After a test that left something behind: the agent forgets everything, so that the next one tests itself."""
        self.stop()
        shutil.rmtree("/run/railbed", ignore_errors=True)
        self.start_agent()
        super().start()

    def ready(self):
        conf = json.dumps({"cniVersion": "1.1.0", "name": "ready", "type": "macvlan"})
        done = self.raw("macvlan", conf, {"CNI_COMMAND": "STATUS", "CNI_PATH": self.folder})
        return done.returncode == 0

    def log_tail(self, lines=5):
        return " / ".join(open(self.log, errors="replace").read().strip().split("\n")[-lines:])

    def stop(self):
        super().stop()
        self.end_agent()

    def attachments(self):
        done = subprocess.run([self.program, "attachments", "-o", "json"], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"railbed attachments: {done.stderr.strip()}")
        return json.loads(done.stdout or "null")

    def left(self, prefix):
        """What of the attachments has a container id of this beginning, as texts."""
        def walk(value):
            if isinstance(value, dict):
                if any(isinstance(one, str) and one.startswith(prefix) for one in value.values()):
                    yield json.dumps(value)[:300]
                else:
                    for one in value.values():
                        yield from walk(one)
            elif isinstance(value, list):
                for one in value:
                    yield from walk(one)

        return list(walk(self.attachments()))

    def rss_kib(self):
        for line in open(f"/proc/{self.agent.pid}/status"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        return 0
