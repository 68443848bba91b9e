#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rocprof readers against Python's csv and json modules.

    tests/rocprof_differential.py --bin build/release/inferdiff --seeds 20
    tests/rocprof_differential.py --bin ... --public ../shared/traces

Every kernel of a file must come out of `inferdiff dump` with its ordinal,
start, duration, correlation and name, and no other; so sums and counts agree
too. Generated tables have names with commas, quotes, line breaks and both
kinds of line ends, and columns in any order. Exit code 77: no public files.
"""
import argparse
import csv
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

SKIPPED = 77
COLUMNS = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Kernel_Name",
           "Correlation_Id", "Start_Timestamp", "End_Timestamp", "Grid_Size_X"]
PARTS = ["void f<a, b>(int)", ",", '"', "\n", "\r\n", " ", "\u00e9", "gemm",
         "\t", "\\", "x" * 300]


def unescape(text):
    out, rest = "", iter(text)
    for c in rest:
        out += {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[next(rest)] \
            if c == "\\" else c
    return out


def dumped(binary, path):
    run = subprocess.run([binary, "dump", path], check=True,
                         stdout=subprocess.PIPE)
    lines = run.stdout.decode().split("\n")
    names = lines[2].split("\t")
    rows = [dict(zip(names, line.split("\t"))) for line in lines[3:] if line]
    return sorted((int(r["ordinal"]), int(r["start_ns"]), int(r["dur_ns"]),
                   int(r["correlation"]), unescape(r["name"]))
                  for r in rows if r["kind"] == "kernel")


def in_csv(path):
    rows = []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        reader.fieldnames  # reads the header
        line = reader.line_num + 1
        for row in reader:
            start = int(row["Start_Timestamp"])
            rows.append((line, start, int(row["End_Timestamp"]) - start,
                         int(row["Correlation_Id"]), row["Kernel_Name"]))
            line = reader.line_num + 1
    return sorted(rows)


def in_json(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        processes = json.load(file)["rocprofiler-sdk-tool"]
    process = processes[0]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"]
             for symbol in process["kernel_symbols"]}
    return sorted(
        (i, r["start_timestamp"], r["end_timestamp"] - r["start_timestamp"],
         r["correlation_id"]["internal"],
         names[r["dispatch_info"]["kernel_id"]])
        for i, r in enumerate(process["buffer_records"]["kernel_dispatch"]))


def compare(binary, path, expected):
    found = dumped(binary, path)
    if found == expected:
        return 0
    wrong = next((pair for pair in zip(found, expected)
                  if pair[0] != pair[1]), (len(found), len(expected)))
    print(f"{path}: read {wrong[0]}, should be {wrong[1]}")
    return 1


def generate(path, seed):
    rng = random.Random(seed)
    columns = rng.sample(COLUMNS, len(COLUMNS))
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, columns, lineterminator=rng.choice(["\n", "\r\n"]),
            quoting=rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
        writer.writeheader()
        now = 342_331_487_558_371
        for i in range(rng.randrange(1, 3000)):
            now += rng.randrange(5000)
            writer.writerow({
                "Kind": "KERNEL_DISPATCH", "Agent_Id": "Agent 2",
                "Queue_Id": rng.randrange(3), "Stream_Id": rng.randrange(3),
                "Kernel_Name": "k" + "".join(rng.choices(PARTS, k=rng.randrange(6))),
                "Correlation_Id": i + 1, "Start_Timestamp": now,
                "End_Timestamp": now + rng.randrange(9000), "Grid_Size_X": 64})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--public")
    arguments = parser.parse_args()
    failed = checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seeds):
            path = f"{folder}/table.csv"
            generate(path, seed)
            failed += compare(arguments.bin, path, in_csv(path))
            checked += 1
    if arguments.public:
        public = pathlib.Path(arguments.public)
        for path in sorted(public.glob("*kernel_trace.csv")):
            failed += compare(arguments.bin, path, in_csv(path))
            checked += 1
        for path in sorted(public.glob("*rocprofv3*_results.json.gz")):
            failed += compare(arguments.bin, path, in_json(path))
            checked += 1
    if not checked:
        return SKIPPED
    print(f"{checked} files, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
