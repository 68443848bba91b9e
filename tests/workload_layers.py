#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layers of traces whose number of layers is known.

    workload_layers.py BIN

Made-up workloads of 1, 2 and 61 layers; public traces where they are.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from workloads import formats, workload

REPO = pathlib.Path(__file__).resolve().parent.parent
TRACES = pathlib.Path(os.environ.get("INFERDIFF_TRACES",
                                     REPO.parent / "shared/traces"))
# Layers of each pass of a step.
PUBLIC = {
    "tl_sglang_deepseek_r1_B300_TP0_DECODE.trace.json.gz": [32],
    "tl_sglang_deepseek_r1_MI300_TP0_DECODE.trace.json.gz": [32],
    "tl_sglang_qwen3-8b_decode_replay.json.gz": [36],
    "tl_vllm_decode_full_replay.json.gz": [24],
    "tl_b200_eager.json.gz": [36],
    "tl_h100_qwen1.5-0.5b.json.gz": [24],
    "tl_mi300_qwen1.5-0.5b.json.gz": [24],
    "rpd_raptor_mytrace.rpd.gz": [32],
    "h200/eager-serial-TP-0.trace.json.gz": [12],
    "h200/graph-overlap-TP-0.trace.json.gz": [12],
    "h200/graph-serial-TP-1.trace.json.gz": [12],
    "h200/verify-serial-TP-0.trace.json.gz": [12],
    "h200/spec-real-TP-0.trace.json.gz": [1, 1, 1, 1, 1, 12],
    "tl_mi210_gpu_only.json.gz": [],
    "kineto_resnet50_2021.pt.trace.json.gz": [],
}


def passes(binary, path):
    out = subprocess.run([binary, "steps", path, "--format", "json"],
                         capture_output=True, check=True).stdout
    layers = json.loads(out)["layers"]
    listed = [len(layer["ordinals"]) for layer in layers["layers"]]
    assert len(listed) == layers["count"], path
    assert sum(kind["layers"] for kind in layers["kinds"]) == len(listed), path
    return [row["layers"] for row in layers["passes"]]


def made_up(binary, folder):
    """[(what, expected, found)]"""
    out = []
    for schedule in ("decode", "eager", "prefill", "speculative"):
        for vendor in ("nvidia", "amd"):
            for layers in (1, 2, 61):
                # Three drafts whose heads have no norm, the verification (of
                # four layers at least), the pass that extends the drafts.
                expected = ([1, 1, 1, max(4, layers), 1]
                            if schedule == "speculative" else [layers])
                what = f"{schedule}-{vendor}-{layers}"
                made = workload.build(workload.Options(
                    schedule=schedule, vendor=vendor, layers=layers, steps=4))
                target = pathlib.Path(folder, what)
                target.mkdir()
                formats.FORMATS["kineto"](made.ranks, str(target))
                trace = next(target.iterdir())
                out.append((what, expected, passes(binary, str(trace))))
    return out


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        rows = made_up(binary, folder)
    for name, expected in PUBLIC.items():
        if (TRACES / name).exists():
            rows.append((name, expected, passes(binary, str(TRACES / name))))
        else:
            print(f"skipped: {name} is absent")
    wrong = [row for row in rows if row[1] != row[2]]
    for what, expected, found in wrong:
        print(f"{what}: layers of passes {found}, expected {expected}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
