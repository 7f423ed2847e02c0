// Owns: the changes that a round tries.
// Must never: leave out a file or a region of the sample.
#include <algorithm>

#include "format/log/file_header.h"
#include "tests/lab/corrupt/damage.h"

namespace varve::lab {

namespace {

constexpr std::uint8_t kMasks[] = {0x01, 0x80, 0x10, 0xFF};

format::FileType type_of(const std::string& name) {
  const Result<format::FileId> id = format::parse_file_name(name);
  return id.ok() ? id->type : format::FileType::kRoot;
}

/// The distance between tried bytes in the zeros after a log's records.
constexpr std::uint64_t kSparseStep = 40'961;
/// The distance between tried data blocks of a large table file.
constexpr std::size_t kSparseRegions = 64;

/// Ranges of a file's bytes, numbered as if they were adjacent.
class DenseBytes {
 public:
  /// Adds a range. Ranges are in order. If a range overlaps earlier ones, only its rest is added.
  void add(std::uint64_t begin, std::uint64_t end) {
    begin = std::max(begin, this->end());
    if (begin < end) ranges_.push_back({begin, end});
    if (begin < end) count_ += end - begin;
  }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t end() const noexcept { return ranges_.empty() ? 0 : ranges_.back().end; }
  std::uint64_t offset(std::uint64_t index) const noexcept {
    for (const Range& range : ranges_) {
      if (index < range.end - range.begin) return range.begin + index;
      index -= range.end - range.begin;
    }
    return end();
  }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> ranges_;
  std::uint64_t count_ = 0;
};

}  // namespace

/// Collects the changes.
class DamageList {
 public:
  DamageList(const Victim& victim, std::uint64_t seed, bool is_sparse)
      : victim_(victim), seed_(seed), is_sparse_(is_sparse) {}

  void add_whole_files() {
    for (const std::string& name : victim_.names()) {
      for (const DamageKind kind : {DamageKind::kMissing, DamageKind::kEmpty, DamageKind::kDouble}) {
        add({.kind = kind, .file = name});
      }
      const Result<format::FileId> id = format::parse_file_name(name);
      if (id.ok() && id->number != 0) add({.kind = DamageKind::kRename, .file = name});
      for (const std::uint64_t more : {1u, 8u, 4096u}) add({.kind = DamageKind::kExtend, .file = name, .offset = more});
      for_each_like(name, [&](const std::string& disk, const std::string& like, const Victim::File&) {
        add({.kind = DamageKind::kReplace, .file = name, .source_disk = disk, .source_file = like});
      });
    }
    for (const auto& [disk, files] : victim_.others_) {
      add({.kind = DamageKind::kRootAndState, .file = "CURRENT", .source_disk = disk});
    }
  }

  void add_regions() {
    const std::size_t every = is_sparse_ ? kSparseRegions : 1;
    for (const std::string& name : victim_.names()) {
      const std::vector<Region>& regions = victim_.regions(name);
      for (std::size_t i = 0; i < regions.size(); ++i) {
        const bool is_common = regions[i].kind == "data block";
        if (is_common && i % every != seed_ % every) continue;
        add({.kind = DamageKind::kZero, .file = name, .offset = regions[i].offset, .bytes = regions[i].bytes});
        if (i + 1 < regions.size()) add_swap(name, regions[i], regions[i + 1]);
        const std::size_t far = (i + 1 + seed_ % regions.size()) % regions.size();
        if (far > i + 1) add_swap(name, regions[i], regions[far]);
        add_copies(name, regions[i], i);
      }
    }
  }

  /// Adds flips of single bytes: evenly spread over the dense bytes, and a few in the zeros after a log's records.
  void add_flips(std::uint64_t flips_max) {
    const std::uint64_t stride = stride_for(all_dense_bytes() * std::size(kMasks), flips_max);
    std::uint64_t step = seed_ % stride;
    for (const std::string& name : victim_.names()) {
      const DenseBytes dense = dense_bytes(name);
      const std::uint64_t steps = dense.count() * std::size(kMasks);
      for (; step < steps; step += stride) add_flip(name, dense.offset(step / std::size(kMasks)), step);
      step -= steps;
      for (std::uint64_t at = dense.end() + seed_ % kSparseStep; at < victim_.bytes(name).size(); at += kSparseStep) {
        add_flip(name, at, at);
      }
    }
  }

  void add_cuts(std::uint64_t cuts_max) {
    const std::uint64_t stride = stride_for(all_dense_bytes(), cuts_max);
    std::uint64_t step = seed_ % stride;
    for (const std::string& name : victim_.names()) {
      const DenseBytes dense = dense_bytes(name);
      for (; step < dense.count(); step += stride) add_cut(name, dense.offset(step));
      step -= dense.count();
      for (const Region& region : victim_.regions(name)) {
        if (is_sparse_ && region.kind == "data block") continue;
        add_cut(name, region.offset);
        if (region.end() < victim_.bytes(name).size()) add_cut(name, region.end());
      }
    }
  }

