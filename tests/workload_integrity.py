#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program says of captures with planted defects, and of good ones.

    workload_integrity.py --bin BIN [--seeds N] [--formats NAME,...]

Every defect of workloads/defects.py is planted into decode steps of either
vendor and written in each format that can carry it: the check must be there
with the count of the truth, and no other. No schedule without a defect may
give a check, but for what is true of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from workloads import formats, schedules, workload

# Defect -> (id, weight, the row of the truth that says how many).
EXPECTED = {
    "missing": ("missing-graph-kernels", "reservation", "kernels"),
    "impossible": ("impossible-duration", "reservation", None),
    "clock-jump": ("clock-jump", "reservation", None),
    "burst": ("late-burst", "refusal", "kernels"),
    "lost-kernels": ("launch-without-kernel", "reservation", None),
    "duplicated": ("repeated-record", "note", "ops"),
    "overhead": ("profiler-time", "reservation", "events"),
    "floor": ("instrumentation-floor", "reservation", None),
}
# What is left out for it, beside the last step.
EXCLUDED = {"missing": {"missing-ops"}, "impossible": {"impossible-duration"},
            "clock-jump": {"clock-jump"}}
# The time of the profiler itself stands in Kineto's and Nsight's files only.
CANNOT = {("overhead", name) for name in ("rocpd", "rocprof-csv",
                                          "rocprof-json", "rpd", "nsys-old")}
# Several defects in one capture, at its ends, of unusual size: the id, the
# weight and the count that all of them together must have.
FORMS = (
    (("missing:0:0",), "missing-graph-kernels", "reservation", 3),
    (("missing:0:6",), "missing-graph-kernels", "reservation", 3),
    (("missing:0:3:40",), "missing-graph-kernels", "reservation", 40),
    (("missing:0:2:3", "missing:0:4:5"), "missing-graph-kernels",
     "reservation", 8),
    (tuple(f"missing:0:{step}:{step + 1}" for step in range(7)),
     "missing-graph-kernels", "refusal", None),
    (("clock-jump:0:2", "clock-jump:0:5"), "clock-jump", "reservation", 2),
    (("clock-jump:0:2", "clock-jump:0:5:-20000000"), "clock-jump", None, 2),
    (("overrun:0:3",), "impossible-duration", "reservation", 1),
    (("overrun:0:6",), "impossible-duration", "reservation", 1),
)
NVIDIA = ("kineto", "nsys", "nsys-old")
AMD = ("kineto", "rocpd", "rocprof-csv", "rocprof-json", "rpd")
# Good captures of which something is true: 1 ns between graph kernels.
# and schedules that exist for it.
TRUE_OF = {"tight": {"back-to-back-stamps"}, "offload": {"copy-only"},
           "context": {"context-trend"}}
VARIATIONS = {"": {}, "serial": {"overlap": False},
              "dependent": {"dependent_launch": True}, "tight": {"tight": True},
              "bare": {"markers": False}, "vllm": {"engine": "vllm"}}


