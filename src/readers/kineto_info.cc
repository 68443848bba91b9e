// SPDX-License-Identifier: Apache-2.0
#include "readers/kineto_info.h"

#include "readers/kineto_tracks.h"

namespace inferdiff {

Vendor FindVendor(const KinetoMetadata& metadata, const StringPool& names) {
  if (metadata.vendor != Vendor::kUnknown) return metadata.vendor;
  for (const DeviceProperties& device : metadata.devices) {
    if (device.name.find("AMD") != std::string::npos) return Vendor::kAmd;
    if (device.name.find("NVIDIA") != std::string::npos ||
        device.name.find("Tesla") != std::string::npos ||
        device.name.find("GeForce") != std::string::npos) {
      return Vendor::kNvidia;
    }
    if (device.warp_size == 64) return Vendor::kAmd;
  }
  const auto starts = [](std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
  };
  bool nvidia = false;
  for (NameId id = 0; id < names.size(); ++id) {
    const std::string_view name = names[id];
    if (starts(name, "hip") || starts(name, "Cijk_") ||
        starts(name, "__amd_rocclr")) {
      return Vendor::kAmd;
    }
    nvidia |= starts(name, "cuda") || starts(name, "cuLaunch") ||
              starts(name, "sm80_") || starts(name, "sm90_") ||
              starts(name, "nvjet") || starts(name, "ampere_") ||
              starts(name, "volta_");
  }
  return nvidia ? Vendor::kNvidia : Vendor::kUnknown;
}

void DescribeDevice(const KinetoMetadata& metadata, std::string_view scope,
                    TraceInfo* info) {
  info->rank = scope.empty() ? metadata.rank : RankOfScope(scope);
  info->world_size = metadata.world_size;
  info->runtime_version = metadata.runtime_version;
  info->base_time_ns = metadata.base_time_ns.value_or(0);
  // On AMD the device is an agent of the node, which is in no list: all
  // devices of a host being alike, the first stands for it.
  const DeviceProperties* mine = nullptr;
  for (const DeviceProperties& device : metadata.devices) {
    if (mine == nullptr) mine = &device;
    if (info->vendor != Vendor::kAmd && device.id == info->device) {
      mine = &device;
      break;
    }
  }
  if (mine == nullptr) return;
  info->gpu_name = mine->name;
  info->sm_count = mine->sm_count;
}

}  // namespace inferdiff
