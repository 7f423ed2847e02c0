// Owns: the fuzzer of the statistics of runs and blocks.
// Must never: accept a range that would be written back differently, or that does not contain its own ends.
//
// Input: one byte, then the statistics. If the byte's lowest bit is 0, they are those of a block, otherwise those of a
// run.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block_statistics.h"
#include "format/bytes/bytes.h"
#include "fuzz/mutation.h"

namespace varve::format {
namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

std::size_t value_bytes(PropertyType type) {
  constexpr std::size_t kOfTextAndBinary = 5;
  return fixed_value_bytes(type).value_or(kOfTextAndBinary);
}

/// Compares the range with a value of each type. Every type must be accepted.
void ask_of_each_type(const PropertyRange& range) {
  static const std::string bytes("\1\0\xEE\x80\x80\xF0\x90\x80\x80\0\0\0\0\0\0\0", 16);
  for (auto type = std::uint8_t{1}; type <= 9; ++type) {
    const auto as_type = static_cast<PropertyType>(type);
    const std::string_view value = std::string_view(bytes).substr(0, value_bytes(as_type));
    const bool is_covered = covers(range, {"n", as_type, value});
    check(is_covered || range.kind != PropertyRange::Kind::kUnknown);
    check(!is_covered || range.kind != PropertyRange::Kind::kAbsent);
    check(!is_covered || range.kind != PropertyRange::Kind::kRange || range.type == as_type);
  }
}

/// Checks that a range that is not empty contains its ends. If the end is a cut text, the range contains all texts that
/// begin with it.
void ask_of_its_ends(const PropertyRange& range) {
  const PropertyView smallest{"n", range.type, range.smallest};
  const PropertyView largest{"n", range.type, range.largest};
  check(covers(range, smallest) == covers(range, largest) || range.largest_is_cut);
  if (!range.largest_is_cut || !covers(range, largest)) return;
  const std::string longer = std::string(range.largest) + "and more";
  check(covers(range, {"n", range.type, longer}));
}

void read(const PropertyRange& range, std::string& written) {
  append_range(written, range);
  ask_of_each_type(range);
  if (range.kind == PropertyRange::Kind::kRange) ask_of_its_ends(range);
}

void append_named(std::string& out, const NamedRange& named) {
  out.push_back(named.is_in_blocks ? '\1' : '\0');
  append_sized(out, named.name);
  append_range(out, named.range);
}

void read_block(std::string_view bytes) {
  std::string written;
  for (BlockStatistics statistics(bytes); !statistics.at_end();) {
    const Result<PropertyRange> range = statistics.next();
    if (!range.ok()) return check(range.code() == Code::kCorruption && bytes.starts_with(written));
    read(*range, written);
  }
  check(written == bytes);
}

void read_run(std::string_view bytes) {
  std::string written;
  for (RunStatistics statistics(bytes); !statistics.at_end();) {
    const Result<NamedRange> named = statistics.next();
    if (!named.ok()) return check(named.code() == Code::kCorruption && bytes.starts_with(written));
    std::string of_range;
    read(named->range, of_range);
    append_named(written, *named);
    check(written.ends_with(of_range));
  }
  check(written == bytes);
}

// -- Mutations ------------------------------------------------------------------------------------------------------

struct OwnRange {
  bool is_in_blocks = false;
  std::string name;
  PropertyRange::Kind kind = PropertyRange::Kind::kUnknown;
  PropertyType type = PropertyType::kString;
  std::string smallest;
  std::string largest;
  bool largest_is_cut = false;

  PropertyRange view() const { return {kind, type, smallest, largest, largest_is_cut}; }
};

OwnRange owned_range(const PropertyRange& range) {
  return {
      false, {}, range.kind, range.type, std::string(range.smallest), std::string(range.largest), range.largest_is_cut};
}

/// Returns the complete ranges at the front of `bytes`.
std::vector<OwnRange> ranges_of(bool of_run, std::string_view bytes) {
  std::vector<OwnRange> ranges;
  RunStatistics run(bytes);
  BlockStatistics block(bytes);
  while (of_run ? !run.at_end() : !block.at_end()) {
    if (of_run) {
      const Result<NamedRange> named = run.next();
      if (!named.ok()) break;
      ranges.push_back(owned_range(named->range));
      ranges.back().is_in_blocks = named->is_in_blocks;
      ranges.back().name = named->name;
    } else {
      const Result<PropertyRange> range = block.next();
      if (!range.ok()) break;
      ranges.push_back(owned_range(*range));
    }
  }
  return ranges;
}

/// Gives a value the size of its type. Sometimes it makes a text that is too long.
void fit_end(fuzz::Chance& chance, PropertyType type, std::string& value) {
  const std::optional<std::size_t> bytes = fixed_value_bytes(type);
  if (bytes) value.resize(*bytes);
  if (!bytes && !chance.one_in(16)) value.resize(std::min(value.size(), kRangeTextBytesMax));
}

void change_range(fuzz::Chance& chance, OwnRange& range) {
  constexpr std::array kTypes = {PropertyType::kBoolean, PropertyType::kDateTime, PropertyType::kDouble,
                                 PropertyType::kInt32,   PropertyType::kInt64,    PropertyType::kString};
  switch (chance.below(6)) {
    case 0: range.kind = static_cast<PropertyRange::Kind>(chance.below(3)); break;
    case 1: range.type = kTypes[chance.below(kTypes.size())]; break;
    case 2: fuzz::mutate_bytes(range.smallest); break;
    case 3: fuzz::mutate_bytes(range.largest); break;
    case 4: fuzz::mutate_bytes(range.name); break;
    default: (chance.one_in(2) ? range.is_in_blocks : range.largest_is_cut) ^= true; break;
  }
  range.largest_is_cut = range.largest_is_cut && range.type == PropertyType::kString;
  fit_end(chance, range.type, range.smallest);
  fit_end(chance, range.type, range.largest);
}

std::optional<std::string> mutated_statistics(fuzz::Chance& chance, std::string_view input) {
  if (input.empty()) return std::nullopt;
  const bool of_run = (input.front() & 1) != 0;
  std::vector<OwnRange> ranges = ranges_of(of_run, input.substr(1));
  fuzz::mutate_parts(chance, ranges, [&](OwnRange& range) { change_range(chance, range); });
  std::string made(1, input.front());
  for (const OwnRange& range : ranges) {
    if (of_run) {
      append_named(made, {range.name, range.is_in_blocks, range.view()});
    } else {
      append_range(made, range.view());
    }
  }
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  (bytes.front() & 1) != 0 ? read_run(bytes.substr(1)) : read_block(bytes.substr(1));
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t size_max,
                                               unsigned seed) {
  return fuzz::mutate_structure(data, size, size_max, seed, mutated_statistics);
}

}  // namespace varve::format
