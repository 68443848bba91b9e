// SPDX-License-Identifier: Apache-2.0
// rocpd, the database that rocprofv3 writes since ROCm 7: tables for each
// process, told apart by a uuid behind their names.
//
//   rocpd_kernel_dispatch_0198f0c2_7a1e_...
//     start 7213000120  end 7213004280   ns of the host's boot clock
//     pid 4711                           row of rocpd_info_process
//     agent_id 4                         row of rocpd_info_agent: the GPU
//     queue_id 1  stream_id 2            the lane
//     kernel_id 17                       row of rocpd_info_kernel_symbol
//     event_id 5120                      row of rocpd_event; its stack_id is
//                                        that of the call that launched it
//
// Views without the uuid unite the tables and join the names; they are not
// used: their cost is anybody's guess. docs/format-rocpd.md has what maps to
// what.
#pragma once

#include "model/trace.h"
#include "readers/sqlite_database.h"

namespace inferdiff {

/// By the tables it has.
bool SniffRocpd(const SqliteDatabase& database);

/// Fills format, counters and traces.
void ReadRocpd(SqliteDatabase* database, SourceFile* file);

}  // namespace inferdiff
