// SPDX-License-Identifier: Apache-2.0
#include "compare/devices.h"

#include <toml++/toml.h>

#include "base/embedded_text.h"
#include "base/error.h"
#include "base/number.h"

namespace inferdiff {
namespace {

constexpr int64_t kGiga = 1'000'000'000;

[[noreturn]] void Fail(const std::string& what) {
  throw InputError("bad-rules", "devices.toml", what,
                   "a [[device]] has names and gb_per_s");
}

}  // namespace

std::string SpeedText(const Bandwidth& bandwidth) {
  return Decimal({bandwidth.bytes_per_s, 1}, 2, 1000 * kGiga) + " TB/s";
}

DeviceTable::DeviceTable(std::string_view toml) {
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    Fail(std::string(error.description()));
  }
  const toml::array* array = root["device"].as_array();
  for (size_t i = 0; array != nullptr && i < array->size(); ++i) {
    const toml::node& node = (*array)[i];
    const toml::table* table = node.as_table();
    if (table == nullptr) Fail("a device is no table");
    const auto speed = (*table)["gb_per_s"].value<int64_t>();
    const toml::array* names = (*table)["names"].as_array();
    if (!speed || *speed < 1 || *speed > 1'000'000 || names == nullptr)
      Fail("a device has no names or no gb_per_s");
    for (const toml::node& name : *names) {
      const auto text = name.value<std::string>();
      if (!text || text->empty()) Fail("a device's name is no text");
      devices_.push_back({*text, *speed * kGiga});
    }
  }
}

Bandwidth DeviceTable::Of(std::string_view gpu_name) const {
  // A slice of a device has a slice of its bandwidth.
  if (gpu_name.find(" MIG ") != gpu_name.npos) return {};
  const Device* best = nullptr;
  for (const Device& device : devices_) {
    const std::string_view name = device.name;
    if (!gpu_name.starts_with(name)) continue;
    if (gpu_name.size() > name.size() && gpu_name[name.size()] != ' ') continue;
    if (best == nullptr || best->name.size() < name.size()) best = &device;
  }
  return best == nullptr ? Bandwidth{}
                         : Bandwidth{best->bytes_per_s, "datasheet"};
}

const DeviceTable& ShippedDevices() {
  static const DeviceTable* const table = [] {
    for (const EmbeddedText& file : embedded_rules())
      if (file.name == "devices.toml") return new DeviceTable(file.text);
    return new DeviceTable("");
  }();
  return *table;
}

}  // namespace inferdiff
