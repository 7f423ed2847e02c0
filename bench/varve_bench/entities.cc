#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr std::size_t kPoolBytes = std::size_t{4} << 20;

/// Returns a text of which any 256 consecutive bytes contain 160 random characters of 64 kinds, and 96 that repeat.
std::string make_pool() {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
  constexpr std::size_t kRandomBytes = 160;
  std::string pool(kPoolBytes, '=');
  Random random(1);
  for (std::size_t i = 0; i < kPoolBytes; ++i) {
    if (i % kPayloadBytes < kRandomBytes) pool[i] = kLetters[random.below(kLetters.size())];
  }
  return pool;
}

std::string numbered(std::string text, std::uint64_t number) {
  for (std::size_t i = text.size(); number > 0 && i > 0; number /= 10) text[--i] = static_cast<char>('0' + number % 10);
  return text;
}

}  // namespace

std::string partition_key(std::uint64_t partition) {
  return numbered("customer00000000", partition);
}

std::string row_key(std::uint64_t row) {
  return numbered("order-0000000000", row);
}

std::string absent_row_key(std::uint64_t row) {
  std::string key = row_key(row);
  key += '~';
  return key;
}

Keys keys_of(std::uint64_t entity) {
  return {partition_key(entity / kEntitiesOfPartition), row_key(entity % kEntitiesOfPartition)};
}

std::string_view payload_of(std::uint64_t entity) {
  return payload_of(entity, kPayloadBytes);
}

std::string_view payload_of(std::uint64_t entity, std::size_t bytes) {
  static const std::string pool = make_pool();
  return std::string_view(pool).substr(Random(entity).below(kPoolBytes - bytes), bytes);
}

std::string field_name(std::size_t field) {
  return "field" + std::to_string(field);
}

std::uint64_t shuffled(std::uint64_t n, std::uint64_t count) noexcept {
  // larger than every count in use, so it has no common factor with a count
  constexpr std::uint64_t kPrime = 2'654'435'761;
  return n % count * kPrime % count;
}

}  // namespace varve::bench
