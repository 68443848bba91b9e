#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The accounting again, the slow and obvious way.

Written from the definitions in docs/how-it-works.md alone and sharing nothing
with the C++: every step is cut at every start and end of its own ops, and each
piece is dealt out by looking at all ops that run in it. It reads the trace
itself, in decimal text, so that no double is involved here either.

    brute_force.py TRACE      the totals of each device, as a table
"""

import collections
import gzip
import json
import sys

KERNEL, COPY = "kernel", "copy"
COMMUNICATION = "communication"
KIND_OF_CATEGORY = {
    "kernel": KERNEL,
    "gpu_memcpy": COPY,
    "gpu_memset": COPY,
    "memcpy": COPY,  # files from before 2022: Kernel, Memcpy, Memset
    "memset": COPY,
}
NOBODY = None


class Op:
    """One GPU activity. Times in ns."""

    def __init__(self, name, start, end, lane, kind, ordinal, correlation=0,
                 launch=None):
        self.name = name
        self.start = start
        self.end = end
        self.lane = lane  # as the file numbers it
        self.kind = kind
        self.ordinal = ordinal
        self.correlation = correlation
        self.launch = launch  # start of the call that launched it, or None
        self.normal_lane = lane
        self.category = "unclassified"
        self.family = name
        self.step = NOBODY
        self.replayed = False
        self.attributed = 0
        self.hidden_same_lane = 0
        self.hidden_cross_lane = 0
        self.stretches = []  # of a communication kernel
        self.wait = 0  # the head in which it waits for other ranks

    @property
    def duration(self):
        return self.end - self.start

    @property
    def communicates(self):
        return self.kind == KERNEL and self.category == COMMUNICATION


class Step:
    """Its begin, the next step's begin or None, and the ops of each replay."""

    def __init__(self, begin, next_begin):
        self.begin = begin
        self.next_begin = next_begin
        self.replays = []


# --- reading ---------------------------------------------------------------


def nanoseconds(text):
    """Microseconds in decimal text to whole ns; further digits are cut off."""
    sign = -1 if text.startswith("-") else 1
    whole, _, fraction = text.lstrip("+-").partition(".")
    return sign * (int(whole or "0") * 1000 + int((fraction + "000")[:3]))


