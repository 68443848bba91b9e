# SPDX-License-Identifier: Apache-2.0
"""rocprofv3: a set of CSV files, or JSON.

Both ways of writing show the same records; CSV has no byte counts, and its
older headers (before 1.0) know queues but no streams.
"""

import csv
import json
import os

from workloads import engine

COPIES = {"HtoD": "MEMORY_COPY_HOST_TO_DEVICE",
          "DtoH": "MEMORY_COPY_DEVICE_TO_HOST",
          "DtoD": "MEMORY_COPY_DEVICE_TO_DEVICE"}
HOST = "mi300x-node-3"
API_HEADER = ("Domain", "Function", "Process_Id", "Thread_Id",
              "Correlation_Id", "Start_Timestamp", "End_Timestamp")
SIZES = ("Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z",
         "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z")
SIZE_VALUES = (256, 1, 1, 8192, 1, 1)
# Calls and markers that launch nothing have correlation ids as well.
UNCORRELATED = 900_000


def agents(ranks):
    """(node id, type, name): two processors and a GPU a rank."""
    return [(0, "CPU", "AMD EPYC 9575F"), (1, "CPU", "AMD EPYC 9575F")] + \
        [(rank.device, "GPU", "gfx942") for rank in ranks]


def end_points(rank, op):
    """Source and destination agent of a copy."""
    return (0 if op.direction == "HtoD" else rank.device,
            0 if op.direction == "DtoH" else rank.device)


def calls_of(rank):
    """(name, correlation, start, end) in order of time."""
    shift = rank.clock_ns
    return [(engine.CALLS["amd"][call.what],
             call.correlation or UNCORRELATED + number, call.start + shift,
             call.end + shift) for number, call in enumerate(rank.calls)]


def markers_of(rank):
    """(text, correlation, start, end)"""
    shift = rank.clock_ns
    return [(marker.text, 2 * UNCORRELATED + number, marker.start + shift,
             marker.end + shift) for number, marker in enumerate(rank.markers)]


def kernels_of(rank):
    return [op for op in rank.ops if op.kind == "kernel"]


def copies_of(rank):
    return [op for op in rank.ops if op.kind == "copy"]


def kernel_ids(ranks):
    names = sorted({op.name for rank in ranks for op in kernels_of(rank)})
    return {name: number + 1 for number, name in enumerate(names)}


# --- CSV -------------------------------------------------------------------


