// SPDX-License-Identifier: Apache-2.0
// RPD, the database of rocmProfileData (schema 2 and 3), which SGLang's "rpd"
// profiler writes. Not to be taken for rocpd, whose tables have like names.
//
//   rocpd_op
//     id 4294967304         session << 32 | number
//     gpuId 2  queueId 0    device and lane
//     start 3489389201751353  end 3489389201763743   ns, boot clock
//     description_id 7      row of rocpd_string: the kernel; may be empty,
//     opType_id 46          then this one's: "CopyHostToDevice"
//   rocpd_api_ops
//     api_id, op_id         which call made it; one call may make many
//
// docs/format-rpd.md has what maps to what.
#pragma once

#include "model/trace.h"
#include "readers/sqlite_database.h"

namespace inferdiff {

/// By the tables it has.
bool SniffRpd(const SqliteDatabase& database);

/// Fills format, counters and traces.
void ReadRpd(SqliteDatabase* database, SourceFile* file);

}  // namespace inferdiff
