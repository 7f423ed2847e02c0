// Owns: streaming XXH3-64 (content_hasher.h).
// Must never: use a seed. The content hash is unseeded.
#include "format/bytes/content_hasher.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace varve::format {

struct ContentHasher::State {
  XXH3_state_t hash;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->hash);
}
ContentHasher::~ContentHasher() = default;
ContentHasher::ContentHasher(ContentHasher&& other) noexcept = default;
ContentHasher& ContentHasher::operator=(ContentHasher&& other) noexcept = default;

void ContentHasher::update(std::string_view bytes) noexcept {
  XXH3_64bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::uint64_t ContentHasher::digest() const noexcept {
  return XXH3_64bits_digest(&state_->hash);
}

}  // namespace varve::format
