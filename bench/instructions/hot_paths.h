// Owns: the hot paths whose instructions are counted: what is made ready for each, and what counts.
// Must never: depend on what another path did: each is a process of its own in a new directory. What the kernel does is
// not counted, so that neither the device nor the machine's other work matters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace varve::bench {

struct HotPath {
  std::string_view name;
  std::string_view unit;  // what one operation is
  std::uint64_t operations = 0;
  struct Setting {
    std::string directory;  // that is not there yet
    std::uint64_t operations = 0;
  };
  /// Makes a store ready, calls `counted` around the operations, and answers whether all of them went well.
  bool (*run)(const Setting& setting, const std::function<void(const std::function<void()>&)>& counted) = nullptr;
};

const std::vector<HotPath>& hot_paths();

}  // namespace varve::bench
