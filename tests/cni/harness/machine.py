# SPDX-License-Identifier: Apache-2.0
"""The machine under test: namespaces, parents, and what can be seen of them.

Everything runs in the sandbox that tests/cni/run makes, so names are ours alone.
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
HOST_LOCAL = pathlib.Path("/var/lib/cni/networks")
OTHER_DATA = pathlib.Path("/var/lib/cni/networks-of-test")  # a dataDir of the generator


def run(*command, stdin=None, check=True):
    done = subprocess.run(command, input=stdin, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done


def ip_batch(lines, netns=None, check=True):
    where = ["-n", netns] if netns else []
    return run("ip", *where, "-force" if not check else "-N", "-batch", "-", stdin="\n".join(lines) + "\n", check=check)


def in_netns(name, function):
    """Calls a function with this thread in the namespace; what it starts is there too."""
    outcome = []

    def body():
        fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
        try:
            if LIBC.setns(fd, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns {name}")
        finally:
            os.close(fd)
        outcome.append(function())

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    if not outcome:
        raise RuntimeError(f"nothing came back from namespace {name}")
    return outcome[0]


def netns_path(name):
    return f"/run/netns/{name}"


def has_kind(kind):
    """Whether this kernel can make a link of the kind."""
    run("ip", "link", "add", "kind0", "type", "veth", "peer", "name", "kind1")
    options = {"vrf": ["table", "77"]}.get(kind, [])
    on = ["link", "kind0"] if kind in ("macvlan", "ipvlan") else []
    done = run("ip", "link", "add", *on, "name", "kind2", "type", kind, *options, check=False)
    run("ip", "link", "del", "kind2", check=False)
    run("ip", "link", "del", "kind0")
    return done.returncode == 0


# What a snapshot leaves out, as it changes from run to run or follows from something that is compared.
LINK_KEYS = ("flags", "mtu", "txqlen", "link_type", "address", "ifalias", "promiscuity", "allmulti", "linkinfo", "group",
             "inet6_addr_gen_mode", "master")
RANDOM = ("macaddr_count", "bridge_id", "root_id", "designated_root", "designated_bridge", "tc", "tcn", "tcn_timer", "topology_change")
RACING_FLAGS = {"LOWER_UP", "NO-CARRIER", "M-DOWN"}


def link_local(text):
    return str(text).lower().startswith(("fe80:", "ff00:", "ff02:"))


def clean_link(link):
    kept = {key: link[key] for key in LINK_KEYS if key in link}
    kept["flags"] = sorted(set(kept.get("flags", [])) - RACING_FLAGS)
    info = kept.get("linkinfo", {})
    for data in info.get("info_data", {}), info.get("info_slave_data", {}):
        for key in [key for key in data if key in RANDOM or key.endswith("_timer")]:
            data.pop(key)
    kept["addresses"] = sorted(
        json.dumps({key: one[key] for key in ("family", "local", "prefixlen", "scope", "broadcast", "label", "address",
                                              "dynamic", "noprefixroute", "valid_life_time") if key in one})
        for one in link.get("addr_info", []) if not link_local(one.get("local", "")))
    return kept


def clean_route(route):
    """Without its metrics, and without who made it, where that is no matter (differences.md, "Not compared")."""
    route = {key: value for key, value in route.items() if key not in ("flags", "cache", "pref", "metrics")}
    if route.get("protocol") in ("boot", "static") or route.get("table") not in ("main", "local", None):
        route["protocol"] = "administrator"
    if "gateway" not in route and route.get("scope") in ("global", "link") and route["protocol"] == "administrator":
        route.pop("scope")
    return json.dumps(route, sort_keys=True)


def see(netns=None):
    """Links with addresses, routes of all tables, rules."""
    where = ["-n", netns] if netns else []
    done = run("ip", *where, "-d", "-j", "-batch", "-", stdin="addr show\nroute show table all\nrule show\n")
    decoder, text, parts = json.JSONDecoder(), done.stdout, []
    while text.strip():
        value, end = decoder.raw_decode(text.lstrip())
        parts.append(value)
        text = text.lstrip()[end:]
    rules6 = json.loads(run("ip", *where, "-6", "-j", "rule", "show").stdout or "[]")
    links = {link["ifname"]: clean_link(link) for link in parts[0] if link}
    macs = {link["ifname"]: link.get("address", "") for link in parts[0] if link}
    routes = sorted(clean_route(route) for route in parts[1]
                    if not link_local(route.get("dst", "")) and not link_local(route.get("prefsrc", "")))
    rules = sorted(json.dumps(rule, sort_keys=True) for rule in parts[2] + rules6)
    return {"links": links, "routes": routes, "rules": rules, "macs": macs}


PER_INTERFACE = ("ipv4/conf", "ipv6/conf")
PER_NAMESPACE = ("net/core/somaxconn", "net/ipv4/ip_forward", "net/ipv4/ip_local_port_range",
                 "net/ipv4/tcp_keepalive_time", "net/ipv6/conf/all/forwarding", "net/ipv4/conf/all/rp_filter",
                 "net/ipv4/conf/all/arp_ignore", "net/ipv4/ping_group_range")


def sysctls(netns, interfaces):
    def read():
        found = {}
        for place in PER_INTERFACE:
            for name in interfaces:
                folder = f"/proc/sys/net/{place}/{name}"
                for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                    try:
                        found[f"{place}/{name}/{file}"] = open(f"{folder}/{file}").read().strip()
                    except OSError:
                        pass  # stable_secret, before it is set
        for file in PER_NAMESPACE:
            try:
                found[file] = open(f"/proc/sys/{file}").read().strip()
            except OSError:
                pass
        return found

    return in_netns(netns, read)


def files_below(folder):
    folder = pathlib.Path(folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def reserved_addresses():
    """What host-local's own files hold, over all networks."""
    return [name for folder in (HOST_LOCAL, OTHER_DATA) for name in files_below(folder) if re.search(r"/[0-9a-f]+[.:][0-9a-f.:]+$", name)]