def load_events(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        document = json.load(file, parse_float=str, parse_int=str)
    return document["traceEvents"] if isinstance(document, dict) else document


def correlation_of(event):
    args = event.get("args") or {}
    return int(args.get("correlation", 0))


def load_ops(path):
    """Device -> its ops, with the launch time where the file has the call."""
    events = load_events(path)
    launches = {}
    for event in events:
        category = str(event.get("cat", "")).lower()
        if event.get("ph") == "X" and category in (
                "cuda_runtime", "cuda_driver", "runtime"):
            correlation = correlation_of(event)
            start = nanoseconds(str(event["ts"]))
            if correlation and start < launches.get(correlation, start + 1):
                launches[correlation] = start
    devices = collections.defaultdict(list)
    seen = set()  # a lane runs one op at a time: an equal one is the same one
    for ordinal, event in enumerate(events):
        kind = KIND_OF_CATEGORY.get(str(event.get("cat", "")).lower())
        if event.get("ph") != "X" or kind is None:
            continue
        start = nanoseconds(str(event["ts"]))
        duration = max(0, nanoseconds(str(event.get("dur", "0"))))
        correlation = correlation_of(event)
        key = (event["pid"], event["tid"], kind, event["name"], start, duration,
               correlation)
        if duration > 0 and key in seen:
            continue
        seen.add(key)
        devices[str(event["pid"])].append(
            Op(event["name"], start, start + duration, str(event["tid"]), kind,
               ordinal, correlation, launches.get(correlation)))
    for ops in devices.values():
        ops.sort(key=lambda op: (op.start, op.end, op.ordinal))
    return devices


# --- steps, of traces whose markers and launches leave no doubt ------------


def forward_lane(ops, graph_launches):
    """The lane of the largest replay, else of most busy time."""
    replays = collections.Counter(
        op.correlation for op in ops if op.correlation in graph_launches)
    if replays:
        largest = replays.most_common(1)[0][0]
        ops = [op for op in ops if op.correlation == largest]
    lanes = collections.defaultdict(list)
    for op in ops:
        lanes[op.lane].append((op.start, op.end))
    return max(lanes, key=lambda lane: union_length(lanes[lane]))


def find_steps(path, ops):
    """Steps by the markers, else one a graph replay; sets each op's step."""
    markers, graph_launches = [], {}
    for event in load_events(path):
        if event.get("ph") != "X":
            continue
        start = nanoseconds(str(event["ts"]))
        if event["cat"] == "user_annotation":
            markers.append((start, start + nanoseconds(str(event["dur"]))))
        elif event["name"] == "cudaGraphLaunch":
            graph_launches[correlation_of(event)] = start
    markers.sort()
    if not markers:
        markers = sorted((t, t + 1) for t in graph_launches.values())
    owned = collections.defaultdict(list)
    for op in ops:
        for number, (begin, end) in enumerate(markers):
            if op.launch is not None and begin <= op.launch < end:
                owned[number].append(op)
    steps = []
    for own in owned.values():
        lane = forward_lane(own, graph_launches)
        step = Step(min(op.start for op in own if op.lane == lane), None)
        replayed = collections.defaultdict(list)
        for op in own:
            op.step = step
            op.replayed = op.correlation in graph_launches
            if op.replayed:
                replayed[op.correlation].append(op)
        step.replays = list(replayed.values())
        steps.append(step)
    steps.sort(key=lambda step: step.begin)
    for step, following in zip(steps, steps[1:]):
        step.next_begin = following.begin
    for op in ops:  # without a launch record: by its start
        if op.launch is None:
            before = [step for step in steps if step.begin <= op.start]
            op.step = before[-1] if before else NOBODY
    return steps


# --- the accounting --------------------------------------------------------


def extent(ops):
    """First start and last end."""
    return min(op.start for op in ops), max(op.end for op in ops)


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


def device_totals(ops):
    busy = union_length((op.start, op.end) for op in ops)
    first, last = extent(ops)
    span = last - first
    return {
        "ops": len(ops),
        "kernels": sum(op.kind == KERNEL for op in ops),
        "sum_ns": sum(op.duration for op in ops),
        "busy_ns": busy,
        "span_ns": span,
        "idle_ns": span - busy,
    }


def pieces(cuts, ops):
    """(from, to, the ops that run all through it), in time order."""
    waiting = sorted(ops, key=lambda op: op.start, reverse=True)
    running = []
    for begin, end in zip(cuts, cuts[1:]):
        while waiting and waiting[-1].start <= begin:
            running.append(waiting.pop())
        running = [op for op in running if op.end > begin]
        yield begin, end, running


def deal_out(duration, running):
    """Gives every running op of a step its part of `duration` ns; returns the
    number of those that share."""
    kernels = [op for op in running if op.kind == KERNEL]
    candidates = kernels or running
    if kernels:
        kernel_lanes = {op.lane for op in kernels}
        for op in running:
            if op.kind == KERNEL:
                continue
            if op.lane in kernel_lanes:
                op.hidden_same_lane += duration
            else:
                op.hidden_cross_lane += duration
    keepers = []
    for lane in {op.lane for op in candidates}:
        on_lane = sorted(
            (op for op in candidates if op.lane == lane),
            key=lambda op: (op.start, op.end, op.name, op.ordinal))
        keepers.append(on_lane[0])
        for op in on_lane[1:]:
            op.hidden_same_lane += duration
    keepers.sort(key=lambda op: (op.start, op.end, op.normal_lane, op.name,
                                 op.ordinal))
    share, rest = divmod(duration, len(keepers))
    for place, op in enumerate(keepers):
        part = share + (1 if place < rest else 0)
        op.attributed += part
        op.hidden_cross_lane += duration - part
    return len(keepers)


def labels_alone(running):
    """The rows of which alone ops run: a category, a family and a kernel."""
    labels = ({op.category for op in running},
              {(op.family, op.category) for op in running},
              {(op.name, op.category) for op in running})
    return [next(iter(label)) if len(label) == 1 else None for label in labels]


def deal_out_keeping(duration, running):
    """deal_out, and each collective's stretch of it: joined with the one in
    front where it was as hidden, shared with as many and was as alone."""
    calls = [(op, op.attributed, op.hidden_same_lane) for op in running
             if op.communicates]
    sharers = deal_out(duration, running)
    alone = tuple(labels_alone(running))
    for op, attributed, same_lane in calls:
        same_lane = op.hidden_same_lane - same_lane
        kind = "hidden" if same_lane else (sharers, alone)
        if not op.stretches or op.stretches[-1]["kind"] != kind:
            op.stretches.append(collections.Counter(kind=kind))
        stretch = op.stretches[-1]
        stretch["length"] += duration
        stretch["attributed"] += op.attributed - attributed
        stretch["same_lane"] += same_lane


# --- waiting for other ranks -----------------------------------------------


def same_calls(own_of_steps):
    """What is the same call in several steps: as many calls of their family
    come before them on their lane."""
    calls = collections.defaultdict(list)
    for own in own_of_steps:
        count = collections.Counter()
        for op in sorted((op for op in own if op.communicates),
                         key=lambda op: (op.start, op.end, int(op.lane),
                                         op.ordinal)):
            calls[op.family, op.normal_lane, count[op.family, op.normal_lane]
                  ].append(op)
            count[op.family, op.normal_lane] += 1
    return calls.values()


def bound_waits(own_of_steps):
    """What one rank shows: all beyond the 10th percentile (nearest rank) of
    the same call, where four used steps have it. Says whether any has."""
    known = False
    for calls in same_calls(own_of_steps):
        if len(calls) < 4:
            continue
        known = True
        low = sorted(op.duration for op in calls)[-(-len(calls) // 10) - 1]
        for op in calls:
            op.wait = max(0, op.duration - low)
    return known


def moved(op, step):
    """What the wait takes of the op's amounts; a stretch that goes on longer
    is cut in proportion. `alone` has the attributed part by label, of a
    category, a family and a kernel."""
    rest = op.start + op.wait - max(op.start, step.begin)
    result = collections.Counter()
    alone = [collections.Counter() for _ in range(3)]
    for stretch in op.stretches:
        if rest <= 0:
            break
        length = min(rest, stretch["length"])
        rest -= length
        result["sum_ns"] += length
        if stretch["kind"] == "hidden":
            result["hidden_same_lane_ns"] += length
            continue
        attributed = stretch["attributed"] * length // stretch["length"]
        result["attributed_ns"] += attributed
        result["hidden_cross_lane_ns"] += length - attributed
        for level, label in zip(alone, stretch["kind"][1]):
            if label is not None:
                level[label] += attributed
    return result, alone


def next_launch(candidates, when):
    """What an instant waits for: the next op to start after it; of ops that
    start together the one launched first. When that was, and whether by a
    graph."""
    start = min((op.start for op in candidates if op.start > when),
                default=None)
    together = [op for op in candidates if op.start == start]
    launch = min((op.launch for op in together if op.launch is not None),
                 default=None)
    return launch, any(op.replayed for op in together if op.launch == launch)


def account_idle(step, end, own, after_own, idle_pieces, result):
    extents = [extent(replay) for replay in step.replays]
    candidates = [op for op in own + after_own if op.start <= end]
    for first, last in idle_pieces:
        cuts = {first, last}
        for inside in extents:
            cuts.update(t for t in inside if first < t < last)
        cuts.update(op.start for op in own if first < op.start < last)
        cuts = sorted(cuts)
        for begin, until in zip(cuts, cuts[1:]):
            if any(r[0] <= begin and until <= r[1] for r in extents):
                result["idle_inside"] += until - begin
                continue
            launch, replayed = next_launch(candidates, begin)
            places = ["idle"]
            if extents and min(extents)[0] <= begin < max(
                    extents, key=lambda one: one[1])[1]:
                places.append("idle_between")
            elif extents and not replayed:
                places.append("idle_tail")
            else:
                places.append("idle_rest")
            for place in places:
                if place not in ("idle", "idle_rest"):
                    result[place] += until - begin
                if launch is None:
                    result[place + "_unknown"] += until - begin
                    continue
                late = min(max(launch, begin), until) - begin
                result[place + "_host_late"] += late
                result[place + "_queued"] += until - begin - late


def account(step, own, others, after_own=()):
    """All amounts of one step, and exclusive times by category and kernel; the
    ops' own amounts are added to the ops.

    `own` are the step's ops, `others` all other ops of the device and
    `after_own` those of the next step that start at its begin.
    """
    result = collections.Counter()
    end = step.next_begin
    if end is None:
        end = max([step.begin] + [op.end for op in own])

    def clip(time):
        return min(max(time, step.begin), end)

    result["ops"] = len(own)
    result["kernels"] = sum(op.kind == KERNEL for op in own)
    first, last = extent(own) if own else (0, 0)
    result["span"] = last - first
    if step.replays:
        first, last = extent(max(step.replays, key=len))
        result["replay_span"] = last - first
    result["sum"] = sum(clip(op.end) - clip(op.start) for op in own)
    cuts = sorted({clip(t) for op in own for t in (op.start, op.end)} |
                  {step.begin, end})
    of_category, of_kernel = collections.Counter(), collections.Counter()
    for begin, until, running in pieces(cuts, own):
        if not running:
            continue
        result["busy"] += until - begin
        deal_out_keeping(until - begin, running)
        if all(op.kind == COPY for op in running):
            result["copy_only"] += until - begin
        for exclusive, labels in (
                (of_category, {op.category for op in running}),
                (of_kernel, {(op.name, op.category) for op in running})):
            if len(labels) == 1:
                exclusive[labels.pop()] += until - begin
    result["hidden_same_lane"] = sum(op.hidden_same_lane for op in own)
    result["hidden_cross_lane"] = sum(op.hidden_cross_lane for op in own)
    # Others' time and idle: the instants without an own op, cut anew.
    around = [op for op in own + list(others)
              if op.start < end and op.end > step.begin]
    cuts = sorted({clip(t) for op in around for t in (op.start, op.end)} |
                  {step.begin, end})
    idle_pieces = []
    own_set = set(own)
    for begin, until, running in pieces(cuts, around):
        if not running:
            idle_pieces.append((begin, until))
        elif not any(op in own_set for op in running):
            result["foreign"] += until - begin
    if step.next_begin is not None:  # else the end is no border
        result["wall"] = end - step.begin
        result["idle"] = sum(last - first for first, last in idle_pieces)
        account_idle(step, end, own, list(after_own), idle_pieces, result)
    return result, of_category, of_kernel


def launch_leads(own):
    """Start of its first op minus start of the call, of each launch."""
    first = {}
    for op in own:
        if op.launch is not None:
            start = first.get(op.correlation, op).start
            if op.start <= start:
                first[op.correlation] = op
    return [op.start - op.launch for op in first.values()]


def main():
    for device, ops in load_ops(sys.argv[1]).items():
        print(device, *(f"{k}={v}" for k, v in device_totals(ops).items()))


if __name__ == "__main__":
    main()
