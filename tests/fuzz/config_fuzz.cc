// SPDX-License-Identifier: Apache-2.0
// A model's config.json and a probe's results: strangers' JSON.
#include <string_view>

#include "base/error.h"
#include "compare/byte_floor.h"
#include "compare/model_config.h"
#include "compare/probe_result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const inferdiff::ModelConfig model =
        inferdiff::ParseModelConfig(text, "config.json");
    inferdiff::StepWork work;
    work.batch = work.tokens = 7;
    work.context = 1'000'000;
    for (const int64_t ranks : {1, 3, 65536}) {
      work.tensor_parallel = ranks;
      const inferdiff::ByteFloor floor = inferdiff::CountBytes(model, work);
      for (const int64_t bytes : floor.bytes)
        if (bytes < 0) __builtin_trap();
    }
  } catch (const inferdiff::InputError&) {
  }
  try {
    inferdiff::ParseProbe(text, "probe.json");
  } catch (const inferdiff::InputError&) {
  }
  return 0;
}
