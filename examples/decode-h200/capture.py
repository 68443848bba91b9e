#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captures the sample pair: one decode step in two variants of the software.

The model is shaped like one tensor-parallel rank (of 8) of a DeepSeek decoder,
with random weights and without the all-reduces: latent attention with the
absorbed projections, one dense layer, then mixture-of-experts layers with a
shared expert, and greedy sampling. Both variants run the same mathematics on
the same weights as one CUDA graph a step:

  library    every operation is the kernel that PyTorch's libraries provide
  compiled   the same functions through torch.compile

For each variant the step is timed without the profiler first; that figure is
written to untraced.json beside the traces, because a profiler changes what it
measures. Needs one GPU of the Hopper generation or later and about 30 GB.

    python3 capture.py OUTPUT_FOLDER
"""
import gzip
import json
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

DEVICE = torch.device("cuda", 0)
DTYPE = torch.bfloat16
HIDDEN, HEADS = 7168, 16
Q_RANK, KV_RANK, ROPE, NOPE, V_HEAD = 1536, 512, 64, 128, 128
EXPERTS, TOP_K, EXPERT_WIDTH, DENSE_WIDTH = 256, 8, 256, 2304
DENSE_LAYERS, MOE_LAYERS = 1, 5
VOCABULARY = 16160
BATCH, CONTEXT = 4, 4096
TRACED_STEPS, TIMED_STEPS = 10, 200


def weight(*shape):
    return torch.randn(*shape, device=DEVICE, dtype=DTYPE) * 0.02


def grouped_mm(x, w, offsets):
    run = getattr(F, "grouped_mm", None) or torch._grouped_mm
    return run(x, w, offs=offsets)


def rms_norm(x, gain):
    return F.rms_norm(x, (x.shape[-1],), gain, 1e-6)


def rotate(x, cos, sin):
    """Rotary embedding on interleaved halves; cos and sin are [batch, 32]."""
    even, odd = x.float().chunk(2, dim=-1)
    while cos.dim() < even.dim():
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    out = torch.cat((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return out.to(x.dtype)


def gated(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


class Layer:
    def __init__(self, dense):
        self.dense = dense
        self.norm_in = torch.ones(HIDDEN, device=DEVICE, dtype=DTYPE)
        self.norm_out = torch.ones(HIDDEN, device=DEVICE, dtype=DTYPE)
        self.norm_q = torch.ones(Q_RANK, device=DEVICE, dtype=DTYPE)
        self.norm_kv = torch.ones(KV_RANK, device=DEVICE, dtype=DTYPE)
        self.qkv_a = weight(Q_RANK + KV_RANK + ROPE, HIDDEN)
        self.q_b = weight(HEADS * (NOPE + ROPE), Q_RANK)
        self.absorb_k = weight(HEADS, NOPE, KV_RANK)
        self.absorb_v = weight(HEADS, KV_RANK, V_HEAD)
        self.o = weight(HIDDEN, HEADS * V_HEAD)
        self.cache = weight(BATCH, 1, CONTEXT, KV_RANK + ROPE)
        if dense:
            self.up = weight(2 * DENSE_WIDTH, HIDDEN)
            self.down = weight(HIDDEN, DENSE_WIDTH)
        else:
            self.gate = weight(EXPERTS, HIDDEN)
            self.gate_bias = torch.zeros(EXPERTS, device=DEVICE)
            self.expert_up = weight(EXPERTS, HIDDEN, 2 * EXPERT_WIDTH)
            self.expert_down = weight(EXPERTS, EXPERT_WIDTH, HIDDEN)
            self.shared_up = weight(2 * EXPERT_WIDTH, HIDDEN)
            self.shared_down = weight(HIDDEN, EXPERT_WIDTH)


def attention(layer, x, position, rows, cos, sin):
    q, kv, k_rope = F.linear(x, layer.qkv_a).split((Q_RANK, KV_RANK, ROPE), -1)
    q = F.linear(rms_norm(q, layer.norm_q), layer.q_b)
    q_nope, q_rope = q.view(BATCH, HEADS, NOPE + ROPE).split((NOPE, ROPE), -1)
    q_latent = torch.bmm(q_nope.transpose(0, 1), layer.absorb_k).transpose(0, 1)
    q = torch.cat((q_latent, rotate(q_rope, cos, sin)), -1).unsqueeze(2)
    entry = torch.cat((rms_norm(kv, layer.norm_kv), rotate(k_rope, cos, sin)), -1)
    layer.cache[rows, 0, position] = entry
    keys = layer.cache.expand(BATCH, HEADS, CONTEXT, KV_RANK + ROPE)
    out = F.scaled_dot_product_attention(q, keys, keys[..., :KV_RANK])
    out = torch.bmm(out.squeeze(2).transpose(0, 1), layer.absorb_v)
    return F.linear(out.transpose(0, 1).reshape(BATCH, HEADS * V_HEAD), layer.o)


def route(layer, x):
    """Token-expert pairs sorted by expert, with the experts' row offsets."""
    scores = torch.sigmoid(F.linear(x, layer.gate).float())
    experts = (scores + layer.gate_bias).topk(TOP_K, -1).indices
    share = scores.gather(-1, experts)
    share = share / share.sum(-1, keepdim=True)
    order = experts.flatten().argsort()
    counts = F.one_hot(experts.flatten(), EXPERTS).sum(0)
    return order, share.flatten()[order], counts.cumsum(0).to(torch.int32)


