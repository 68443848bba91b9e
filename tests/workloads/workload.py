# SPDX-License-Identifier: Apache-2.0
"""Options, and what becomes of them: a workload and the truth about it."""

import collections
import dataclasses
import random

from workloads import defects, engine, schedules

BASE_NS = 1_767_189_312_000_000_000  # wall clock at time 0 of the true clock


@dataclasses.dataclass
class Options:
    """Everything that a workload depends on."""
    schedule: str = "decode"
    vendor: str = "nvidia"  # nvidia, amd, either: whose kernel names
    engine: str = "sglang"  # whose markers: sglang, vllm
    seed: int = 1
    steps: int = 6
    layers: int = 3
    batch: int = 4
    ranks: int = 1
    markers: bool = True
    overlap: bool = True  # the host is one step ahead
    graphs: bool = True  # of schedules that can do without
    side_branches: bool = True  # concurrent lanes in graphs
    dependent_launch: bool = False  # kernels start early on their lane
    tight: bool = False  # 1 ns between a graph's kernels
    drafts: int = 3
    vary_drafts: bool = False
    entry: dict = dataclasses.field(default_factory=dict)  # rank -> ns later
    clocks: dict = dataclasses.field(default_factory=dict)  # rank -> ns ahead
    slow_percent: dict = dataclasses.field(default_factory=dict)
    inject: tuple = ()  # (host|kernels, rank, step, ns)
    defects: tuple = ()  # texts of defects.plant

    @property
    def uses_graphs(self):
        return self.schedule not in ("eager", "offload") and (
            self.graphs or self.schedule != "two-batch")

    def entry_ns(self, rank):
        return self.entry.get(rank, 0)

    def clock_ns(self, rank):
        return self.clocks.get(rank, 0)


@dataclasses.dataclass
class Workload:
    options: Options
    ranks: list
    collectives: list
    planted: list  # what defects.plant did

    def truth(self):
        return {
            "schema": 1,
            "options": dataclasses.asdict(self.options),
            "ranks": [rank_truth(rank) for rank in self.ranks],
            "collectives": [collective_truth(c) for c in self.collectives],
            "injected": [
                {"kind": kind, "rank": rank, "step": step, "ns": amount}
                for kind, rank, step, amount in self.options.inject],
            "defects": self.planted,
        }


def build(options):
    simulation = engine.Simulation(options)
    simulation.run(schedules.SCHEDULES[options.schedule])
    planted = []
    rng = random.Random(f"defects/{options.seed}")
    for text in options.defects:
        planted += defects.plant(text, simulation.ranks, rng)
    return Workload(options, simulation.ranks, simulation.collectives, planted)


# --- truth -----------------------------------------------------------------


def union_length(intervals):
    total, until = 0, None
    for start, end in sorted(intervals):
        if until is None or start > until:
            total += end - start
            until = end
        elif end > until:
            total += end - until
            until = end
    return total


def sums(ops):
    """Category -> ops and the sum of their durations, unclipped."""
    out = collections.defaultdict(lambda: {"count": 0, "sum_ns": 0})
    for op in ops:
        out[op.category]["count"] += 1
        out[op.category]["sum_ns"] += op.end - op.start
    return dict(sorted(out.items()))


def step_truths(rank):
    """Steps in order of their first op on the forward lane. Times are those of
    the rank's clock, as its files have them."""
    rows = []
    for number, step in enumerate(rank.steps):
        own = [op for op in rank.ops if op.step == number]
        forward = [op for op in own if op.lane == rank.MAIN]
        if not forward:
            continue
        rows.append({
            "kind": step.kind, "batch": step.batch, "tokens": step.tokens,
            "context": step.context, "marker": step.marker,
            "excluded": step.excluded,
            "begin_ns": min(op.start for op in forward) + rank.clock_ns,
            "wall_ns": None, "ops": len(own), "number": number,
            "replays": len({op.correlation for op in own if op.graph}),
            "sum_ns": sum(op.end - op.start for op in own),
            "categories": sums(own),
        })
    rows.sort(key=lambda row: row["begin_ns"])
    for row, following in zip(rows, rows[1:]):
        row["wall_ns"] = following["begin_ns"] - row["begin_ns"]
    return rows


def rank_truth(rank):
    ops = rank.ops
    first = min(op.start for op in ops)
    last = max(op.end for op in ops)
    busy = union_length((op.start, op.end) for op in ops)
    return {
        "rank": rank.number, "device": rank.device,
        "clock_offset_ns": rank.clock_ns,
        "entered_ns": rank.options.entry_ns(rank.number),
        "totals": {
            "ops": len(ops),
            "kernels": sum(op.kind == "kernel" for op in ops),
            "sum_ns": sum(op.end - op.start for op in ops),
            "busy_ns": busy, "span_ns": last - first,
            "idle_ns": last - first - busy,
            "graph_launches": sum(call.what == "graph"
                                  for call in rank.calls),
        },
        "categories": sums(ops),
        "steps": step_truths(rank),
    }


def collective_truth(collective):
    last = collective.last_arrival
    return {
        "role": collective.role, "group": list(collective.group),
        "sequence": collective.sequence,
        "transfer_ns": collective.transfer_ns, "end_ns": collective.end,
        "ranks": {
            str(rank): {"step": collective.steps[rank],
                        "arrival_ns": arrival, "wait_ns": last - arrival}
            for rank, arrival in sorted(collective.arrivals.items())},
    }
