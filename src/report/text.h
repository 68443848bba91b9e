// SPDX-License-Identifier: Apache-2.0
// Moved: sentences of every stage need it.
#pragma once

#include "base/text.h"  // IWYU pragma: export
