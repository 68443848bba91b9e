#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages a small trace in every way and sees the program survive it.

    tests/program_faults.py --bin INFERDIFF --batch PROGRAM_FAULTS [--full]

The trace is generated, plain and as .gz, and accounted as .ledger. Cut at each byte, and with random
bits flipped, it goes through `program_faults`, which reads, accounts, compares
and writes all reports in one process and dies of what does not add up. Some go
through the program itself: exit 0 or 2 and nothing else, a message with 2,
JSON that parses and adds up with 0, no sanitizer's report, no hang. Seeds are
fixed. --full: every cut, 10,000 flips of each file.
"""
import argparse
import concurrent.futures
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import generate_traces

SEED = 11  # of the trace: several steps, lanes and kinds of evidence
TIMEOUT = 60


def small_trace():
    """A generated trace with what else a profiler writes around it."""
    text = generate_traces.generate(SEED)
    devices = json.dumps([{"id": 0, "name": "NVIDIA H200", "warpSize": 32}])
    noise = ",\n".join([
        '{"ph": "M", "name": "process_name", "pid": 700, "tid": 0, '
        '"args": {"name": "python"}}',
        '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 700, '
        '"tid": 700, "ts": 4999.9, "dur": 3, "args": {"External id": 4}}',
        '{"ph": "s", "id": 7, "pid": 700, "tid": 700, "ts": 5000, '
        '"cat": "ac2g", "name": "ac2g"}'])
    text = text.replace('"traceEvents": [\n', f'"deviceProperties": {devices},'
                        f' "traceEvents": [\n{noise},\n', 1)
    return text.replace("\n]}\n", '\n], "traceName": "/tmp/x.json"}\n').encode()


def integer(value):
    return int(value)  # a string beyond 2^53


def check_ledger(text):
    """What is wrong with a ledger's JSON, or nothing."""
    ledger = json.loads(text)
    attributed = sum(integer(row["attributed_ns"])
                     for row in ledger["categories"]
                     if row["name"] not in ("foreign", "idle"))
    steps = ledger["step_amounts"]
    if attributed != sum(integer(step["busy_ns"]) for step in steps):
        return "the categories do not add up to busy time"
    for step in steps:
        if step.get("wall_ns") is None:
            continue
        parts = [integer(step[key])
                 for key in ("busy_ns", "foreign_ns", "idle_ns")]
        if sum(parts) != integer(step["wall_ns"]):
            return f"step {step['step']}: {parts} are not {step['wall_ns']}"
    return None


def complaint(arguments):
    """Runs the program once; what is wrong, or nothing."""
    try:
        done = subprocess.run(arguments, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end within {TIMEOUT} s"
    errors = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 2):
        return f"exit {done.returncode}\n{errors}"
    if "Sanitizer" in errors or "runtime error:" in errors:
        return errors
    if done.returncode == 2:
        lines = errors.splitlines()
        if not lines or not lines[0].startswith("inferdiff: "):
            return f"exit 2 without a message: {errors!r}"
        return "output beside an error" if done.stdout else None
    if not done.stdout:
        return "no output"
    return check_ledger(done.stdout) if "ledger" in arguments else None


def damaged(rng, data):
    if rng.random() < 0.5:
        return data[:rng.randrange(len(data))]
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def one_process(binary, original, path, number):
    path.write_bytes(damaged(random.Random(number), original.read_bytes()))
    wrong = complaint([binary, "ledger", "--format", "json", str(path)])
    if wrong is None and number % 4 == 0:
        form = ("terminal", "markdown")[number // 4 % 2]
        wrong = complaint([binary, "compare", "--format", form, str(path),
                           "--", str(original)])
    if wrong is None:
        path.unlink()
        return None
    kept = pathlib.Path(tempfile.gettempdir()) / f"inferdiff_fault_{path.name}"
    path.rename(kept)
    return f"{kept}: {wrong}"


def processes(binary, originals, folder, count):
    """Runs of the program itself, two at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(one_process, binary, original,
                            folder / f"{number}{original.suffix}", number)
                for original in originals for number in range(count)]
        wrong = [run.result() for run in runs if run.result() is not None]
    print(f"{len(runs)} runs of the program, {len(wrong)} wrong")
    return wrong


def batch(program, original, folder, rule, count, stride):
    """One process of program_faults; what is wrong, or nothing."""
    scratch = folder / f"batch_{rule}{original.suffix}"
    done = subprocess.run([program, str(original), str(scratch), rule,
                           str(count), "1", str(stride)],
                          capture_output=True, text=True)
    if done.returncode == 0:
        print(done.stdout, end="")
        return None
    kept = pathlib.Path(tempfile.gettempdir()) / f"inferdiff_{scratch.name}"
    scratch.rename(kept)
    return f"{kept}: exit {done.returncode}\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--batch", required=True)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    shared = pathlib.Path("/dev/shm")  # memory, where there is such a thing
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) \
            as name:
        folder = pathlib.Path(name)
        plain, packed = folder / "small.json", folder / "small.json.gz"
        plain.write_bytes(small_trace())
        packed.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
        ledger = folder / "small.ledger"
        subprocess.run([options.bin, "ledger", plain, "-o", ledger],
                       check=True)
        originals = (plain, packed, ledger)
        wrong = []
        for original in originals:
            size = original.stat().st_size
            stride = 1 if options.full else max(1, size // 400) | 1
            flips = 10_000 if options.full else 300
            wrong.append(batch(options.batch, original, folder, "prefix", 0,
                               stride))
            wrong.append(batch(options.batch, original, folder, "flip", flips,
                               1))
        wrong += processes(options.bin, originals, folder,
                           2_000 if options.full else 24)
    wrong = [text for text in wrong if text]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
