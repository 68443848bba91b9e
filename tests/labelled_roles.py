#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures roles and layers against the hand labels of tests/labels.

    tests/labelled_roles.py --bin INFERDIFF [--floors FILE] [--wrong] [NAME...]

For each labelled public trace: the share of its operations, and of their
attributed time, whose role is the label's (strict), or that or one of the
label's alternatives (`also`, lenient). An operation that the program has in no
step is missed. Times of files whose clock is damaged
say nothing: there the share of operations counts. With --floors, a share below
the file's floor is an error. --wrong lists what was missed.
"""

import argparse
import collections
import csv
import difflib
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LABELS = ROOT / "tests/labels"
# Times and names are shifted against each other: labels/README.md.
DAMAGED = {"tl_sglang_deepseek_r1_MI300_TP0_DECODE"}
SKIPPED = 77


def traces_folder():
    return pathlib.Path(os.environ.get("INFERDIFF_TRACES",
                                       ROOT.parent / "shared/traces"))


def trace_of(name):
    for ending in (".json.gz", ".trace.json.gz"):
        path = traces_folder() / (name + ending)
        if path.exists():
            return path
    return None


def read_labels(name):
    with open(LABELS / (name + ".tsv"), newline="") as file:
        return {int(row["ordinal"]): row
                for row in csv.DictReader(file, delimiter="\t")}


def alternatives(label):
    return {word[1:] for word in (label["also"] or "").split(",")
            if word.startswith("?")}


def run(binary, *arguments):
    return subprocess.run([binary, *map(str, arguments)], check=True,
                          capture_output=True, text=True).stdout


def dump(binary, trace):
    """Ordinal -> a row of `dump`: its time, step and kernel."""
    lines = [line for line in run(binary, "dump", trace).splitlines()
             if not line.startswith("#")]
    return {int(row["ordinal"]): row
            for row in csv.DictReader(lines, delimiter="\t",
                                      quoting=csv.QUOTE_NONE)}


def roles_of_ledger(binary, trace):
    """Ordinal -> (role, layer) in the representative step, and its number."""
    layers = json.loads(run(binary, "ledger", trace, "--format",
                            "json"))["layers"]
    found = {}
    for number, layer in enumerate(layers["layers"]):
        for ordinal, role in zip(layer["ordinals"], layer["roles"]):
            found[ordinal] = (role, number)
    outside = layers["outside"]
    for ordinal, role in zip(outside["ordinals"], outside["roles"]):
        found[ordinal] = (role, None)
    return found


def roles_of_labelled(binary, trace, rows, labels):
    """Ordinal -> (role, layer) of the labelled ops. Where another step is the
    representative one, of its op at the same place in the sequence."""
    found = roles_of_ledger(binary, trace)
    if any(ordinal in found for ordinal in labels):
        return found

    def in_order(ordinals):
        return sorted((o for o in ordinals if o in rows),
                      key=lambda o: (int(rows[o]["start_ns"]), o))
    ours, theirs = in_order(found), in_order(labels)
    by_family = collections.defaultdict(list)
    for ordinal in ours:
        by_family[rows[ordinal]["family"]].append(found[ordinal])
    # The kernels of two lanes may change places from step to step: the n-th of
    # a family is that of the other step, where both have as many.
    counts = collections.Counter(rows[o]["family"] for o in theirs)
    if counts == {family: len(of) for family, of in by_family.items()}:
        return {o: by_family[rows[o]["family"]].pop(0) for o in theirs}
    match = difflib.SequenceMatcher(
        None, [rows[o]["family"] for o in ours],
        [rows[o]["family"] for o in theirs], autojunk=False)
    return {theirs[j + k]: found[ours[i + k]]
            for i, j, size in match.get_matching_blocks()
            for k in range(size)}


class Score:
    def __init__(self):
        self.ops = self.time = 0
        self.right = [0, 0]  # ops: strict, lenient
        self.right_time = [0, 0]
        self.wrong = collections.Counter()
        self.unfound = 0

    def add(self, label, role, time, family):
        self.ops += 1
        self.time += time
        if role is None:  # in no step, or in another one
            self.unfound += 1
        lenient = role == label["role"] or role in alternatives(label)
        for i, right in enumerate((role == label["role"], lenient)):
            self.right[i] += right
            self.right_time[i] += time * right
        if not lenient:
            self.wrong[label["role"], role, family] += time

    def shares(self):
        """Strict and lenient by time, then by ops."""
        return [r / max(self.time, 1) for r in self.right_time] + [
            r / max(self.ops, 1) for r in self.right]


def score(binary, name):
    trace = trace_of(name)
    if trace is None:
        return None
    labels, rows = read_labels(name), dump(binary, trace)
    found = roles_of_labelled(binary, trace, rows, labels)
    out = Score()
    for ordinal, label in labels.items():
        row = rows[ordinal]
        out.add(label, found.get(ordinal, (None, None))[0],
                int(row["attributed_ns"]), row["family"])
    return out


def all_names():
    return sorted(str(path.relative_to(LABELS))[:-len(".tsv")]
                  for path in LABELS.rglob("*.tsv")
                  if path.name not in ("layer_counts.tsv", "floors.tsv"))


def read_floors(path):
    with open(path, newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file,
                                                           delimiter="\t")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--floors")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    floors = read_floors(options.floors) if options.floors else {}
    measured = failed = 0
    print("time strict  lenient   ops strict  lenient  file")
    for name in options.names or all_names():
        result = score(options.bin, name)
        if result is None:
            continue
        measured += 1
        shares = result.shares()
        damaged = name in DAMAGED
        print("     {}   {}       {:6.3f}   {:6.3f}  {}".format(
            *["     -" if damaged else f"{s:6.3f}" for s in shares[:2]],
            *shares[2:], name))
        if options.wrong:
            for (want, got, family), time in result.wrong.most_common(40):
                print(f"    {time:9} {want} -> {got}: {family[:70]}")
            print(f"    {result.unfound} not found")
        floor = floors.get(name)
        if options.floors and floor is None:
            print(f"{name}: no floor", file=sys.stderr)
            failed += 1
        elif floor:
            key = shares[2:] if damaged else shares[:2]
            for share, kind in zip(key, ("strict", "lenient")):
                if share < float(floor[kind]):
                    print(f"{name}: {kind} {share:.4f} is below its floor "
                          f"{floor[kind]}", file=sys.stderr)
                    failed += 1
    if measured == 0:
        print(f"no labelled trace in {traces_folder()}")
        return SKIPPED
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
