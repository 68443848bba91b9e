#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pairs of made-up engines that differ in one thing: does `compare` find it,
and is its prize what the steps differ by?

    tests/known_causes.py --bin build/release/inferdiff
    tests/known_causes.py --bin ... --captured FOLDER

Each prize must be within 15 % of the difference of the true step times, each
bound no less than it. The idle time of the tail must not depend on markers.

FOLDER holds captures of such pairs, `NAME.trace.json.gz`, and truth.json with
{NAME: {"median_us": N}}, step times without the profiler.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

from workloads import engine, formats, schedules, workload
from workloads.engine import Node

failures = []
TAIL = ("sampling",) * 24


def check(what, holds):
    print(f"{'ok  ' if holds else 'FAIL'} {what}")
    if not holds:
        failures.append(what)


# --- engines ---------------------------------------------------------------


def decode(tail="graph", slow=()):
    """Decode steps; the tail of small kernels in the graph, launched behind it
    ("host"), or launched once the host has waited for it ("late")."""
    def program(rank):
        batch, done = rank.options.batch, []
        for _ in range(rank.options.steps):
            nodes = schedules.decode_graph(rank.options)
            for node in nodes:
                node.scale *= 2 if node.role in slow else 1
            if tail == "graph":
                nodes += [Node(role, scale=0.2) for role in TAIL]
            with schedules.step(rank, "decode", batch, batch):
                yield from rank.replay(1, nodes)
                if tail == "late":
                    rank.wait(rank.last_end)
                if tail != "graph":
                    yield from rank.run(TAIL, scale=0.2)
                rank.copy("DtoH", 8 * batch, after=rank.last_end)
            schedules.settle(rank, done)
    return program


def eager(rank):
    """The step of decode() without a graph."""
    batch, done = rank.options.batch, []
    for _ in range(rank.options.steps):
        with schedules.step(rank, "decode", batch, batch):
            nodes = schedules.decode_graph(rank.options)
            for node in nodes + [Node(role, scale=0.2) for role in TAIL]:
                if node.role == "copy":
                    rank.copy("DtoD", 4096, rank.MAIN)
                else:
                    yield from rank.kernel(node.role, scale=node.scale)
            rank.copy("DtoH", 8 * batch, after=rank.last_end)
        schedules.settle(rank, done)