def moe(layer, x):
    order, share, offsets = route(layer, x)
    token = order // TOP_K
    y = grouped_mm(x[token], layer.expert_up, offsets)
    y = grouped_mm(gated(y), layer.expert_down, offsets)
    out = F.linear(gated(F.linear(x, layer.shared_up)), layer.shared_down)
    return out.index_add(0, token, (y * share.unsqueeze(-1)).to(DTYPE))


def dense_mlp(layer, x):
    return F.linear(gated(F.linear(x, layer.up)), layer.down)


class Decoder:
    def __init__(self):
        torch.manual_seed(7)
        self.layers = [Layer(i < DENSE_LAYERS)
                       for i in range(DENSE_LAYERS + MOE_LAYERS)]
        self.embedding = weight(VOCABULARY, HIDDEN)
        self.head = weight(VOCABULARY, HIDDEN)
        self.norm = torch.ones(HIDDEN, device=DEVICE, dtype=DTYPE)
        frequency = 10000.0 ** (-torch.arange(0, ROPE, 2, device=DEVICE) / ROPE)
        self.angles = torch.arange(CONTEXT, device=DEVICE)[:, None] * frequency
        self.rows = torch.arange(BATCH, device=DEVICE)
        self.tokens = torch.zeros(BATCH, device=DEVICE, dtype=torch.int64)
        self.position = torch.full((BATCH,), CONTEXT // 2, device=DEVICE)

    def step(self, token_ids, position):
        angle = self.angles[position]
        cos, sin = angle.cos(), angle.sin()
        h = F.embedding(token_ids, self.embedding)
        for layer in self.layers:
            x = rms_norm(h, layer.norm_in)
            h = h + attention(layer, x, position, self.rows, cos, sin)
            x = rms_norm(h, layer.norm_out)
            h = h + (dense_mlp if layer.dense else moe)(layer, x)
        return F.linear(rms_norm(h, self.norm), self.head).argmax(-1)


def capture_graph(model, function):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            function(model.tokens, model.position)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model.tokens.copy_(function(model.tokens, model.position))
    return graph


def run_variant(name, model, function, folder):
    graph = capture_graph(model, function)
    answer = torch.zeros(BATCH, dtype=torch.int64, pin_memory=True)

    def decode():
        graph.replay()
        answer.copy_(model.tokens, non_blocking=True)
        torch.cuda.current_stream().synchronize()

    for _ in range(30):
        decode()
    times_ms = []
    for _ in range(TIMED_STEPS):
        begin = time.perf_counter()
        decode()
        times_ms.append((time.perf_counter() - begin) * 1e3)

    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities) as trace:
        for _ in range(TRACED_STEPS):
            with record_function(f"step[DECODE bs={BATCH}]"):
                decode()
    with tempfile.TemporaryDirectory() as scratch:
        plain = os.path.join(scratch, "trace.json")
        trace.export_chrome_trace(plain)
        with open(plain, "rb") as source:
            data = source.read()
    target = os.path.join(folder, f"{name}.trace.json.gz")
    with open(target, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as out:
        out.write(data)
    return {"variant": name, "gpu": torch.cuda.get_device_name(0),
            "torch": torch.__version__, "cuda": torch.version.cuda,
            "batch": BATCH, "context": CONTEXT,
            "untraced_steps": TIMED_STEPS,
            "untraced_ms_median": round(statistics.median(times_ms), 4),
            "untraced_ms_p10": round(sorted(times_ms)[TIMED_STEPS // 10], 4),
            "untraced_ms_p90": round(sorted(times_ms)[TIMED_STEPS * 9 // 10], 4),
            "traced_steps": TRACED_STEPS}


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    model = Decoder()
    with torch.inference_mode():
        results = [run_variant("library", model, model.step, folder)]
        compiled = torch.compile(model.step, dynamic=False)
        results.append(run_variant("compiled", model, compiled, folder))
    with open(os.path.join(folder, "untraced.json"), "w") as out:
        json.dump(results, out, indent=1)
        out.write("\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
