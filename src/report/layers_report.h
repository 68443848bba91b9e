// SPDX-License-Identifier: Apache-2.0
// The layers of a step, for people and for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "report/document.h"
#include "report/json_stream.h"

namespace inferdiff {

/// "Layers of step 3: 12 layers: 12 of kind A (36 ops). ..."
std::string LayersSentence(const StepLayers& step);

/// The sentence, and a row a kind.
Section LayersSection(const StepLayers& step);

/// A row a role: kernels and time a layer. Empty without layers.
std::vector<Section> RoleSections(const StepLayers& step);

/// `layers`: what was found, kinds, passes, and each layer's ops by ordinal.
void WriteLayers(const StepLayers& step, JsonStream& out);

}  // namespace inferdiff
