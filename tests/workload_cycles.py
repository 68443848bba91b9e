#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program's cycles against what a made-up engine did, to the nanosecond.

    workload_cycles.py --bin BIN [--seeds N]

The engine knows of each operation whether it drafts, verifies or samples. What
an operation is given of its step, and the steps' borders, are the program's
own (other tests check them); which part it is in, idle time inside replays and
the sums are worked out here. A trace whose markers are taken out must give the
same drafts, verification and sampling.
"""

import argparse
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

from workloads import formats, names, workload

SPECULATIVE = {"schedule": "speculative", "steps": 8, "layers": 5}
# Name -> (options, kind of the cycles); "pieces": plain, and what is launched
# in front of a pass is part of it, as no graph tells them apart.
VARIANTS = {
    "drafts": (SPECULATIVE, "speculative"),
    "one-draft": (SPECULATIVE | {"drafts": 1}, "speculative"),
    "vary-drafts": (SPECULATIVE | {"vary_drafts": True, "steps": 12},
                    "speculative"),
    "amd": (SPECULATIVE | {"vendor": "amd", "tight": True}, "speculative"),
    "serial": (SPECULATIVE | {"overlap": False}, "speculative"),
    "early": (SPECULATIVE | {"dependent_launch": True}, "speculative"),
    "ranks": (SPECULATIVE | {"ranks": 3, "clocks": {1: 350_000}},
              "speculative"),
    "decode": ({"schedule": "decode"}, "plain"),
    "vllm": ({"schedule": "decode", "engine": "vllm"}, "plain"),
    "eager": ({"schedule": "eager"}, "pieces"),
    "piecewise": ({"schedule": "piecewise", "layers": 4}, "pieces"),
}
DRAFT_GRAPHS = (2, 3)  # workloads/schedules.py: drafts, and their extension


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: exit {done.returncode}: "
                         f"{done.stderr}")
    return done.stdout


def part_of(op, vendor, kind):
    """What the engine used an operation for."""
    plain = kind != "speculative"
    if kind == "pieces" and op.direction != "DtoH":
        sampling = names.kernel(vendor, "sampling").name
        return "sample" if op.name == sampling else "verify"
    if op.graph in DRAFT_GRAPHS and not plain:
        return "draft"
    if op.graph:
        return "verify"
    if op.name == names.kernel(vendor, "build_tree").name:
        return "draft"
    if op.name == names.kernel(vendor, "verify_tree").name:
        return "sample"
    if op.name == names.kernel(vendor, "sampling").name:
        return "sample" if plain else "draft"  # of the extension's pass
    return "other"


def rows_of(dump):
    rows = csv.DictReader([line for line in dump.split("\n")
                           if line and not line.startswith("#")],
                          delimiter="\t", quoting=csv.QUOTE_NONE)
    return [{key: int(row[key]) if row[key] not in ("", "-") else None
             for key in ("start_ns", "dur_ns", "step", "attributed_ns")}
            for row in rows]


def idle_inside(ops, window, own, replays):
    """Of each gap what lies inside the step's replays, and the part of the
    next of their operations, `own`."""
    begin, end = window
    until = begin
    gaps = []
    for start, stop in sorted(ops):
        if start >= end:
            break
        if start > until:
            gaps.append((until, start))
        until = max(until, stop)
    if until < end:
        gaps.append((until, end))
    for gap in gaps:
        inside = union([(max(gap[0], a), min(gap[1], b)) for a, b in replays])
        if inside == 0:
            continue
        following = [(start, part) for start, part in own if start >= gap[1]]
        yield min(following)[1] if following else max(own)[1], inside


def union(intervals):
    total, until = 0, None
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if until is None or start > until:
            total, until = total + end - start, end
        elif end > until:
            total, until = total + end - until, end
    return total


def expected(rank, kind, shown, dumped):
    """Totals over the used steps of one rank."""
    base = min(op.start for op in rank.ops)
    ops = sorted(rank.ops, key=lambda op: (op.start, op.end))
    shift = dumped[0]["start_ns"] - base
    part = {(op.start + shift, op.end - op.start):
            part_of(op, rank.vendor, kind) for op in ops}
    assert len(part) == len(ops), "two operations at the same time"
    replays = collections.defaultdict(list)
    for op in ops:
        if op.graph:
            replays[op.correlation].append((op.start + shift, op.end + shift))
    graphed = {op.start + shift for op in ops if op.graph}
    all_ops = [(row["start_ns"], row["start_ns"] + row["dur_ns"])
               for row in dumped]
    total = collections.Counter()
    for step in shown["steps"]:
        if step["excluded"]:
            continue
        window = (step["begin_ns"], step["begin_ns"] + step["wall_ns"])
        own = []
        for row in dumped:
            if row["step"] != step["step"]:
                continue
            of = part[row["start_ns"], row["dur_ns"]]
            own.append((row["start_ns"], of))
            total[of] += row["attributed_ns"]
        starts = {start for start, _ in own}
        replayed = [(start, of) for start, of in own if start in graphed]
        mine = [(min(r)[0], max(end for _, end in r))
                for r in replays.values() if min(r)[0] in starts]
        for of, inside in idle_inside(all_ops, window, replayed, mine):
            total[of] += inside
        total["wall"] += step["wall_ns"]
        total["cycles"] += 1
        total["passes"] += sum(
            part[min(r)[0], min(r)[1] - min(r)[0]] == "draft"
            for r in replays.values() if min(r)[0] in starts)
    return total


def without_markers(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    trace["traceEvents"] = [event for event in trace["traceEvents"]
                            if "annotation" not in event.get("cat", "")]
    bare = path.replace(".trace.json", "-bare.trace.json")
    with open(bare, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    return bare


def totals_of(cycles):
    out = {name: cycles[name + "_ns"]
           for name in ("draft", "verify", "sample", "other", "wall")}
    return out | {"cycles": cycles["cycles"],
                  "passes": cycles["draft_passes"]}


def check(binary, name, seed, folder):
    options, kind = VARIANTS[name]
    made = workload.build(workload.Options(seed=seed, **options))
    paths = formats.FORMATS["kineto"](made.ranks, folder)
    paths = [paths[rank.number] for rank in made.ranks]
    total = collections.Counter()
    for rank, path in zip(made.ranks, paths):
        shown = json.loads(run(binary, "steps", "--format", "json", path))
        total += expected(rank, kind, shown,
                          rows_of(run(binary, "dump", path)))
    cycles = json.loads(run(binary, "ledger", "--format", "json",
                            *paths))["cycles"]
    ours = {key: total[key] for key in totals_of(cycles)}
    parts = sum(cycles[key + "_ns"] for key in
                ("draft", "verify", "sample", "other", "foreign", "idle"))
    plain = kind != "speculative"
    if cycles["kind"] != ("plain" if plain else kind):
        yield f"kind {cycles['kind']}, not {kind}"
    if ours != totals_of(cycles):
        yield f"{totals_of(cycles)}, not {ours}"
    if parts != cycles["wall_ns"]:
        yield f"parts of {parts}, a wall of {cycles['wall_ns']}"
    bare = json.loads(run(binary, "ledger", "--format", "json", *map(
        without_markers, paths)))["cycles"]
    if bare["marked"] or bool(cycles["marked"]) == plain:
        yield "markers are used where there are none, or not where there are"
    # Where the host is a step ahead, what it launches for the next one shares
    # its time with this one's only where no marker tells whose it is.
    slack = 5 if made.options.overlap else 0  # per thousand
    for key in ("cycles", "draft_passes", "draft_ns", "verify_ns",
                "sample_ns"):
        if kind == "pieces" and key == "verify_ns":
            continue  # with what is launched in front of it, or without
        if abs(bare[key] - cycles[key]) * 1000 > slack * cycles[key]:
            yield f"{key} without markers {bare[key]}, with {cycles[key]}"
    if bare["kind"] != cycles["kind"]:
        yield f"without markers {bare['kind']}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in VARIANTS:
            for seed in range(arguments.seeds):
                for text in check(arguments.bin, name, seed,
                                  os.path.join(folder, f"{name}-{seed}")):
                    failures += 1
                    print(f"{name}, seed {seed}: {text}")
    return min(1, failures)


if __name__ == "__main__":
    sys.exit(main())
