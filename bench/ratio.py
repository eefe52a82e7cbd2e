# SPDX-License-Identifier: Apache-2.0
"""How many times longer one way takes than another, with the standard error of that.

What a machine does beside the measurement is in the slowest quarter, and luck with the kernel's ticks in the fastest: the means
are of the middle half. The standard error is that of drawing the same number of rounds again from those that were measured.

    bench/ratio.py WAY OVER <LINES      lines "WAY MILLISECONDS" and "OVER MILLISECONDS": prints the ratio and its standard error
"""
import random
import statistics
import sys

DRAWS = 400


def middle_half(times):
    """Without the quarter of each end."""
    kept = len(times) // 4
    return sorted(times)[kept:len(times) - kept]


def middle_mean(times):
    return statistics.mean(middle_half(times))


def ratio_with_error(times, over):
    again = random.Random(1)
    drawn = [middle_mean(again.choices(times, k=len(times))) / middle_mean(again.choices(over, k=len(over))) for _ in range(DRAWS)]
    return middle_mean(times) / middle_mean(over), statistics.stdev(drawn)


def main(way, over):
    times = {way: [], over: []}
    for line in sys.stdin:
        words = line.split()
        if len(words) == 2 and words[0] in times:
            times[words[0]].append(float(words[1]))
    if min(map(len, times.values())) < 2:
        sys.exit(f"fewer than two lines of {way} or of {over}")
    ratio, error = ratio_with_error(times[way], times[over])
    print(f"{ratio:.4f} {error:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
