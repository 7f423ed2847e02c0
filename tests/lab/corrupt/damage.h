// Owns: what is done to a store's files: one change each, its name, and the list of changes that a round tries.
// Must never: judge what comes of one.
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
  kExtend,        // so many zeros behind its end
  kZero,          // a region reads as zeros
  kSwap,          // two regions of a file change places
  kCopy,          // a region gets the bytes of one of another file, of this or another disk
  kMissing,       // the file is gone
  kEmpty,         // it has no bytes
  kDouble,        // it stands twice, one behind the other
  kRename,        // it has another number
  kReplace,       // it has the content of another file, of this or another disk
  kRootAndState,  // CURRENT and the manifest that it names are those of another disk
};

struct Damage {
  DamageKind kind{};
  std::string file{};        // whose bytes change
  std::uint64_t offset = 0;  // flip, cut (its length), extend (how many), zero, swap, copy
  std::uint64_t bytes = 0;   // of the region
  std::uint8_t mask = 0;
  std::string source_disk{};  // of `others`, empty: the sample itself
  std::string source_file{};
  std::uint64_t source_offset = 0;  // swap: of the other region
  std::uint64_t source_bytes = 0;

  /// One word for counts: "flip", "swap", "replay" (a part of an older state), "foreign", ...
  std::string_view name() const;
  /// All of it, in words without spaces at the ends; no two differ in it alone.
  std::string text() const;
};

/// A sample taken apart.
class Victim {
 public:
  explicit Victim(const Sample& sample);

  const Sample& sample() const noexcept { return sample_; }
  const std::vector<std::string>& names() const noexcept { return names_; }
  const std::string& bytes(const std::string& name) const { return files_.at(name).bytes; }
  const std::vector<Region>& regions(const std::string& name) const { return files_.at(name).regions; }

  /// The disk after it; nothing where it would change nothing.
  std::optional<io::MemoryDisk> apply(const Damage& damage) const;
  /// The first byte of `damage.file` that differs afterwards; its size where that alone changed.
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

/// The changes of one round: all of whole files and regions, and of single bytes, masks and lengths about `flips_max`
/// and `cuts_max`, evenly spread from a place that the seed chooses. Of a `large` sample the data
/// blocks are tried here and there.
std::vector<Damage> damages_of(const Victim& victim, std::uint64_t seed, std::uint64_t flips_max,
                               std::uint64_t cuts_max, bool large);

}  // namespace varve::lab
