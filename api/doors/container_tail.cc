// Owns: the blocking tail of an append blob, and its wait for an append (Container::tail).
// Must never: poll.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/blob/blob_followers.h"
#include "api/model/guarded.h"
#include "api/read/blob_tail.h"
#include "varve/blob.h"

namespace varve {
namespace {

Result<BlobTail> look_or_wait(const Container::State& container, std::string_view blob,
                              const BlobTailOptions& options) {
  StoreCore& core = *container.core;
  io::Clock& clock = core.backend().env().clock;
  const std::chrono::nanoseconds deadline = clock.monotonic() + std::min(options.wait, kTailWaitMax);
  std::optional<BlobFollowers::Following> following;
  std::optional<WaitingRow::Waiter> waiter;  // leaves before the blob
  for (;;) {
    if (waiter) waiter->begin_look();
    Result<TailLook> look = look_at_tail(container, blob, options);
    if (!look.ok()) return look.status();
    if (!look->tail.bytes.empty()) return std::move(look->tail);
    if (!following || following->key() != look->key) {  // what came before the entry is seen by the next look
      waiter.reset();
      following.emplace(core.followers(), look->key);
      waiter.emplace(following->row(), options.stop);
      continue;
    }
    if (following->row().has_ended()) return tail_was_closed();
    const std::chrono::nanoseconds left = deadline - clock.monotonic();
    if (left <= std::chrono::nanoseconds(0) || !waiter->wait(left)) return std::move(look->tail);
  }
}

}  // namespace

Result<BlobTail> Container::tail(std::string_view blob, const BlobTailOptions& options) const {
  return guarded([&]() -> Result<BlobTail> {
    if (Status open = state_->core->check_open(); !open.ok()) return open;
    if (Status checked = check_tail(blob, options); !checked.ok()) return checked;
    if (options.wait > std::chrono::milliseconds(0)) return look_or_wait(*state_, blob, options);
    Result<TailLook> look = look_at_tail(*state_, blob, options);
    if (!look.ok()) return look.status();
    return std::move(look->tail);
  });
}

}  // namespace varve
