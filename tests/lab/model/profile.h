// Owns: the options under which a list of operations is run; by none of them may an answer change.
// Must never: hold what an answer depends on.
#pragma once

#include <cstdint>
#include <string>

namespace varve::lab {

/// Which durability writes get, besides what the operation says.
enum class DurabilityChoice : std::uint8_t { kAsTold, kAlwaysSync, kAlwaysBuffered };

struct Profile {
  std::uint64_t write_buffer_bytes = 0;  // small ones flush and compact all the time
  std::uint64_t block_cache_bytes = 0;
  bool short_pages = false;
  bool asynchronous = false;  // verbs of tables are those of AsyncTable
  bool single_entity_pages = false;
  DurabilityChoice durability = DurabilityChoice::kAsTold;
};

inline constexpr std::uint32_t kProfiles = 3 * 2 * 2 * 2 * 2 * 3;

/// Any number is one; those with the same remainder by kProfiles are the same.
Profile profile_of(std::uint32_t number);
std::string profile_text(const Profile& profile);

}  // namespace varve::lab
