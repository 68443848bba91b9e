#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of ledger_fuzz: corpus/ledger/.

    tests/fuzz/make_ledger_seeds.py --bin build/release/inferdiff

Ledger files of small traces, and the two archives of each rank in them. To be
run again when the format of the ledger files changes: of older ones the fuzzer
learns little. Needs the program `zstd`.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

FUZZ = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FUZZ.parent))
import generate_traces  # noqa: E402 (the path comes first)

CORPUS = FUZZ / "corpus/ledger"
MAGIC = bytes.fromhex("28b52ffd")
HEAD = 32


def unfold(frame):
    done = subprocess.run(["zstd", "-dc"], input=frame, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def frames(data):
    """The bytes of each frame, unfolded: frames lie one behind the other."""
    while data:
        end = data.find(MAGIC, 4)
        while end >= 0 and unfold(data[:end]) is None:
            end = data.find(MAGIC, end + 4)
        end = len(data) if end < 0 else end
        yield unfold(data[:end])
        data = data[end:]


def workload(folder, *options):
    subprocess.run([sys.executable, FUZZ.parent / "workload.py", folder,
                    "--layers", "1", *options], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "kineto"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    options = parser.parse_args()
    CORPUS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs = {"ranks": workload(folder / "a", "--ranks", "2", "--steps",
                                    "6"),
                  "speculative": workload(folder / "b", "--steps", "2",
                                          "--schedule", "speculative")}
        for seed in (3, 11):
            inputs[f"seed_{seed}"] = folder / f"{seed}.json"
            inputs[f"seed_{seed}"].write_text(generate_traces.generate(seed))
        for title, path in inputs.items():
            ledger = folder / f"{title}.ledger"
            subprocess.run([options.bin, "ledger", path, "-o", ledger],
                           check=True)
            data = ledger.read_bytes()
            (CORPUS / f"{title}_file").write_bytes(b"f" + data)
            index_bytes = int.from_bytes(data[HEAD:HEAD + 8], "little")
            calls, rest = list(frames(data[HEAD + 8 + index_bytes:]))[:2]
            (CORPUS / f"{title}_rank").write_bytes(
                b"r" + len(calls).to_bytes(4, "little") + calls + rest)


if __name__ == "__main__":
    main()
