#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the trace of --format perfetto back and holds it against `dump`.

    tests/perfetto_trace.py --bin build/release/inferdiff [--public FOLDER]

Every operation of the representative step is there exactly once, with its
times to the nanosecond, its name, category and lane; on no track do two slices
overlap; counterparts are those of the alignment; and the program refuses the
file where it wants a trace.

Exit code: 0 right, 1 wrong, 77 skipped: no such folder.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
SIDES = [REPO / f"examples/decode-h200/{name}.trace.json.gz"
         for name in ("library", "compiled")]


# --- protocol buffers ---------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """field number -> its values, in order."""
    found, at = collections.defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"wire type {key & 7}")
        found[key >> 3].append(value)
    return found


def annotations(event):
    pairs = {}
    for message in event[4]:
        one = fields(message)
        text = one[6][0].decode() if 6 in one else one[3][0]
        pairs[one[10][0].decode()] = text
    return pairs


Slice = collections.namedtuple("Slice", "track begin end name args")


class Trace:
    """Tracks by uuid, with their parents, and slices, matched as the importer
    does: on one track the last that began ends first."""

    def __init__(self, data):
        self.names, self.parents, self.processes = {}, {}, {}
        self.slices = []
        events = []
        for message in fields(data)[1]:
            packet = fields(message)
            if 60 in packet:
                self.add_track(fields(packet[60][0]))
            else:
                events.append((packet[8][0], fields(packet[11][0])))
        events.sort(key=lambda event: event[0])  # stable, as the importer's
        stacks = collections.defaultdict(list)
        for time, event in events:
            track = event[11][0]
            assert track in self.names, "an event on no track"
            if event[9] == [1]:
                assert not stacks[track], "slices of one track overlap"
                stacks[track].append((time, event))
                continue
            assert event[9] == [2]
            begin, opened = stacks[track].pop()
            self.slices.append(Slice(track, begin, time,
                                     opened[23][0].decode(),
                                     annotations(opened)))
        assert not any(stacks.values()), "a slice without an end"

    def add_track(self, track):
        uuid = track[1][0]
        assert uuid not in self.names, "a track twice"
        if 3 in track:
            self.processes[uuid] = fields(track[3][0])[1][0]
            self.names[uuid] = fields(track[3][0])[6][0].decode()
        else:
            self.names[uuid] = track[2][0].decode()
            self.parents[uuid] = track[5][0]

    def process(self, track):
        while track in self.parents:
            track = self.parents[track]
        return self.processes[track]

    def operations(self, pid):
        return [one for one in self.slices
                if "ordinal" in one.args and self.process(one.track) == pid]


# --- the truth ----------------------------------------------------------------


def output(program, *arguments, code=0):
    done = subprocess.run([program, *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=300)
    assert done.returncode == code, (arguments, done.stderr.decode()[-500:])
    return done.stdout if code == 0 else done.stderr.decode()


def truth(program, ledger, trace):
    """Of the representative step: ordinal -> (start, dur, category, lane)."""
    step = ledger["layers"]["step"]
    steps = json.loads(output(program, "steps", trace, "--format", "json"))
    begin = steps["steps"][step]["begin_ns"]
    lines = output(program, "dump", trace).decode().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    found = {}
    for row in rows[1:]:
        one = dict(zip(rows[0], row))
        if int(one["step"]) == step:
            found[int(one["ordinal"])] = (
                int(one["start_ns"]), int(one["dur_ns"]), one["category"],
                int(one["normal_lane"]))
    return found, begin


def check_side(trace, pid, found, begin, zero):
    operations = trace.operations(pid)
    assert len(operations) == len(found) > 0, (len(operations), len(found))
    ordinals = {one.args["ordinal"] for one in operations}
    assert ordinals == set(found), "other operations"
    for one in operations:
        start, duration, category, lane = found[one.args["ordinal"]]
        assert one.end - one.begin == duration, one
        assert one.begin - zero == start - begin, one
        assert one.args["category"] == category, one
        assert one.args["lane"] == lane, one
        assert trace.names[one.track].split(" (")[0] == f"lane {lane}", one
    return len(operations)


def zero_of(trace, pid, found, begin):
    """When the step begins: its track says, else its operations do."""
    for one in trace.slices:
        if (trace.names[one.track] == "step" and
                trace.process(one.track) == pid):
            return one.begin
    first = trace.operations(pid)[0]
    return first.begin - (found[first.args["ordinal"]][0] - begin)


def check_ledger(program, folder, trace):
    path = folder / "out.pftrace"
    output(program, "ledger", trace, "-o", path)
    ledger = json.loads(output(program, "ledger", trace, "--format", "json"))
    if not ledger["steps"]["used"]:
        return 0
    found, begin = truth(program, ledger, trace)
    read = Trace(path.read_bytes())
    return check_side(read, 1, found, begin, zero_of(read, 1, found, begin))


def check_compare(program, folder, a, b):
    path = folder / "out.pftrace"
    output(program, "compare", a, "--", b, "-o", path)
    result = json.loads(output(program, "compare", a, "--", b, "--format",
                               "json"))
    read, zeros = Trace(path.read_bytes()), []
    for pid, side, trace in ((1, "a", a), (2, "b", b)):
        found, begin = truth(program, result[side], trace)
        zeros.append(zero_of(read, pid, found, begin))
        check_side(read, pid, found, begin, zeros[-1])
    assert zeros[0] == zeros[1], "the steps do not begin at one instant"
    check_counterparts(read, result["alignment"])
    message = output(program, "ledger", path, code=2)
    assert "Perfetto trace" in message, message


def check_counterparts(read, alignment):
    """Where both sides have operations each names one of the other's."""
    others = {}
    for group in alignment:
        for pid, own, other in ((1, "a", "b"), (2, "b", "a")):
            for ordinal in group[own]:
                others[pid, ordinal] = set(group[other])
    named = 0
    for pid in (1, 2):
        drawn = {one.args["ordinal"] for one in read.operations(3 - pid)}
        for one in read.operations(pid):
            wanted = others[pid, one.args["ordinal"]] & drawn
            text = one.args["counterpart"]
            assert (text == "none") == (not wanted), (one, wanted)
            if wanted:
                first = int(text.split("(ordinal ")[1].split(")")[0])
                assert first in wanted, (one, wanted)
                named += 1
    assert named > 100, named


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--public", type=pathlib.Path)
    options = parser.parse_args()
    if options.public and not options.public.is_dir():
        print(f"skipped: no {options.public}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.public:
            traces = sorted(options.public.glob("*sglang*DECODE*.json.gz"))
            traces += sorted(options.public.glob("h200/*TP-0*.json.gz"))
        else:
            check_compare(options.bin, folder, *SIDES)
            traces = SIDES
        operations = sum(check_ledger(options.bin, folder, trace)
                         for trace in traces)
    print(f"{len(traces)} traces, {operations} operations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
