#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program's accounting against brute_force.py, to the nanosecond.

    ledger_differential.py --bin BIN --public FOLDER [NAME...]
    ledger_differential.py --bin BIN --seeds FROM TO
    ledger_differential.py --bin BIN --oracle FOLDER

Compared are what each op was attributed and what is hidden of it, the totals
of each category and kernel and all amounts a step. For generated traces the
steps, too, are found here; for public ones the program's borders and owners
are taken, so that the accounting is tested apart from the segmentation. The oracle is a list
of device totals that lies beside the public traces.
"""

import argparse
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

import brute_force
import generate_traces

SKIPPED = 77
PUBLIC = [
    "tl_b200_eager.json.gz",
    "tl_h100_qwen1.5-0.5b.json.gz",
    "tl_mi300_qwen1.5-0.5b.json.gz",
    "tl_sglang_deepseek_r1_B300_TP0_DECODE.trace.json.gz",
    "tl_sglang_deepseek_r1_MI300_TP0_DECODE.trace.json.gz",
    "tl_sglang_qwen3-8b_decode_replay.json.gz",
    "tl_vllm_decode_full_replay.json.gz",
    "hta_sampled_rank0.json.gz",
    "hta_nccl_data.json.gz",
    "kineto_resnet50_2021.pt.trace.json.gz",
    "h200/graph-overlap-TP-0.trace.json.gz",
    "h200/spec-real-TP-0.trace.json.gz",
]


class Difference(Exception):
    pass


def expect(name, ours, theirs):
    if ours != theirs:
        raise Difference(f"{name}: brute force {ours}, program {theirs}")


def run(binary, *arguments):
    done = subprocess.run([binary, *arguments], capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0:
        raise Difference(f"{arguments[0]}: exit {done.returncode}: "
                         f"{done.stderr.strip()}")
    return done.stdout


def table(text):
    """The rows of a TSV output, by column name."""
    lines = [line for line in text.split("\n")
             if line and not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t",
                               quoting=csv.QUOTE_NONE))


class Program:
    """What the program says of one trace."""

    def __init__(self, binary, path):
        self.ops = {int(row["ordinal"]): row
                    for row in table(run(binary, "dump", path))}
        self.ledger = json.loads(run(binary, "ledger", path,
                                     "--format", "json"))
        self.used = [row["step"] for row in self.ledger["step_amounts"]]

    def ops_of(self, path):
        """The brute force's ops of the device that the program shows, with
        what it takes from the program: category and normalised lane."""
        device = str(self.ledger["trace"]["device"])
        ops = brute_force.load_ops(path)[device]
        expect("ops", len(ops), len(self.ops))
        for op in ops:
            row = self.ops[op.ordinal]
            expect("start", op.start, int(row["start_ns"]))
            expect("duration", op.duration, int(row["dur_ns"]))
            op.category = row["category"]
            op.normal_lane = int(row["normal_lane"])
            op.family = row["family"]
        return ops

    def steps_of(self, rows, ops):
        """The program's own steps, for traces of any kind."""
        steps = []
        for row in rows:
            begin = int(row["begin_ns"])
            wall = row["wall_ns"]
            steps.append(brute_force.Step(begin,
                                          begin + int(wall) if wall else None))
        replayed = collections.defaultdict(list)
        for op in ops:
            row = self.ops[op.ordinal]
            if row["step"] != "-1":
                op.step = steps[int(row["step"])]
                op.replayed = row["replay"] != "-1"
                if op.replayed:
                    replayed[op.step, row["replay"]].append(op)
        for (step, _), own in replayed.items():
            step.replays.append(own)
        return steps


def compare_steps(steps, ops, program):
    """The brute force's steps are the program's; their walls are compared as
    amounts."""
    expect("steps", len(steps), program.ledger["steps"]["count"])
    number_of = {step: str(number) for number, step in enumerate(steps)}
    number_of[brute_force.NOBODY] = "-1"
    for op in ops:
        expect(f"step of op {op.ordinal} ({op.name})", number_of[op.step],
               program.ops[op.ordinal]["step"])


