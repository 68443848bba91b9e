# SPDX-License-Identifier: Apache-2.0
"""What engines do: schedules of steps, as coroutines of a rank.

`SCHEDULES` maps the names that the command line knows.
"""

from workloads.engine import Node

ATTENTION = ("norm", "quant", "qkv", "qkv_reduce", "rope", "kv_write",
             "attention", "o_proj", "all_reduce")
MOE = ("norm", "router", "topk", "moe_gemm_1", "moe_act", "moe_gemm_2",
       "finalize", "all_reduce")
DENSE = ("norm", "gate_up", "activation", "down", "all_reduce")
SPARSE_ATTENTION = ("mhc", "norm", "qkv", "indexer", "rope", "kv_write",
                    "attention", "o_proj", "all_reduce")
EPILOGUE = ("norm", "lm_head", "all_gather")
CONTEXT = 2048  # tokens in the cache of a sequence when a trace begins


def layer(options, number):
    mlp = DENSE if number == 0 else MOE
    attention = ATTENTION if number % 2 == 0 else SPARSE_ATTENTION
    return attention + mlp


def decode_graph(options, branches=True, layers=None):
    """The whole forward pass as one graph; the shared expert of a layer runs
    beside its routed ones."""
    nodes = [Node("embedding"), Node("copy")]
    for number in range(layers or options.layers):
        for role in layer(options, number):
            if role == "topk" and branches and options.side_branches:
                fork = len(nodes) - 1
                nodes.append(Node("gate_up", 1, (fork,), 0.3))
                nodes.append(Node("activation", 1, (), 0.3))
                nodes.append(Node("down", 1, (), 0.3))
            nodes.append(Node(role))
    return nodes + [Node(role) for role in EPILOGUE]


def marker_of(options, kind, batch, tokens, context=None):
    """As SGLang, or as vLLM, writes it."""
    if options.engine == "vllm":
        prefill, decode = (batch, 0) if kind == "prefill" else (0, batch)
        fields = (f"execute_{tokens}_context_{prefill}"
                  f"(sq{tokens if prefill else 0}sk{context if prefill else 0}"
                  "sqsq0sqsk0)"
                  f"_generation_{decode}(sq{tokens if decode else 0}"
                  f"sk{context if decode else 0}sqsq0sqsk0)")
        return fields
    word = {"decode": "DECODE", "prefill": "EXTEND", "idle": "IDLE",
            "verify": "TARGET_VERIFY"}[kind]
    return f"step[{word} bs={batch} toks={tokens}]"


def step(rank, kind, batch, tokens, context=None):
    """Opens a step with its marker."""
    options = rank.options
    context = batch * CONTEXT if context is None else context
    shown = context if options.engine == "vllm" else None
    return rank.step(kind, batch, tokens, shown,
                     marker_of(options, kind, batch, tokens, context))


def inject(rank, number):
    """What the options plant in this step, before its forward pass."""
    for kind, target, where, amount in rank.options.inject:
        if target != rank.number or where != number:
            continue
        if kind == "host":
            rank.work(amount)
        else:
            gemm = 20_000
            for _ in range(max(1, round(amount / gemm))):
                yield from rank.kernel("down", scale=gemm / 11_000)


def prologue(rank, batch):
    """Inputs of the next step, mostly on a stream of their own."""
    yield from rank.kernel("arange", rank.SIDE)
    copied = rank.copy("HtoD", 64 * batch, rank.SIDE)
    yield from rank.kernel("metadata", after=copied.end)
    yield from rank.kernel("positions")
    rank.copy("DtoD", 64 * batch, rank.MAIN)
    rank.fill(64)
    if rank.rng.random() < 0.5:
        rank.call("record", cost=600, correlated=False)


def epilogue(rank, batch):
    """Sampling, and the tokens' way to the host; when they are there."""
    sampled = yield from rank.kernel("sampling")
    return rank.copy("DtoH", 8 * batch, after=sampled.end).end


def settle(rank, done):
    """With overlapped scheduling the host is one step ahead: it waits for the
    step before, else for this one."""
    done.append(rank.last_end)
    if not rank.options.overlap:
        rank.wait(done[-1])
    elif len(done) > 1:
        rank.wait(done[-2])


def decode_step(rank, number, batch, context=None, graph=1):
    with step(rank, "decode", batch, batch, context):
        yield from prologue(rank, batch)
        yield from inject(rank, number)
        yield from rank.replay(graph, decode_graph(rank.options))
        yield from epilogue(rank, batch)


def prefill_step(rank, number, batch, tokens):
    """Eager, and long."""
    if not rank.options.markers:
        # No graph launch opens it: its work counts to the step before it.
        rank.steps[-1].excluded = "mixed-work"
        yield from prefill_work(rank, number, batch)
        return
    with step(rank, "prefill", batch, tokens):
        yield from prefill_work(rank, number, batch)


