// SPDX-License-Identifier: Apache-2.0
// Facts about the capture, from the metadata and what the metadata lacks.
#pragma once

#include <string_view>

#include "base/string_pool.h"
#include "model/trace.h"
#include "readers/kineto_meta.h"

namespace inferdiff {

/// Of the metadata; where they do not say, of the names of calls and kernels.
Vendor FindVendor(const KinetoMetadata& metadata, const StringPool& names);

/// Fills what the metadata say of the trace. Its vendor and device are set.
void DescribeDevice(const KinetoMetadata& metadata, std::string_view scope,
                    TraceInfo* info);

}  // namespace inferdiff
