#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known waits between two real ranks: are they found, and is the rest right?

examples/ranks-h200 says what was injected. Rank wait must be within 5 % of it
and the transfer within 15 % of an all-reduce by itself; and a clock that is off
must change nothing.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ROOT / "examples/ranks-h200"


def ledger_of(binary, paths):
    run = subprocess.run(
        [binary, "ledger", "--format", "json", *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def category(ledger, name):
    return next(c for c in ledger["categories"] if c["name"] == name)


def files_of(name):
    return [SETS / f"{name}-TP-{rank}.trace.json.gz" for rank in (0, 1)]


def with_clock_ahead(path, ahead_ns, folder):
    """The same trace, recorded by a host whose clock is ahead."""
    trace = json.loads(gzip.decompress(path.read_bytes()))
    trace["baseTimeNanoseconds"] += ahead_ns
    target = pathlib.Path(folder) / path.name
    target.write_bytes(gzip.compress(json.dumps(trace).encode()))
    return target


def waits_of(ledger):
    return [
        rank["rank_wait_ns"] / 1e3 / rank["used_steps"]
        for rank in ledger["rank_set"]["ranks"]
    ]


def check(name, truth, binary):
    ledger = ledger_of(binary, files_of(name))
    waits = waits_of(ledger)
    transfer = category(ledger, "communication")
    a_call = transfer["sum_ns"] / transfer["count"] / 1e3
    text = f"{name}: waits {waits[0]:.1f} and {waits[1]:.1f} us a step"
    if "alone_us" in truth:
        alone = truth["alone_us"]
        assert abs(a_call - alone) <= 0.15 * alone, (name, a_call, alone)
        text += f"; transfer {a_call:.2f} us, alone {alone}"
    if "wait_us_a_step" in truth:
        expected = truth["wait_us_a_step"]
        found = waits[truth["waits_rank"]]
        text += f", injected {expected}"
        assert abs(found - expected) <= 0.05 * expected, (name, found, expected)
        assert min(waits) <= 0.01 * expected, (name, waits)
    print(text)
    return waits


def check_clock(name, binary, waits):
    with tempfile.TemporaryDirectory() as folder:
        first, second = files_of(name)
        ahead = with_clock_ahead(second, 412_345, folder)
        ledger = ledger_of(binary, [first, ahead])
        offset = ledger["rank_set"]["ranks"][1]["alignment"]["offset_ns"]
        assert abs(offset - 412_345) < 3_000, offset
        for found, expected in zip(waits_of(ledger), waits):
            assert abs(found - expected) < 0.5, (found, expected)
    print(f"{name}: the same with a clock 412 us ahead")


def check_sentences(binary):
    """A comparison names each side's straggler and what it did meanwhile."""
    run = subprocess.run(
        [binary, "compare", "--format", "json", *map(str, files_of("host-delay")),
         "--", *map(str, files_of("extra-work"))],
        capture_output=True,
        text=True,
        check=True,
    )
    texts = {f["id"]: f["text"] for f in json.loads(run.stdout)["findings"]}
    for side, reason in (("A", "its host is late"), ("B", "more dense GEMM")):
        text = texts[f"straggler.{side}"]
        assert text.startswith(f"{side}: the others wait for rank 1"), text
        assert reason in text, text
    print("compare: the straggler of both sides is named")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    binary = parser.parse_args().bin
    for name, truth in json.loads((SETS / "truth.json").read_text()).items():
        waits = check(name, truth, binary)
        if name in ("host-delay", "extra-work"):
            check_clock(name, binary, waits)
    check_sentences(binary)


if __name__ == "__main__":
    main()
