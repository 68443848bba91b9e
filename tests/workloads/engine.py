# SPDX-License-Identifier: Apache-2.0
"""A serving engine and its GPUs, in integers of nanoseconds.

Each rank is a coroutine: its host makes calls one after the other, and what
they launch runs in order on streams. Ranks meet in collectives only:

    rank 0   host  [launch][launch]          the coroutine yields its arrival
             GPU         [gemm][all_reduce..........]
    rank 1   host  [late....][launch][launch]
             GPU                    [gemm..][all_red]
                                            ^ both end together

The host never waits for a collective by itself, so a rank may be ahead of the
others by any number of launches. All times are true times; a rank's clock is
applied when a trace is written.
"""

import contextlib
import dataclasses
import random

from workloads import names

START_NS = 7_000_000_000  # of every trace, on the true clock
LAUNCH_LATENCY_NS = 2_100  # from a launch call's end to the GPU

CALLS = {  # what a call does -> its name in either vendor's runtime
    "nvidia": {"kernel": "cudaLaunchKernel", "tensor": "cudaLaunchKernelExC",
               "graph": "cudaGraphLaunch", "copy": "cudaMemcpyAsync",
               "fill": "cudaMemsetAsync", "wait": "cudaEventSynchronize",
               "record": "cudaEventRecord"},
    "amd": {"kernel": "hipLaunchKernel", "tensor": "hipExtModuleLaunchKernel",
            "graph": "hipGraphLaunch", "copy": "hipMemcpyAsync",
            "fill": "hipMemsetAsync", "wait": "hipEventSynchronize",
            "record": "hipEventRecord"},
}
TENSOR_ROLES = ("qkv", "o_proj", "gate_up", "down", "lm_head")


@dataclasses.dataclass
class Op:
    """One GPU activity. kind: kernel, copy or memset."""
    kind: str
    name: str
    category: str
    lane: int
    start: int
    end: int
    correlation: int
    step: int | None  # index in Rank.steps
    direction: str = ""  # of a copy: HtoD, DtoH, DtoD
    size: int = 0  # bytes of a copy or memset
    graph: int = 0  # id of its graph, 0 without
    node: int = 0  # id of its node in the graph
    collective: int | None = None  # index in Simulation.collectives


@dataclasses.dataclass
class Call:
    what: str  # of CALLS
    start: int
    end: int
    correlation: int
    thread: int


@dataclasses.dataclass
class Marker:
    text: str
    start: int
    end: int
    thread: int


@dataclasses.dataclass
class Step:
    """A step as it was meant; its borders follow from its ops."""
    kind: str
    batch: int
    tokens: int
    context: int | None
    marker: str
    excluded: str = ""  # id under which the tool must leave it out


@dataclasses.dataclass
class Collective:
    role: str
    group: tuple
    sequence: int  # within its group
    transfer_ns: int
    arrivals: dict = dataclasses.field(default_factory=dict)  # rank -> ns
    steps: dict = dataclasses.field(default_factory=dict)  # rank -> step

    @property
    def last_arrival(self):
        return max(self.arrivals.values())

    @property
    def end(self):
        return self.last_arrival + self.transfer_ns


@dataclasses.dataclass
class Node:
    """A kernel of a graph, or a copy: on branch 0, the launching stream, or
    another one, started when its branch is free and the nodes in `after` have
    ended."""
    role: str
    branch: int = 0
    after: tuple = ()
    scale: float = 1.0


