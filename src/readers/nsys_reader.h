// SPDX-License-Identifier: Apache-2.0
// The SQLite export of an Nsight Systems report: one row an event, in tables
// by kind, of which an export has those that have rows.
//
//   CUPTI_ACTIVITY_KIND_KERNEL
//     start        1517727052        ns since the session's start
//     end          1517729100
//     deviceId     0                 CUDA's number within the process
//     contextId    1  streamId 7     together the lane
//     correlationId 171              the call that launched it, within ...
//     globalPid    283004823928832   ... this process (packed)
//     demangledName 63               row of StringIds
//     graphNodeId  NULL              set: part of a graph launch
//
// docs/format-nsys.md has what maps to what.
#pragma once

#include "model/trace.h"
#include "readers/sqlite_database.h"

namespace inferdiff {

/// By the tables it has.
bool SniffNsys(const SqliteDatabase& database);

/// Fills format, counters and traces. Throws InputError "graph-level-capture"
/// where all GPU work hides in graph launches.
void ReadNsys(SqliteDatabase* database, SourceFile* file);

}  // namespace inferdiff