def pieces(rank):
    """The step of decode() in eight graphs, one replayed behind the other."""
    batch, done = rank.options.batch, []
    for _ in range(rank.options.steps):
        nodes = schedules.decode_graph(rank.options)
        nodes += [Node(role, scale=0.2) for role in TAIL]
        size = -(-len(nodes) // 8)
        with schedules.step(rank, "decode", batch, batch):
            for number, first in enumerate(range(0, len(nodes), size)):
                if number > 0:
                    rank.wait(rank.last_end)
                yield from rank.replay(number + 1, nodes[first:first + size])
            rank.copy("DtoH", 8 * batch, after=rank.last_end)
        schedules.settle(rank, done)


def write(folder, program, **options):
    """The files of a made-up run, and its mean step in us."""
    settings = workload.Options(
        overlap=False, side_branches=False, steps=12, layers=8, **options)
    simulation = engine.Simulation(settings)
    simulation.run(program)
    ranks = simulation.ranks
    truth = workload.Workload(settings, ranks, [], []).truth()
    walls = [step["wall_ns"] for rank in truth["ranks"]
             for step in rank["steps"] if step["wall_ns"]]
    paths = formats.FORMATS["kineto"](ranks, str(folder))
    return list(paths.values()), sum(walls) / len(walls) / 1000


# --- checks ----------------------------------------------------------------


def inferdiff(binary, *arguments):
    run = subprocess.run([binary, *map(str, arguments), "--format", "json"],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def starts_of(binary, a, b, options):
    result = inferdiff(binary, "compare", *a, "--", *b, *options)
    return {one["id"]: one for one in result["findings"] if one["advice"]}


def check_gain(name, finding, truth_us):
    if finding is None:
        check(f"{name}: not found", False)
    elif finding["prize_ns"] is not None:
        prize = finding["prize_ns"] / 1000
        check(f"{name}: {prize:.1f} us ({finding['how']}), true "
              f"{truth_us:.1f}, off by {100 * (prize / truth_us - 1):+.1f} %",
              abs(prize - truth_us) <= 0.15 * truth_us)
    else:
        bound = finding["bound_ns"] / 1000
        check(f"{name}: at most {bound:.1f} us, true {truth_us:.1f}",
              bound >= truth_us)


def untraced(a_us, b_us):
    return ["--untraced-a", f"{a_us:.3f}us", "--untraced-b", f"{b_us:.3f}us"]


def check_pairs(binary, folder):
    one = {"batch": 4}
    two = {"ranks": 2}
    late = tuple(("host", 1, step, 300_000) for step in range(12))
    more = tuple(("kernels", 1, step, 300_000) for step in range(12))
    pairs = {  # name -> the slower program, its options, its finding
        "host-launched tail": (decode("host"), one, "host-tail.A"),
        "tail behind a wait": (decode("late"), one, "host-tail.A"),
        "no graphs": (eager, one, "no-graphs.A"),
        "between replays": (pieces, one, "between-replays.A"),
        "slow attention": (decode(slow=("attention",)), one,
                           "contributor.work.attention"),
        "late host of a rank": (decode(), {**two, "inject": late},
                                "straggler.A"),
        "more work on a rank": (decode(), {**two, "inject": more},
                                "straggler.A"),
    }
    base = {}
    for number, options in ((1, one), (2, two)):
        base[number] = write(folder / f"base{number}", decode(), **options)
    for name, (program, options, finding) in pairs.items():
        if "inject" in options:
            program = injected(program)
        files, a_us = write(folder / name.replace(" ", "-"), program,
                            **options)
        other, b_us = base[options.get("ranks", 1)]
        for how, extra in (("traces alone", []),
                           ("with times", untraced(a_us, b_us))):
            starts = starts_of(binary, files, other, extra)
            check_gain(f"{name}, {how}", starts.get(finding), a_us - b_us)


def injected(program):
    """What the options plant, in front of each step."""
    def run(rank):
        steps = iter(range(rank.options.steps))
        replay = rank.replay

        def planted(*arguments, **named):
            yield from schedules.inject(rank, next(steps))
            return (yield from replay(*arguments, **named))
        rank.replay = planted
        yield from program(rank)
    return run


def check_markers(binary, folder):
    """The tail's idle time over all steps but the first and last."""
    tails = []
    for markers in (True, False):
        files, _ = write(folder / f"markers-{markers}", schedules.decode,
                         markers=markers)
        stat = inferdiff(binary, "ledger", *files)["per_step"]["idle_tail_ns"]
        tails.append(stat["total"] / stat["n"])
    check(f"tail with and without markers: {tails[0]:.0f}, {tails[1]:.0f} ns",
          tails[0] > 0 and abs(tails[0] - tails[1]) <= 0.05 * tails[0])


CAPTURED = [  # slower, faster, finding, serial ledger of the faster one
    ("unfused", "fused", "fusion", None),
    ("unfused-overlap", "overlap", "fusion", None),
    ("fused", "overlap", "concurrency", None),
    ("unfused", "unfused-overlap", "concurrency", None),
    ("fused", "overlap", "overlap.B", "fused"),
    ("unfused", "unfused-overlap", "overlap.B", "unfused"),
    ("tail", "fused", "host-tail.A", None),
    ("tailsync", "fused", "host-tail.A", None),
]


def check_captured(binary, folder):
    truth = {name: row["median_us"] for name, row in json.loads(
        (folder / "truth.json").read_text()).items() if isinstance(row, dict)}
    for slow, fast, finding, serial in CAPTURED:
        files = [[folder / f"{name}.trace.json.gz"] for name in (slow, fast)]
        base = [] if serial is None else [
            "--serial-b", folder / f"{serial}.trace.json.gz"]
        timed = untraced(truth[slow], truth[fast])
        if serial is not None:
            timed += ["--untraced-serial-b", f"{truth[serial]:.3f}us"]
        for how, extra in (("traces alone", []), ("with times", timed)):
            starts = starts_of(binary, *files, [*base, *extra])
            name = f"{slow} - {fast}, {finding}, {how}"
            if finding in starts:
                check_gain(name, starts[finding], truth[slow] - truth[fast])
            else:
                print(f"     {name}: no such start")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--captured", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.captured:
        check_captured(arguments.bin, arguments.captured)
    else:
        with tempfile.TemporaryDirectory() as folder:
            check_pairs(arguments.bin, pathlib.Path(folder))
            check_markers(arguments.bin, pathlib.Path(folder))
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
