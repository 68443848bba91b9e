# SPDX-License-Identifier: Apache-2.0
"""Nsight Systems' SQLite export, captured with --cuda-graph-trace=node."""

import os

from workloads import engine, names, workload
from workloads.tables import Database, Strings

COPY_KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
VERSIONS = {"kernel": "_v7000", "tensor": "_v11060", "graph": "_v10000",
            "copy": "_v3020", "fill": "_v3020", "wait": "_v3020",
            "record": "_v3020"}
OP = ("start INTEGER NOT NULL", "end INTEGER NOT NULL",
      "deviceId INTEGER NOT NULL", "contextId INTEGER NOT NULL",
      "greenContextId INTEGER", "streamId INTEGER NOT NULL",
      "correlationId INTEGER", "globalPid INTEGER")
TABLES = {
    "StringIds": ("id INTEGER NOT NULL PRIMARY KEY", "value TEXT NOT NULL"),
    "TARGET_INFO_SESSION_START_TIME": (
        "utcEpochNs INTEGER", "utcTime TEXT", "localTime TEXT",
        "systemClockNs INTEGER"),
    "ANALYSIS_DETAILS": (
        "globalVid INTEGER NOT NULL", "duration INTEGER NOT NULL",
        "startTime INTEGER NOT NULL", "stopTime INTEGER NOT NULL"),
    "CUPTI_ACTIVITY_KIND_MEMSET": OP + (
        "value INTEGER NOT NULL", "bytes INTEGER NOT NULL",
        "graphNodeId INTEGER", "memKind INTEGER"),
    "CUPTI_ACTIVITY_KIND_MEMCPY": OP + (
        "bytes INTEGER NOT NULL", "copyKind INTEGER NOT NULL",
        "srcKind INTEGER", "dstKind INTEGER", "graphNodeId INTEGER",
        "copyCount INTEGER"),
    "CUPTI_ACTIVITY_KIND_KERNEL": OP + (
        "demangledName INTEGER NOT NULL", "shortName INTEGER NOT NULL",
        "mangledName INTEGER", "launchType INTEGER",
        "registersPerThread INTEGER NOT NULL", "gridX INTEGER NOT NULL",
        "gridY INTEGER NOT NULL", "gridZ INTEGER NOT NULL",
        "blockX INTEGER NOT NULL", "blockY INTEGER NOT NULL",
        "blockZ INTEGER NOT NULL", "staticSharedMemory INTEGER NOT NULL",
        "dynamicSharedMemory INTEGER NOT NULL", "gridId INTEGER NOT NULL",
        "graphNodeId INTEGER", "graphId INTEGER"),
    "CUPTI_ACTIVITY_KIND_RUNTIME": (
        "start INTEGER NOT NULL", "end INTEGER NOT NULL",
        "eventClass INTEGER NOT NULL", "globalTid INTEGER",
        "correlationId INTEGER", "nameId INTEGER NOT NULL",
        "returnValue INTEGER NOT NULL", "callchainId INTEGER"),
    "NVTX_EVENTS": (
        "start INTEGER NOT NULL", "end INTEGER", "eventType INTEGER NOT NULL",
        "rangeId INTEGER", "category INTEGER", "color INTEGER", "text TEXT",
        "globalTid INTEGER", "endGlobalTid INTEGER", "textId INTEGER",
        "domainId INTEGER"),
    "CUDA_GRAPH_NODE_EVENTS": (
        "start INTEGER NOT NULL", "end INTEGER", "eventClass INTEGER NOT NULL",
        "globalTid INTEGER", "nameId INTEGER NOT NULL",
        "graphNodeId INTEGER NOT NULL", "originalGraphNodeId INTEGER"),
    "PROFILER_OVERHEAD": (
        "start INTEGER NOT NULL", "end INTEGER NOT NULL", "globalTid INTEGER",
        "nameId INTEGER NOT NULL", "overheadType INTEGER NOT NULL"),
    "PROCESSES": ("globalPid INTEGER", "pid INTEGER", "name TEXT"),
    "TARGET_INFO_GPU": (
        "vmId INTEGER NOT NULL", "id INTEGER NOT NULL", "name TEXT",
        "smCount INTEGER", "cuDevice INTEGER", "computeMajor INTEGER",
        "computeMinor INTEGER"),
    "TARGET_INFO_CUDA_DEVICE": (
        "gpuId INTEGER NOT NULL", "cudaId INTEGER NOT NULL",
        "pid INTEGER NOT NULL", "uuid TEXT", "numMultiprocessors INTEGER"),
    "META_DATA_CAPTURE": ("name TEXT NOT NULL", "value TEXT"),
    "META_DATA_EXPORT": ("name TEXT NOT NULL", "value TEXT"),
}


def short_name(name):
    """The identifier alone, as the export's shortName has it."""
    depth, kept = 0, ""
    for character in name.replace("<unnamed>", "unnamed"):
        depth += character in "<({"
        if depth == 0:
            kept += character
        depth -= character in ">)}"
    return kept.split()[-1].split("::")[-1] if kept.split() else name


# Columns that not every generation has; without `textId` all text is inline.
OPTIONAL = ("greenContextId", "contextId", "globalPid", "eventClass",
            "mangledName", "launchType", "graphNodeId", "graphId", "copyCount",
            "memKind", "srcKind", "dstKind", "returnValue", "callchainId",
            "textId", "domainId", "rangeId", "category", "color")


