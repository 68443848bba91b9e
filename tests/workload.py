#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one made-up workload as traces of any format, with the truth beside.

    workload.py OUT                                    decode steps, Kineto
    workload.py OUT --schedule prefill --steps 8
    workload.py OUT --vendor amd --formats kineto,rocpd,rocprof-csv
    workload.py OUT --ranks 4 --clock 1:350000 --entry 2:95000000
    workload.py OUT --ranks 2 --serial --inject host:1:3:400000
    workload.py OUT --ranks 2 --inject kernels:0:2:300000 --slow 1:5
    workload.py OUT --defect missing:0:2:3 --defect overhead

OUT/FORMAT/ gets the files and OUT/truth.json what is true of them:

  ranks[]        totals; sums a category; steps with kind, batch, tokens,
                 begin_ns and wall_ns on the rank's own clock (as in its
                 files), ops, replays, sums, and under `excluded` the id with
                 which a step must be left out; clock_offset_ns: the rank's
                 clock minus the true one
  collectives[]  in order of the first arrival's launch: group, sequence,
                 transfer_ns, and of each rank step, arrival_ns and wait_ns on
                 the true clock; all ranks end together, at end_ns
  injected[]     what --inject planted, defects[] what --defect did

From Python: workloads.workload.build(Options(...)) and
workloads.formats.FORMATS[name](ranks, folder). The same options give
the same bytes.
"""

import argparse
import json
import os
import sys

from workloads import defects, formats, schedules, workload


def pairs(texts):
    """["1:350000"] -> {1: 350000}"""
    return {int(rank): int(value) for rank, value in
            (text.split(":") for text in texts)}


def injections(texts):
    out = []
    for text in texts:
        kind, rank, step, amount = text.split(":")
        if kind not in ("host", "kernels"):
            raise SystemExit(f"--inject {text}: neither host nor kernels")
        out.append((kind, int(rank), int(step), int(amount)))
    return tuple(out)


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("out")
    add("--formats", default="kineto", metavar="NAME,...",
        help=" ".join(formats.FORMATS))
    add("--schedule", default="decode", choices=schedules.SCHEDULES)
    add("--vendor", default="nvidia", choices=("nvidia", "amd", "either"),
        help="whose kernel names; either: names both vendors have")
    add("--engine", default="sglang", choices=("sglang", "vllm"),
        help="whose markers; vllm's say the context as well")
    add("--seed", type=int, default=1)
    for name, default in (("steps", 6), ("layers", 3), ("batch", 4),
                          ("ranks", 1), ("drafts", 3)):
        add(f"--{name}", type=int, default=default)
    add("--vary-drafts", action="store_true")
    add("--no-markers", action="store_true")
    add("--serial", action="store_true",
        help="the host waits for each step before the next")
    add("--no-graphs", action="store_true", help="of two-batch")
    add("--one-lane", action="store_true", help="no side lanes in graphs")
    add("--dependent-launch", action="store_true",
        help="kernels start before the one in front ends")
    add("--tight", action="store_true", help="1 ns between graph kernels")
    add("--entry", action="append", default=[], metavar="RANK:NS",
        help="the rank enters the trace this much later")
    add("--clock", action="append", default=[], metavar="RANK:NS",
        help="the rank's clock is this much ahead")
    add("--slow", action="append", default=[], metavar="RANK:PERCENT",
        help="a constant straggler")
    add("--inject", action="append", default=[],
        metavar="host|kernels:RANK:STEP:NS",
        help="host delay, or extra kernels, before a forward pass")
    add("--defect", action="append", default=[],
        metavar="NAME[:RANK[:STEP[:AMOUNT]]]",
        help=" ".join(defects.DEFECTS))
    add("--gzip", action="store_true", help="Kineto and RPD files compressed")
    add("--merged", action="store_true", help="all ranks in one file")
    return parser.parse_args(arguments)


def options_of(a):
    return workload.Options(
        schedule=a.schedule, vendor=a.vendor, engine=a.engine, seed=a.seed,
        steps=a.steps, layers=a.layers, batch=a.batch, ranks=a.ranks,
        markers=not a.no_markers, overlap=not a.serial,
        graphs=not a.no_graphs, side_branches=not a.one_lane,
        dependent_launch=a.dependent_launch, tight=a.tight, drafts=a.drafts,
        vary_drafts=a.vary_drafts, entry=pairs(a.entry), clocks=pairs(a.clock),
        slow_percent=pairs(a.slow), inject=injections(a.inject),
        defects=tuple(a.defect))


def main(arguments):
    a = parse(arguments)
    made = workload.build(options_of(a))
    truth = made.truth()
    for name in a.formats.split(","):
        paths = formats.FORMATS[name](
            made.ranks, os.path.join(a.out, name), compress=a.gzip,
            merged=a.merged)
        for row in truth["ranks"]:
            row.setdefault("files", {})[name] = os.path.relpath(
                paths[row["rank"]], a.out)
    os.makedirs(a.out, exist_ok=True)
    with open(os.path.join(a.out, "truth.json"), "w",
              encoding="utf-8") as file:
        json.dump(truth, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
