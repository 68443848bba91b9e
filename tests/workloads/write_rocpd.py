# SPDX-License-Identifier: Apache-2.0
"""rocpd, the SQLite database of rocprofv3 1.0 and later.

Each process has tables of its own, told by a uuid in their names; views
without the uuid unite them, and views of those join names to ids.
"""

import os

from workloads import engine
from workloads.tables import Database, Strings
from workloads.write_rocprof import COPIES, HOST, UNCORRELATED, agents, \
    copies_of, end_points, kernel_ids, kernels_of, markers_of

KEY = ("id INTEGER NOT NULL PRIMARY KEY", "guid TEXT NOT NULL")
WHERE = ("nid INTEGER NOT NULL", "pid INTEGER NOT NULL")
EXTRA = ("extdata JSONB NOT NULL",)
TABLES = {
    "rocpd_metadata": ("id INTEGER NOT NULL PRIMARY KEY", "tag TEXT NOT NULL",
                       "value TEXT NOT NULL"),
    "rocpd_string": KEY + ("string TEXT NOT NULL",),
    "rocpd_info_node": KEY + (
        "hash BIGINT NOT NULL", "machine_id TEXT NOT NULL", "system_name TEXT",
        "hostname TEXT", "release TEXT", "version TEXT", "hardware_name TEXT",
        "domain_name TEXT"),
    "rocpd_info_process": KEY + (
        "nid INTEGER NOT NULL", "ppid INTEGER", "pid INTEGER NOT NULL",
        "init BIGINT", "fini BIGINT", "start BIGINT", "end BIGINT",
        "command TEXT", "environment JSONB NOT NULL") + EXTRA,
    "rocpd_info_thread": KEY + (
        "nid INTEGER NOT NULL", "ppid INTEGER", "pid INTEGER NOT NULL",
        "tid INTEGER NOT NULL", "name TEXT", "start BIGINT",
        "end BIGINT") + EXTRA,
    "rocpd_info_agent": KEY + WHERE + (
        "type TEXT", "absolute_index INTEGER", "logical_index INTEGER",
        "type_index INTEGER", "uuid INTEGER", "name TEXT", "model_name TEXT",
        "vendor_name TEXT", "product_name TEXT", "user_name TEXT") + EXTRA,
    "rocpd_info_queue": KEY + WHERE + ("name TEXT",) + EXTRA,
    "rocpd_info_stream": KEY + WHERE + ("name TEXT",) + EXTRA,
    "rocpd_info_kernel_symbol": KEY + WHERE + (
        "code_object_id INTEGER NOT NULL", "kernel_name TEXT",
        "display_name TEXT", "group_segment_size INTEGER",
        "private_segment_size INTEGER") + EXTRA,
    "rocpd_event": KEY + (
        "category_id INTEGER", "stack_id INTEGER", "parent_stack_id INTEGER",
        "correlation_id INTEGER", "call_stack JSONB NOT NULL",
        "line_info JSONB NOT NULL") + EXTRA,
    "rocpd_region": KEY + WHERE + (
        "tid INTEGER NOT NULL", "start BIGINT NOT NULL", "end BIGINT NOT NULL",
        "name_id INTEGER NOT NULL", "event_id INTEGER") + EXTRA,
    "rocpd_kernel_dispatch": KEY + WHERE + (
        "tid INTEGER", "agent_id INTEGER NOT NULL",
        "kernel_id INTEGER NOT NULL", "dispatch_id INTEGER NOT NULL",
        "queue_id INTEGER NOT NULL", "stream_id INTEGER NOT NULL",
        "start BIGINT NOT NULL", "end BIGINT NOT NULL",
        "private_segment_size INTEGER", "group_segment_size INTEGER",
        "workgroup_size_x INTEGER NOT NULL",
        "workgroup_size_y INTEGER NOT NULL",
        "workgroup_size_z INTEGER NOT NULL", "grid_size_x INTEGER NOT NULL",
        "grid_size_y INTEGER NOT NULL", "grid_size_z INTEGER NOT NULL",
        "region_name_id INTEGER", "event_id INTEGER") + EXTRA,
    "rocpd_memory_copy": KEY + WHERE + (
        "tid INTEGER", "start BIGINT NOT NULL", "end BIGINT NOT NULL",
        "name_id INTEGER NOT NULL", "dst_agent_id INTEGER",
        "dst_address INTEGER", "src_agent_id INTEGER", "src_address INTEGER",
        "size INTEGER NOT NULL", "queue_id INTEGER", "stream_id INTEGER",
        "region_name_id INTEGER", "event_id INTEGER") + EXTRA,
}
# What each of the joining views shows: columns, and the joins they need.
_CATEGORY = ("(SELECT string FROM rocpd_string c WHERE c.id = e.category_id "
             "AND c.guid = e.guid) AS category")
