# SPDX-License-Identifier: Apache-2.0
"""What the agent has open of other network namespaces. Each handle keeps a namespace alive, so that the pod's devices come home late:
between requests there must be none, neither of the namespace itself nor a socket that was made inside."""
import ctypes
import fcntl
import os
import pathlib
import time

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_PIDFD_GETFD = 438
SIOCGSKNS = 0x894C
WAIT_S = 10  # what is being released when the last request was answered


def socket_namespace(pidfd, number):
    """The inode of the namespace that a socket of another process is in."""
    copy = LIBC.syscall(SYS_PIDFD_GETFD, pidfd, number, 0)
    if copy < 0:
        return None
    try:
        netns = fcntl.ioctl(copy, SIOCGSKNS)
        try:
            return os.fstat(netns).st_ino
        finally:
            os.close(netns)
    except OSError:  # a socket of a family without namespaces
        return None
    finally:
        os.close(copy)


def nsfs_mounts(pid):
    return {line.split()[3] for line in pathlib.Path(f"/proc/{pid}/mountinfo").read_text().splitlines() if " - nsfs " in line}


def foreign(pid):
    """Descriptions of the handles."""
    found = []
    own = os.stat(f"/proc/{pid}/ns/net")
    pidfd = os.pidfd_open(pid)
    try:
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                target, file = os.readlink(entry), os.stat(entry)
            except OSError:
                continue
            if file.st_dev == own.st_dev and file.st_ino != own.st_ino:  # the link says where it was opened, not what it is
                found.append(f"descriptor {entry.name} of {target}")
            elif target.startswith("socket:[") and (where := socket_namespace(pidfd, int(entry.name))) not in (None, own.st_ino):
                found.append(f"descriptor {entry.name}: {target} in net:[{where}]")
    finally:
        os.close(pidfd)
    return found + [f"a mount of {one} that no one else has" for one in sorted(nsfs_mounts(pid) - nsfs_mounts(1))]


def left(pid):
    """The same, of an agent at rest."""
    end = time.monotonic() + WAIT_S
    while (found := foreign(pid)) and time.monotonic() < end:
        time.sleep(0.1)
    return found