class Export:
    """One file, with a process for each rank."""

    def __init__(self, ranks, old=False):
        self.old = old
        self.database = Database()
        for name, columns in TABLES.items():
            self.database.table(name, columns)
        self.string = Strings()
        self.grid = 0
        for rank in ranks:
            self._process(rank)
            self._host(rank)
            for op in sorted(rank.ops, key=lambda op: op.end):
                self._op(rank, op)
        self._facts(ranks)
        for text, number in self.string.ids.items():
            self.database.add("StringIds", id=number, value=text)
        if old:
            self.database.drop(OPTIONAL)

    def _process(self, rank):
        self.pid = (1 << 48) | (rank.thread << 24)
        self.tid = self.pid | rank.thread
        add = self.database.add
        add("PROCESSES", globalPid=self.pid, pid=rank.thread, name="python3")
        add("TARGET_INFO_GPU", vmId=1, id=rank.device,
            name="NVIDIA B300 SXM6 AC", smCount=148, cuDevice=rank.device,
            computeMajor=10, computeMinor=3)
        add("TARGET_INFO_CUDA_DEVICE", gpuId=rank.device, cudaId=rank.device,
            pid=rank.thread, uuid=f"GPU-{rank.device}",
            numMultiprocessors=148)

    def _host(self, rank):
        shift, add = rank.clock_ns, self.database.add
        for call in rank.calls:
            name = engine.CALLS["nvidia"][call.what] + VERSIONS[call.what]
            add("CUPTI_ACTIVITY_KIND_RUNTIME", start=call.start + shift,
                end=call.end + shift, eventClass=0, globalTid=self.tid,
                correlationId=call.correlation or None,
                nameId=self.string(name), returnValue=0)
        for number, marker in enumerate(rank.markers):
            # Registered strings come by id, others as text.
            text = {"text": marker.text}
            if number % 2 and not self.old:
                text = {"textId": self.string(marker.text)}
            add("NVTX_EVENTS", start=marker.start + shift,
                end=marker.end + shift, eventType=59, globalTid=self.tid,
                domainId=0, **text)
        for name, start, end in rank.overheads:
            add("PROFILER_OVERHEAD", start=start + shift, end=end + shift,
                globalTid=self.tid, nameId=self.string(name), overheadType=4)

    def _op(self, rank, op):
        row = {"start": op.start + rank.clock_ns,
               "end": op.end + rank.clock_ns, "deviceId": rank.device,
               "contextId": 1, "streamId": op.lane,
               "correlationId": op.correlation, "globalPid": self.pid}
        if op.kind == "copy":
            self.database.add("CUPTI_ACTIVITY_KIND_MEMCPY", bytes=op.size,
                              copyKind=COPY_KINDS[op.direction],
                              srcKind=1 if op.direction == "HtoD" else 2,
                              dstKind=1 if op.direction == "DtoH" else 2,
                              graphNodeId=op.node or None, copyCount=1, **row)
            return
        if op.kind == "memset":
            self.database.add("CUPTI_ACTIVITY_KIND_MEMSET", value=0,
                              bytes=op.size, memKind=2, **row)
            return
        name = names.nsys_spelling(op.name)
        self.grid += 1
        self.database.add(
            "CUPTI_ACTIVITY_KIND_KERNEL", demangledName=self.string(name),
            shortName=self.string(short_name(name)), launchType=1,
            registersPerThread=64, gridX=32, gridY=1, gridZ=1, blockX=256,
            blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0,
            gridId=self.grid, graphNodeId=op.node or None,
            graphId=op.graph or None, **row)

    def _facts(self, ranks):
        add = self.database.add
        for node in sorted({op.node for r in ranks for op in r.ops if op.node}):
            add("CUDA_GRAPH_NODE_EVENTS", start=1000 + node, end=1001 + node,
                eventClass=1, globalTid=self.tid,
                nameId=self.string("cudaGraphInstantiate_v12000"),
                graphNodeId=node, originalGraphNodeId=node + (1 << 32))
        add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=workload.BASE_NS,
            utcTime="2025-12-31T13:55:12", systemClockNs=5_000_000_000)
        last = max(op.end for rank in ranks for op in rank.ops)
        add("ANALYSIS_DETAILS", globalVid=1 << 48, duration=last,
            startTime=0, stopTime=last)
        for name, value in (("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
                            ("EXPORT_PRODUCT_VERSION", "2026.2.1.210"),
                            ("EXPORT_SCHEMA_VERSION", "3.25.0"),
                            ("EXPORT_SCHEMA_VERSION_MAJOR", "3"),
                            ("EXPORT_SCHEMA_VERSION_MINOR", "25"),
                            ("EXPORT_PARAM_LAZY", "true")):
            add("META_DATA_EXPORT", name=name, value=value)
        for name, value in (("CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node"),
                            ("CAPTURE_EVENT_TYPE", "Cuda"),
                            ("CAPTURE_EVENT_TYPE", "NvtxEvents")):
            add("META_DATA_CAPTURE", name=name, value=value)


def write(ranks, folder, old, merged):
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for group in [ranks] if merged else [[rank] for rank in ranks]:
        path = os.path.join(folder, "node.sqlite" if merged else
                            f"serve-rank{group[0].number}.sqlite")
        Export(group, old).database.write(path, lazy=True)
        paths.update({rank.number: path for rank in group})
    return paths
