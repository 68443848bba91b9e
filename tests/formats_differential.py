#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same workload in every format gives the same ledger.

    formats_differential.py --bin BIN [--seeds FROM TO] [--formats NAME,...]
    formats_differential.py --files [--seeds FROM TO]

Kineto is what the others are compared with: devices, steps, per_step,
categories and kernels of `ledger --format json`, to the nanosecond. `LACKS`
says what a format cannot carry, and only that is left out. With --files the
program is not asked: the files' own totals, by SQL, csv and json, must be
those of the workload.
"""

import argparse
import collections
import contextlib
import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from workloads import formats, schedules, workload

# What a reader cannot know of a format's file: field of the ledger -> why.
LACKS = {
    "kineto": {},
    # Names are demangled in other words; `plain` undoes that.
    "nsys": {},
    "nsys-old": {},
    # No byte counts either, but no ledger shows any.
    "rocprof-csv": {},
    # Queues only, and copies have none: the lane says what hides a copy.
    "rocprof-csv-old": {
        "hidden_same_lane_ns": "a copy's queue is not written",
        "hidden_cross_lane_ns": "a copy's queue is not written",
    },
    "rocprof-json": {},
    "rocpd": {},
    "rpd": {},
}
# Without markers and graphs, steps are the period of a lane's ops; not to be
# had where copies are on no lane.
WITHOUT_LANE_OF_COPIES = ("rocprof-csv-old",)
# An op is tied to the call that made it; without the call's record nothing
# says which ops are of one replay.
WITHOUT_CORRELATION = ("rpd",)
# One file for all ranks; correlations collide between its processes.
MERGED = ("kineto", "nsys", "rocprof-json", "rocpd", "rpd")
MERGED_LACKS = {
    "kineto": {"graph_launches": "counted over the whole file"},
}
# Whether a collective can wait at all.
NUMBER_OF_RANKS = {
    "rank_wait": "that there is one rank stands in Kineto's metadata only",
    "rank_wait_ns": "that there is one rank stands in Kineto's metadata only",
}
OF_VENDOR = {
    "nvidia": ("kineto", "nsys", "nsys-old"),
    "amd": ("kineto", "rocprof-csv", "rocprof-csv-old", "rocprof-json",
            "rocpd", "rpd"),
    "either": tuple(formats.FORMATS),
}
SCHEDULES = [name for name in schedules.SCHEDULES if name != "pipeline"]
DEFECTS = (None, "missing", "duplicated", "burst", "lost-kernels",
           "clock-jump", "impossible")
DIRECTIONS = {"HOST_TO_DEVICE": "HtoD", "DEVICE_TO_HOST": "DtoH",
              "DEVICE_TO_DEVICE": "DtoD", "HostToDevice": "HtoD",
              "DeviceToHost": "DtoH", "DeviceToDevice": "DtoD"}


def options_of(seed):
    schedule = SCHEDULES[seed % len(SCHEDULES)]
    planted = DEFECTS[seed // len(SCHEDULES) % len(DEFECTS)]
    return workload.Options(
        seed=seed, schedule=schedule,
        defects=(planted,) if planted and schedule == "decode" else (),
        vendor=("either", "nvidia", "amd")[seed % 3], steps=4, layers=2,
        engine="vllm" if seed % 4 == 3 else "sglang",
        markers=seed % 5 != 4, overlap=seed % 2 == 0,
        tight=seed % 7 == 1, dependent_launch=seed % 6 == 5,
        ranks=2 if seed % 5 in (1, 3) else 1)


# --- the files themselves --------------------------------------------------


def query(path, text):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(text).fetchall()


def totals_of_nsys(path):
    tables = {row[0] for row in query(
        path, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    rows = []
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        table = f"CUPTI_ACTIVITY_KIND_{kind}"
        if table in tables:
            rows += query(path, "SELECT COUNT(*), SUM(o.end - o.start), "
                          f"COUNT(r.nameId) FROM {table} o LEFT JOIN "
                          "CUPTI_ACTIVITY_KIND_RUNTIME r "
                          "USING (correlationId)")
    launches = query(path, "SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                     "JOIN StringIds ON nameId = id "
                     "WHERE value LIKE 'cudaGraphLaunch%'")
    return [sum(column) for column in zip(*rows)] + [launches[0][0]]


def totals_of_rocpd(path):
    rows = []
    for view in ("kernels", "memory_copies"):
        rows += query(path, "SELECT COUNT(*), COALESCE(SUM(duration), 0), "
                      f"COUNT((SELECT 1 FROM regions r WHERE r.stack_id = "
                      f"v.stack_id)) FROM {view} v")
    launches = query(path, "SELECT COUNT(*) FROM regions "
                     "WHERE name = 'hipGraphLaunch'")
    return [sum(column) for column in zip(*rows)] + [launches[0][0]]


def totals_of_rpd(path):
    (ops, duration), = query(path, "SELECT COUNT(*), SUM(end - start) FROM op")
    (linked,), = query(path, "SELECT COUNT(*) FROM rocpd_api_ops "
                       "JOIN api ON api.id = api_id JOIN op ON op.id = op_id")
    (launches,), = query(path, "SELECT COUNT(*) FROM api "
                         "WHERE apiName = 'hipGraphLaunch'")
    return [ops, duration, linked, launches]


def totals_of_csv(path):
    def rows(what):
        with open(path.replace("kernel_trace", what), encoding="utf-8",
                  newline="") as file:
            return list(csv.DictReader(file))
    ops = rows("kernel_trace") + rows("memory_copy_trace")
    calls = {row["Correlation_Id"]: row["Function"]
             for row in rows("hip_api_trace")}
    return [len(ops), sum(int(row["End_Timestamp"]) -
                          int(row["Start_Timestamp"]) for row in ops),
            sum(row["Correlation_Id"] in calls for row in ops),
            sum(name == "hipGraphLaunch" for name in calls.values())]


def totals_of_json(path):
    with open(path, encoding="utf-8") as file:
        tool, = json.load(file)["rocprofiler-sdk-tool"]
    records, kinds = tool["buffer_records"], tool["strings"]["buffer_records"]
    ops = records["kernel_dispatch"] + records["memory_copy"]
    calls = {call["correlation_id"]["internal"]:
             kinds[call["kind"]]["operations"][call["operation"]]
             for call in records["hip_api"]}
    return [len(ops), sum(op["end_timestamp"] - op["start_timestamp"]
                          for op in ops),
            sum(op["correlation_id"]["internal"] in calls for op in ops),
            sum(name == "hipGraphLaunch" for name in calls.values())]


TOTALS = {"nsys": totals_of_nsys, "nsys-old": totals_of_nsys,
          "rocprof-csv": totals_of_csv,
          "rocprof-csv-old": totals_of_csv, "rocprof-json": totals_of_json,
          "rocpd": totals_of_rocpd, "rpd": totals_of_rpd}


def check_files(seed, folder):
    made = workload.build(options_of(seed))
    truth = made.truth()["ranks"][0]["totals"]
    calls = {call.correlation for call in made.ranks[0].calls}
    linked = sum(op.correlation in calls for op in made.ranks[0].ops)
    expected = [truth["ops"], truth["sum_ns"], linked,
                truth["graph_launches"]]
    failures = 0
    for name in OF_VENDOR[made.options.vendor]:
        path = formats.FORMATS[name](made.ranks, os.path.join(folder, name))[0]
        shown = TOTALS[name](path) if name in TOTALS else expected
        if shown != expected:
            failures += 1
            print(f"seed {seed}, {name}: ops, duration, linked, graph launches"
                  f" {shown}, not {expected}")
    return failures


# --- the ledgers -----------------------------------------------------------


def run(binary, path, device):
    done = subprocess.run([binary, "ledger", "--format", "json", "--device",
                           str(device), path], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode:
        raise SystemExit(f"{path}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def plain(name):
    """A kernel's name without what tools add or spell their own way."""
    for word, direction in DIRECTIONS.items():
        if re.fullmatch(rf"(MEMORY_COPY_|Copy){word}", name):
            return f"Memcpy {direction}"
    copy = re.match(r"(Memcpy \w+|Memset)\b", name.replace("[CUDA m", "M"))
    if copy:
        return copy[1]
    for pattern, replacement in (
            (r"^void ", ""), (r"\.kd$", ""),
            (r"\(anonymous namespace\)|<unnamed>", "anonymous"),
            (r"\((?:int|bool|long|unsigned int|unsigned long)\)(?=-?\d)", ""),
            (r"(?<=\d)(?:ul|u|l)\b", ""), (r"\btrue\b", "1"),
            (r"\bfalse\b", "0"),
            (r"\[lambda\(([^()]*)\) \(instance (\d+)\)\]",
             r"{lambda(\1)#\2}")):
        name = re.sub(pattern, replacement, name)
    return name


