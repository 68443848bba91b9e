#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `inferdiff dump` with a plain reading by Python's json module.

    tests/kineto_differential.py --bin INFERDIFF (--public FOLDER | --seeds N)

Every GPU op of every device: ordinal, start, duration, kind, correlation and
name. Generated traces have what writers do to a trace without making it
unreadable: other layouts, keys in any order, numbers as strings, keys that
stand twice, bare infinities, empty and strange elements. Exits 77 without
public traces.
"""
import argparse
import decimal
import gzip
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

KINDS = {"kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy",
         "Memcpy": "memcpy", "gpu_memset": "memset", "Memset": "memset"}


ZEROS = ["0", '"0"', "0.0", "0e0"]  # ways to write a device


def to_ns(value):
    exact = decimal.Decimal(str(value)) * 1000
    return int(exact.to_integral_value(decimal.ROUND_HALF_UP))


def expected(text):
    trace = json.loads(text, parse_float=decimal.Decimal)
    events = trace if isinstance(trace, list) else trace["traceEvents"]
    rows, devices = [], set()
    for ordinal, event in enumerate(events):
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        kind = KINDS.get(event.get("cat"))
        if kind is None:
            continue
        args = event.get("args", {})
        devices.add(int(decimal.Decimal(event["pid"])))
        rows.append((ordinal, to_ns(event["ts"]), max(0, to_ns(event["dur"])),
                     kind, int(args.get("correlation", 0)), event["name"]))
    return sorted(rows), sorted(devices)


def unescape(cell):
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(
        m[1], m[1]), cell)


def dumped(binary, path, threads, devices):
    rows = []
    for device in devices:
        rows += dumped_device(binary, path, threads, device)
    return sorted(rows)


def dumped_device(binary, path, threads, device):
    out = subprocess.run([binary, "dump", str(path), "--threads", str(threads),
                          "--device", str(device)],
                         capture_output=True, text=True, check=True).stdout
    rows = []
    columns = None
    for line in out.splitlines():
        cells = line.split("\t")
        if cells[0] == "ordinal":
            columns = {name: i for i, name in enumerate(cells)}
        elif columns and cells[0].isdigit():
            get = lambda name: cells[columns[name]]
            rows.append((int(get("ordinal")), int(get("start_ns")),
                         int(get("dur_ns")), get("kind"),
                         int(get("correlation")), unescape(get("name"))))
    return rows


def escaped(rng, text):
    """A letter of a key or of a category written as an escape."""
    word = rng.choice(['"ph"', '"cat"', '"X"', '"kernel"', '"args"', '"pid"',
                       '"correlation"', '"dur"', '"name"'])
    at = rng.randrange(1, len(word) - 1)
    return text.replace(word, f"{word[:at]}\\u{ord(word[at]):04x}"
                              f"{word[at + 1:]}")


def generated(seed):
    rng = random.Random(seed)
    events = []
    for i in range(rng.randrange(5, 400)):
        kind = rng.choice(["kernel", "gpu_memcpy", "cpu_op", "cuda_runtime",
                           "python_function", "flow", "odd"])
        if kind == "odd":
            events.append(rng.choice(["{}", "null", "17", '{"ph": "M"}']))
            continue
        time = 5115527807042486 + i * 1000 + rng.randrange(-3000, 3000)
        ts = f"{time // 1000}.{time % 1000:03d}"
        dur = rng.choice(["0", "0.125", "12.500", "7", "-1", "1e1", "3.1415"])
        name = rng.choice(["gemm<{a}, [b]>", "k\\\"q\\\"", "\u00e9\\u00e9",
                           "back\\\\slash", "x" * rng.randrange(1, 300)])
        quote = rng.choice(["", '"'])
        args = [f'"correlation": {quote}{i}{quote}', '"grid": [1, 2, 3]',
                '"warps": ' + rng.choice(["1.5", "Infinity", "NaN"]),
                '"o": {"a": {"b": "}"}}', '"device": 0']
        rng.shuffle(args)
        if rng.random() < 0.1:
            args.append(f'"correlation": {i + 7}')
        if kind == "flow":
            members = ['"ph": "f"', '"cat": "kernel"', f'"ts": {ts}']
        else:
            members = ['"ph": "X"', f'"cat": "{kind}"', f'"name": "{name}"',
                       f'"pid": {rng.choice(ZEROS)}',
                       f'"tid": {rng.choice([7, 20])}',
                       f'"ts": {quote}{ts}{quote}', f'"dur": {dur}',
                       '"args": {' + ", ".join(args) + "}"]
        if rng.random() < 0.1:
            rng.shuffle(members)
        text = "{" + ", ".join(members) + "}"
        if rng.random() < 0.1:
            text = escaped(rng, text)
        events.append(text)
    events.append('{"ph":"X","cat":"kernel","name":"last","pid":0,"tid":7,'
                  '"ts":5115527807042.001,"dur":1}')
    between = rng.choice([",", ",\n  ", " ,\r\n\t"])
    return ('{"schemaVersion": 1, "baseTimeNanoseconds": 5, "traceEvents": [' +
            between.join(events) + '], "traceName": "x"}')


def check(binary, path, text, label):
    want, devices = expected(text)
    for threads in (1, 2, 5):
        got = dumped(binary, path, threads, devices)
        if got == want:
            continue
        print(f"{label}, {threads} threads: {len(got)} rows, not {len(want)}")
        for row in sorted(set(want) ^ set(got))[:6]:
            print("  expected" if row in want else "  got     ", row)
        return False
    return True


def public(binary, folder):
    good = True
    for path in sorted(folder.glob("**/*.json*")):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            text = file.read()
        if '"traceEvents"' in text[:1 << 20] and expected(text)[0]:
            good &= check(binary, path, text, path.name)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--public", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=0)
    options = parser.parse_args()
    if options.public and not options.public.is_dir():
        print(f"no public traces in {options.public}")
        sys.exit(77)
    good = public(options.bin, options.public) if options.public else True
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trace.json"
        for seed in range(options.seeds):
            text = generated(seed)
            path.write_text(text, encoding="utf-8", newline="")
            good &= check(options.bin, path, text, f"seed {seed}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
