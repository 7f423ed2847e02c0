// Owns: the options under which a list of operations is run. No option may change an answer.
// Must never: contain a value on which an answer depends.
#pragma once

#include <cstdint>
#include <string>

namespace varve::lab {

/// The durability of writes: as the operation says, or always the same.
enum class DurabilityChoice : std::uint8_t { kAsTold, kAlwaysSync, kAlwaysBuffered };

struct Profile {
  std::uint64_t write_buffer_bytes = 0;  // small ones cause frequent flushes and compactions
  std::uint64_t block_cache_bytes = 0;
  bool short_pages = false;
  bool asynchronous = false;  // table operations use AsyncTable
  bool single_entity_pages = false;
  DurabilityChoice durability = DurabilityChoice::kAsTold;
};

inline constexpr std::uint32_t kProfiles = 3 * 2 * 2 * 2 * 2 * 3;

/// Returns the profile of any number. Numbers with the same remainder modulo kProfiles have the same profile.
Profile profile_of(std::uint32_t number);
std::string profile_text(const Profile& profile);

}  // namespace varve::lab