class Csv:
    """`old`: headers and quoting of 0.4 to 0.6."""

    def __init__(self, folder, rank, old):
        self.prefix = os.path.join(folder, HOST, str(rank.thread))
        self.old = old
        os.makedirs(os.path.dirname(self.prefix), exist_ok=True)

    def write(self, what, header, rows):
        path = f"{self.prefix}_{what}.csv"
        with open(path, "w", encoding="utf-8", newline="") as file:
            quoting = csv.QUOTE_NONNUMERIC if self.old else csv.QUOTE_ALL
            out = csv.writer(file, quoting=quoting, lineterminator="\n")
            out.writerow(header)
            out.writerows(rows)
        return path

    def agent(self, node):
        return node if self.old else f"Agent {node}"

    def kernels(self, rank):
        shift, ids = rank.clock_ns, kernel_ids([rank])
        header = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id",
                  "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
                  "Start_Timestamp", "End_Timestamp"]
        header += ["Private_Segment_Size", "Group_Segment_Size"] if self.old \
            else ["LDS_Block_Size", "Scratch_Size", "VGPR_Count",
                  "Accum_VGPR_Count", "SGPR_Count"]
        resources = [0] * (2 if self.old else 5)
        rows = []
        for number, op in enumerate(kernels_of(rank)):
            rows.append(["KERNEL_DISPATCH", self.agent(rank.device), op.lane,
                         op.lane, rank.thread, number + 1, ids[op.name],
                         op.name, op.correlation, op.start + shift,
                         op.end + shift, *resources, *SIZE_VALUES])
        header += SIZES
        if self.old:
            stream = header.index("Stream_Id")
            for row in [header] + rows:
                del row[stream]
        return self.write("kernel_trace", header, rows)

    def copies(self, rank):
        header = ["Kind", "Direction", "Stream_Id", "Source_Agent_Id",
                  "Destination_Agent_Id", "Correlation_Id", "Start_Timestamp",
                  "End_Timestamp"]
        rows = [["MEMORY_COPY", COPIES[op.direction], op.lane,
                 *(self.agent(node) for node in end_points(rank, op)),
                 op.correlation, op.start + rank.clock_ns,
                 op.end + rank.clock_ns] for op in copies_of(rank)]
        if self.old:
            for row in [header] + rows:
                del row[2]
        self.write("memory_copy_trace", header, rows)

    def host(self, rank):
        domain = "HIP_RUNTIME_API" if self.old else "HIP_RUNTIME_API_EXT"
        self.write("hip_api_trace", API_HEADER, [
            [domain, name, rank.thread, rank.thread, correlation, start, end]
            for name, correlation, start, end in calls_of(rank)])
        if not rank.markers:
            return
        domain = "MARKER_CORE_API" if self.old else "MARKER_CORE_RANGE_API"
        self.write("marker_api_trace", API_HEADER, [
            [domain, text, rank.thread, rank.thread, correlation, start, end]
            for text, correlation, start, end in markers_of(rank)])

    def agents(self, rank):
        header = ["Node_Id", "Logical_Node_Id", "Agent_Type",
                  "Cpu_Cores_Count", "Simd_Count", "Wave_Front_Size",
                  "Num_Xcc", "Cu_Count", "Gfx_Target_Version", "Name",
                  "Vendor_Name", "Product_Name", "Model_Name"]
        rows = []
        for node, kind, name in agents([rank]):
            gpu = kind == "GPU"
            rows.append([node, node, kind, 0 if gpu else 128,
                         1216 if gpu else 0, 64 if gpu else 0,
                         8 if gpu else 1, 304 if gpu else 128,
                         90402 if gpu else 0, name,
                         "AMD" if gpu else "CPU",
                         "AMD Instinct MI300X" if gpu else name, ""])
        self.write("agent_info", header, rows)


def write_csv(ranks, folder, old):
    paths = {}
    for rank in ranks:
        files = Csv(folder, rank, old)
        paths[rank.number] = files.kernels(rank)
        files.copies(rank)
        files.host(rank)
        files.agents(rank)
    return paths


# --- JSON ------------------------------------------------------------------

KINDS = ("NONE", "HSA_CORE_API", "HIP_RUNTIME_API", "HIP_RUNTIME_API_EXT",
         "MARKER_CORE_API", "MARKER_CORE_RANGE_API", "MEMORY_COPY",
         "KERNEL_DISPATCH", "SCRATCH_MEMORY")
MARKER_OPERATIONS = ("roctxMarkA", "roctxRangePushA", "roctxRangeStartA",
                     "roctxThreadRangeA")
HANDLE = 37_944  # of agent 0; the others follow


def record(kind, operation, rank, correlation, start, end, **more):
    return {"size": 184, "kind": KINDS.index(kind), "operation": operation,
            "thread_id": rank.thread,
            "correlation_id": {"internal": correlation, "external": 0},
            "start_timestamp": start, "end_timestamp": end, **more}


def handle(number):
    return {"handle": number}


