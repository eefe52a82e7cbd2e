# SPDX-License-Identifier: Apache-2.0
"""The table of a run: when each build, script and suite began and ended, its CPU seconds, what the compiler cache had, what ran again.

It is printed and kept as build/test-logs/times.tsv. tests/times.tsv has the CPU seconds of each suite's tests as they were when
somebody last accepted them (tests/run --accept-times): a suite that has grown by a fifth is named. Machines differ, so the two are
compared after the typical ratio of all suites is taken out.
"""
import os
import statistics
import time

from runner import task as tasks

ACCEPTED = tasks.ROOT / "tests/times.tsv"
GROWTH = 1.2
SMALL_S = 10  # CPU seconds below which a fifth is noise


def rows_of(done, began):
    """(name, start, end, processor seconds, cache, reruns), in the order in which they began. Programs are summed by suite."""
    rows, sums = [], {}
    for task, outcome in done:
        if outcome.start == 0:  # recorded, or never begun
            continue
        row = [task.name, outcome.start - began, outcome.end - began, outcome.processor_s, outcome.cache, outcome.reruns]
        if task.lane != "test":
            rows.append(row)
            continue
        total = sums.setdefault(task.suite, [f"{task.suite} (programs)", row[1], row[2], 0.0, "", 0])
        total[1], total[2] = min(total[1], row[1]), max(total[2], row[2])
        total[3] += row[3]
        total[5] += row[5]
    return sorted([*rows, *sums.values()], key=lambda row: row[1])


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def table(done, began):
    rows = rows_of(done, began)
    lines = [f"{'what':<26} {'start':>6} {'end':>6} {'took s':>7} {'CPU s':>8} {'cache':>9} {'reruns':>6}"]
    for name, start, end, used, cache, reruns in rows:
        lines.append(f"{name:<26} {clock(start):>6} {clock(end):>6} {end - start:>7.0f} {used:>8.0f} {cache:>9} {reruns or '':>6}")
    whole = time.time() - began
    used = sum(row[3] for row in rows)
    lines.append(f"{'all':<26} {'0:00':>6} {clock(whole):>6} {whole:>7.0f} {used:>8.0f}   {100 * used / whole / os.cpu_count():.0f} % of {os.cpu_count()} processors")
    with open(tasks.LOGS / "times.tsv", "w") as file:
        file.write("what\tstart_s\tend_s\tprocessor_s\tcache_hits\treruns\n")
        for name, start, end, cpu, cache, reruns in rows:
            file.write(f"{name}\t{start:.1f}\t{end:.1f}\t{cpu:.1f}\t{cache}\t{reruns}\n")
    return lines


def suites_of(done):
    """CPU seconds of each suite that ran whole: no build, nothing recorded, nothing again."""
    sums, partial = {}, set()
    for task, outcome in done:
        if not task.counts:
            continue
        sums[task.suite] = sums.get(task.suite, 0.0) + outcome.processor_s
        if outcome.recorded or outcome.reruns or outcome.failed:
            partial.add(task.suite)
    return {suite: used for suite, used in sums.items() if suite not in partial}


def accepted():
    try:
        return {suite: float(used) for suite, used in (line.split("\t") for line in ACCEPTED.read_text().splitlines() if line[:1] not in ("#", ""))}
    except OSError:
        return {}


def grown(now, before):
    """A line for each suite that takes a fifth more than the others' ratio to what was accepted lets expect."""
    both = [suite for suite in now if before.get(suite, 0) >= SMALL_S]
    if len(both) < 3:  # no typical ratio
        return []
    ratios = {suite: now[suite] / before[suite] for suite in both}
    typical = statistics.median(ratios.values())
    return [f"warning: {suite} has grown by {100 * (ratio / typical - 1):.0f} %: {now[suite]:.0f} CPU seconds, {before[suite] * typical:.0f} expected (tests/times.tsv)"
            for suite, ratio in ratios.items() if ratio / typical > GROWTH]


def accept(now):
    text = "# SPDX-License-Identifier: Apache-2.0\n# CPU seconds of each suite's tests, without builds; tests/run --accept-times writes it.\n"
    ACCEPTED.write_text(text + "".join(f"{suite}\t{used:.0f}\n" for suite, used in sorted({**accepted(), **now}.items())))
