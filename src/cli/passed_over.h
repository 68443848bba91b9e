// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "load/inputs.h"

namespace inferdiff {

/// Says on stderr which files of folders were passed over, if any.
void SayPassedOver(const InputSet& set);

}  // namespace inferdiff