def process(rank):
    """What rocprofv3 writes of one process."""
    shift, ids = rank.clock_ns, kernel_ids([rank])
    hip = sorted(set(engine.CALLS["amd"].values()))
    copies = ["MEMORY_COPY_NONE", *COPIES.values()]
    operations = {"HIP_RUNTIME_API_EXT": hip, "MEMORY_COPY": copies,
                  "MARKER_CORE_RANGE_API": MARKER_OPERATIONS,
                  "KERNEL_DISPATCH": ["KERNEL_DISPATCH_NONE",
                                      "KERNEL_DISPATCH_ENQUEUE",
                                      "KERNEL_DISPATCH_COMPLETE"]}
    symbols = [{"size": 0, "kernel_id": 0, "kernel_name": "",
                "formatted_kernel_name": "0", "demangled_kernel_name": "0",
                "truncated_kernel_name": "0"}]
    symbols += [{"size": 88, "kernel_id": number, "code_object_id": 1,
                 "kernel_name": name + ".kd", "formatted_kernel_name": name,
                 "demangled_kernel_name": name,
                 "truncated_kernel_name": name.partition("(")[0]}
                for name, number in ids.items()]
    dispatches = [record(
        "KERNEL_DISPATCH", 2, rank, op.correlation, op.start + shift,
        op.end + shift, dispatch_info={
            "size": 72, "agent_id": handle(HANDLE + rank.device),
            "queue_id": handle(op.lane), "kernel_id": ids[op.name],
            "dispatch_id": number + 1, "private_segment_size": 0,
            "group_segment_size": 0,
            "workgroup_size": {"x": 256, "y": 1, "z": 1},
            "grid_size": {"x": 8192, "y": 1, "z": 1}},
        stream_id=handle(op.lane))
        for number, op in enumerate(kernels_of(rank))]
    moved = []
    for op in copies_of(rank):
        source, destination = end_points(rank, op)
        moved.append(record(
            "MEMORY_COPY", copies.index(COPIES[op.direction]), rank,
            op.correlation, op.start + shift, op.end + shift,
            dst_agent_id=handle(HANDLE + destination),
            src_agent_id=handle(HANDLE + source), bytes=op.size,
            stream_id=handle(op.lane)))
    return {
        "metadata": {"node": {"id": 0, "hostname": HOST}, "pid": rank.thread,
                     "init_time": 1, "fini_time": 1 << 40,
                     "command": ["python3"], "config": {}},
        "agents": [{"size": 312, "id": handle(HANDLE + node),
                    "type": 1 if kind == "CPU" else 2, "name": name,
                    "cu_count": 304, "wave_front_size": 64,
                    "product_name": "AMD Instinct MI300X"
                    if kind == "GPU" else name, "node_id": node,
                    "logical_node_id": node, "gpu_index": node - 2
                    if kind == "GPU" else -1}
                   for node, kind, name in agents([rank])],
        "counters": [],
        "strings": {
            "callback_records": [],
            "buffer_records": [
                {"kind": kind, "operations": list(operations.get(kind, []))}
                for kind in KINDS],
            "marker_api": [{"key": correlation, "value": text} for
                           text, correlation, _, _ in markers_of(rank)],
            "correlation_id": {"external": []}},
        "code_objects": [], "kernel_symbols": symbols, "host_functions": [],
        "summary": [], "callback_records": {"counter_collection": []},
        "buffer_records": {
            "kernel_dispatch": dispatches,
            "hip_api": [record("HIP_RUNTIME_API_EXT", hip.index(name), rank,
                               correlation, start, end)
                        for name, correlation, start, end in calls_of(rank)],
            "hsa_api": [],
            "marker_api": [record("MARKER_CORE_RANGE_API", 1, rank,
                                  correlation, start, end)
                           for _, correlation, start, end in markers_of(rank)],
            "rccl_api": [], "memory_copy": moved, "memory_allocation": [],
            "scratch_memory": []},
    }


def write_json(ranks, folder, merged):
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for group in [ranks] if merged else [[rank] for rank in ranks]:
        path = os.path.join(folder, f"{group[0].thread}_results.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"rocprofiler-sdk-tool": [process(r) for r in group]},
                      file, separators=(",", ":"))
        paths.update({rank.number: path for rank in group})
    return paths