def prefill_work(rank, number, batch):
    yield from prologue(rank, batch)
    yield from inject(rank, number)
    yield from rank.kernel("embedding", scale=8)
    for index in range(rank.options.layers):
        yield from rank.run(layer(rank.options, index), scale=8)
    yield from rank.run(EPILOGUE)
    yield from epilogue(rank, batch)


def decode(rank):
    """Decode steps, one graph each."""
    done = []
    for number in range(rank.options.steps):
        yield from decode_step(rank, number, rank.options.batch)
        settle(rank, done)


def prefill(rank):
    """Overlapped decode steps with a prefill among them."""
    done, options = [], rank.options
    for number in range(options.steps):
        if number == options.steps // 2:
            yield from prefill_step(rank, number, 2, 1024)
        else:
            yield from decode_step(rank, number, options.batch)
        settle(rank, done)


def eager(rank):
    """Every kernel launched by itself; the host may be the bottleneck."""
    done, options = [], rank.options
    for number in range(options.steps):
        with step(rank, "decode", options.batch, options.batch):
            yield from prologue(rank, options.batch)
            yield from inject(rank, number)
            yield from rank.kernel("embedding")
            for index in range(options.layers):
                yield from rank.run(layer(options, index))
            yield from rank.run(EPILOGUE)
            yield from epilogue(rank, options.batch)
        settle(rank, done)


def piecewise(rank):
    """Attention eager, a graph for what lies between: several replays a step,
    as vLLM's piecewise compilation gives them."""
    done, options = [], rank.options
    for number in range(options.steps):
        with step(rank, "decode", options.batch, options.batch):
            yield from prologue(rank, options.batch)
            yield from inject(rank, number)
            first = [Node("embedding")] + [Node(r) for r in ATTENTION[:5]]
            yield from rank.replay(1, first)
            for index in range(options.layers):
                yield from rank.run(("kv_write", "attention"))
                piece = ATTENTION[7:] + (DENSE if index == 0 else MOE)
                piece += ATTENTION[:5] if index + 1 < options.layers \
                    else EPILOGUE
                graph = {0: 2, options.layers - 1: 4}.get(index, 3)
                yield from rank.replay(graph, [Node(r) for r in piece])
            yield from epilogue(rank, options.batch)
        settle(rank, done)


def two_batch(rank):
    """Two-batch overlap: one half computes while the other communicates. The
    halves run on two lanes; the first one, on the main lane, is larger."""
    done, options = [], rank.options
    compute = (("norm", "qkv", "rope", "kv_write", "attention", "o_proj",
                "norm", "router", "topk"), ("moe_gemm_1", "moe_act",
                                            "moe_gemm_2"))
    for number in range(options.steps):
        with step(rank, "decode", options.batch, options.batch):
            yield from prologue(rank, options.batch)
            yield from inject(rank, number)
            nodes = [Node("embedding")]
            computed = 0  # node that the other half's compute waits for
            for _ in range(options.layers):
                for roles, talk in zip(compute, ("dispatch", "combine")):
                    for branch, share in ((0, 1.2), (1, 0.8)):
                        for place, role in enumerate(roles):
                            after = (computed,) if place == 0 else ()
                            nodes.append(Node(role, branch, after, share))
                        computed = len(nodes) - 1
                        nodes.append(Node(talk, branch, (), share))
            last = len(nodes) - 1
            nodes += [Node("norm", 0, (last,))]
            nodes += [Node(role) for role in EPILOGUE[1:]]
            if options.graphs:
                yield from rank.replay(1, nodes)
            else:
                yield from launch_nodes(rank, nodes)
            yield from epilogue(rank, options.batch)
        settle(rank, done)


def launch_nodes(rank, nodes):
    """A graph's nodes as launches of their own; branch 1 is a second lane."""
    ended = []
    for node in nodes:
        after = max([0] + [ended[n] for n in node.after])
        op = yield from rank.kernel(
            node.role, rank.MAIN + node.branch, after, node.scale)
        ended.append(op.end)


def pipeline(rank):
    """Each rank is a stage; microbatches follow each other. A step is a
    microbatch; what it receives and sends runs on a lane of its own."""
    done, options = [], rank.options
    first, last = rank.number == 0, rank.number == options.ranks - 1
    rank.group = (rank.number,)
    before = (rank.number - 1, rank.number)
    behind = (rank.number, rank.number + 1)
    for number in range(options.steps):
        with step(rank, "decode", options.batch, options.batch):
            yield from rank.kernel("arange", rank.SIDE)
            arrived = rank.last_end
            if not first:
                op = yield from rank.kernel("send_recv", rank.COMM,
                                            group=before)
                arrived = op.end
            yield from rank.kernel("metadata", after=arrived)
            yield from inject(rank, number)
            yield from rank.replay(1, stage_graph(options, first, last))
            if last:
                yield from epilogue(rank, options.batch)
            else:
                yield from rank.kernel("send_recv", rank.COMM,
                                       after=rank.ready[rank.MAIN],
                                       group=behind)
        settle(rank, done)


