// Owns: a chunk of a new table file's entries, and the runs made of it.
// Must never: know the file. Equal entries give equal runs, on whichever thread, and whether they are collected or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/entry.h"
#include "engine/tables/fresh_blocks.h"
#include "engine/tables/table_writer.h"
#include "format/block/block_observer.h"
#include "format/table/run_maker.h"
#include "io/posix/page_memory.h"
#include "varve/result.h"

namespace varve::engine {

/// Passes the contents of hot blocks to the writer of their file: at once, if the place of their run is known there.
/// Otherwise keeps copies until then. If memory is short, blocks are left out.
class HotBlocks final : public format::BlockObserver {
 public:
  /// Begins with blocks that the maker has at `maker_begin`. If `writer` is not null, its file will have them at
  /// `file_begin`. Otherwise they have up to `bytes` bytes. Throws std::bad_alloc.
  void begin(std::uint64_t maker_begin, TableWriter* writer, std::uint64_t file_begin, std::uint64_t bytes);
  HotRule& rule() noexcept { return rule_; }
  void take(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept override;
  /// Passes the copies of a run's blocks to the writer, which will have the run at `begin`. Runs come in order.
  void give(TableWriter& writer, const format::RunEntry& run, std::uint64_t begin) noexcept;

 private:
  struct Copy {
    format::BlockType type = format::BlockType::kData;
    format::BlockHandle place;  // in the maker
    std::size_t begin = 0;      // in contents_
    std::size_t bytes = 0;
  };
  HotRule rule_;
  std::uint64_t maker_begin_ = 0;
  TableWriter* writer_ = nullptr;
  std::uint64_t file_begin_ = 0;
  std::vector<Copy> copies_;
  std::string contents_;
  std::size_t given_ = 0;
};

/// One thread at a time may use it. After an error or an exception, only destruction is allowed.
class RunChunk {
 public:
  struct Plan {
    /// The options of the file, with its dictionary. They outlive the chunk's runs.
    const format::TableOptions* table = nullptr;
    std::uint64_t stored_per_1024 = 0;  // as RunMaker::expect()
    std::uint64_t weight_max = 0;
    bool keeps_hot = false;
    /// Whether another thread will make the runs.
    bool collects = false;
    /// The file, if the runs will be its next ones, at `file_begin`.
    TableWriter* writer = nullptr;
    std::uint64_t file_begin = 0;
  };

  /// The weight of an entry: the memory that it takes in a chunk.
  static std::uint64_t weight_of(const Entry& entry) noexcept {
    return sizeof(Item) + entry.sort_key.size() + entry.value.size();
  }

  /// Begins again. Throws std::bad_alloc.
  void begin(const Plan& plan);
  /// Adds an entry. `stays` says that its views outlive the chunk's runs. Errors: those of RunMaker. Throws
  /// std::bad_alloc.
  Status add(const Entry& entry, bool was_in_memory, bool stays);
  std::uint64_t weight() const noexcept { return weight_; }
  bool collects() const noexcept { return plan_.collects; }
  /// Makes the runs of all entries. Errors: those of RunMaker; kOutOfMemory.
  Status make() noexcept;

  /// The runs of a chunk, in sum.
  struct Made {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::uint64_t stored_per_1024 = 0;
  };
  /// Appends the runs to the file. Errors: those of io.
  Result<Made> append_to(TableWriter& writer);

  /// Releases what depends on the options, which change.
  void forget_options() noexcept { maker_.reset(); }

 private:
  struct Item {
    Entry entry;
    bool was_in_memory = false;
  };

  Status begin_runs();
  Status make_now(const Item& item);
  std::string_view copy(std::string_view bytes);

  Plan plan_;
  std::uint64_t weight_ = 0;
  std::vector<Item> items_;
  io::PageMemory memory_;  // copies of keys and values
  std::size_t used_bytes_ = 0;
  std::vector<std::string> large_;  // copies that found no room there
  std::unique_ptr<format::RunMaker> maker_;
  HotBlocks hot_;
};

}  // namespace varve::engine
