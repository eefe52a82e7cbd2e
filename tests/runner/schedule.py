# SPDX-License-Identifier: Apache-2.0
"""Runs tasks on the workers of their lanes as soon as what they need is there.

Lanes: `compile` builds one variant after the other; `prepare` builds third-party programs in the background; `test` runs test programs, two at a
time; `wait` runs scripts that mostly wait for kernels, guests and timers, two at a time. Builds have a lower priority than these scripts, but not the
lowest: beside four guests they would not get on.
"""
import dataclasses
import threading

from runner import record, task as tasks

WORKERS = {"compile": 1, "prepare": 1, "test": 2, "wait": 2}


@dataclasses.dataclass
class Schedule:
    waiting: list
    grow: object  # called with a task that has ended well: the tasks that it makes possible
    reported: object  # called with (task, outcome), one at a time
    running: list = dataclasses.field(default_factory=list)
    done: dict = dataclasses.field(default_factory=dict)
    changed: threading.Condition = dataclasses.field(default_factory=threading.Condition)
    known: set = dataclasses.field(default_factory=set)

    def run(self):
        self.known = {task.name for task in self.waiting}
        workers = [threading.Thread(target=self.work, args=(lane,), daemon=True) for lane, count in WORKERS.items() for _ in range(count)]
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():
                worker.join(0.5)  # a thread that is joined forever hears no Ctrl-C

    def work(self, lane):
        while True:
            with self.changed:
                chosen = self.next_of(lane)
                while chosen is None:
                    if not self.waiting and not self.running:
                        self.changed.notify_all()
                        return
                    self.changed.wait(1)
                    chosen = self.next_of(lane)
                self.waiting.remove(chosen)
                self.running.append(chosen)
            outcome = self.outcome_of(chosen)
            with self.changed:
                self.done[chosen.name] = outcome
                self.reported(chosen, outcome)
                new = self.grow(chosen, outcome)
                self.known |= {task.name for task in new}
                self.waiting += new
                self.running.remove(chosen)
                self.changed.notify_all()

    def next_of(self, lane):
        taken = {task.alone for task in self.running if task.alone}
        ready = [task for task in self.waiting
                 if task.lane == lane and task.alone not in taken and all(self.is_over(need) for need in task.after)]
        if lane in ("compile", "prepare"):
            return ready[0] if ready else None
        return max(ready, key=lambda task: task.weight_s, default=None)

    def is_over(self, need):
        name = need.removeprefix("~")
        return name in self.done or name not in self.known

    def broken_need(self, task):
        return next((need for need in task.after if not need.startswith("~") and need in self.done and self.done[need].failed), None)

    def outcome_of(self, task):
        """Never raises: a worker that ended would keep all others waiting for its task."""
        if broken := self.broken_need(task):
            return tasks.Outcome(failed=1, lines=[f"FAIL {task.name}: {broken} failed"])
        try:
            return run_or_recorded(task)
        except Exception as problem:  # a full disk, a log that cannot be written
            return tasks.Outcome(failed=1, lines=[f"FAIL {task.name}: tests/run could not run it: {problem!r}"])


def run_or_recorded(task):
    if not task.recordable:
        return tasks.run(task)
    program = tasks.ROOT / (f"build-asan/fuzz/{task.command[1]}" if task.suite == "fuzz" else task.command[0])
    key = record.key_of(task, program)
    if found := record.find(key):
        return found
    outcome = tasks.run(task)
    record.keep(key, task, outcome)
    return outcome