_EVENT = ("JOIN rocpd_event e ON e.id = x.event_id AND e.guid = x.guid "
          "JOIN rocpd_info_process p ON p.id = x.pid AND p.guid = x.guid "
          "JOIN rocpd_info_thread t ON t.id = x.tid AND t.guid = x.guid")
_IDS = (f"x.id, x.guid, {_CATEGORY}, x.nid, p.pid, t.tid, x.start, x.end, "
        "(x.end - x.start) AS duration, e.stack_id, e.parent_stack_id, "
        "e.correlation_id AS corr_id")
VIEWS = {
    "regions": (
        f"SELECT {_IDS}, s.string AS name, x.event_id, e.extdata "
        f"FROM rocpd_region x {_EVENT} "
        "JOIN rocpd_string s ON s.id = x.name_id AND s.guid = x.guid"),
    "kernels": (
        f"SELECT {_IDS}, s.display_name AS name, r.string AS region, "
        "a.absolute_index AS agent_abs_index, "
        "a.logical_index AS agent_log_index, "
        "a.type_index AS agent_type_index, a.type AS agent_type, "
        "x.kernel_id, x.dispatch_id, x.stream_id, x.queue_id, "
        "q.name AS queue, st.name AS stream, x.grid_size_x AS grid_x, "
        "x.workgroup_size_x AS workgroup_x "
        f"FROM rocpd_kernel_dispatch x {_EVENT} "
        "JOIN rocpd_info_agent a ON a.id = x.agent_id AND a.guid = x.guid "
        "JOIN rocpd_string r ON r.id = x.region_name_id AND r.guid = x.guid "
        "JOIN rocpd_info_kernel_symbol s ON s.id = x.kernel_id "
        "AND s.guid = x.guid "
        "LEFT JOIN rocpd_info_queue q ON q.id = x.queue_id "
        "AND q.guid = x.guid "
        "LEFT JOIN rocpd_info_stream st ON st.id = x.stream_id "
        "AND st.guid = x.guid"),
    "memory_copies": (
        f"SELECT {_IDS}, s.string AS name, x.stream_id, x.queue_id, x.size, "
        "d.absolute_index AS dst_agent_abs_index, d.type AS dst_agent_type, "
        "o.absolute_index AS src_agent_abs_index, o.type AS src_agent_type "
        f"FROM rocpd_memory_copy x {_EVENT} "
        "JOIN rocpd_string s ON s.id = x.name_id AND s.guid = x.guid "
        "JOIN rocpd_info_agent d ON d.id = x.dst_agent_id "
        "AND d.guid = x.guid "
        "JOIN rocpd_info_agent o ON o.id = x.src_agent_id "
        "AND o.guid = x.guid"),
}
NODE = 77


