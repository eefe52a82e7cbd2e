#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the runner of tests/run on tasks that are made here: prints PASS and FAIL lines. Its own logs and records are in a scratch folder."""
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
scratch = pathlib.Path(tempfile.mkdtemp(prefix="railbed-runner."))
from runner import record, schedule, task as tasks, times  # noqa: E402

tasks.LOGS = scratch
record.FOLDER = scratch / "passed"
os.environ.pop("RAILBED_RECORD", None)
failed = False


def same(name, got, wanted):
    global failed
    if got == wanted:
        print(f"PASS runner: {name}")
    else:
        failed = True
        print(f"FAIL runner: {name}\n    got:    {got!r}\n    wanted: {wanted!r}")


def script(text, name="lab made", lane="wait", **options):
    path = scratch / (name.replace(" ", "-") + options.pop("suffix", ""))
    path.write_text("#!/bin/bash\n" + text)
    path.chmod(0o755)
    return tasks.Task(name, lane, [str(path)], **options)


def counts(outcome):
    return outcome.passed, outcome.failed, outcome.skipped, outcome.reruns


def check_scripts():
    good = tasks.run(script("echo PASS a; echo SKIP b: no; echo PASS c"))
    same("a script's lines are counted", counts(good), (2, 0, 1, 0))
    same("what is skipped is shown", good.lines, ["SKIP b: no"])
    bad = tasks.run(script("echo FAIL a; echo '    got 1'; echo other; echo '    not shown'; exit 1"))
    same("a failure is shown with the indented lines behind it", bad.lines, ["FAIL a", "    got 1"])
    same("a script that ends badly without a failure has failed", counts(tasks.run(script("echo PASS a; exit 3"))), (1, 1, 0, 0))
    same("one that dies has failed", counts(tasks.run(script("kill -9 $$"))), (0, 1, 0, 0))
    late = tasks.run(script("echo PASS a; (trap '' TERM; sleep 60) & sleep 60", limit_s=1))
    same("one that does not end is ended with all that it started", (counts(late), late.wall_s < 30), ((1, 1, 0, 0), True))


def check_parts():
    text = """
      for part in ${@:-one two three}; do
        echo "== part $part"; echo $part >>%s
        if [ $part = two ] && [ ! -e %s ]; then touch %s; echo "FAIL x: $part"; exit 1; fi
        echo "PASS x: $part"
      done"""
    ran, once = scratch / "ran", scratch / "once"
    flaky = tasks.run(script(text % (ran, once, once), attempts=2))
    same("only the failed part runs again", ran.read_text().split(), ["one", "two", "two"])
    same("what passes then is counted, and reported", (counts(flaky), flaky.lines), ((2, 0, 0, 1), ["FLAKY passed when run again: x: two"]))
    once.unlink()
    same("with one attempt it has failed", counts(tasks.run(script(text % (ran, once, once)))), (1, 1, 0, 0))
    silent = tasks.run(script("[ $# = 0 ] || exit 0; echo '== part a'; echo FAIL a; exit 1", attempts=2))
    same("a second run that checks nothing proves nothing", counts(silent), (0, 1, 0, 1))
    hard = tasks.run(script("echo '== part a'; echo FAIL a; exit 1", attempts=2))
    same("what fails again has failed", counts(hard), (0, 1, 0, 1))


