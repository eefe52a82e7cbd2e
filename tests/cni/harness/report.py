# SPDX-License-Identifier: Apache-2.0
"""PASS, FAIL and SKIP lines, as tests/run counts them."""


class Report:
    def __init__(self):
        self.failed = 0
        self.passed = 0

    def ok(self, name):
        self.passed += 1
        print(f"PASS {name}", flush=True)

    def quiet_pass(self):
        pass

    def fail(self, name, details=()):
        self.failed += 1
        print(f"FAIL {name}", flush=True)
        for line in details:
            print(f"    {line}"[:3000], flush=True)

    def skip(self, name, why):
        print(f"SKIP {name}: {why}", flush=True)

    def note(self, text):
        print(f"    {text}", flush=True)

    def check(self, name, good, details=()):
        if good:
            self.ok(name)
        else:
            self.fail(name, details if isinstance(details, (list, tuple)) else [details])
        return good
