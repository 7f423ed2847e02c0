// Owns: collecting the statistics of a run while it is built (block_statistics.h).
// Must never: fail a run because of a value that it does not understand. Nothing is then known of that block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block_statistics.h"

namespace varve::format {

/// Number of properties that are watched: the first ones that occur in the run's entities.
inline constexpr std::size_t kPropertiesWatchedMax = 16;
/// Limits of the watched properties that the statistics of a run and of its blocks cover. Properties with the narrowest
/// ranges are chosen.
inline constexpr std::size_t kPropertiesToldOfRunMax = 8;
inline constexpr std::size_t kPropertiesToldOfBlocksMax = 4;
/// Limit of a name in bytes. A property with a longer name is not watched.
inline constexpr std::size_t kWatchedNameBytesMax = 64;

class StatisticsBuilder {
 public:
  /// Adds the value of a put to the open block.
  void add(std::string_view entity);
  /// Adds a put whose value is not at hand to the open block. Nothing is then known of the block.
  void add_unread() noexcept;
  /// Ends the open block.
  void end_block();
  /// Marks that a key of the last complete block continues in the next block. The last block then gets no statistics.
  void last_block_goes_on() noexcept { blocks_.back().is_told = false; }

  struct Fields {
    std::string run;
    struct Block {
      bool is_told = false;
      std::string field;
    };
    std::vector<Block> blocks;
  };
  /// Returns the statistics of the complete blocks, and discards an open one. The builder is empty afterwards.
  Fields finish();

 private:
  /// The values of one property in the entities of a block or of a run.
  struct Gathered {
    enum class State : std::uint8_t { kAbsent, kRange, kUnknown };
    State state = State::kAbsent;
    PropertyType type = PropertyType::kString;
    bool largest_is_cut = false;
    std::uint8_t smallest_bytes = 0;
    std::uint8_t largest_bytes = 0;
    // Numbers in the order of the values. Zero for Strings.
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
