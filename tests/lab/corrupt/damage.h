// Owns: changes to a store's files: each change, its name, and the list of changes that a round tries.
// Must never: check the store's reaction to a change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/lab/corrupt/regions.h"
#include "tests/lab/corrupt/sample.h"

namespace varve::lab {

enum class DamageKind : std::uint8_t {
  kFlip,          // a byte, by a mask
  kCut,           // the file ends at an offset
  kExtend,        // this many zeros are added at its end
  kZero,          // a region reads as zeros
  kSwap,          // two regions of a file are exchanged
  kCopy,          // a region gets the bytes of a region of another file, of this or another disk
  kMissing,       // the file is missing
  kEmpty,         // the file has no bytes
  kDouble,        // the file contains its bytes twice in a row
  kRename,        // the file has another number
  kReplace,       // the file has the content of another file, of this or another disk
  kRootAndState,  // CURRENT and the manifest that it names are those of another disk
};

struct Damage {
  DamageKind kind{};
  std::string file{};  // the changed file
  // of the flip, cut (the new length), extension (the number of zeros), zeroing, swap or copy
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // of the region
  std::uint8_t mask = 0;
  std::string source_disk{};  // one of `others`; empty: the sample itself
  std::string source_file{};
  std::uint64_t source_offset = 0;  // swap: the offset of the second region
  std::uint64_t source_bytes = 0;

  /// Returns one word for counts: "flip", "swap", "replay" (a part of an older state), "foreign", ...
  std::string_view name() const;
  /// Returns a full description without spaces at its ends. Different damages have different texts.
  std::string text() const;
};

/// A sample split into its files and regions.
class Victim {
 public:
  explicit Victim(const Sample& sample);

  const Sample& sample() const noexcept { return sample_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  const std::string& bytes(const std::string& name) const { return files_.at(name).bytes; }
  const std::vector<Region>& regions(const std::string& name) const { return files_.at(name).regions; }

  /// Returns the disk after the damage, or nothing if the damage would change nothing.
  std::optional<io::MemoryDisk> apply(const Damage& damage) const;
  /// Returns the offset of the first changed byte of `damage.file`. If only the size changed, it returns the size.
  std::uint64_t first_changed_byte(const Damage& damage, const io::MemoryDisk& after) const;

 private:
  friend class DamageList;
  struct File {
    std::string bytes;
    std::vector<Region> regions;
  };
  const File& source_file(const Damage& damage) const;
  std::string changed_bytes(const Damage& damage) const;
  std::optional<io::MemoryDisk> with_root_of(const std::string& disk) const;

  const Sample& sample_;
  std::vector<std::string> names_;
  std::map<std::string, File> files_;
  std::map<std::string, std::map<std::string, File>> others_;
};

/// Returns the changes of one round: all changes of whole files and regions, and about `flips_max` flips of single
/// bytes and `cuts_max` lengths. Flips and cuts are evenly spread from an offset that the seed determines. Of a `large`
/// sample only some data blocks are tried.
std::vector<Damage> damages_of(const Victim& victim, std::uint64_t seed, std::uint64_t flips_max,
                               std::uint64_t cuts_max, bool large);

}  // namespace varve::lab
