#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large Nsight Systems export for the benchmark: make_nsys.py OUT.

Kernels of a few streams in the order of their ends, as an export has them; of
ten of them one is launched alone and nine are nodes of a graph. As many rows
of the CUDA runtime, most of which launch nothing.
"""

import argparse
import pathlib
import random
import sqlite3
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from workloads.write_nsys import TABLES  # noqa: E402 (the path comes first)

PROCESS = 1 << 48 | 4711 << 24
NAMES = [f"void gemm_{i}<{i}, float>(float const*, float*)"
         for i in range(2000)]
CALLS = ["cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000",
         "cudaEventRecord_v3020", "cudaStreamIsCapturing_v10000",
         "cudaStreamSynchronize_v3020"]


def create(connection, table):
    connection.execute(f"CREATE TABLE {table} ({', '.join(TABLES[table])})")


def kernels(count, launches):
    device = 1_000_000
    for i in range(count):
        start = device - random.randrange(3000)
        device += random.randrange(500, 20000)
        launch = launches[min(i * len(launches) // count, len(launches) - 1)]
        node = i % 10
        yield (start, device, 0, 1, None, 7 + i % 3, launch, PROCESS,
               random.randrange(1, len(NAMES)), random.randrange(1, len(NAMES)),
               None, 1, 64, 32, 1, 1, 256, 1, 1, 0, 0, i, node or None, None)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("--kernels", type=int, default=1_000_000)
    options = parser.parse_args()
    random.seed(1)
    connection = sqlite3.connect(options.out)
    connection.execute("PRAGMA journal_mode = off")
    for table in ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL",
                  "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
                  "META_DATA_EXPORT"):
        create(connection, table)
    connection.executemany(
        "INSERT INTO StringIds VALUES (?, ?)",
        [(i + 1, text) for i, text in enumerate(NAMES + CALLS)])
    launches = list(range(1, options.kernels, 5))
    calls = ((i * 4000, i * 4000 + 2500, 0, PROCESS | 4711, i + 1,
              len(NAMES) + (1 + i % 2 if i % 5 == 0 else 3 + i % 3), 0, None)
             for i in range(options.kernels))
    marks = "?, " * 7 + "?"
    connection.executemany(
        f"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({marks})", calls)
    marks = "?, " * 23 + "?"
    connection.executemany(
        f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({marks})",
        kernels(options.kernels, launches))
    connection.executemany(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) "
        "VALUES (?, ?, 59, 'execute_context_0(0)_generation_1(16)', ?)",
        ((i * 400_000, i * 400_000 + 390_000, PROCESS | 4711)
         for i in range(options.kernels // 100)))
    connection.commit()
    connection.close()


if __name__ == "__main__":
    main()
