# SPDX-License-Identifier: Apache-2.0
"""The frames between shim and agent, written down a second time: what is tested is not what tests it."""
import json
import pathlib
import socket
import stat
import struct

REQUEST = 1


def sockets():
    return [str(path) for path in pathlib.Path("/run/railbed").rglob("*") if stat.S_ISSOCK(path.lstat().st_mode)]


def frame(payload, kind=REQUEST, length=None, magic=b"RBC1"):
    return magic + struct.pack(">BI", kind, len(payload) if length is None else length) + payload


def payload(plugin=b"macvlan", environment=(b"CNI_COMMAND=STATUS", b"CNI_PATH=/opt/cni/bin"), stdin=b"{}"):
    return b"\0".join([plugin, *environment, b"", stdin])


def ask(path, plugin, environment, stdin):
    """A whole request without any process: (exit status, output)."""
    variables = tuple(f"{key}={value}".encode() for key, value in environment.items())
    with socket.socket(socket.AF_UNIX) as one:
        one.settimeout(60)
        one.connect(path)
        one.sendall(frame(payload(plugin.encode(), variables, stdin.encode())))
        answer = b""
        while len(answer) < 9 or len(answer) < 9 + struct.unpack(">I", answer[5:9])[0]:
            more = one.recv(1 << 20)
            if not more:
                raise RuntimeError(f"the agent hung up after {len(answer)} bytes")
            answer += more
    return answer[9], answer[10:].decode()


def call(path, op, conf, netns, container, ifname, args=()):
    """As a runtime would, for a list of one plugin."""
    plugin = {**conf["plugins"][0], "cniVersion": conf["cniVersion"], "name": conf["name"]}
    environment = {"CNI_COMMAND": op.upper(), "CNI_CONTAINERID": container, "CNI_NETNS": netns, "CNI_IFNAME": ifname,
                   "CNI_PATH": "/opt/cni/bin", "CNI_ARGS": ";".join(f"{key}={value}" for key, value in args)}
    return ask(path, plugin["type"], environment, json.dumps(plugin))
