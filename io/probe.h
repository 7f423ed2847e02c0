// Owns: counts of how often rare paths were taken, so that a long run of the lab can tell which of them it never took.
// Must never: stand on a path that is taken often, or decide anything.
//
//   io::probe("a short transfer goes on");
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace varve::io {

/// What is counted, wherever it lies: in memory that processes share, where a run has several. Filled with zeros, it is
/// empty.
struct ProbeTable {
  static constexpr std::size_t kProbesMax = 64;
  struct Slot {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> count{0};
  };
  std::array<Slot, kProbesMax> slots;
};

/// A rare path is taken. `name` is a literal. Any thread.
void probe(const char* name) noexcept;

/// From now on it is counted there, in this process and in those forked from it. `table` outlives them.
void count_probes_in(ProbeTable& table) noexcept;

/// By name, those that were counted.
std::map<std::string, std::uint64_t> probe_counts();

}  // namespace varve::io
