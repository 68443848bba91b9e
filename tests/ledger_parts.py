#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A set in parts, made apart and merged, is the set in one process.

    tests/ledger_parts.py --bin INFERDIFF [--seeds N]

Made-up runs of every schedule on one to five ranks, in several formats, some
with groups of steps to choose from, ranks of other work, and ranks merged into
one file. For each: the ledger of all files in one process, printed in every
form and as a ledger file; the same from 2, 3, 4 and 7 parts, named in a random
order or as a folder; and the same printed from the ledger file. All of it byte
for byte. Seeds are fixed.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

import generate_traces
from workloads import formats, schedules, workload

FORMS = ("terminal", "markdown", "json", "tsv")
SHARDS = (2, 3, 4, 7)


def made_set(rng, schedule, folder):
    """The files of one run, and options that the accounting gets."""
    options = workload.Options(
        seed=rng.randrange(1 << 20), schedule=schedule,
        ranks=rng.randrange(1, 6), steps=rng.choice((5, 9)), layers=2,
        engine=rng.choice(("sglang", "vllm")),
        vendor=rng.choice(("nvidia", "amd")))
    made = workload.build(options)
    names = ["kineto"]
    names += ["nsys"] if options.vendor == "nvidia" else ["rocpd", "rpd"]
    paths = formats.FORMATS[rng.choice(names)](made.ranks, str(folder))
    return list(paths.values())


def unlike_ranks(rng, folder):
    """Ranks of unlike steps: some are left out."""
    paths = []
    for rank in range(5):
        path = folder / f"run-TP-{rank}.json"
        path.write_text(generate_traces.generate(rng.choice((3, 4, 11))))
        paths.append(path)
    return paths


def bytes_of(path):
    return path.read_bytes() if path.exists() else b""


class Check:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.wrong = []

    def run(self, *words):
        done = subprocess.run([self.binary, *map(str, words)],
                              capture_output=True)
        if done.returncode != 0:
            self.wrong.append(f"{words}: exit {done.returncode}\n"
                              f"{done.stderr.decode(errors='replace')}")
        return done.stdout

    def forms(self, *words):
        return {form: self.run(*words, "--format", form) for form in FORMS}

    def expect(self, title, got, wanted):
        for form in FORMS:
            if got[form] != wanted[form]:
                self.wrong.append(f"{title}: other {form}")

    def one_set(self, title, rng, files, *options):
        folder = self.folder / title
        folder.mkdir()
        wanted = self.forms("ledger", *files, *options)
        whole = folder / "whole.ledger"
        self.run("ledger", *files, *options, "-o", whole)
        again = folder / "again.ledger"
        self.run("ledger", *reversed(files), *options, "-o", again,
                 "--threads", "1")
        if bytes_of(whole) != bytes_of(again):
            self.wrong.append(f"{title}: other bytes in another order")
        self.expect(f"{title}, from the file", self.forms("ledger", whole),
                    wanted)
        shards = rng.choice(SHARDS)
        parts = []
        for shard in range(shards):
            parts.append(folder / f"parts/{shard}.ledger")
            parts[-1].parent.mkdir(exist_ok=True)
            self.run("ledger", *files, *options, "--shard",
                     f"{shard}/{shards}", "-o", parts[-1])
        rng.shuffle(parts)
        merged = folder / "merged.ledger"
        self.run("merge", *parts, "-o", merged)
        if bytes_of(merged) != bytes_of(whole):
            self.wrong.append(f"{title}: {shards} parts give other bytes")
        self.expect(f"{title}, {shards} parts",
                    self.forms("merge", parts[0].parent), wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    sets = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check = Check(options.bin, folder)
        for seed in range(options.seeds):
            rng = random.Random(seed)
            for schedule in schedules.SCHEDULES:
                title = f"{schedule}-{seed}"
                files = made_set(rng, schedule, folder / f"files-{title}")
                check.one_set(title, rng, files)
                sets += 1
            title = f"unlike-{seed}"
            (folder / f"files-{title}").mkdir()
            files = unlike_ranks(rng, folder / f"files-{title}")
            check.one_set(title, rng, files)
            check.one_set(f"{title}-group", rng, files, "--group", "0")
            sets += 2
    print("\n".join(check.wrong))
    print(f"{sets} sets, {len(check.wrong)} wrong")
    sys.exit(1 if check.wrong or sets == 0 else 0)


if __name__ == "__main__":
    main()