def by_step(ops):
    own = collections.defaultdict(list)
    for op in ops:
        own[op.step].append(op)
    return own


def account(steps, ops):
    """What brute_force.account gives, of each step."""
    own = by_step(ops)
    results = []
    for step in steps:
        others = [op for op in ops if op.step is not step]
        after = [op for op in others
                 if op.step is not brute_force.NOBODY
                 and op.start == step.next_begin == op.step.begin]
        results.append(brute_force.account(step, own[step], others, after))
    return results


def compare_ops(ops, program):
    for op in ops:
        row = program.ops[op.ordinal]
        for name in ("attributed", "hidden_same_lane", "hidden_cross_lane"):
            expect(f"{name} of op {op.ordinal} ({op.name})",
                   getattr(op, name), int(row[name + "_ns"]))


def bound_waits(steps, results, own, program):
    """Sets the waits of the used steps' collectives, as one rank shows them;
    None where they are unknown, else what moves of each that waits."""
    own_of_steps = [own[steps[number]] for number in program.used]
    calls = any(op.category == brute_force.COMMUNICATION
                for own in own_of_steps for op in own)
    basis = "unknown"
    if not calls or program.ledger["trace"]["world_size"] == 1:
        basis = "no_calls"
    elif brute_force.bound_waits(own_of_steps):
        basis = "one_rank"
    row = next(row for row in program.ledger["categories"]
               if row["name"] == "rank_wait")
    expect("basis of rank wait", basis, row["basis"])
    if basis == "unknown":
        return None
    moves = []
    for number in program.used:
        for op in own[steps[number]]:
            if op.wait == 0:
                continue
            amounts, alone = brute_force.moved(op, steps[number])
            results[number][0]["rank_wait"] += amounts["sum_ns"]
            moves.append((op, amounts, alone))
    return moves


def move_waits(moves, categories, kernels):
    wait = categories["rank_wait"]
    for op, amounts, alone in moves:
        amounts["hidden_ns"] = (amounts.pop("hidden_same_lane_ns", 0) +
                                amounts.pop("hidden_cross_lane_ns", 0))
        wait["count"] += amounts["sum_ns"] > 0
        wait["exclusive_ns"] += sum(alone[0].values())
        for name, amount in amounts.items():
            wait[name] += amount
            categories[op.category][name] -= amount
            kernels[op.name, op.category][name] -= amount
        for rows, times in ((categories, alone[0]), (kernels, alone[2])):
            for label, time in times.items():
                rows[label]["exclusive_ns"] -= time


def compare_totals(steps, results, ops, program, plain_names):
    used = program.used
    own = by_step(ops)
    moves = bound_waits(steps, results, own, program)
    for op in ops:
        expect(f"wait of op {op.ordinal} ({op.name})", op.wait,
               int(program.ops[op.ordinal]["rank_wait_ns"]))
    expect("used steps", len(used), program.ledger["steps"]["used"])
    for row in program.ledger["step_amounts"]:
        amounts = results[row["step"]][0]
        wall = row["wall_ns"]
        expect(f"wall of step {row['step']}", amounts.get("wall"), wall)
        for name in ("span", "sum", "busy", "foreign"):
            expect(f"{name} of step {row['step']}", amounts[name],
                   row[name + "_ns"])
    for name, stat in program.ledger["per_step"].items():
        amount = name.removesuffix("_ns")
        needs_border = amount.startswith(("wall", "idle"))
        samples = [results[number][0][amount] for number in used
                   if not needs_border or steps[number].next_begin is not None]
        if amount == "launch_lead":
            samples = [lead for number in used for lead in
                       brute_force.launch_leads(own[steps[number]])]
        if amount == "rank_wait" and moves is None:
            samples = []
        expect(f"{name} total", sum(samples), stat["total"])
        expect(f"{name} n", len(samples), stat["n"])
    categories = collections.defaultdict(collections.Counter)
    kernels = collections.defaultdict(collections.Counter)
    for number in used:
        for op in own[steps[number]]:
            for row in (categories[op.category],
                        kernels[op.name, op.category]):
                row["count"] += 1
                row["attributed_ns"] += op.attributed
                row["hidden_ns"] += op.hidden_same_lane + op.hidden_cross_lane
                row["sum_ns"] += (op.attributed + op.hidden_same_lane +
                                  op.hidden_cross_lane)
        for rows, times in zip((categories, kernels), results[number][1:]):
            for label, time in times.items():
                rows[label]["exclusive_ns"] += time
    move_waits(moves or [], categories, kernels)
    compare_rows(categories, {row["name"]: row for row in
                              program.ledger["categories"]})
    if plain_names:
        compare_rows(kernels, {(row["name"], row["category"]): row for row in
                               program.ledger["kernels"]})


