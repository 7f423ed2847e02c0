// Owns: the choice of the properties that are watched and that the statistics cover (statistics_builder.h).
// Must never: narrow a range.
#include "format/block/statistics_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "format/bytes/common_prefix.h"
#include "format/keys/sort_key.h"

namespace varve::format {
namespace {

constexpr std::size_t kNotWatched = static_cast<std::size_t>(-1);
/// Limit of a block's range as a part of its run's range. Blocks with wider ranges would seldom be skipped.
constexpr double kWidthWorthTelling = 0.5;
/// Width of a property with one value in the whole run. Its blocks add nothing to the run's statistics, which are
/// useful.
constexpr double kWidthOfOneValue = 0.6;
constexpr std::uint64_t kSignBit = std::uint64_t{1} << 63;

std::uint64_t code_of(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) ^ kSignBit;
}

std::uint64_t code_of(double number) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  return (bits & kSignBit) != 0 ? ~bits : bits | kSignBit;
}

/// Returns a number that orders texts from byte `begin` on like compare_text(), which orders lead bytes EE and EF last.
std::uint64_t code_behind(std::size_t begin, std::string_view text) noexcept {
  std::array<char, sizeof(std::uint64_t)> bytes{};
  if (begin < text.size()) text.copy(bytes.data(), bytes.size(), begin);
  for (char& byte : bytes) {
    if (byte == '\xEE' || byte == '\xEF') byte = static_cast<char>(byte + ('\xF5' - '\xEE'));
  }
  return load_u64_big_endian(bytes.data());
}

/// Names with different tags differ. Most names differ in their size or in their first or last byte.
std::uint32_t tag_of(std::string_view name) noexcept {
  if (name.empty()) return 0;
  const auto first = static_cast<std::uint32_t>(static_cast<unsigned char>(name.front()));
  const auto last = static_cast<std::uint32_t>(static_cast<unsigned char>(name.back()));
  return static_cast<std::uint32_t>(name.size()) | first << 8 | last << 16;
}

}  // namespace

bool StatisticsBuilder::Gathered::is_below(std::string_view value, std::uint64_t code, std::string_view than,
                                           std::uint64_t than_code) const noexcept {
  return type == PropertyType::kString ? compare_text(value, than) < 0 : code < than_code;
}

void StatisticsBuilder::Gathered::take_value(std::string_view value, std::uint64_t code, bool is_cut) noexcept {
  const bool is_first = state == State::kAbsent;
  state = State::kRange;
  if (is_first || is_below(value, code, smallest(), smallest_code)) {
    smallest_bytes = static_cast<std::uint8_t>(value.copy(smallest_value.data(), value.size()));
    smallest_code = code;
  }
  if (is_first || is_below(largest(), largest_code, value, code)) {
    largest_bytes = static_cast<std::uint8_t>(value.copy(largest_value.data(), value.size()));
    largest_code = code;
    largest_is_cut = is_cut;
  } else if (is_cut && value == largest()) {
    largest_is_cut = true;
  }
}

void StatisticsBuilder::Gathered::take(const PropertyView& property) noexcept {
  if (state == State::kUnknown) return;
  if (state == State::kRange && property.type != type) {
    state = State::kUnknown;
    return;
  }
  type = property.type;
  switch (property.type) {
    case PropertyType::kBoolean: return take_value(property.value, property.as_boolean() ? 1 : 0, false);
    case PropertyType::kDateTime: return take_value(property.value, property.as_date_time_ticks(), false);
    case PropertyType::kInt32: return take_value(property.value, code_of(std::int64_t{property.as_int32()}), false);
    case PropertyType::kInt64: return take_value(property.value, code_of(property.as_int64()), false);
    case PropertyType::kDouble:
      if (std::isnan(property.as_double())) break;  // NaN has no place in the order.
      return take_value(property.value, code_of(property.as_double()), false);
    case PropertyType::kString: {
      const std::string_view first = property.value.substr(0, kRangeTextBytesMax);
      return take_value(first, 0, first.size() < property.value.size());
    }
    case PropertyType::kBinary:
    case PropertyType::kGuid:
    case PropertyType::kLargeValue: break;
  }
  state = State::kUnknown;
}

void StatisticsBuilder::Gathered::take(const Gathered& other) noexcept {
  if (other.state == State::kAbsent || state == State::kUnknown) return;
  if (other.state == State::kUnknown || (state == State::kRange && other.type != type)) {
    state = State::kUnknown;
    return;
  }
  type = other.type;
  take_value(other.smallest(), other.smallest_code, false);
  take_value(other.largest(), other.largest_code, other.largest_is_cut);
}

PropertyRange StatisticsBuilder::Gathered::range() const noexcept {
  switch (state) {
    case State::kAbsent: return {PropertyRange::Kind::kAbsent, type, {}, {}, false};
    case State::kUnknown: return {};
    case State::kRange: break;
  }
  return {PropertyRange::Kind::kRange, type, smallest(), largest(), largest_is_cut};
}