def add_netns(*names):
    for name in names:
        run("ip", "netns", "add", name)
        # Without duplicate address detection: every IPv6 gateway would wait a second or more for its end, and of an address that
        # a pod has on two interfaces of one network, chance would decide which keeps it.
        in_netns(name, no_dad)


def no_dad():
    for key in ("default/dad_transmits", "default/accept_dad", "all/accept_dad"):
        pathlib.Path("/proc/sys/net/ipv6/conf", key).write_text("0")


def del_netns(*names):
    for name in names:
        run("ip", "netns", "del", name, check=False)


class Parents:
    """veth pairs in the host's namespace: p0… as parents of macvlan, d0… to be moved; their peers are <name>p."""

    GROUP = 4711

    def __init__(self, names, mtu=1500, addresses=(), bridges=()):
        """Bridges for the reference's plugin have MACs of their own: the kernel would give one the lowest MAC of its ports,
        which are random, and the reference's CHECK fails when another pod's port has changed it."""
        self.names = list(names)
        lines = []
        for number, name in enumerate(self.names):
            mac = f"02:00:00:00:{ord(name[0]):02x}:{number:02x}"
            peer = f"02:00:00:01:{ord(name[0]):02x}:{number:02x}"
            lines.append(f"link add {name} address {mac} mtu {mtu} type veth peer name {name}p address {peer} mtu {mtu}")
            lines += [f"link set {name}p group {self.GROUP} up"] + ([f"link set {name} up"] if name[0] == "p" else [])
        lines += [f"link add {name} address 02:00:00:02:00:{number:02x} type bridge" for number, name in enumerate(bridges)]
        lines += list(addresses)
        ip_batch(lines)

    def remove(self):
        """The peers, and with them the rest; and the bridges, which the reference's plugin leaves on every machine."""
        ip_batch([f"link del group {self.GROUP}", "link del br0", "link del br1"], check=False)


def has_dhcp_server():
    return shutil.which("dnsmasq") is not None


class DhcpServer:
    """dnsmasq on the peers of the parents and devices; addresses in the order in which they are asked for."""

    def __init__(self, names):
        lines, arguments = [], []
        for number, name in enumerate(names):
            lines.append(f"addr add 10.{200 + number}.0.1/24 dev {name}p")
            arguments += [f"--interface={name}p", f"--dhcp-range=10.{200 + number}.0.10,10.{200 + number}.0.99,255.255.255.0,2h"]
        ip_batch(lines)
        self.leases = pathlib.Path("/run/leases-of-test")
        self.leases.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            ["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--bind-interfaces", "--no-ping", "--user=root", "--pid-file=",
             "--dhcp-sequential-ip", "--dhcp-authoritative", f"--dhcp-leasefile={self.leases}", "--dhcp-option=6,10.6.6.6", "--domain=d.test",
             "--dhcp-option=121,172.29.0.0/16,0.0.0.0", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 5
        while not self.leases.exists() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)

    def stop(self):
        self.process.terminate()
        self.process.wait()
