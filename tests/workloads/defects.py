# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in traces, planted into good ones.

Each defect is a text: NAME, NAME:RANK, NAME:RANK:STEP or
NAME:RANK:STEP:AMOUNT; rank 0 and the middle step are the defaults.
"""

import copy

PROFILER = ("CUPTI Overhead", "Buffer Flush", "Instrumentation")


def plant(text, ranks, rng):
    """Changes the ranks; returns what was done, as dictionaries."""
    name, *numbers = text.split(":")
    numbers = [int(number) for number in numbers]
    rank = ranks[numbers[0] if numbers else 0]
    step = numbers[1] if len(numbers) > 1 else len(rank.steps) // 2
    amount = numbers[2] if len(numbers) > 2 else None
    done = DEFECTS[name](rank, step, amount, rng)
    return [{"defect": name, "rank": rank.number, "step": step, **done}]


def of_step(rank, step, graph=None):
    return [op for op in rank.ops if op.step == step and
            (graph is None or (op.graph > 0) == graph)]


def missing(rank, step, amount, rng):
    """A replay without `amount` (3) of its kernels: buffers ran over."""
    replayed = of_step(rank, step, graph=True)
    first = replayed[0].lane, min(op.start for op in replayed)
    lost = rng.sample([op for op in replayed
                       if (op.lane, op.start) != first], amount or 3)
    rank.ops = [op for op in rank.ops if op not in lost]
    rank.steps[step].excluded = "missing-ops"
    return {"kernels": len(lost),
            "sum_ns": sum(op.end - op.start for op in lost)}


def impossible(rank, step, amount, _):
    """A kernel whose end lies `amount` (5,000,000) ns behind the start of the
    next one on its lane."""
    lane = sorted((op for op in of_step(rank, step) if op.lane == rank.MAIN),
                  key=lambda op: op.start)
    op, following = lane[len(lane) // 2], lane[len(lane) // 2 + 1]
    before = op.end - op.start
    op.end = following.start + (amount or 5_000_000)
    return {"name": op.name, "start_ns": op.start + rank.clock_ns,
            "true_ns": before, "recorded_ns": op.end - op.start}


def overrun(rank, step, amount, _):
    """The last kernel of a step's last side lane, or of the step, ends `amount`
    (5,000,000) ns late: nothing follows on its lane but in later steps."""
    kernels = [op for op in of_step(rank, step) if op.kind == "kernel"]
    lane = max((op.lane for op in kernels if op.lane != rank.MAIN),
               default=rank.MAIN)
    op = max((op for op in kernels if op.lane == lane),
             key=lambda op: op.start)
    op.end += amount or 5_000_000
    return {"name": op.name, "start_ns": op.start + rank.clock_ns,
            "recorded_ns": op.end - op.start}


def duplicated(rank, step, amount, _):
    """The first `amount` (all) ops of a step stand twice in the file."""
    own = of_step(rank, step)[:amount]
    rank.ops += [copy.copy(op) for op in own]
    return {"ops": len(own), "sum_ns": sum(op.end - op.start for op in own)}


def clock_jump(rank, step, amount, _):
    """The GPU's clock jumps by `amount` (20,000,000) ns before a step."""
    jump = amount or 20_000_000
    begin = min(op.start for op in of_step(rank, step))
    moved = [op for op in rank.ops if op.start >= begin]
    for op in moved:
        op.start += jump
        op.end += jump
    return {"at_ns": begin + rank.clock_ns, "jump_ns": jump,
            "ops": len(moved)}


def lost_kernels(rank, step, amount, _):
    """`amount` (8) eager launches whose kernels were not recorded."""
    eager = [op for op in of_step(rank, step, graph=False)
             if op.kind == "kernel"][:amount or 8]
    rank.ops = [op for op in rank.ops if op not in eager]
    return {"kernels": len(eager),
            "correlations": [op.correlation for op in eager]}


def burst(rank, _step, _amount, _rng):
    """All kernels of graphs come out together behind the last marker, without
    their launch calls: timestamps of the flush, order kept."""
    replayed = sorted((op for op in rank.ops if op.graph),
                      key=lambda op: (op.start, op.end))
    at = max([m.end for m in rank.markers] +
             [op.end for op in rank.ops]) + 1_000_000
    shift = at - replayed[0].start
    for op in replayed:
        op.start += shift
        op.end += shift
    gone = {op.correlation for op in replayed}
    rank.calls = [c for c in rank.calls if c.correlation not in gone]
    return {"kernels": len(replayed), "replays": len(gone),
            "begins_ns": at + rank.clock_ns}


def overhead(rank, step, amount, rng):
    """The profiler takes `amount` (3,000,000) ns of the host's time in events
    of its own, from a step on."""
    left = amount or 3_000_000
    begin = min(m.start for m in rank.markers[step:])
    total, at = 0, begin
    while total < left:
        part = min(left - total, rng.randint(100_000, 900_000))
        rank.overheads.append((rng.choice(PROFILER), at, at + part))
        total += part
        at += part + 50_000
    return {"events": len(rank.overheads), "sum_ns": total}


def floor(rank, _step, amount, rng):
    """No kernel is shorter than `amount` (9,000) ns and a little: what the
    instrumentation of each adds. Work moves so that nothing overlaps."""
    least, raised, delay = amount or 9_000, 0, {}
    for op in sorted(rank.ops, key=lambda op: op.start):
        late = delay.get(op.lane, 0)
        op.start, op.end = op.start + late, op.end + late
        short = least + rng.randint(0, 300) - (op.end - op.start)
        if op.kind == "kernel" and short > 0:
            op.end += short
            raised += 1
            delay[op.lane] = late + short
    return {"kernels": raised, "least_ns": least}


DEFECTS = {
    "missing": missing, "impossible": impossible, "overrun": overrun,
    "duplicated": duplicated,
    "clock-jump": clock_jump, "lost-kernels": lost_kernels, "burst": burst,
    "overhead": overhead, "floor": floor,
}