def leaves(value, path=()):
    """Every number and text of a document: path -> value."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves(part, path + (key,))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from leaves(part, path + (number,))
    else:
        yield path, value


def comparable(ledger, lacks):
    """What must be the same, of one ledger, by path."""
    kernels = collections.Counter()
    for row in ledger["kernels"]:
        key = plain(row["name"]), row["category"]
        for path, value in leaves({k: row[k] for k in row if k.endswith("_ns")
                                   or k == "count"}):
            kernels[key + path] += value
    device = ledger["trace"]["device"]
    parts = {
        # The rank stands in Kineto's metadata only.
        "devices": [{k: v for k, v in row.items() if k != "rank"}
                    for row in ledger["devices"] if row["device"] == device],
        "steps": {key: ledger["steps"][key] for key in
                  ("count", "used", "evidence", "groups", "excluded")},
        "per_step": ledger["per_step"],
        "step_amounts": ledger["step_amounts"],
        "categories": {row["name"]: row for row in ledger["categories"]},
    }
    flat = dict(leaves(parts))
    flat.update({("kernels", *key): value for key, value in kernels.items()})
    return {path: value for path, value in flat.items()
            if not set(path) & set(lacks)}


def ledgers_of(binary, made, names, folder):
    """(format, merged or not, ledger) of the last rank."""
    rank = made.ranks[-1]
    for name in OF_VENDOR[made.options.vendor]:
        if name not in names:
            continue
        write = formats.FORMATS[name]
        path = write(made.ranks, os.path.join(folder, name))[rank.number]
        yield name, False, run(binary, path, rank.device)
        if len(made.ranks) > 1 and name in MERGED:
            path = write(made.ranks, os.path.join(folder, name + "-merged"),
                         merged=True)[rank.number]
            yield name, True, run(binary, path, rank.device)


def compare(binary, seed, names, folder):
    made = workload.build(options_of(seed))
    failures, kineto = 0, None
    for name, merged, ledger in ledgers_of(binary, made, names, folder):
        kineto = kineto or ledger
        if kineto["steps"]["evidence"] == "kernel-period" and \
                name in WITHOUT_LANE_OF_COPIES:
            continue
        if "burst" in made.options.defects and name in WITHOUT_CORRELATION:
            continue
        lacks = LACKS[name] | (MERGED_LACKS.get(name, {}) if merged else {})
        if (kineto["trace"]["world_size"] == 1 and
                ledger["trace"]["world_size"] is None):
            lacks = lacks | NUMBER_OF_RANKS
        ours, theirs = comparable(kineto, lacks), comparable(ledger, lacks)
        wrong = [path for path in sorted(set(ours) | set(theirs), key=str)
                 if ours.get(path) != theirs.get(path)]
        if wrong:
            failures += 1
            print(f"seed {seed} ({made.options.schedule}, "
                  f"{made.options.vendor}), {name}{' merged' * merged}: "
                  f"{len(wrong)} differences")
        for path in wrong[:6]:
            print(f"  {' '.join(map(str, path))}: {theirs.get(path)}, "
                  f"Kineto {ours.get(path)}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin")
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 30))
    parser.add_argument("--formats", default=",".join(formats.FORMATS))
    arguments = parser.parse_args()
    failures = 0
    for seed in range(*arguments.seeds):
        with tempfile.TemporaryDirectory() as folder:
            if arguments.files:
                failures += check_files(seed, folder)
            else:
                failures += compare(arguments.bin, seed,
                                    arguments.formats.split(","), folder)
    return min(1, failures)


if __name__ == "__main__":
    sys.exit(main())