def compare_rows(ours, theirs):
    for label, row in ours.items():
        for name in ("count", "sum_ns", "attributed_ns", "exclusive_ns",
                     "hidden_ns"):
            expect(f"{name} of {label}", row[name], theirs[label][name])


def compare(binary, path, find_steps):
    program = Program(binary, path)
    ops = program.ops_of(path)
    if find_steps:
        steps = brute_force.find_steps(path, ops)
        compare_steps(steps, ops, program)
    else:
        rows = table(run(binary, "steps", path, "--format", "tsv"))
        steps = program.steps_of(rows, ops)
    results = account(steps, ops)
    compare_ops(ops, program)
    # The program shows public traces' names demangled.
    compare_totals(steps, results, ops, program, plain_names=find_steps)


def compare_generated(binary, first, last):
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        for seed in range(first, last):
            with open(path, "w", encoding="utf-8") as file:
                file.write(generate_traces.generate(seed))
            try:
                compare(binary, path, find_steps=True)
            except Difference as difference:
                failures += 1
                print(f"seed {seed}: {difference}")
    return failures


def compare_public(binary, folder, names):
    failures = 0
    for name in names:
        try:
            compare(binary, os.path.join(folder, name), find_steps=False)
        except Difference as difference:
            failures += 1
            print(f"{name}: {difference}")
    return failures


def compare_oracle(binary, folder):
    """Lines such as: FILE | device 0 | ops=1 sum_ns=2 ... | graph launches in
    the file 3; or: FILE | no GPU events."""
    files = collections.defaultdict(dict)
    with open(os.path.join(folder, "ORACLE.txt"), encoding="utf-8") as file:
        for line in file:
            name, device, *rest = line.strip().split(" | ")
            if rest:
                totals = dict(field.split("=") for field in rest[0].split())
                totals["graph_launches"] = rest[1].split()[-1]
                files[name][device.removeprefix("device ")] = totals
    failures = 0
    for name, devices in files.items():
        try:
            ledger = json.loads(run(binary, "ledger", "--format", "json",
                                    os.path.join(folder, name)))
            shown = {str(row["device"]): row for row in ledger["devices"]}
            expect("devices", sorted(devices), sorted(shown))
            for device, totals in devices.items():
                for field, value in totals.items():
                    expect(f"{field} of device {device}", int(value),
                           shown[device][field])
        except Difference as difference:
            failures += 1
            print(f"{name}: {difference}")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", nargs=2, type=int)
    parser.add_argument("--public")
    parser.add_argument("--oracle")
    parser.add_argument("names", nargs="*", default=PUBLIC)
    arguments = parser.parse_args()
    if arguments.seeds:
        return min(1, compare_generated(arguments.bin, *arguments.seeds))
    folder = arguments.public or arguments.oracle
    folder = os.environ.get("INFERDIFF_TRACES", folder)
    if not os.path.isdir(folder):
        print(f"skipped: no public traces in {folder}")
        return SKIPPED
    if arguments.oracle:
        return min(1, compare_oracle(arguments.bin, folder))
    return min(1, compare_public(arguments.bin, folder, arguments.names))


if __name__ == "__main__":
    sys.exit(main())
