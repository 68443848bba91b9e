#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the alignment of two traces.

    tests/alignment.py --bin INFERDIFF gold A B GOLD.csv [--forward F]
                       [--reverse R]
    tests/alignment.py --bin INFERDIFF labels A B A.tsv B.tsv [...]

`gold` reads the published alignment of the pair: one group is the rows of one
lowest_common_ancestor_id, an operation its gpu_op_uid, trace1 is A. `labels`
makes groups of two files of tests/labels: one a layer and role; operations
outside the layers are left out there, and with --missing GOLD.csv those that
the gold alignment holds.

strict forward: share of operations whose whole gold group is in one of ours;
one that no group of ours has counts as missed. Paths that do not exist are
looked for in ../shared/traces (INFERDIFF_TRACES overrides).
strict reverse: share of operations, of those in both, whose whole group of
ours (as far as gold has it) is in one gold group. Exit 1 below a floor.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import subprocess
import sys


ROOT = pathlib.Path(__file__).resolve().parent.parent
TRACES = pathlib.Path(os.environ.get("INFERDIFF_TRACES",
                                     ROOT.parent / "shared/traces"))


def ours(binary, a, b):
    out = subprocess.run([binary, "compare", a, "--", b, "--format", "json"],
                         check=True, capture_output=True).stdout
    group_of = {}
    for number, group in enumerate(json.loads(out)["alignment"]):
        for side in "ab":
            for ordinal in group[side]:
                group_of[side, ordinal] = number
    return group_of


def gold_groups(path):
    group_of = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            side = {"trace1": "a", "trace2": "b"}[row["source"]]
            group_of[side, int(row["gpu_op_uid"])] = (
                row["lowest_common_ancestor_id"])
    return group_of


def label_groups(a, b):
    """Attention and the reduction of its splits are one piece of work."""
    group_of = {}
    for side, path in (("a", a), ("b", b)):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if row["layer"] == "-":
                    continue
                role = row["role"].replace("attention_combine", "attention")
                group_of[side, int(row["ordinal"])] = (row["layer"], role)
    return group_of


def strict(of, others):
    """How many ops' whole group in `of` is in one of `others`, and of how
    many."""
    members = collections.defaultdict(list)
    for op, group in of.items():
        members[group].append(op)
    whole = sum(len(ops) for ops in members.values()
                if len({others.get(op, op) for op in ops}) == 1
                and ops[0] in others)
    return whole, len(of)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--forward", type=float, default=0)
    parser.add_argument("--reverse", type=float, default=0)
    parser.add_argument("--missing")
    parser.add_argument("truth", choices=("gold", "labels"))
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    paths = [path if pathlib.Path(path).exists() else TRACES / path
             for path in (*options.paths, options.missing) if path]
    for path in paths:
        if not pathlib.Path(path).exists():
            print(f"skipped: no {path}")
            return 77
    found = ours(options.bin, *paths[:2])
    if options.truth == "gold":
        truth = gold_groups(paths[2])
    else:
        truth = label_groups(*paths[2:4])
    if options.missing:
        known = gold_groups(paths[-1])
        truth = {op: group for op, group in truth.items() if op not in known}
    lost = sum(op not in found for op in truth)
    print(f"{len(truth)} operations, {lost} of them in no group of ours")
    in_truth = {op: group for op, group in found.items() if op in truth}
    failed = False
    for name, (whole, of), floor in (
            ("forward", strict(truth, found), options.forward),
            ("reverse", strict(in_truth, truth), options.reverse)):
        print(f"strict {name} {whole} of {of} = {whole / max(of, 1):.4f}, at "
              f"least {floor}")
        failed |= whole < floor * of or of == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
