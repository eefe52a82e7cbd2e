# SPDX-License-Identifier: Apache-2.0
"""Clients of the agent's socket that misbehave, while ordinary pods come and go: no ordinary request fails or waits."""
import os
import random
import socket
import threading
import time

import hanging
import machine
from wire import frame, payload, sockets

SLOWEST_MS = 15000  # of an ordinary ADD or DEL meanwhile; a noisy machine's, the agent's own deadlines are longer
MOST_RSS_KIB = 64 * 1024
HUNG = 300  # pods, more than plugins that may be executed at once
EXECUTED = 256
UNKNOWN = 9  # a kind of frame that there is none of


class Hostile:
    def __init__(self, path, seed):
        self.path = path
        self.rng = random.Random(seed)

    def connect(self):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(5)
        one.connect(self.path)
        return one

    def say(self, data, wait=True):
        """Sends it all, shuts down, reads whatever comes."""
        try:
            with self.connect() as one:
                one.sendall(data)
                if wait:
                    one.shutdown(socket.SHUT_WR)
                    while one.recv(65536):
                        pass
        except OSError:
            pass  # the agent may hang up as it likes

    # Each is one way to be a bad client; all are repeated.
    def noise(self):
        self.say(self.rng.randbytes(self.rng.randrange(1, 4000)))

    def wrong_heads(self):
        good = payload()
        for data in (frame(good, magic=b"RBC2"), frame(good, kind=UNKNOWN), frame(good, kind=2), frame(good, length=0xFFFFFFFF),
                     frame(good, length=5 << 20), frame(b""), frame(good)[:4], frame(good)[:9], frame(good, length=len(good) + 7),
                     frame(good) + b"more", b"GET / HTTP/1.0\r\n\r\n"):
            self.say(data)

    def wrong_requests(self):
        many = tuple(b"CNI_ARGS=" + b"A=b;" * 50 for _ in range(2000))
        for data in (b"macvlan", b"\0" * 5000, payload(plugin=b"../../bin/sh"), payload(plugin=b""), payload(plugin=b"no-such-type"),
                     payload(environment=(b"CNI_COMMAND",)), payload(environment=(b"=", b"CNI_COMMAND=ADD")), payload(environment=many),
                     payload(stdin=b"[" * 200000), payload(stdin=b'{"a":' * 100000), payload(stdin=b"\xff\xfe\x00"),
                     payload(environment=(b"CNI_COMMAND=ADD", b"CNI_NETNS=/proc/1/ns/net", b"CNI_CONTAINERID=x", b"CNI_IFNAME=lo",
                                          b"CNI_PATH=/"), stdin=b'{"cniVersion":"1.0.0","name":"x","type":"macvlan","master":"nowhere"}'),
                     payload(environment=(b"CNI_COMMAND=ADD", b"CNI_NETNS=/dev/zero", b"CNI_CONTAINERID=x", b"CNI_IFNAME=x0",
                                          b"CNI_PATH=/"), stdin=b'{"cniVersion":"1.0.0","name":"x","type":"macvlan","master":"p0"}')):
            self.say(frame(data))

    def huge(self):
        self.say(frame(payload(stdin=b'{"name": "' + b"x" * (4 << 20))))
        self.say(frame(b"x" * ((4 << 20) - 1)))

    def cut_off(self):
        data = frame(payload(stdin=b'{"cniVersion": "1.1.0", "name": "x", "type": "macvlan"}'))
        for end in range(1, len(data), 7):
            self.say(data[:end], wait=False)

    def never_reads(self):
        one = self.connect()
        one.sendall(frame(payload(environment=(b"CNI_COMMAND=VERSION",))))
        time.sleep(0.05)
        one.close()

    def mutated(self):
        data = bytearray(frame(payload()))
        for _ in range(self.rng.randrange(1, 6)):
            data[self.rng.randrange(len(data))] = self.rng.randrange(256)
        self.say(bytes(data))

    def slow(self, stop):
        """A byte now and then, for as long as the agent listens."""
        data = frame(payload())
        while not stop.is_set():
            try:
                with self.connect() as one:
                    for byte in data:
                        one.sendall(bytes([byte]))
                        if stop.wait(0.2):
                            return
            except OSError:
                stop.wait(0.1)

    def silent(self, stop, count):
        """Connections that say nothing."""
        held = []
        while not stop.wait(0.05):
            try:
                if len(held) < count:
                    held.append(self.connect())
            except OSError:
                pass
        for one in held:
            one.close()


