#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the databases' fuzz targets: corpus/NAME/tiny.

A tiny workload in each format, in pages of 512 bytes, so that an input has
many of them and is small.
"""

import contextlib
import os
import pathlib
import sqlite3
import sys
import tempfile

FUZZ = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FUZZ.parent))
from workloads import formats, workload  # noqa: E402 (the path comes first)

OPS = 12


def shrink(rank):
    """The first operations, and the calls that made them."""
    rank.ops = sorted(rank.ops, key=lambda op: op.start)[:OPS]
    made = {op.correlation for op in rank.ops}
    rank.calls = [call for call in rank.calls if call.correlation in made]
    rank.markers = rank.markers[:2]


def main():
    for name, vendor in (("nsys", "nvidia"), ("rocpd", "amd"), ("rpd", "amd")):
        corpus = FUZZ / "corpus" / name
        corpus.mkdir(parents=True, exist_ok=True)
        made = workload.build(workload.Options(
            seed=2, vendor=vendor, steps=2, layers=1))
        for rank in made.ranks:
            shrink(rank)
        with tempfile.TemporaryDirectory() as folder:
            path = formats.FORMATS[name](made.ranks, folder)[0]
            target = corpus / "tiny"
            target.unlink(missing_ok=True)
            with contextlib.closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA page_size = 512")
                connection.execute("VACUUM INTO ?", (str(target),))
        print(f"{target}: {os.path.getsize(target)} bytes")


if __name__ == "__main__":
    main()
