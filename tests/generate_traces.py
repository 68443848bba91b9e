#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small random Kineto traces for the accounting to be tried on.

    generate_traces.py SEED > trace.json

Each is a few steps of a serving engine, made of what makes accounting hard:
several lanes, kernels that start before the one in front has ended, copies
under kernels, ties, zero durations, graph replays whose side lanes get new
stream ids, work of nobody, work that starts before its step's border or runs
past its end, ops without a launch record, and collectives that wait longer in
some steps than in others while compute runs beside them, hides them or starts
under them. Same seed, same trace.
"""

import json
import random
import sys

HOST, THREAD = 700, 700
MAIN_LANE = 7
KERNELS = [
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
    "flash_fwd_splitkv_kernel",
    "nvjet_tst_128x64_64x8_2x1_v_bz_TNT",
    "rms_norm_kernel",
    "moe_align_block_size_kernel",
    "act_and_mul_kernel",
    "topk_softmax_kernel",
    "nobody_knows_this_kernel",
]
COPIES = [
    ("gpu_memcpy", "Memcpy DtoD (Device -> Device)"),
    ("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)"),
    ("gpu_memset", "Memset (Device)"),
]


def microseconds(time_ns):
    text = f"{time_ns // 1000}.{time_ns % 1000:03d}"
    return text


class Trace:
    """Events as JSON texts: times keep their three decimals."""

    def __init__(self, rng):
        self.rng = rng
        self.events = []
        self.correlation = 1000
        # Steps of another batch are left out.
        self.batches = rng.choice([[1], [1], [1, 4]])

    def add(self, category, name, pid, tid, start, end, args=None):
        head = json.dumps({"ph": "X", "cat": category, "name": name,
                           "pid": pid, "tid": tid})
        times = f', "ts": {microseconds(start)}, "dur": ' \
                f"{microseconds(end - start)}"
        tail = f', "args": {json.dumps(args)}' if args else ""
        self.events.append(head[:-1] + times + tail + "}")

    def launch(self, call, start):
        """A launch call of at most 5 ns; returns its correlation."""
        self.correlation += 1
        self.add("cuda_runtime", call, HOST, THREAD, start,
                 start + self.rng.randint(0, 5),
                 {"correlation": self.correlation, "cbid": 211})
        return self.correlation

    def op(self, category, name, lane, start, end, correlation):
        self.add(category, name, 0, lane, start, end,
                 {"device": 0, "context": 1, "stream": lane,
                  "correlation": correlation})

    def text(self):
        self.rng.shuffle(self.events)
        return ('{"schemaVersion": 1, "cuda_runtime_version": 13000, '
                '"baseTimeNanoseconds": 0, "traceEvents": [\n' +
                ",\n".join(self.events) + "\n]}\n")


def some_duration(rng):
    return rng.choice([0, 1, 2, 3, 5, 7, 10, 10, 20, 20, 50,
                       rng.randint(0, 200), rng.randint(0, 2000)])


def kernel_or_copy(rng):
    if rng.random() < 0.75:
        return "kernel", rng.choice(KERNELS)
    return rng.choice(COPIES)


def main_lane_ops(rng, begin):
    """The forward pass: mostly one kernel after the other, gaps and early
    starts between them; the first and longest starts at `begin`."""
    ops = [("kernel", rng.choice(KERNELS), MAIN_LANE, begin,
            begin + rng.choice([100, 500]))]
    time = begin
    for _ in range(rng.randint(0, 10)):
        previous_end = ops[-1][4]
        step = rng.choice([0, 0, 1, 10, rng.randint(0, 300)])
        time = max(time, previous_end + step)
        if rng.random() < 0.3:  # programmatic dependent launch
            time = max(ops[-1][3], previous_end - rng.randint(0, 40))
        category, name = kernel_or_copy(rng)
        ops.append((category, name, MAIN_LANE, time,
                    time + some_duration(rng)))
    return ops


def side_lane_ops(rng, begin, end, lanes, count):
    """Concurrent work, often starting or ending exactly with other work."""
    times = [begin, end, (begin + end) // 2, begin + 100]
    ops = []
    for _ in range(count):
        start = rng.choice(times + [rng.randint(begin - 60, end + 150)])
        category, name = kernel_or_copy(rng)
        stop = start + some_duration(rng)
        if rng.random() < 0.2:
            stop = max(start, end)
        times += [start, stop]
        ops.append((category, name, rng.choice(lanes), start, stop))
    return ops


def collective_ops(rng, begin, calls):
    """The calls of every step, each with a wait of its own in some steps.
    `calls` are (name, place, lane, transfer, often): a step may leave out what
    is not often there."""
    ops = []
    time = begin
    for name, place, lane, transfer, often in calls:
        if rng.random() > often:
            continue
        start = max(time, begin + place) if lane == MAIN_LANE else begin + place
        wait = rng.choice([0, 0, 1, 2, 3, 7, 50, rng.randint(0, 600)])
        ops.append(("kernel", name, lane, start, start + wait + transfer))
        time = ops[-1][4]
    return ops


def make_calls(rng):
    names = [KERNELS[0], "ncclDevKernel_AllGather_RING_LL",
             "cross_device_reduce_1stage"]
    return [(rng.choice(names), rng.randint(0, 700),
             rng.choice([MAIN_LANE, 13, 13, 14]),
             rng.choice([1, 10, 33, 200]), rng.choice([0.7, 1, 1, 1]))
            for _ in range(rng.choice([0, 1, 2, 4]))]


def pad_main_lane(ops):
    """Keeps the main lane the busiest one, so that it is the forward lane."""
    spent = {}
    for _, _, lane, start, end in ops:
        spent[lane] = spent.get(lane, 0) + end - start
    most = max([t for lane, t in spent.items() if lane != MAIN_LANE],
               default=0)
    last = max(op[4] for op in ops if op[2] == MAIN_LANE)
    return ops + [("kernel", KERNELS[2], MAIN_LANE, last, last + most + 1)]


def add_step(trace, number, begin, host, style, replay_shape, calls):
    """One step; returns (end of its main lane, end of its host range)."""
    rng = trace.rng
    host_end = host + rng.randint(60, 400)
    if style == "replays":
        lanes = [MAIN_LANE] + [20 + 2 * number, 21 + 2 * number]
        correlation = trace.launch("cudaGraphLaunch", host + 10)
        ops = replay_shape(begin, lanes)
        for op in ops:
            trace.op(*op[:5], correlation)
    else:
        lanes = [MAIN_LANE, 13, 14, 15][:rng.randint(1, 4)]
        ops = main_lane_ops(rng, begin)
        until = max(op[4] for op in ops)
        ops += side_lane_ops(rng, begin, until, lanes, rng.randint(0, 8))
        ops += collective_ops(rng, begin + 1, calls)
        if rng.random() < 0.3:  # prepares the step long before its border
            ops.append(("kernel", "arange_kernel", 13, begin - 300,
                        begin - rng.randint(200, 300)))
        ops = pad_main_lane(ops)
        replayed = []
        if style == "mixed":
            replayed = [op for op in ops
                        if op[2] == MAIN_LANE or rng.random() < 0.5]
            ops = [op for op in ops if op not in replayed]
            correlation = trace.launch("cudaGraphLaunch", host + 5)
            for op in replayed:
                trace.op(*op[:5], correlation)
        for op in ops:
            unlinked = (op[2] != MAIN_LANE and op[3] > begin and
                        rng.random() < 0.2)
            if unlinked:
                trace.correlation += 1
                correlation = rng.choice([0, trace.correlation])
            else:
                correlation = trace.launch(
                    "cudaLaunchKernel", host + rng.randint(0, 50))
            trace.op(*op[:5], correlation)
        ops += replayed
    if style != "replays":
        batch = rng.choice(trace.batches)
        trace.add("user_annotation", f"step[DECODE bs={batch} toks={batch}]",
                  HOST, THREAD, host, host_end)
    return max(op[4] for op in ops if op[2] == MAIN_LANE), host_end


def make_replay_shape(rng):
    """A graph: the same ops relative to its begin each time, on fresh lanes,
    stretched a little."""
    nodes = []
    for op in pad_main_lane(main_lane_ops(rng, 0) +
                            side_lane_ops(rng, 0, 400, [1, 2], 6)):
        start = max(0, op[3])
        nodes.append((op[0], op[1], op[2], start, max(start, op[4])))

    def wait(name, lane):
        waits = lane == MAIN_LANE and name.startswith("nccl")
        return rng.choice([0, 0, 1, 30]) if waits else 0

    def shape(begin, lanes):
        late = rng.randint(0, 3)
        return [(category, name,
                 lane if lane == MAIN_LANE else lanes[lane],
                 begin + start, begin + end + (late if end > 400 else 0) +
                 wait(name, lane))
                for category, name, lane, start, end in nodes]

    return shape


def generate(seed):
    rng = random.Random(seed)
    trace = Trace(rng)
    style = rng.choice(["eager", "eager", "mixed", "mixed", "replays"])
    replay_shape = make_replay_shape(rng)
    begin = 5_000_000 + rng.randint(0, 1000)
    host = begin - rng.choice([0, 100, 1000])
    steps = rng.randint(1, 10)
    calls = make_calls(rng)
    if rng.random() < 0.5:  # nobody's: launched before the first step
        for _ in range(rng.randint(1, 4)):
            start = begin + rng.randint(-500, 2500)
            category, name = kernel_or_copy(rng)
            # Less in all than the steps' own: markers that launch only a
            # small part of the work are no steps.
            duration = min(25 * steps, some_duration(rng))
            trace.op(category, name, 30, start, start + duration,
                     trace.launch("cudaLaunchKernel", host - 50)
                     if style != "replays" else 0)
    for number in range(steps):
        end, host_end = add_step(trace, number, begin, host, style,
                                 replay_shape, calls)
        begin = end + rng.choice([0, 1, 100, rng.randint(0, 1500)])
        # Early, just in time, or after the GPU has run dry.
        host = max(host_end, begin + rng.choice([-900, -400, -60, -30, 0]))
    return trace.text()


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1])))
