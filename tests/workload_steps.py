#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program's steps and categories against what a made-up engine did.

    workload_steps.py --bin BIN [--seeds N] [VARIANT...]

Every schedule of workloads/schedules.py is run with several seeds and written
as Kineto; number, borders, shape and op count of the steps must be the truth,
to the nanosecond, and so must what is left out and why, and each category's
ops and time.
"""

import argparse
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

from workloads import formats, schedules, workload

# Name -> (options, the evidence that the program must use).
VARIANTS = {
    name: ({"schedule": name}, "markers") for name in schedules.SCHEDULES}
VARIANTS |= {
    "two-batch-eager": ({"schedule": "two-batch", "graphs": False}, "markers"),
    "vllm": ({"schedule": "prefill", "engine": "vllm"}, "markers"),
    "context": ({"schedule": "context", "engine": "vllm"}, "markers"),
    "dependent-launch": ({"dependent_launch": True}, "markers"),
    "serial": ({"overlap": False}, "markers"),
    "tight": ({"vendor": "amd", "tight": True}, "markers"),
    "amd-eager": ({"schedule": "eager", "vendor": "amd"}, "markers"),
    "vary-drafts": ({"schedule": "speculative", "vary_drafts": True,
                     "steps": 9}, "markers"),
    "ranks": ({"ranks": 3, "clocks": {1: 350_000, 2: -80_000}}, "markers"),
    "missing": ({"defects": ("missing:0:2:3",)}, "markers"),
}
WITHOUT_MARKERS = ("decode", "prefill", "piecewise", "two-batch", "pipeline",
                   "speculative", "batches", "dependent-launch", "serial",
                   "tight", "missing", "vary-drafts")
for _name in WITHOUT_MARKERS:
    VARIANTS["bare-" + _name] = (VARIANTS[_name][0] | {"markers": False},
                                 "graph-replays")
for _name in ("eager", "amd-eager"):
    VARIANTS["bare-" + _name] = (VARIANTS[_name][0] | {"markers": False},
                                 "kernel-period")
SIZES = {"steps": 7, "layers": 3}


def options_of(name, seed):
    options = SIZES | VARIANTS[name][0]
    if options.get("schedule") == "pipeline":
        options["ranks"] = 3
    # Every seed is another size as well.
    options["layers"] += seed % 3
    options["batch"] = 1 << (seed % 5 + 1)
    return workload.Options(seed=seed, **options)


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise SystemExit(f"{arguments}: exit {done.returncode}: "
                         f"{done.stderr}")
    return done.stdout


def categories_of(dump):
    """Category -> ops and the sum of their durations."""
    rows = csv.DictReader([line for line in dump.split("\n")
                           if line and not line.startswith("#")],
                          delimiter="\t", quoting=csv.QUOTE_NONE)
    out = collections.defaultdict(lambda: {"count": 0, "sum_ns": 0})
    for row in rows:
        out[row["category"]]["count"] += 1
        out[row["category"]]["sum_ns"] += int(row["dur_ns"])
    return dict(out)


def expected_rows(truth, evidence):
    """The truth as the program has it: without markers no shape, and the last
    step is left out where it would be used."""
    rows = []
    for step in truth["steps"]:
        row = {key: step[key] for key in
               ("begin_ns", "wall_ns", "ops", "excluded")}
        for key in ("kind", "batch", "tokens", "context"):
            row[key] = step[key] if evidence == "markers" else None
        row["kind"] = row["kind"] or "unknown"
        if evidence == "kernel-period":
            # What other lanes run between two steps can be of either.
            del row["ops"]
        rows.append(row)
    if not rows[-1]["excluded"]:
        rows[-1]["excluded"] = "no-successor"
    return rows


def differences(name, truth, shown):
    """Sentences, of the first step that differs."""
    evidence = VARIANTS[name][1]
    if shown["evidence"] != evidence:
        yield f"evidence {shown['evidence']}, not {evidence}: {shown['how']}"
        return
    expected = expected_rows(truth, evidence)
    if len(expected) != len(shown["steps"]):
        yield f"{len(shown['steps'])} steps, not {len(expected)}"
    for number, (ours, theirs) in enumerate(zip(expected, shown["steps"])):
        wrong = [f"{key} {theirs[key]}, not {value}"
                 for key, value in ours.items() if theirs[key] != value]
        if wrong:
            yield f"step {number}: " + "; ".join(wrong)
            return


def check(binary, name, seed, folder):
    made = workload.build(options_of(name, seed))
    truth = made.truth()
    paths = formats.FORMATS["kineto"](made.ranks, folder)
    failures = 0
    for rank in truth["ranks"]:
        path = paths[rank["rank"]]
        shown = json.loads(run(binary, "steps", "--format", "json", path))
        texts = list(differences(name, rank, shown))
        if not made.options.defects:  # a lost kernel can have told another's
            categories = categories_of(run(binary, "dump", path))
            texts += [f"{key}: {categories.get(key)}, not {value}"
                      for key, value in rank["categories"].items()
                      if categories.get(key) != value]
        for text in texts:
            failures += 1
            print(f"{name}, seed {seed}, rank {rank['rank']}: {text}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("variants", nargs="*", default=list(VARIANTS))
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.variants:
            for seed in range(arguments.seeds):
                failures += check(arguments.bin, name, seed,
                                  os.path.join(folder, f"{name}-{seed}"))
    return min(1, failures)


if __name__ == "__main__":
    sys.exit(main())