class Process:
    """One process's tables in a database."""

    def __init__(self, database, rank):
        self.database, self.rank = database, rank
        self.guid = f"0198f0c2-7a1e-7cde-8f00-{rank.number:012x}"
        self.suffix = "_" + self.guid.replace("-", "_")
        for name, columns in TABLES.items():
            database.table(name + self.suffix, columns)
        self.string = Strings()
        self.string("")
        self.pid = self.tid = rank.thread
        self._facts()
        self._host()
        for op in rank.ops:
            self._op(op)
        for text, number in self.string.ids.items():
            self.add("rocpd_string", id=number, string=text)

    def add(self, table, /, **row):
        table += self.suffix
        columns = [name for name, _ in self.database.tables[table][0]]
        number = len(self.database.tables[table][1]) + 1
        row.setdefault("id", number)
        for name, value in (("guid", self.guid), ("extdata", "{}")):
            if name in columns:
                row.setdefault(name, value)
        self.database.add(table, **row)
        return row["id"]

    def here(self):
        return {"nid": NODE, "pid": self.pid}

    def _facts(self):
        add, rank = self.add, self.rank
        for tag, value in (("schema_version", "3"), ("guid", self.guid),
                           ("uuid", self.suffix)):
            add("rocpd_metadata", tag=tag, value=value)
        add("rocpd_info_node", id=NODE, hash=NODE, machine_id="6f",
            system_name="Linux", hostname=HOST)
        add("rocpd_info_process", id=self.pid, nid=NODE, ppid=1, pid=self.pid,
            init=1, fini=1 << 40, start=1, end=1 << 40, command="python3",
            environment="{}")
        add("rocpd_info_thread", id=self.tid, tid=self.tid, ppid=1,
            **self.here())
        for node, kind, name in agents([rank]):
            gpu = kind == "GPU"
            add("rocpd_info_agent", id=node, type=kind, absolute_index=node,
                logical_index=node, type_index=node - 2 if gpu else node,
                name=name, model_name="", vendor_name="AMD",
                product_name="AMD Instinct MI300X" if gpu else name,
                user_name="", **self.here())
        for lane in sorted({op.lane for op in rank.ops} | {0}):
            label = str(lane) if lane else "Default"
            add("rocpd_info_queue", id=lane, name=f"Queue {label}",
                **self.here())
            add("rocpd_info_stream", id=lane, name=f"Stream {label}",
                **self.here())
        self.kernels = kernel_ids([rank])
        for name, number in self.kernels.items():
            add("rocpd_info_kernel_symbol", id=number, code_object_id=1,
                kernel_name=name + ".kd", display_name=name, **self.here())

    def event(self, category, correlation, extdata="{}"):
        """The correlation that links is the stack's; `correlation_id` is what
        the application pushed: nothing."""
        return self.add("rocpd_event", category_id=self.string(category),
                        stack_id=correlation, parent_stack_id=correlation,
                        correlation_id=0, call_stack="{}", line_info="{}",
                        extdata=extdata)

    def _host(self):
        shift = self.rank.clock_ns
        rows = [("HIP_RUNTIME_API_EXT", engine.CALLS["amd"][call.what],
                 call.correlation or UNCORRELATED + number,
                 call.start + shift, call.end + shift, "{}")
                for number, call in enumerate(self.rank.calls)]
        rows += [("MARKER_CORE_RANGE_API", "roctxThreadRangeA", correlation,
                  start, end, f'{{"message": "{text}"}}')
                 for text, correlation, start, end in markers_of(self.rank)]
        for category, name, correlation, start, end, extdata in rows:
            self.add("rocpd_region", id=correlation, tid=self.tid,
                     start=start, end=end, name_id=self.string(name),
                     event_id=self.event(category, correlation, extdata),
                     **self.here())

    def _op(self, op):
        row = {"tid": self.tid, "start": op.start + self.rank.clock_ns,
               "end": op.end + self.rank.clock_ns, "stream_id": op.lane,
               **self.here()}
        if op.kind == "copy":
            source, destination = end_points(self.rank, op)
            self.add("rocpd_memory_copy", name_id=self.string(
                COPIES[op.direction]), dst_agent_id=destination,
                src_agent_id=source, size=op.size,
                event_id=self.event("MEMORY_COPY", op.correlation), **row)
            return
        number = len(self.database.tables[
            "rocpd_kernel_dispatch" + self.suffix][1]) + 1
        self.add("rocpd_kernel_dispatch", agent_id=self.rank.device,
                 kernel_id=self.kernels[op.name], dispatch_id=number,
                 queue_id=op.lane, workgroup_size_x=256, workgroup_size_y=1,
                 workgroup_size_z=1, grid_size_x=8192, grid_size_y=1,
                 grid_size_z=1, region_name_id=self.string(""),
                 event_id=self.event("KERNEL_DISPATCH", op.correlation), **row)


def write(ranks, folder, compress=False, merged=False):
    del compress
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for group in [ranks] if merged else [[rank] for rank in ranks]:
        database = Database()
        suffixes = [Process(database, rank).suffix for rank in group]
        views = [f'CREATE VIEW "{name}" AS ' + " UNION ALL ".join(
            f'SELECT * FROM "{name}{suffix}"' for suffix in suffixes)
            for name in TABLES]
        views += [f'CREATE VIEW "{name}" AS {query}'
                  for name, query in VIEWS.items()]
        path = os.path.join(folder, f"{group[0].thread}_results.db")
        database.write(path, views)
        paths.update({rank.number: path for rank in group})
    return paths
