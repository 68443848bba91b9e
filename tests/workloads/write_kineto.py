# SPDX-License-Identifier: Apache-2.0
"""Kineto: a Chrome trace in JSON, as PyTorch's profiler writes it on CUDA and
on ROCm."""

import gzip
import json
import os

from workloads import engine, workload

COPY_NAMES = {"HtoD": "Memcpy HtoD (Pinned -> Device)",
              "DtoH": "Memcpy DtoH (Device -> Pinned)",
              "DtoD": "Memcpy DtoD (Device -> Device)"}


def microseconds(nanoseconds):
    return f"{nanoseconds // 1000}.{nanoseconds % 1000:03d}"


class Events:
    """Event texts. Times keep their three decimals."""

    def __init__(self):
        self.texts = []

    def add(self, phase, category, name, pid, tid, start, end=None, **args):
        head = json.dumps({"ph": phase, "cat": category, "name": name,
                           "pid": pid, "tid": tid})
        text = f'{head[:-1]}, "ts": {microseconds(start)}'
        if end is not None:
            text += f', "dur": {microseconds(end - start)}'
        if args:
            text += f', "args": {json.dumps(args)}'
        self.texts.append(text + "}")


def spaced(args):
    """Keys of args have spaces where Python's names cannot."""
    return {key.replace("_", " "): value for key, value in args.items()}


def op_args(rank, op):
    args = {"device": rank.device, "stream": op.lane,
            "correlation": op.correlation}
    if rank.vendor != "nvidia":
        if op.kind == "kernel":
            args["kind"] = "Dispatch Kernel"
        return args
    args["context"] = 1
    if op.kind == "kernel":
        args.update({"grid": [32, 1, 1], "block": [256, 1, 1]})
        if op.graph:
            args.update(spaced({"graph_id": op.graph,
                                "graph_node_id": op.node}))
    return args


def add_rank(events, rank, prefix=""):
    host = f"{prefix}{rank.thread}" if prefix else rank.thread
    device = f"{prefix}{rank.device}" if prefix else rank.device
    shift = rank.clock_ns
    calls = engine.CALLS["nvidia" if rank.vendor == "nvidia" else "amd"]
    for marker in rank.markers:
        events.add("X", "user_annotation", marker.text, host, rank.thread,
                   marker.start + shift, marker.end + shift)
    for call in rank.calls:
        args = {"correlation": call.correlation} if call.correlation else {}
        args["cid" if rank.vendor != "nvidia" else "cbid"] = 211
        events.add("X", "cuda_runtime", calls[call.what], host, rank.thread,
                   call.start + shift, call.end + shift, **args)
        events.add("X", "cpu_op", "aten::op", host, rank.thread,
                   call.start + shift - 100, call.end + shift + 50)
        if call.correlation:
            events.add("s", "ac2g", "ac2g", host, rank.thread,
                       call.start + shift)
    for op in rank.ops:
        category = {"kernel": "kernel", "copy": "gpu_memcpy",
                    "memset": "gpu_memset"}[op.kind]
        name = COPY_NAMES.get(op.direction, op.name) or "Memset (Device)"
        args = op_args(rank, op)
        if op.size and op.kind != "kernel":
            args["bytes"] = op.size
        events.add("X", category, name, device, op.lane, op.start + shift,
                   op.end + shift, **args)
    for name, start, end in rank.overheads:
        events.add("X", "overhead", name, -1, 0, start + shift, end + shift)


def head(ranks):
    vendor = ranks[0].vendor
    properties = {"id": 0, "numSms": 148, "warpSize": 32,
                  "name": "NVIDIA B300 SXM6 AC"}
    keys = {"cupti_version": 130000, "cuda_runtime_version": 13000,
            "cuda_driver_version": 13000}
    if vendor != "nvidia":
        properties = {"id": 0, "numSms": 304, "warpSize": 64,
                      "name": "AMD Instinct MI300X"}
        keys = {"rocprofiler-sdk_version": "1.1.0",
                "hip_runtime_version": 70226015,
                "hip_driver_version": 70226015}
    out = {"schemaVersion": 1, "deviceProperties": [properties], **keys}
    if len(ranks) == 1:
        out["distributedInfo"] = {
            "backend": "nccl", "rank": ranks[0].number,
            "world_size": ranks[0].options.ranks}
    out["displayTimeUnit"] = "ms"
    out["baseTimeNanoseconds"] = workload.BASE_NS
    return out


def text_of(ranks):
    events = Events()
    for rank in ranks:
        prefix = f"[TP{rank.number:02d}] " if len(ranks) > 1 else ""
        add_rank(events, rank, prefix)
    # The profiler flushes its buffers when it likes.
    ranks[0].rng_of_step("file").shuffle(events.texts)
    document = json.dumps(head(ranks), indent=1)[:-2]
    return (document + ',\n "traceEvents": [\n' + ",\n".join(events.texts) +
            '\n],\n "traceName": "/tmp/tmp0.json"\n}\n')


def write(ranks, folder, compress=False, merged=False):
    """Files of a rank each, or one of all; returns {rank: path}."""
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for group in [ranks] if merged else [[rank] for rank in ranks]:
        number = group[0].number
        name = "merged-1782843274.77" if merged \
            else f"1782843274.77-TP-{number}"
        path = os.path.join(folder, name + ".trace.json" +
                            (".gz" if compress else ""))
        opener = gzip.open if compress else open
        with opener(path, "wt", encoding="utf-8") as file:
            file.write(text_of(group))
        paths.update({rank.number: path for rank in group})
    return paths
