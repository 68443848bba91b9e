#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Public databases: what the program says of their devices against SQL.

    sqlite_public.py --bin BIN FOLDER

Exit code 77 where FOLDER has no such file.
"""

import argparse
import collections
import contextlib
import gzip
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

WORK = [f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET")]
# What is known of files without asking SQL again.
KNOWN = {"nsysai_healthy_1pct.sqlite": {"ops": 400, "sum_ns": 400_000_000},
         "rpd_raptor_mytrace.rpd.gz": {"ops": 10_124, "sum_ns": 416_625_081,
                                       "span_ns": 452_967_953}}


def rows_of_nsys(connection, tables):
    """(trace, start, end) of all work."""
    for table in WORK:
        if table not in tables:
            continue
        columns = [row[1] for row in
                   connection.execute(f"PRAGMA table_info({table})")]
        process = "globalPid" if "globalPid" in columns else "0"
        yield from connection.execute(
            f"SELECT {process} || '/' || deviceId, start, end FROM {table}")


def rows_of_rpd(connection, tables):
    del tables
    yield from connection.execute(
        "SELECT gpuId, start, end FROM op WHERE opType NOT IN "
        "('Barrier', 'Marker')")


def totals(rows):
    traces = collections.defaultdict(list)
    for trace, start, end in rows:
        traces[trace].append((start, max(start, end)))
    result = []
    for spans in traces.values():
        spans.sort()
        busy, reached = 0, spans[0][0]
        for start, end in spans:
            busy += max(0, end - max(start, reached))
            reached = max(reached, end)
        result.append({"ops": len(spans), "busy_ns": busy,
                       "sum_ns": sum(end - start for start, end in spans),
                       "span_ns": reached - spans[0][0]})
    return sorted(result, key=lambda row: sorted(row.items()))


def expected(path):
    with tempfile.NamedTemporaryFile() as plain:
        data = path.read_bytes()
        plain.write(gzip.decompress(data) if path.suffix == ".gz" else data)
        plain.flush()
        with contextlib.closing(sqlite3.connect(plain.name)) as connection:
            tables = {row[0] for row in connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'")}
            rows = rows_of_rpd if "rocpd_op" in tables else rows_of_nsys
            return totals(rows(connection, tables))


def printed(binary, path):
    done = subprocess.run([binary, "ledger", "--format", "json", path],
                          capture_output=True, text=True, check=True)
    rows = [{key: int(row[key]) for key in
             ("ops", "busy_ns", "sum_ns", "span_ns")}
            for row in json.loads(done.stdout)["devices"]]
    return sorted(rows, key=lambda row: sorted(row.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("folder")
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("INFERDIFF_TRACES", options.folder))
    paths = [path for path in sorted(folder.glob("*"))
             if path.suffix in (".sqlite", ".rpd", ".db")
             or path.name.endswith(".rpd.gz")]
    if not paths:
        print(f"skipped: no database in {folder}")
        return 77
    failures = 0
    for path in paths:
        ours, sql = printed(options.bin, path), expected(path)
        known = KNOWN.get(path.name, {})
        if ours != sql or any(ours[0][key] != known[key] for key in known):
            failures += 1
            print(f"{path.name}: {ours}\n  by SQL {sql}\n  known {known}")
    print(f"{len(paths)} databases, {failures} wrong")
    return min(1, failures)


if __name__ == "__main__":
    sys.exit(main())