def check_programs():
    def program(text, **options):
        return script(text, "unit made", "test", suffix="_test", **options)

    passing = "echo '[==========] 3 tests from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 3 tests.'"
    same("a test program's counts are read", counts(tasks.run(program(passing))), (3, 0, 0, 0))
    broken = program("echo '[==========] 2 tests from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 1 test.'; echo '[  FAILED  ] 1 test, listed below:'; echo '[  FAILED  ] A.B'; exit 1")
    same("a failure of a test program with one attempt", (counts(tasks.run(broken)), tasks.run(broken).lines[0]), ((1, 1, 0, 0), "[  FAILED  ] A.B"))
    flaky = program("""case "$1" in --gtest_filter=A.B) echo '[==========] 1 test from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 1 test.'; exit ;; esac
      echo '[==========] 2 tests from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 1 test.'; echo '[  FAILED  ] 1 test, listed below:'; echo '[  FAILED  ] A.B'; exit 1""", attempts=2)
    again = tasks.run(flaky)
    same("with two, only the failed test runs again", (counts(again), again.lines[0]), ((2, 0, 0, 1), "FLAKY passed when run again: A.B"))
    vacuous = program("""case "$1" in --gtest_filter=*) echo '[==========] 0 tests from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 0 tests.'; exit ;; esac
      echo '[==========] 1 test from 1 test suite ran. (1 ms total)'; echo '[  FAILED  ] 1 test, listed below:'; echo '[  FAILED  ] A.B'; exit 1""", attempts=2)
    same("a second run without the failed test proves nothing", counts(tasks.run(vacuous)), (0, 1, 0, 1))
    shared = program("""[ -z "$GTEST_TOTAL_SHARDS" ] || { echo '[==========] 1 test from 1 test suite ran. (1 ms total)'; echo '[  FAILED  ] 1 test, listed below:'; echo '[  FAILED  ] A.B'; exit 1; }
      echo '[==========] 1 test from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 1 test.'""", attempts=2, env={"GTEST_TOTAL_SHARDS": "2", "GTEST_SHARD_INDEX": "1"})
    same("a second run has no share", counts(tasks.run(shared)), (1, 0, 0, 1))
    race = program("echo '[==========] 1 test from 1 test suite ran. (1 ms total)'; echo 'WARNING: ThreadSanitizer: data race'; echo '[  FAILED  ] A.B'; exit 1", attempts=2)
    same("what a sanitizer reports has one attempt", counts(tasks.run(race)), (0, 1, 0, 0))
    same("a crash has failed", counts(tasks.run(program("echo '[==========] 2 tests from 1 test suite ran. (1 ms total)'; kill -ABRT $$"))), (0, 1, 0, 0))
    same("a program without tests has failed", counts(tasks.run(program("true"))), (0, 1, 0, 0))
    early = tasks.run(program("echo '[==========] Running 2 tests from 1 test suite.'; echo '[       OK ] A.B (0 ms)'; exit 0"))
    same("one that ends with success amid its tests has failed", (counts(early), early.lines[0]), ((0, 1, 0, 0), "FAIL unit made: it ended before its tests did"))
    children = tasks.run(program("(setsid bash -c 'for ((i = 0; i < 300000; i++)); do :; done' &) ; " + passing + "; sleep 2"))
    same("the time of daemons counts", children.processor_s > 0.2, True)


def check_record():
    made = script("echo '[==========] 3 tests from 1 test suite ran. (1 ms total)'; echo '[  PASSED  ] 3 tests.'", "unit recorded", "test", suffix="_test", recordable=True)
    program = pathlib.Path(made.command[0])
    libraries, record.libraries_of = record.libraries_of, lambda path: []
    record.hash_of.cache_clear()
    key = record.key_of(made, program)
    same("nothing is recorded at first", record.find(key), None)
    record.keep(key, made, tasks.run(made))
    same("what passed is recorded, and counted apart", (record.find(key).recorded, record.find(key).passed), (3, 0))
    made.env = {"RC_PARAMS": "seed=2"}
    same("the seed is nothing to a program without properties", record.key_of(made, program), key)
    made.env = {"GTEST_FILTER": "A.*"}
    same("another filter is another run", record.key_of(made, program) == key, False)
    made.env = {}
    program.write_text(program.read_text() + "# RC_PARAMS\n")
    record.hash_of.cache_clear()
    changed = record.key_of(made, program)
    same("other bytes are another program", (changed == key, record.find(changed)), (False, None))
    made.env = {"RC_PARAMS": "seed=2"}
    same("the seed counts where there are properties", record.key_of(made, program) == changed, False)
    entry = record.FOLDER / key
    entry.write_text(entry.read_text().replace('"passed_at": ', '"passed_at": -'))
    same("what is older than a week is run again", record.find(key), None)
    record.keep("flaky", made, tasks.Outcome(passed=3, reruns=1))
    record.keep("skipped", made, tasks.Outcome(passed=3, skipped=1))
    record.keep("broken", made, tasks.Outcome(passed=3, failed=1))
    same("no run that was flaky, skipped or failed is recorded", [record.find(k) for k in ("flaky", "skipped", "broken")], [None] * 3)
    (record.FOLDER / "torn").write_text('{"passed": 3')
    same("a torn record is none", record.find("torn"), None)
    os.environ["RAILBED_RECORD"] = "OFF"
    record.keep("off", made, tasks.Outcome(passed=3))
    os.environ.pop("RAILBED_RECORD")
    same("nothing is recorded when it is off", record.find("off"), None)
    record.libraries_of = libraries


