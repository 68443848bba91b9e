#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `compare` make of a published study's tables what the study made of them?

    tests/study.py --bin build/release/inferdiff [--study FOLDER]

One command on the study's ledger and timed arms, its figures worked out again
here from the same files, in decimals: the gap, what overlap is worth, every row
of the residual against the study's own column, the reconciliation, number and
price of operations, and what to start with. The files are not in the
repository. Exit code 77: they are not here.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
from decimal import Decimal

SKIPPED = 77
ARMS = {"a": "w3-base-sim", "b": "u-sim", "serial-a": "w3-serial-sim"}
A, B, SERIAL = "gb300_default", "mi355x", "gb300_serial"

failures = []


def check(what, found, expected, within=Decimal("0.001")):
    """Figures in us."""
    good = abs(Decimal(str(found)) - expected) <= within
    print(f"{'ok  ' if good else 'FAIL'} {what}: {found} (expected {expected})")
    if not good:
        failures.append(what)


def check_true(what, holds):
    print(f"{'ok  ' if holds else 'FAIL'} {what}")
    if not holds:
        failures.append(what)


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def floors_of(study):
    """The price of a tiny dependent kernel, A and B, as the tables have it."""
    row = rows_of(study / "graph_floor.csv")[0]
    return (Decimal(row["gb300_cuda_us_per_kernel"]),
            Decimal(row["mi355x_hip_us_per_kernel"]))


def compare(program, study, floors):
    table, arms = study / "ledger_verify.csv", study / "arms.csv"
    command = [program, "compare", f"{table}:{A}", "--", f"{table}:{B}",
               "--serial-a", f"{table}:{SERIAL}",
               "--untraced-a", f"{arms}:{ARMS['a']}",
               "--untraced-b", f"{arms}:{ARMS['b']}",
               "--untraced-serial-a", f"{arms}:{ARMS['serial-a']}",
               "--floor", f"A={floors[0]}us,B={floors[1]}us",
               "--format", "json"]
    print(" ".join(map(str, command)))
    return json.loads(subprocess.run(command, check=True, capture_output=True,
                                     text=True).stdout)


def us(ns):
    return Decimal(str(ns)) / 1000


def check_gap(causes, arm):
    gap = arm["b"] - arm["a"]
    worth = arm["serial-a"] - arm["a"]
    check("gap", us(causes["gap_ns"]), gap)
    measured = causes["overlap"]["a"]["measured"]
    check("worth of overlap", us(measured["worth_ns"]), worth)
    check_true("  measured without the profiler", measured["untraced"])
    parts = {part["id"]: part for part in causes["parts"]}
    check("  as a part of the gap", us(parts["overlap.A"]["delta_ns"]), worth)
    check("parts add up", sum(us(p["delta_ns"]) for p in causes["parts"]), gap)
    check("scaled parts add up", sum(us(p["scaled_ns"])
                                     for p in causes["parts"]
                                     if "scaled_ns" in p), gap - worth)
    return parts


def check_rows(causes, parts, table, arm):
    rows = {row["category"]: row for row in table}
    total = rows["total"]
    bound = Decimal(total[f"{A}_kernel_us"]) - (
        Decimal(total[f"{A}_wall_us"]) -
        Decimal(rows["GPU idle"][f"{A}_wall_us"]))
    check("bound of overlap", us(causes["overlap"]["a"]["bound_ns"]), bound)
    check("operations that the serial layout adds",
          causes["overlap"]["a"]["measured"]["more_ops"],
          Decimal(total["kernels_gb_serial"]) -
          Decimal(total["kernels_gb_default"]))
    named = {group["title"]: group for group in causes["groups"]}
    for name, row in rows.items():
        if name == "total":
            continue
        found = us(parts["idle"]["delta_ns"]) if name == "GPU idle" else us(
            named[name]["work_ns"])
        check(f"residual of {name}", found,
              Decimal(row[f"{B}_us"]) - Decimal(row[f"{SERIAL}_us"]))
        check("  as the study has it", found, Decimal(row["gap_us"]),
              Decimal(1))
    residual = Decimal(total[f"{B}_us"]) - Decimal(total[f"{SERIAL}_us"])
    check("not in the ledgers", us(parts["untraced"]["delta_ns"]),
          arm["b"] - arm["serial-a"] - residual)


def check_floors(causes, table, floors):
    rows = {row["category"]: row for row in table}

    def split(row):
        a = Decimal(row["kernels_gb_serial"])
        b = Decimal(row["kernels_mi"])
        return (b - a) * floors[0], b * (floors[1] - floors[0])

    for group in causes["groups"] + [
            dict(causes["floors"]["work"], title="total")]:
        count, price = split(rows[group["title"]])
        check(f"number of operations, {group['title']}",
              us(group["count_ns"]), count)
        check("  price of each", us(group["price_ns"]), price)
        if "work_ns" in group:
            check("  all three", us(group["count_ns"]) + us(
                group["price_ns"]) + us(group["rest_ns"]),
                us(group["work_ns"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--study", type=pathlib.Path, default=pathlib.Path(
        __file__).parents[2] / "shared/reference/study")
    arguments = parser.parse_args()
    study = arguments.study
    if not (study / "ledger_verify.csv").exists():
        print(f"skipped: no study in {study}")
        return SKIPPED
    table = rows_of(study / "ledger_verify.csv")
    timed = {row["arm"]: Decimal(row["ms_cycle_or_step"]) * 1000
             for row in rows_of(study / "arms.csv")}
    arm = {side: timed[name] for side, name in ARMS.items()}
    floors = floors_of(study)
    result = compare(arguments.bin, study, floors)
    causes = result["causes"]
    parts = check_gap(causes, arm)
    check_rows(causes, parts, table, arm)
    check_floors(causes, table, floors)
    starts = [finding["id"] for finding in result["findings"]
              if finding["advice"]]
    check_true(f"where to start: {', '.join(starts)}",
               starts[:4] == ["overlap.A", "floor", "contributor.work.moe",
                              "contributor.work.attention"] and
               starts[-1] == "slower-ahead.work.mhc")
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
