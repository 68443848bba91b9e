#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Markdown fits a pull-request comment, whatever is compared.

    tests/markdown_size.py --bin build/release/inferdiff

Two sets of eight ranks with every table asked for: below 60 kB with nothing
left out. Thousands of kernels with long names: below 60 kB, and what is left
out is named. No tag but those of folded parts, which GitHub keeps; each opened
and closed. Exit code: 0 right, 1 wrong.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES = 60_000
TAG = re.compile(r"</?[a-zA-Z!][^>\n]*>?")
KEPT = {"<details>", "</details>", "<summary>", "</summary>"}


def run(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                          check=True, timeout=300).stdout.decode()


def check(text, complete):
    size = len(text.encode())
    assert size < MOST_BYTES, size
    # Names are code spans; in those nothing is a tag.
    prose = re.sub(r"(`+)[^`].*?\1", "", text)
    tags = TAG.findall(prose)
    assert set(tags) <= KEPT, set(tags) - KEPT
    for name in ("details", "summary"):
        assert tags.count(f"<{name}>") == tags.count(f"</{name}>"), name
    assert ("Left out, to fit" in text) == (not complete), text[-400:]
    return size, tags.count("<details>")


def many_kernels(path):
    """One step of 3,000 kernels, each with a name of its own."""
    events = []
    for i in range(3000):
        name = f"kernel_{i}_" + "<b>@x`|" * 30
        events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1,
                       "name": "cudaLaunchKernel", "ts": i * 10, "dur": 1,
                       "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0,
                       "tid": 7, "ts": i * 10 + 2, "dur": 5,
                       "args": {"device": 0, "stream": 7,
                                "correlation": i + 1}})
    path.write_text(json.dumps({"traceEvents": events}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    program = parser.parse_args().bin
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for side, extra in (("a", ()), ("b", ("--inject",
                                              "host:1:3:400000"))):
            run(sys.executable, HERE / "workload.py", folder / side,
                "--schedule", "speculative", "--ranks", 8, *extra)
        size, folded = check(run(
            program, "compare", folder / "a/kineto", "--", folder / "b/kineto",
            "--format", "markdown", "--category", "moe", "--role",
            "attention", "--floor", "A=1us,B=2us"), True)
        assert folded >= 5, folded
        many_kernels(folder / "many.json")
        large, _ = check(run(program, "ledger", folder / "many.json", "--top",
                             100_000, "--format", "markdown"), False)
    print(f"{size} bytes, {folded} folded parts; many kernels: {large} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
