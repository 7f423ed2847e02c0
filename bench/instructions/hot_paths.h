// Owns: the hot paths whose instructions are counted: the preparation of each, and the counted operations.
// Must never: depend on the effects of another path: each runs in a process of its own and in a new directory.
// Instructions of the kernel are not counted, so neither the device nor other work on the machine matters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::bench {

struct HotPath {
  std::string_view name;
  std::string_view unit;  // the meaning of one operation
  std::uint64_t operations = 0;
  struct Setting {
    std::string directory;  // does not exist yet
    std::uint64_t operations = 0;
  };
  /// Prepares a store, calls `counted` around the operations, and returns whether all of them succeeded.
  bool (*run)(const Setting& setting, const std::function<void(const std::function<void()>&)>& counted) = nullptr;
};

const std::vector<HotPath>& hot_paths();

}  // namespace varve::bench
