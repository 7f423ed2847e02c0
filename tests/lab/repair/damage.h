// Owns: harm done to the files of a store, as values that can be told and repeated.
// Must never: touch anything outside the store's directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/simulated/memory_disk.h"
#include "tests/lab/repair/world.h"

namespace varve::lab::repair {

enum class Harm : std::uint8_t { kFlip, kZero, kCut, kEmpty, kRemove, kExtend, kForeign };

struct Damage {
  Harm harm = Harm::kFlip;
  std::string file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::string foreign{};  // the file of the other store that takes the place

  std::string to_string() const;
  /// `other` is where foreign files come from. What cannot be done (the file is gone by now, or too short) is left.
  void apply(io::MemoryDisk& disk, const io::MemoryDisk& other) const;
};

/// Every single harm: bytes flipped at a stride, sectors zeroed, files cut, emptied, made longer, taken away,
/// exchanged.
std::vector<Damage> every_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t stride);
Damage random_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t seed);

std::string path_of(const std::string& file);
/// "wal" of "000042.wal", "MANIFEST" of "MANIFEST-000041", all of "CURRENT".
std::string type_of(const std::string& name);

}  // namespace varve::lab::repair
