// Owns: counts of how often rare paths were taken, so that a long lab run can report the paths that it never took.
// Must never: be called on a frequent path, or decide anything.
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

/// The counts. They may be in any memory, also memory that the processes of one run share. A table of zeros is empty.
struct ProbeTable {
  static constexpr std::size_t kProbesMax = 128;
  struct Slot {
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> count{0};
  };
  std::array<Slot, kProbesMax> slots;
};

/// Counts that a rare path was taken. `name` is a literal. Any thread may call it.
void probe(const char* name) noexcept;

/// Redirects later counts to `table`, in this process and in processes forked from it. `table` must outlive them.
void count_probes_in(ProbeTable& table) noexcept;

/// Returns the counts above zero, by name.
std::map<std::string, std::uint64_t> probe_counts();

}  // namespace varve::io
