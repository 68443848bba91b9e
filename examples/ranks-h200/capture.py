# SPDX-License-Identifier: Apache-2.0
"""Captures two ranks that wait for each other by known amounts.

torchrun --nproc-per-node 2 capture.py OUTPUT_FOLDER

A step is one CUDA graph replay: eight layers of two matrix products and two
all-reduces each. Before the traces each kind of all-reduce is timed alone, and
so are the matrix products that rank 1 has to do more.
"""

import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

OUT = sys.argv[1]
RANK = int(os.environ["RANK"])
DEVICE = torch.device("cuda", RANK)
DTYPE = torch.bfloat16
HIDDEN, LAYERS, STEPS = 4096, 8, 16

torch.cuda.set_device(RANK)
dist.init_process_group("nccl", device_id=DEVICE)
torch.manual_seed(1)
GROUP = dist.group.WORLD.group_name
WEIGHTS = [
    [torch.randn(HIDDEN, HIDDEN, device=DEVICE, dtype=DTYPE) * 0.01 for _ in "ab"]
    for _ in range(LAYERS)
]
EXTRA = torch.randn(4096, 4096, device=DEVICE, dtype=DTYPE)
BUFFERS = {}


def all_reduce(kind, x):
    if kind == "nccl":
        dist.all_reduce(x)
        return x
    if x.shape not in BUFFERS:
        BUFFERS[x.shape] = symmetric.empty(x.numel(), device=DEVICE, dtype=DTYPE)
        symmetric.rendezvous(BUFFERS[x.shape], GROUP)
    buffer = BUFFERS[x.shape]
    buffer.copy_(x.view(-1))
    return torch.ops.symm_mem.one_shot_all_reduce(buffer, "sum", GROUP).view(x.shape)


def step(x, kind, extra):
    h = x
    for layer, (a, b) in enumerate(WEIGHTS):
        h = F.rms_norm(h, (HIDDEN,))
        h = h + all_reduce(kind, F.linear(h, a))
        if layer == LAYERS // 2:
            for _ in range(extra):
                torch.mm(EXTRA, EXTRA)
        h = h + all_reduce(kind, F.silu(F.linear(h, b)))
    return h.argmax(-1)


def graph_of(work):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    dist.barrier()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def timed(work, times):
    """Median microseconds of one, from replays of `times` in a row."""

    def many():
        for _ in range(times):
            work()

    graph = graph_of(many)
    samples = []
    for _ in range(30):
        dist.barrier()
        torch.cuda.synchronize()
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) * 1e3 / times)
    return statistics.median(samples[5:])


def spin(us):
    begin = time.perf_counter()
    while (time.perf_counter() - begin) * 1e6 < us:
        pass


def capture(name, kind="nccl", tokens=64, delay_us=0, extra=0):
    x = torch.randn(tokens, HIDDEN, device=DEVICE, dtype=DTYPE)
    graph = graph_of(lambda: step(x, kind, extra if RANK == 1 else 0))

    def one():
        if RANK == 1:
            spin(delay_us)
        graph.replay()
        torch.cuda.current_stream().synchronize()

    for _ in range(40):
        one()
    torch.cuda.synchronize()
    dist.barrier()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as trace:
        for _ in range(STEPS):
            with record_function(f"step[DECODE bs={tokens}]"):
                one()
    with tempfile.NamedTemporaryFile(suffix=".json") as plain:
        trace.export_chrome_trace(plain.name)
        target = f"{OUT}/{name}-TP-{RANK}.trace.json.gz"
        with open(plain.name, "rb") as text, gzip.open(target, "wb") as packed:
            shutil.copyfileobj(text, packed)


def main():
    os.makedirs(OUT, exist_ok=True)
    alone = {
        f"nccl {tokens * HIDDEN * 2} bytes": timed(
            lambda x=torch.zeros(tokens, HIDDEN, device=DEVICE, dtype=DTYPE): (
                dist.all_reduce(x)
            ),
            50,
        )
        for tokens in (64, 2048)
    }
    alone["40 products"] = 40 * timed(lambda: torch.mm(EXTRA, EXTRA), 40)
    capture("host-delay", delay_us=5000)
    capture("extra-work", extra=40)
    capture("one-shot-delay", kind="one-shot", delay_us=4000)
    capture("large", tokens=2048)
    if RANK == 0:
        with open(f"{OUT}/alone.json", "w") as f:
            json.dump(alone, f, indent=1)
    dist.barrier()
    dist.destroy_process_group()


main()
