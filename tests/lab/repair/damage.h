// Owns: damage to the files of a store, as values that can be printed and repeated.
// Must never: change a file outside of the store's directory.
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
  std::string foreign{};  // the file of the other store that replaces this file

  std::string to_string() const;
  /// Applies the damage. Foreign files come from `other`. If a damage is impossible (the file is missing or too short),
  /// nothing changes.
  void apply(io::MemoryDisk& disk, const io::MemoryDisk& other) const;
};

/// Returns every single damage: bytes flipped at a stride, sectors zeroed, files cut, emptied, extended, removed and
/// exchanged.
std::vector<Damage> every_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t stride);
Damage random_damage(const io::MemoryDisk& disk, const io::MemoryDisk& other, std::uint64_t seed);

std::string path_of(const std::string& file);
/// Returns the type of a file: "wal" of "000042.wal", "MANIFEST" of "MANIFEST-000041", and "CURRENT" of "CURRENT".
std::string type_of(const std::string& name);

}  // namespace varve::lab::repair
