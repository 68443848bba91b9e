# SPDX-License-Identifier: Apache-2.0
"""RPD, the database of rocmProfileData: operations, API calls and which call
made which operation."""

import gzip
import os

from workloads import engine
from workloads.tables import Database, Strings

KEY = "id integer NOT NULL PRIMARY KEY"
TABLES = {
    "rocpd_string": (KEY, "string varchar(4096) NOT NULL"),
    "rocpd_metadata": (KEY, "tag varchar(4096) NOT NULL",
                       "value varchar(4096) NOT NULL"),
    "rocpd_op": (KEY, "gpuId integer NOT NULL", "queueId integer NOT NULL",
                 "sequenceId integer NOT NULL",
                 "completionSignal varchar(18) NOT NULL",
                 "start integer NOT NULL", "end integer NOT NULL",
                 "description_id integer NOT NULL",
                 "opType_id integer NOT NULL"),
    "rocpd_api": (KEY, "pid integer NOT NULL", "tid integer NOT NULL",
                  "start integer NOT NULL", "end integer NOT NULL",
                  "apiName_id integer NOT NULL", "args_id integer NOT NULL"),
    "rocpd_api_ops": (KEY, "api_id integer NOT NULL",
                      "op_id integer NOT NULL"),
}
VIEWS = (
    "CREATE VIEW op AS SELECT o.id, gpuId, queueId, sequenceId, start, end, "
    "d.string AS description, t.string AS opType FROM rocpd_op o "
    "JOIN rocpd_string d ON d.id = o.description_id "
    "JOIN rocpd_string t ON t.id = o.opType_id",
    "CREATE VIEW api AS SELECT a.id, pid, tid, start, end, "
    "n.string AS apiName, g.string AS args FROM rocpd_api a "
    "JOIN rocpd_string n ON n.id = a.apiName_id "
    "JOIN rocpd_string g ON g.id = a.args_id",
)
COPIES = {"HtoD": "CopyHostToDevice", "DtoH": "CopyDeviceToHost",
          "DtoD": "CopyDeviceToDevice"}
FIRST = 1 << 32  # a writer's session has ids of its own


def fill(database, string, rank):
    shift, add = rank.clock_ns, database.add
    api_of = {}
    first_api = FIRST + len(database.tables["rocpd_api"][1])
    first_op = FIRST + len(database.tables["rocpd_op"][1])
    calls = [(engine.CALLS["amd"][call.what], "", call) for call in rank.calls]
    calls += [("UserMarker", marker.text, marker) for marker in rank.markers]
    for number, (name, args, call) in enumerate(calls):
        if getattr(call, "correlation", 0):
            api_of[call.correlation] = first_api + number
        add("rocpd_api", id=first_api + number, pid=rank.thread,
            tid=rank.thread, start=call.start + shift, end=call.end + shift,
            apiName_id=string(name), args_id=string(args))
    for number, op in enumerate(rank.ops):
        kind = COPIES[op.direction] if op.kind == "copy" else \
            "Task" if op.graph else "KernelExecution"
        add("rocpd_op", id=first_op + number, gpuId=rank.device,
            queueId=op.lane, sequenceId=0, completionSignal="",
            start=op.start + shift, end=op.end + shift,
            description_id=string(op.name), opType_id=string(kind))
        if op.correlation in api_of:
            add("rocpd_api_ops", id=first_op + number,
                api_id=api_of[op.correlation], op_id=first_op + number)


def write(ranks, folder, compress=False, merged=False):
    os.makedirs(folder, exist_ok=True)
    paths = {}
    for group in [ranks] if merged else [[rank] for rank in ranks]:
        database, string = Database(), Strings(FIRST)
        for name, columns in TABLES.items():
            database.table(name, columns)
        for rank in group:
            fill(database, string, rank)
        for number, (tag, value) in enumerate((("schema_version", "2"),
                                               ("session_count", "1"))):
            database.add("rocpd_metadata", id=number + 1, tag=tag, value=value)
        for text, number in string.ids.items():
            database.add("rocpd_string", id=number, string=text)
        path = os.path.join(folder, "trace.rpd" if merged
                            else f"trace-TP-{group[0].number}.rpd")
        database.write(path, VIEWS)
        if compress:
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as out:
                out.write(file.read())
            os.remove(path)
            path += ".gz"
        paths.update({rank.number: path for rank in group})
    return paths
