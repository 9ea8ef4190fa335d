"""Commands that write a file or a folder, timed by turns beside a copy: what bench/stores.py and bench/checkpoint.py share."""

import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time


def _remove(result):
    shutil.rmtree(result, ignore_errors=True)
    pathlib.Path(result).unlink(missing_ok=True)


def _timed(command, result):
    """Seconds to the last byte on the disk, processor seconds, and the largest resident memory in MiB."""
    _remove(result)
    os.sync()
    begin = time.monotonic()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"failed: {command}")
    subprocess.run(["sync", *(["-f"] if os.path.isdir(result) else []), result], check=True)
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def print_table(ways, result, rounds, once=()):
    """Each way's medians over the rounds; the first way is the copy that all are held against. Those named in ``once`` run in the first round alone."""
    times = {what: [] for what in ways}
    for number in range(rounds):
        for what, command in ways.items():
            if number == 0 or what not in once:
                times[what].append(_timed(command, result))
    copy = next(iter(ways))
    unit = statistics.median(seconds for seconds, _, _ in times[copy])
    print(f"| what | seconds, median (least - most) | of {copy} | processor s | peak MiB |\n|---|---|---|---|---|")
    for what, runs in times.items():
        seconds = [run[0] for run in runs]
        median = statistics.median(seconds)
        print(f"| {what} | {median:.2f} ({min(seconds):.2f} - {max(seconds):.2f}) | {median / unit:.2f} | "
              f"{statistics.median(run[1] for run in runs):.2f} | {max(run[2] for run in runs):.0f} |")
    _remove(result)