def as_another_user(path):
    """What a process of another user gets from the socket: bytes of an answer, or why none."""
    script = ("import os, socket, sys\nos.setgid(65534); os.setuid(65534)\none = socket.socket(socket.AF_UNIX)\none.settimeout(5)\n"
              "try:\n  one.connect(sys.argv[1]); one.sendall(bytes.fromhex(sys.argv[2])); print(len(one.recv(100)))\n"
              "except OSError as error: print('refused', error.errno)\n")
    ask = frame(payload(environment=(b"CNI_COMMAND=VERSION", b"CNI_PATH=/opt/cni/bin"), stdin=b'{"cniVersion":"1.0.0"}'))
    return machine.run("/usr/bin/python3", "-c", script, path, ask.hex()).stdout.strip()


def handles(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def ordinary(side, seconds):
    """ADD and DEL of a pod again and again: (times in ms, errors)."""
    conf = {"cniVersion": "1.0.0", "name": "calm", "plugins": [{"type": "macvlan", "master": "p0", "ipam": {
        "type": "host-local", "ranges": [[{"subnet": "10.75.0.0/24"}]]}}]}
    request = {"conf": conf, "netns": machine.netns_path("calm"), "containerID": "calm", "ifname": "net1"}
    times, wrong, end = [], [], time.monotonic() + seconds
    while time.monotonic() < end:
        for op in ("add", "del"):
            answer = side.ask(op, **request)
            times.append(answer["ms"])
            if not answer["ok"]:
                wrong.append(f"{op}: {answer['error']}")
    return times, wrong


def beside_hung(report, side):
    """More pods whose plugin hangs than may be executed: a pod that needs none does not wait for them."""
    hung = hanging.Hung(side.folder, HUNG, EXECUTED)
    times, wrong = ordinary(side, 2)
    running = len(hung.processes())
    hung.drop()
    report.note(f"beside {HUNG} pods whose plugin hangs the slowest of {len(times)} requests took {max(times):.0f} ms")
    report.check(f"hostile: {EXECUTED} of {HUNG} plugins that hang are executed", running == EXECUTED, str(running))
    report.check("hostile: pods without plugins come and go beside them", not wrong, wrong[:5])
    report.check("hostile: none of these waits for them", max(times) < SLOWEST_MS / 3, f"{max(times):.0f} ms")


def main(report, sides, options, folder):
    side = sides[-1]
    if side.name != "railbed":
        report.skip("hostile clients", "the reference plugins have no socket")
        return
    paths = sockets()
    report.check("hostile: the agent has one socket", len(paths) == 1, str(paths))
    path = paths[0]
    mode = os.stat(path).st_mode & 0o777
    report.check("hostile: the socket is root's alone", mode & 0o077 == 0 or os.stat(os.path.dirname(path)).st_mode & 0o077 == 0, oct(mode))
    answer = as_another_user(path)
    report.check("hostile: another user gets no answer", answer == "0" or answer.startswith("refused"), answer)

    parents = machine.Parents(["p0"])
    machine.add_netns("calm")
    try:
        beside_hung(report, side)
        calm, wrong = ordinary(side, 1)
        before = handles(side.agent.pid)
        stop = threading.Event()
        clients = [Hostile(path, f"{options.seed}/{i}") for i in range(12)]
        bad = [clients[0].noise, clients[1].wrong_heads, clients[2].wrong_requests, clients[3].huge,
               clients[4].cut_off, clients[5].never_reads, clients[6].mutated]

        def repeat(client):
            while not stop.is_set():
                try:
                    client()
                except OSError:
                    pass

        threads = [threading.Thread(target=repeat, args=(one,)) for one in bad]
        threads += [threading.Thread(target=one.slow, args=(stop,)) for one in clients[7:11]]
        threads.append(threading.Thread(target=clients[11].silent, args=(stop, 100)))
        for thread in threads:
            thread.start()
        times, more = ordinary(side, 6)
        stop.set()
        for thread in threads:
            thread.join()
        wrong += more
        report.note(f"{len(times)} ordinary requests, the slowest {max(times):.0f} ms; {max(calm):.0f} ms before")
        report.check("hostile: ordinary pods come and go", not wrong, wrong[:5])
        report.check("hostile: none of them waits", max(times) < SLOWEST_MS, f"{max(times):.0f} ms")
        report.check("hostile: the agent lives", side.agent.poll() is None and side.ready(), side.log_tail())
        end = time.monotonic() + 60
        while handles(side.agent.pid) > before + 2 and time.monotonic() < end:
            time.sleep(0.1)
        report.check("hostile: no handle is left open", handles(side.agent.pid) <= before + 2,
                     f"{handles(side.agent.pid)} handles, {before} before")
        report.check("hostile: memory stays small", side.rss_kib() < MOST_RSS_KIB, f"{side.rss_kib()} KiB")
        report.check("hostile: nothing is recorded of them", not side.left("x"), side.left("x"))
    finally:
        machine.del_netns("calm")
        parents.remove()