/// Entities of a table mostly have their properties in the same order, so `guess` is tried first.
std::size_t StatisticsBuilder::watch(std::string_view name, std::size_t guess) {
  if (guess < names_.size() && names_[guess] == name) return guess;
  if (name.size() > kWatchedNameBytesMax) return kNotWatched;
  const std::uint32_t tag = tag_of(name);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (tags_[i] == tag && names_[i] == name) return i;
  }
  if (names_.size() == kPropertiesWatchedMax) return kNotWatched;
  tags_[names_.size()] = tag;
  names_.emplace_back(name);
  return names_.size() - 1;
}

void StatisticsBuilder::add(std::string_view entity) {
  if (!open_is_known_) return;
  const Result<EncodedEntity> view = EncodedEntity::open(entity);
  if (!view.ok()) {
    open_is_known_ = false;
    return;
  }
  std::size_t guess = 0;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const PropertyView property = view->property(i);
    const std::size_t at = watch(property.name, guess);
    if (at == kNotWatched) continue;
    open_[at].take(property);
    guess = at + 1;
  }
}

void StatisticsBuilder::add_unread() noexcept {
  open_is_known_ = false;
}

void StatisticsBuilder::end_block() {
  const auto watched = static_cast<std::ptrdiff_t>(names_.size());
  blocks_.push_back({true, open_is_known_, {open_.begin(), open_.begin() + watched}});
  std::fill(open_.begin(), open_.begin() + watched, Gathered());
  open_is_known_ = true;
}

/// If a property was first seen after the block, the block does not have it.
StatisticsBuilder::Gathered StatisticsBuilder::of_block(const Block& block, std::size_t property) const noexcept {
  Gathered gathered;
  if (!block.is_known) {
    gathered.state = Gathered::State::kUnknown;
  } else if (property < block.properties.size()) {
    gathered = block.properties[property];
  }
  return gathered;
}

StatisticsBuilder::Gathered StatisticsBuilder::of_run(std::size_t property) const noexcept {
  Gathered gathered;
  for (const Block& block : blocks_) gathered.take(of_block(block, property));
  return gathered;
}

/// Returns the distance from the smallest value to the largest one. For Strings, it compares the bytes after the
/// `begin` bytes that both have in common.
double StatisticsBuilder::Gathered::width(std::size_t begin) const noexcept {
  if (type != PropertyType::kString) return static_cast<double>(largest_code - smallest_code);
  return static_cast<double>(code_behind(begin, largest()) - code_behind(begin, smallest()));
}

/// Returns the average part of the run's range that a block's range takes: 0 to 1.
double StatisticsBuilder::width_in_blocks(std::size_t property, const Gathered& run) const noexcept {
  double sum = 0;
  const std::size_t begin = run.type == PropertyType::kString ? common_prefix(run.smallest(), run.largest()) : 0;
  const double whole = run.width(begin);
  for (const Block& block : blocks_) {
    const Gathered gathered = of_block(block, property);
    if (gathered.state == Gathered::State::kAbsent) continue;
    sum += whole > 0 ? gathered.width(begin) / whole : 1;
  }
  const double average = sum / static_cast<double>(blocks_.size());
  return whole > 0 ? average : std::min(average, kWidthOfOneValue);
}

/// Orders the properties by usefulness for skipping blocks, best first.
StatisticsBuilder::Told StatisticsBuilder::worth_telling(const std::vector<Gathered>& of_runs) const {
  std::vector<std::pair<double, std::size_t>> by_width;
  for (std::size_t i = 0; i < of_runs.size(); ++i) {
    if (of_runs[i].state == Gathered::State::kRange) by_width.emplace_back(width_in_blocks(i, of_runs[i]), i);
  }
  std::sort(by_width.begin(), by_width.end());
  by_width.resize(std::min(by_width.size(), kPropertiesToldOfRunMax));
  Told told;
  for (const auto& [width, property] : by_width) {
    told.of_run.push_back(property);
    if (width <= kWidthWorthTelling && told.of_blocks < kPropertiesToldOfBlocksMax) ++told.of_blocks;
  }
  return told;
}

StatisticsBuilder::Fields StatisticsBuilder::finish() {
  std::vector<Gathered> of_runs;
  for (std::size_t i = 0; i < names_.size(); ++i) of_runs.push_back(of_run(i));
  const Told told = worth_telling(of_runs);
  Fields fields;
  for (std::size_t i = 0; i < told.of_run.size(); ++i) {
    const std::size_t property = told.of_run[i];
    fields.run.push_back(i < told.of_blocks ? '\1' : '\0');
    append_sized(fields.run, names_[property]);
    append_range(fields.run, of_runs[property].range());
  }
  for (const Block& block : blocks_) {
    Fields::Block& field = fields.blocks.emplace_back();
    field.is_told = block.is_told;
    if (!block.is_told) continue;
    for (std::size_t i = 0; i < told.of_blocks; ++i) append_range(field.field, of_block(block, told.of_run[i]).range());
  }
  names_.clear();
  blocks_.clear();
  open_.fill(Gathered());
  open_is_known_ = true;
  return fields;
}

}  // namespace varve::format