class Rank:
    MAIN, SIDE, COPY, COMM = 7, 13, 14, 20

    def __init__(self, number, options):
        self.number = number
        self.options = options
        self.vendor = options.vendor
        self.rng = random.Random(f"{options.seed}/{number}")
        # NVIDIA numbers a process's devices from 0 on, AMD all agents of a
        # node, processors first.
        self.device = number if self.vendor == "nvidia" else 2 + number
        self.host = START_NS + options.entry_ns(number)
        self.ready = {}  # lane -> end of its last op
        self.last_end = 0
        self.ops, self.calls, self.markers, self.steps = [], [], [], []
        self.overheads = []  # (name, start, end) of the profiler's own work
        self.correlation = 4000 + 7 * number
        self.owner = None  # step that gets what is launched now
        self.current = None  # step whose code runs now
        self.sequences = {}
        self.group = tuple(range(options.ranks))
        self.graph_lane = 100
        self.thread = 1000 + 10 * number
        self.clock_ns = options.clock_ns(number)
        self.slow = options.slow_percent.get(number, 0)
        # AMD traces show memsets as kernels; so do formats of both vendors.
        self.memset_is_kernel = self.vendor != "nvidia"

    def rng_of_step(self, number):
        """For choices that all ranks must make alike."""
        return random.Random(f"{self.options.seed}/step/{number}")

    # --- host ---------------------------------------------------------------

    def call(self, what, cost=None, correlated=True):
        cost = cost or self.rng.randint(2_200, 3_400)
        if correlated:
            self.correlation += 1
        call = Call(what, self.host, self.host + cost,
                    self.correlation if correlated else 0, self.thread)
        self.host = call.end + self.rng.randint(150, 500)
        self.calls.append(call)
        return call

    def work(self, nanoseconds):
        """Host time without a call."""
        self.host += nanoseconds

    def wait(self, until):
        """Blocks the host until the GPU reaches a time."""
        end = max(self.host + 800, until + 1_500)
        self.call("wait", cost=end - self.host)

    @contextlib.contextmanager
    def step(self, kind, batch, tokens=None, context=None, marker=None):
        """What the engine does for one step. With markers all that is launched
        inside is the step's; without, a step is from its first graph launch to
        the next one's, so work without a graph counts to the step before."""
        self.current = len(self.steps)
        self.steps.append(Step(kind, batch, tokens or batch, context,
                               marker or ""))
        begin = self.host
        if self.options.markers or not self.options.uses_graphs:
            self.owner = self.current
        self.work(self.rng.randint(1_000, 3_000))
        yield self.steps[-1]
        if self.options.markers:
            self.owner = None
            if marker:
                self.markers.append(Marker(marker, begin, self.host,
                                           self.thread))
            self.work(self.rng.randint(500, 1_500))

    @contextlib.contextmanager
    def marker(self, text):
        begin = self.host
        self.work(400)
        yield
        if self.options.markers:
            self.markers.append(Marker(text, begin, self.host, self.thread))
        self.work(300)

    # --- GPU ----------------------------------------------------------------

    def duration(self, nanoseconds):
        jittered = nanoseconds * self.rng.randint(985, 1015) // 1000
        return jittered * (100 + self.slow) // 100

    def _gap(self, in_graph):
        if in_graph and self.options.tight:
            return 1
        return self.rng.randint(400, 900) if in_graph else \
            self.rng.randint(700, 1_400)

    def _start(self, lane, earliest, in_graph, may_overlap):
        """When an op of this lane starts. Dependent launches begin before the
        kernel in front has ended, to wait for it."""
        ready = self.ready.get(lane)
        if ready is None:
            return earliest
        if may_overlap and self.options.dependent_launch and \
                earliest < ready and self.rng.random() < 0.6:
            return max(earliest, ready - self.rng.randint(1, 900))
        return max(earliest, ready + self._gap(in_graph))

    def _add(self, op):
        self.ready[op.lane] = max(op.end, self.ready.get(op.lane, 0))
        self.ops.append(op)
        self.last_end = op.end
        return op

    def _kernel(self, role, lane, earliest, correlation, scale, graph=(0, 0),
                group=None):
        kernel = names.kernel(self.vendor, role)
        collective = role in names.COLLECTIVE_ROLES
        start = self._start(lane, earliest, graph[0] > 0, not collective)
        op = Op("kernel", kernel.name, kernel.category, lane, start, start,
                correlation, self.owner, graph=graph[0], node=graph[1])
        if not collective:
            op.end = start + max(1, self.duration(
                int(kernel.duration_ns * scale)))
            return self._add(op)
        group = group or self.group
        sequence = self.sequences.get(group, 0)
        self.sequences[group] = sequence + 1
        transfer = int(kernel.duration_ns * scale)
        op.collective, op.end = yield Arrival(
            self, role, group, sequence, start, transfer)
        return self._add(op)

    def kernel(self, role, lane=None, after=0, scale=1.0, group=None):
        """Launches one kernel; a generator, since it may be a collective."""
        call = self.call("tensor" if role in TENSOR_ROLES else "kernel")
        return (yield from self._kernel(
            role, self.MAIN if lane is None else lane,
            max(call.end + LAUNCH_LATENCY_NS, after), call.correlation, scale,
            group=group))

    def run(self, roles, lane=None, scale=1.0):
        for role in roles:
            yield from self.kernel(role, lane, scale=scale)

    def replay(self, graph, nodes, scale=1.0):
        """Launches a graph: `nodes` are Node. Side branches get streams that
        no other replay has."""
        call = self.call("graph", cost=self.rng.randint(9_000, 14_000))
        self.owner = self.current
        earliest = call.end + LAUNCH_LATENCY_NS
        lanes, ended = {0: self.MAIN}, []
        for number, node in enumerate(nodes):
            if node.branch not in lanes:
                self.graph_lane += 1
                lanes[node.branch] = self.graph_lane
            start = max([earliest] + [ended[n] for n in node.after])
            at = lanes[node.branch], start, call.correlation
            which = graph, 100 * graph + number + 1
            if node.role == "copy":
                op = self._copy("DtoD", 4096, *at, which)
            else:
                op = yield from self._kernel(node.role, *at,
                                             scale * node.scale, which)
            ended.append(op.end)
        return max(ended)

    def _copy(self, direction, size, lane, earliest, correlation,
              graph=(0, 0)):
        start = self._start(lane, earliest, graph[0] > 0, False)
        return self._add(Op("copy", "", "memcpy", lane, start,
                            start + self.duration(900 + size // 24),
                            correlation, self.owner, direction, size,
                            *graph))

    def copy(self, direction, size, lane=None, after=0):
        call = self.call("copy")
        return self._copy(direction, size, self.COPY if lane is None else lane,
                          max(call.end + LAUNCH_LATENCY_NS, after),
                          call.correlation)

    def fill(self, size, lane=None):
        call = self.call("fill")
        lane = self.MAIN if lane is None else lane
        start = self._start(lane, call.end + LAUNCH_LATENCY_NS, False, False)
        kernel = names.kernel(self.vendor, "fill")
        kind = "kernel" if self.memset_is_kernel else "memset"
        return self._add(Op(kind, kernel.name, kernel.category, lane, start,
                            start + self.duration(1_100), call.correlation,
                            self.owner, size=size))


@dataclasses.dataclass
class Arrival:
    """What a rank's coroutine yields at a collective; it gets back
    (collective's index, end)."""
    rank: Rank
    role: str
    group: tuple
    sequence: int
    start: int
    transfer_ns: int


class Simulation:
    """Runs the ranks' coroutines against each other."""

    def __init__(self, options):
        self.options = options
        self.ranks = [Rank(number, options) for number in range(options.ranks)]
        self.collectives = []
        self._open = {}  # (group, sequence) -> (index, [waiting Arrivals])

    def run(self, program):
        """`program` is a function of a rank that gives a coroutine."""
        coroutines = {rank.number: program(rank) for rank in self.ranks}
        runnable = [(number, None) for number in coroutines]
        while runnable:
            number, answer = runnable.pop(0)
            try:
                arrival = coroutines[number].send(answer)
            except StopIteration:
                continue
            runnable += self._arrive(arrival)
        if self._open:
            raise RuntimeError("ranks wait for each other for ever: "
                               f"{list(self._open)[:4]}")

    def _arrive(self, arrival):
        key = arrival.group, arrival.sequence
        if key not in self._open:
            self._open[key] = len(self.collectives), []
            self.collectives.append(Collective(
                arrival.role, arrival.group, arrival.sequence,
                arrival.transfer_ns))
        index, waiting = self._open[key]
        collective = self.collectives[index]
        collective.arrivals[arrival.rank.number] = arrival.start
        collective.steps[arrival.rank.number] = arrival.rank.owner
        waiting.append(arrival.rank.number)
        if len(waiting) < len(arrival.group):
            return []
        del self._open[key]
        return [(number, (index, collective.end)) for number in waiting]
