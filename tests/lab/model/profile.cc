#include "tests/lab/model/profile.h"

#include <array>

namespace varve::lab {

Profile profile_of(std::uint32_t number) {
  constexpr std::array<std::uint64_t, 3> kWriteBuffers = {192 << 10, 64 << 20, 512 << 10};
  constexpr std::array<std::uint64_t, 2> kCaches = {64 << 10, 16 << 20};
  const auto draw = [&number](std::uint32_t choices) {
    const std::uint32_t drawn = number % choices;
    number /= choices;
    return drawn;
  };
  Profile profile;
  profile.write_buffer_bytes = kWriteBuffers[draw(3)];
  profile.block_cache_bytes = kCaches[draw(2)];
  profile.short_pages = draw(2) == 1;
  profile.asynchronous = draw(2) == 1;
  profile.single_entity_pages = draw(2) == 1;
  profile.durability = static_cast<DurabilityChoice>(draw(3));
  return profile;
}

std::string profile_text(const Profile& profile) {
  std::string text = "write buffer " + std::to_string(profile.write_buffer_bytes >> 10) + " KiB, cache " +
                     std::to_string(profile.block_cache_bytes >> 10) + " KiB";
  if (profile.short_pages) text += ", short pages";
  if (profile.asynchronous) text += ", asynchronous";
  if (profile.single_entity_pages) text += ", pages of one entity";
  if (profile.durability == DurabilityChoice::kAlwaysSync) text += ", all sync";
  if (profile.durability == DurabilityChoice::kAlwaysBuffered) text += ", all buffered";
  return text;
}

}  // namespace varve::lab
