# SPDX-License-Identifier: Apache-2.0
"""Pods whose plugin hangs."""
import contextlib
import os
import pathlib
import signal
import threading
import time

import machine
import wire

VERSION = "1.0.0"


class Hung:
    """Pods whose default network is a program that does nothing for a minute."""

    def __init__(self, folder, count, run=None):
        """Returns when `run` of them (all) are executed; `folder` is one of CNI_PATH."""
        run = run or count
        program = pathlib.Path(folder, "hangs")
        program.write_text("#!/bin/sh\n[ \"$CNI_COMMAND\" = ADD ] || exit 0\nexec sleep 60\n")
        program.chmod(0o755)
        self.names = [f"hung{i}" for i in range(count)]
        machine.ip_batch([f"netns add {name}" for name in self.names])
        conf = {"cniVersion": VERSION, "name": "hung", "plugins": [
            {"type": "railbed", "delegates": [{"cniVersion": VERSION, "name": "hangs", "type": "hangs"}]}]}
        path = wire.sockets()[0]
        self.threads = [threading.Thread(target=self.one, args=(path, conf, name), daemon=True) for name in self.names]
        for thread in self.threads:
            thread.start()
        end = time.monotonic() + 20
        while len(self.processes()) < run and time.monotonic() < end:
            time.sleep(0.05)
        if len(self.processes()) < run:
            raise RuntimeError(f"only {len(self.processes())} of {run} plugins hang")

    @staticmethod
    def one(path, conf, name):
        try:
            wire.call(path, "add", conf, machine.netns_path(name), name, "eth0")
        except (OSError, RuntimeError):
            pass  # the agent ended

    @staticmethod
    def processes():
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if path.read_bytes() == b"sleep\x0060\x00":
                    found.append(path.parent.name)
            except OSError:  # it has ended
                pass
        return found

    def drop(self):
        """Those that waited for one to end are executed then, and hang as well."""
        while any(thread.is_alive() for thread in self.threads):
            for process in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            time.sleep(0.1)
        machine.del_netns(*self.names)
