// Owns: gathering the statistics of a run while it is made (block_statistics.h).
// Must never: fail a run over a value that it does not understand: then nothing is known of that block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block_statistics.h"

namespace varve::format {

/// So many properties are watched: the first ones that the run's entities have.
inline constexpr std::size_t kPropertiesWatchedMax = 16;
/// Of those, so many are told of the run, and so many of each of its blocks: those whose ranges tell most.
inline constexpr std::size_t kPropertiesToldOfRunMax = 8;
inline constexpr std::size_t kPropertiesToldOfBlocksMax = 4;
/// A longer name is not watched.
inline constexpr std::size_t kWatchedNameBytesMax = 64;

class StatisticsBuilder {
 public:
  /// The value of a put, in the open block.
  void add(std::string_view entity);
  /// A put in the open block whose value is not at hand: nothing can be told of the block.
  void add_unread() noexcept;
  /// The open block is complete.
  void end_block();
  /// A key of the last complete block goes on in the one behind it: nothing may be told of it.
  void last_block_goes_on() noexcept { blocks_.back().is_told = false; }

  struct Fields {
    std::string run;
    struct Block {
      bool is_told = false;
      std::string field;
    };
    std::vector<Block> blocks;
  };
  /// Of the complete blocks; what is in an open one is forgotten. The builder is empty again.
  Fields finish();

 private:
  /// What the entities of a block, or of a run, have in one property.
  struct Gathered {
    enum class State : std::uint8_t { kAbsent, kRange, kUnknown };
    State state = State::kAbsent;
    PropertyType type = PropertyType::kString;
    bool largest_is_cut = false;
    std::uint8_t smallest_bytes = 0;
    std::uint8_t largest_bytes = 0;
    // In the order of the values; of Strings zero.
    std::uint64_t smallest_code = 0;
    std::uint64_t largest_code = 0;
    std::array<char, kRangeTextBytesMax> smallest_value;
    std::array<char, kRangeTextBytesMax> largest_value;

    std::string_view smallest() const noexcept { return {smallest_value.data(), smallest_bytes}; }
    std::string_view largest() const noexcept { return {largest_value.data(), largest_bytes}; }
    void take(const PropertyView& property) noexcept;
    void take(const Gathered& other) noexcept;
    void take_value(std::string_view value, std::uint64_t code, bool is_cut) noexcept;
    bool is_below(std::string_view value, std::uint64_t code, std::string_view than,
                  std::uint64_t than_code) const noexcept;
    PropertyRange range() const noexcept;
    double width(std::size_t begin) const noexcept;
  };
  using GatheredAll = std::array<Gathered, kPropertiesWatchedMax>;
  struct Told {
    std::vector<std::size_t> of_run;  // properties
    std::size_t of_blocks = 0;        // the first of them
  };
  struct Block {
    bool is_told = true;
    bool is_known = true;  // every value was an entity
    std::vector<Gathered> properties;
  };

  std::size_t watch(std::string_view name, std::size_t guess);
  Gathered of_block(const Block& block, std::size_t property) const noexcept;
  Gathered of_run(std::size_t property) const noexcept;
  double width_in_blocks(std::size_t property, const Gathered& run) const noexcept;
  Told worth_telling(const std::vector<Gathered>& of_runs) const;

  std::vector<std::string> names_;
  std::array<std::uint32_t, kPropertiesWatchedMax> tags_{};  // by name
  GatheredAll open_{};
  bool open_is_known_ = true;
  std::vector<Block> blocks_;
};

}  // namespace varve::format