def check_schedule():
    order = scratch / "order"

    def step(name, lane, **options):
        return script(f"echo {name.split()[1]} >>{order}; echo PASS {name}", name, lane, **options)

    def broken(name, lane):
        return script("exit 1", name, lane, counts=False)

    given = [step("s late", "wait", after=["build b"], weight_s=1), step("s long", "wait", after=["build b"], weight_s=9), step("build b", "compile", counts=False),
             broken("build c", "compile"), step("s kept", "wait", after=["build c"]), step("s any", "wait", after=["~build c", "~build unknown"])]
    reported = {}
    made = schedule.Schedule(given, lambda task, _: [step("s grown", "test")] if task.name == "build b" else [], lambda task, outcome: reported.update({task.name: outcome}))
    workers, schedule.WORKERS = schedule.WORKERS, {"compile": 1, "prepare": 1, "test": 1, "wait": 1}
    made.run()
    schedule.WORKERS = workers
    ran = order.read_text().split()
    same("what is needed comes first, and the longest of what is ready", (ran[0], ran.index("long") < ran.index("late")), ("b", True))
    same("tasks may come from others", "grown" in ran, True)
    same("without its build a task has failed, and is named", (reported["s kept"].failed, reported["s kept"].lines), (1, ["FAIL s kept: build c failed"]))
    same("what only waits for another's end runs", reported["s any"].passed, 1)
    missing = tasks.Task("unit gone", "test", ["no/such_test"], recordable=True)
    reported.clear()
    schedule.Schedule([missing], lambda task, _: [], lambda task, outcome: reported.update({task.name: outcome})).run()
    same("what the runner itself cannot do has failed, and is not waited for", reported["unit gone"].failed, 1)
    mark = scratch / "mark"
    pair = [script(f"mkdir {mark} && sleep 0.3 && rmdir {mark} && echo PASS {name}", f"s {name}", "wait", alone="one") for name in ("first", "second")]
    reported.clear()
    schedule.Schedule(pair, lambda task, _: [], lambda task, outcome: reported.update({task.name: outcome})).run()
    same("what must be alone is not beside its like", sum(outcome.passed for outcome in reported.values()), 2)


def check_growth():
    before = {"unit": 100, "asan": 200, "lab": 300, "tidy": 2}
    same("a machine that is slow throughout is no growth", times.grown({"unit": 200, "asan": 400, "lab": 600, "tidy": 90}, before), [])
    same("a suite that grows by a fifth is named", times.grown({"unit": 130, "asan": 200, "lab": 300}, before),
         ["warning: unit has grown by 30 %: 130 CPU seconds, 100 expected (tests/times.tsv)"])
    now = time.time()
    done = [(tasks.Task("lab a", "wait", []), tasks.Outcome(passed=1, start=now, end=now + 2, processor_s=1.5)),
            (tasks.Task("unit a", "test", []), tasks.Outcome(recorded=1))]
    same("what is recorded says nothing of its suite's time", times.suites_of(done), {"lab": 1.5})
    same("the table has a line for each that ran", [line.split()[0] for line in times.table(done, now)], ["what", "lab", "all"])


try:
    for check in (check_scripts, check_parts, check_programs, check_record, check_schedule, check_growth):
        check()
finally:
    shutil.rmtree(scratch)
sys.exit(1 if failed else 0)
