#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the Kineto fuzzer: one small input for each form and
each kind of damage that the reader knows, and for each fault found so far.

    tests/fuzz/make_seeds.py    writes tests/fuzz/corpus/kineto/
"""
import gzip
import pathlib
import sys

FOLDER = pathlib.Path(__file__).parent / "corpus" / "kineto"
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))


def event(i, cat="kernel", name="gemm", pid="0", tid="7", args=""):
    return (f'{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, '
            f'"tid": {tid}, "ts": {1000 + 10 * i}.250, "dur": 8.5, "args": '
            f'{{"device": 0, "correlation": {100 + i}{args}}}}}')


def launch(i, call="cudaLaunchKernel"):
    return event(i - 3, "cuda_runtime", call, "9", "9").replace(
        f'"correlation": {97 + i}', f'"correlation": {100 + i}')


def trace(events, before="", between=",\n  ", after=', "traceName": "x"'):
    return (f'{{"schemaVersion": 1, {before}"traceEvents": [\n  '
            f"{between.join(events)}\n]{after}}}\n")


def steps(count=4, kernels=3):
    events = []
    for i in range(count):
        events.append(event(10 * i, "user_annotation", "step[DECODE bs=4]",
                            "9", "9").replace("8.5", "90"))
        for j in range(kernels):
            events += [launch(10 * i + j), event(10 * i + j, name=f"k{j}")]
    return events


def seeds():
    plain = steps()
    pair = [launch(1), event(1)]
    odd = lambda text: trace(pair + [text] + plain[:3])
    swap = lambda old, new: odd(event(2).replace(old, new))
    base = '"baseTimeNanoseconds": 1790857026000000000, '
    texts = {
        "steps": trace(plain, base),
        "minified": trace(plain, base, ",").replace(": ", ":"),
        "array": "[" + ",".join(pair) + "]",
        "metadata": trace(pair, '"deviceProperties": [{"id": 0, "name": "AMD '
                          'Instinct", "numSms": 304, "warpSize": 64}], '
                          '"distributedInfo": {"rank": 1, "world_size": 8}, '
                          '"hip_runtime_version": 70226015, '),
        "merged_ranks": trace([event(i, pid=f'"[TP0{i % 2}] 0"')
                               for i in range(6)]),
        "replays": trace([launch(i, "cudaGraphLaunch") for i in (0, 20, 40)] +
                         [event(i + j, name=f"k{j}").replace(
                             f'"correlation": {100 + i + j}',
                             f'"correlation": {100 + i}')
                          for i in (0, 20, 40) for j in range(4)]),
        "year_2021": trace([event(1, "Kernel"), event(2, "Memcpy"),
                            event(1, "Runtime", "cudaLaunchKernel"),
                            event(3, "Operator", "ProfilerStep#3")]),
        "stray_quotes": odd(event(2, name='a"b", "c')),
        "backslash": odd(event(2, name="C:\\")),
        "missing_brace": odd(event(2)[:-1]),
        "extra_brace": odd(event(2) + "}"),
        "no_colon": swap('"pid": ', '"pid" '),
        "bad_numbers": swap("8.5", "-inf"),
        "huge_integer": swap('"device": 0', '"device": 98765432109876543210'),
        "empty_name": odd(event(2, name="")),
        "bad_utf8": odd(event(2, name="a\udcff\udcc3")),
        "control": odd(event(2, name="a\nb\x01")),
        "twice": swap('"device": 0', '"device": 0, "device": 1'),
        "escaped_key": swap('"cat"', '"\\u0063at"'),
        "escaped_cat": swap('"kernel"', '"kern\\u0065l"'),
        "escaped_arg": swap('"corr', '"c\\u006frr'),
        "nested_array": trace(plain[:4], '"a": {"traceEvents": [{"ph": "X"}]},'
                              ' "b": "traceEvents\\": [", '),
        "wrapped": '{"trace": ' + trace(pair) + "}",
        "two_traces": trace(pair) + trace(pair),
        "stray_bracket": trace(pair) .replace("}},\n", "}}[,\n", 1),
        "junk": trace(pair).replace("}},\n", "}} ]x\x02 1,, null,\n", 1),
        "pid_fraction": swap('"pid": 0', '"pid": 1.0'),
        "pid_text": swap('"pid": 0', '"pid": "GPU"'),
        "tid_null": swap('"tid": 7', '"tid": null'),
        "correlation_text": swap('"correlation": 102', '"correlation": "x"'),
        "values": trace(['17', 'null', '"text"', '[1, {"ph": "X"}]', '{}'] +
                        pair),
        # The text in front of the args was once taken for their key.
        "other_object": trace([event(i).replace('"args"', '"arcs"')
                               for i in range(3)]),
        "args_in_name": trace([event(i, name='x\\"args').replace(
            '"args":', '"b":') for i in range(3)]),
        # A layout was once learned from a value that overlaps another.
        "key_in_value": trace([event(i).replace(
            '"dur": 8.5', '"dur": {"ph": "X"}, "dur": 8.5')
            for i in range(3)]),
        "layout_repeats": trace([event(i).replace(
            '"cat": "kernel", ', '').replace(
            '"args"', '"cat": "kernel", "name": "again", "args"')
            for i in range(4)]),
    }
    packed = gzip.compress(trace(plain).encode(), mtime=0)
    files = {name: text.encode(errors="surrogateescape")
             for name, text in texts.items()}
    files["cut"] = files["steps"][:-300]
    files["gzip"] = packed
    files["gzip_cut"] = packed[:-30]
    files["gzip_members"] = packed + gzip.compress(b" ", mtime=0)
    window = bytes([0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0])
    raw = files["array"]
    block = (len(raw) << 3 | 1).to_bytes(3, "little") + raw
    files["zstd"] = window[:5] + bytes([0x50]) + block
    files["zstd_window"] = window + block
    return files


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in seeds().items():
        (FOLDER / name).write_bytes(data)


if __name__ == "__main__":
    main()