def ledger(binary, *paths):
    done = subprocess.run([binary, "ledger", "--format", "json", *paths],
                          capture_output=True, text=True, timeout=60,
                          check=False)
    if done.returncode:
        raise SystemExit(f"{paths}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def launched(made, correlations):
    """How many of them a launch call has; AMD's memsets are kernels, too."""
    return sum(call.what in ("kernel", "tensor") and
               call.correlation in correlations
               for call in made.ranks[0].calls)


def planted(name, made, shown):
    """Sentences about what is wrong with the checks of a planted defect."""
    identity, weight, figure = EXPECTED[name]
    truth, = made.truth()["defects"]
    checks = {check["id"]: check for check in shown["integrity"]}
    check = checks.pop(identity, None)
    if check is None:
        yield f"no {identity}"
        return
    if check["weight"] != weight:
        yield f"{check['weight']}, not {weight}"
    if figure and check["count"] != truth[figure]:
        yield f"count {check['count']}, not {truth[figure]}"
    if name in ("impossible", "clock-jump") and check["count"] != 1:
        yield f"count {check['count']}, not 1"
    if name == "lost-kernels":
        lost = launched(made, truth["correlations"])
        if check["count"] != lost:
            yield f"count {check['count']}, not {lost}"
    if name == "overhead" and check["time_ns"] > truth["sum_ns"]:
        yield f"{check['time_ns']} ns, of {truth['sum_ns']}"
    if name == "floor" and check["time_ns"] // 100 != truth["least_ns"] // 100:
        yield f"floor {check['time_ns']}, not {truth['least_ns']}"
    if checks:
        yield f"and {', '.join(checks)}"
    reasons = {step["id"] for step in shown["steps"]["excluded"]}
    if not EXCLUDED.get(name, set()) <= reasons:
        yield f"steps are left out for {reasons}"


def check_planted(binary, seed, wanted, folder):
    for vendor, names in (("nvidia", NVIDIA), ("amd", AMD)):
        for defect in EXPECTED:
            made = workload.build(workload.Options(
                vendor=vendor, seed=seed, steps=7, layers=3 + seed % 3,
                defects=(defect,)))
            for name in names:
                if name not in wanted or (defect, name) in CANNOT:
                    continue
                path = formats.FORMATS[name](made.ranks, os.path.join(
                    folder, f"{vendor}-{defect}-{name}-{seed}"))[0]
                for text in planted(defect, made, ledger(binary, path)):
                    yield f"{defect}, {vendor}, {name}, seed {seed}: {text}"


def check_forms(binary, seed, wanted, folder):
    for number, (defects, identity, weight, count) in enumerate(FORMS):
        vendor, names = (("nvidia", NVIDIA), ("amd", AMD))[(seed + number) % 2]
        made = workload.build(workload.Options(
            vendor=vendor, seed=seed, steps=7, layers=3 + seed % 3,
            defects=defects))
        for name in names:
            if name not in wanted:
                continue
            path = formats.FORMATS[name](made.ranks, os.path.join(
                folder, f"form-{number}-{name}-{seed}"))[0]
            said = {check["id"]: (check["weight"], check["count"])
                    for check in ledger(binary, path)["integrity"]}
            told = said.pop(identity, None)
            if (told is None or said or told[0] != (weight or told[0]) or
                    told[1] != (count or told[1])):
                yield (f"{' '.join(defects)}, {vendor}, {name}, seed {seed}: "
                       f"{told} and {sorted(said)}")


def check_second_rank(binary, seed, folder):
    """A lie of one rank is said of it, and of no other, also where the lie has
    it left out of the sums; in files of their own and in a merged one."""
    for defect in ("missing:1:3", "clock-jump:1:3", "overrun:1:3", "burst:1"):
        identity = {"overrun": "impossible-duration"}.get(
            defect.split(":")[0]) or EXPECTED[defect.split(":")[0]][0]
        made = workload.build(workload.Options(
            ranks=2, seed=seed, steps=7, defects=(defect,)))
        for merged in (False, True):
            paths = formats.FORMATS["kineto"](made.ranks, os.path.join(
                folder, f"rank-{defect}-{merged}-{seed}"), merged=merged)
            shown = ledger(binary, *sorted(set(paths.values())))
            said = [(check["id"], check["ranks"])
                    for check in shown["integrity"]]
            if said != [(identity, [1])]:
                yield f"{defect}, merged {merged}, seed {seed}: {said}"


def check_true(binary, seed, folder):
    """What some schedules exist for is said of them."""
    for schedule in ("offload", "context"):
        for engine in ("sglang", "vllm"):
            made = workload.build(workload.Options(
                schedule=schedule, engine=engine, seed=seed, steps=20))
            path = formats.FORMATS["kineto"](made.ranks, os.path.join(
                folder, f"{schedule}-{engine}-{seed}"))[0]
            said = {check["id"] for check in ledger(binary, path)["integrity"]}
            if said != TRUE_OF[schedule]:
                yield f"{schedule}, {engine}, seed {seed}: {said}"


def check_good(binary, seed, folder):
    for schedule in schedules.SCHEDULES:
        for variation, options in VARIATIONS.items():
            vendor = ("nvidia", "amd")[(seed + len(variation)) % 2]
            made = workload.build(workload.Options(
                schedule=schedule, vendor=vendor, seed=seed, steps=7 + seed % 3,
                ranks=3 if schedule == "pipeline" else 1, **options))
            paths = formats.FORMATS["kineto"](made.ranks, os.path.join(
                folder, f"{schedule}-{variation}-{seed}"))
            for path in paths.values():
                said = {check["id"] for check in
                        ledger(binary, path)["integrity"]}
                said -= TRUE_OF.get(variation, set())
                said -= TRUE_OF.get(schedule, set())
                if said:
                    yield (f"{schedule}, {variation}, {vendor}, seed {seed}: "
                           f"{', '.join(sorted(said))}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--formats", default=",".join(formats.FORMATS))
    arguments = parser.parse_args()
    wanted = arguments.formats.split(",")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seeds):
            for text in (*check_planted(arguments.bin, seed, wanted, folder),
                         *check_forms(arguments.bin, seed, wanted, folder),
                         *check_second_rank(arguments.bin, seed, folder),
                         *check_true(arguments.bin, seed, folder),
                         *check_good(arguments.bin, seed, folder)):
                failures += 1
                print(text)
    return min(1, failures)


if __name__ == "__main__":
    sys.exit(main())