  std::vector<Damage> take() { return std::move(list_); }

 private:
  void add(Damage damage) { list_.push_back(std::move(damage)); }

  void add_swap(const std::string& name, const Region& one, const Region& other) {
    if (one.end() > other.offset) return;
    add({.kind = DamageKind::kSwap,
         .file = name,
         .offset = one.offset,
         .bytes = one.bytes,
         .source_offset = other.offset,
         .source_bytes = other.bytes});
  }

  /// Adds copies into the region from each file of its type on each disk: the region at the same index, and a region of
  /// the same kind.
  void add_copies(const std::string& name, const Region& region, std::size_t index) {
    for_each_like(name, [&](const std::string& disk, const std::string& like, const Victim::File& file) {
      const auto same_kind = std::find_if(file.regions.begin(), file.regions.end(),
                                          [&](const Region& one) { return one.kind == region.kind; });
      if (same_kind != file.regions.end()) add_copy(name, region, disk, like, *same_kind);
      if (index < file.regions.size() &&
          (same_kind == file.regions.end() || file.regions[index].offset != same_kind->offset)) {
        add_copy(name, region, disk, like, file.regions[index]);
      }
    });
  }

  void add_copy(const std::string& name, const Region& region, const std::string& disk, const std::string& like,
                const Region& source) {
    add({.kind = DamageKind::kCopy,
         .file = name,
         .offset = region.offset,
         .bytes = region.bytes,
         .source_disk = disk,
         .source_file = like,
         .source_offset = source.offset,
         .source_bytes = source.bytes});
  }

  void add_flip(const std::string& name, std::uint64_t offset, std::uint64_t step) {
    add({.kind = DamageKind::kFlip, .file = name, .offset = offset, .mask = kMasks[step % std::size(kMasks)]});
  }

  void add_cut(const std::string& name, std::uint64_t length) {
    add({.kind = DamageKind::kCut, .file = name, .offset = length});
  }

  static std::uint64_t stride_for(std::uint64_t all, std::uint64_t wanted) {
    return std::max<std::uint64_t>(1, all / std::max<std::uint64_t>(1, wanted)) | 1;
  }

  /// Returns the bytes that are worth changing. A log that was not cut consists mostly of zeros, so only its records
  /// and the bytes next to them count.
  DenseBytes dense_bytes(const std::string& name) const {
    constexpr std::uint64_t kBehind = 512;
    constexpr std::uint64_t kHeaderSector = 4096;
    const std::uint64_t size = victim_.bytes(name).size();
    DenseBytes dense;
    if (type_of(name) == format::FileType::kTable && !victim_.sample().is_clean) return block_ends(name);
    if (type_of(name) != format::FileType::kLogSegment && type_of(name) != format::FileType::kLogBuffer) {
      dense.add(0, size);
      return dense;
    }
    dense.add(0, std::min(size, kHeaderSector));
    for (const Region& region : victim_.regions(name)) dense.add(region.offset, std::min(size, region.end() + kBehind));
    return dense;
  }
  /// Returns the ends of blocks. Table files of a crashed store are like those of a closed store, where all of their
  /// bytes are damaged.
  DenseBytes block_ends(const std::string& name) const {
    constexpr std::uint64_t kHead = 16;
    constexpr std::uint64_t kTail = 8;
    DenseBytes dense;
    for (const Region& region : victim_.regions(name)) {
      dense.add(region.offset, std::min(region.offset + kHead, region.end()));
      dense.add(region.end() - std::min(kTail, region.bytes), region.end());
    }
    return dense;
  }
  std::uint64_t all_dense_bytes() const {
    std::uint64_t all = 0;
    for (const std::string& name : victim_.names()) all += dense_bytes(name).count();
    return all;
  }

  template <typename Visit>
  void for_each_like(const std::string& name, const Visit& visit) {
    const auto visit_files = [&](const std::string& disk, const std::map<std::string, Victim::File>& files) {
      for (const auto& [like, file] : files) {
        const bool is_itself = disk.empty() && like == name;
        if (!is_itself && name != "LOCK" && like != "LOCK" && type_of(like) == type_of(name)) visit(disk, like, file);
      }
    };
    visit_files(std::string(), victim_.files_);
    for (const auto& [disk, files] : victim_.others_) visit_files(disk, files);
  }

  const Victim& victim_;
  const std::uint64_t seed_;
  const bool is_sparse_;
  std::vector<Damage> list_;
};

std::vector<Damage> damages_of(const Victim& victim, std::uint64_t seed, std::uint64_t flips_max,
                               std::uint64_t cuts_max, bool large) {
  DamageList list(victim, seed, large);
  list.add_whole_files();
  list.add_regions();
  list.add_flips(flips_max);
  list.add_cuts(cuts_max);
  return list.take();
}

}  // namespace varve::lab
