// Owns: XXH3-64 of long texts by the wide registers of newer x86-64 processors.
// Must never: return another number than checksum.h does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace varve::format {

/// From this size on, wide registers gain more than the call costs.
constexpr std::size_t kLongTextBytes = 512;

/// Returns whether this processor has the registers.
bool has_long_hash() noexcept;
/// Returns the XXH3-64 of a text. Only where has_long_hash().
std::uint64_t long_content_hash(std::string_view bytes) noexcept;

}  // namespace varve::format