def stage_graph(options, first, last):
    roles = ("embedding",) if first else ()
    for number in range(options.layers):
        roles += layer(options, number)
    return [Node(role) for role in roles + (EPILOGUE if last else ())]


def speculative(rank):
    """Cycles of drafts, verify and draft extension, one graph each."""
    done, options = [], rank.options
    draft = [Node("eh_norm")] + [Node(r) for r in ATTENTION + DENSE] + \
        [Node("lm_head", scale=0.5), Node("sampling", scale=0.5)]
    verify = decode_graph(options, branches=False,
                          layers=max(4, options.layers))
    extend = [Node("eh_norm")] + [Node(r) for r in ATTENTION + MOE]
    for number in range(options.steps):
        drafts = options.drafts
        if options.vary_drafts:
            drafts = rank.rng_of_step(number).randint(1, options.drafts)
        batch = options.batch
        with rank.step("verify", batch, (options.drafts + 1) * batch, None,
                       ""):
            with rank.marker(f"step[DRAFT_LOOP raw_bs={batch} bs={batch} "
                             "topk=1]"):
                yield from prologue(rank, batch)
                yield from inject(rank, number)
                for _ in range(drafts):
                    yield from rank.replay(2, draft)
                yield from rank.kernel("build_tree")
            text = f"step[TARGET_VERIFY bs={batch} " \
                f"toks={(options.drafts + 1) * batch}]"
            with rank.marker(text):
                rank.steps[-1].marker = text
                yield from rank.replay(1, verify)
                yield from rank.kernel("verify_tree")
            with rank.marker(f"step[DRAFT_EXTEND_V2 bs={batch}]"):
                yield from rank.replay(3, extend)
                sampled = yield from rank.kernel("sampling")
                rank.copy("DtoH", 8 * batch, after=sampled.end)
        settle(rank, done)


def batches(rank):
    """The batch shrinks: steps of several shapes, a graph for each."""
    done, options = [], rank.options
    for number in range(options.steps):
        size = max(1, options.batch >> (2 * number // options.steps))
        yield from decode_step(rank, number, size, graph=size)
        settle(rank, done)


def context(rank):
    """The cache grows, and attention with it: a trend, not outliers."""
    done, options = [], rank.options
    for number in range(options.steps):
        scale = 1 + 0.05 * number
        batch = options.batch
        with step(rank, "decode", batch, batch,
                  batch * (CONTEXT + 1000 * number)):
            yield from prologue(rank, batch)
            yield from inject(rank, number)
            nodes = decode_graph(options)
            for node in nodes:
                node.scale *= scale if node.role == "attention" else 1
            yield from rank.replay(1, nodes)
            yield from epilogue(rank, batch)
        settle(rank, done)


def idle(rank):
    """Data-parallel ranks: in some steps only the others have work, and this
    one takes part in their collectives."""
    done, options = [], rank.options
    for number in range(options.steps):
        if number % 3 == 2 and options.markers:
            with step(rank, "idle", 0, 0, 0):
                yield from rank.kernel("arange", rank.SIDE)
                yield from rank.kernel("positions")
                for _ in range(options.layers):
                    yield from rank.run(("dispatch", "combine"))
                rank.steps[-1].excluded = "idle-step"
        else:
            yield from decode_step(rank, number, options.batch)
        settle(rank, done)


def offload(rank):
    """Weights come over the bus: copies that nothing hides."""
    done, options = [], rank.options
    for number in range(options.steps):
        with step(rank, "decode", options.batch, options.batch):
            yield from prologue(rank, options.batch)
            yield from inject(rank, number)
            for index in range(options.layers):
                copied = rank.copy("HtoD", 3_000_000, rank.COPY)
                yield from rank.kernel("norm", after=copied.end)
                yield from rank.run(layer(options, index)[1:])
            yield from rank.run(EPILOGUE)
            yield from epilogue(rank, options.batch)
        settle(rank, done)


SCHEDULES = {
    "decode": decode, "prefill": prefill, "eager": eager,
    "piecewise": piecewise, "two-batch": two_batch, "pipeline": pipeline,
    "speculative": speculative, "batches": batches, "context": context,
    "idle": idle, "offload": offload,
}
