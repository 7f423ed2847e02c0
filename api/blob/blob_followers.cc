// Owns: who follows which blob (blob_followers.h).
// Must never: keep a blob without a reader that follows it.
#include "api/blob/blob_followers.h"

namespace varve {

BlobFollowers::Blobs::iterator BlobFollowers::enter(std::string_view key) {
  const io::MutexGuard guard(mutex_);
  const auto blob = blobs_.try_emplace(std::string(key), scheduler_).first;
  ++blob->second.readers;
  if (has_ended_) blob->second.row.end_waits();
  return blob;
}

void BlobFollowers::leave(Blobs::iterator blob) noexcept {
  const io::MutexGuard guard(mutex_);
  if (--blob->second.readers == 0) blobs_.erase(blob);
}

void BlobFollowers::wake(std::string_view key) noexcept {
  const io::MutexGuard guard(mutex_);
  if (const auto blob = blobs_.find(key); blob != blobs_.end()) blob->second.row.wake_all();
}

void BlobFollowers::wake_all_in(format::TableId container) noexcept {
  const io::MutexGuard guard(mutex_);
  for (auto& [key, blob] : blobs_) {
    if (format::table_id_of(key) == container) blob.row.wake_all();
  }
}

void BlobFollowers::wake_all_of(std::uint32_t account) noexcept {
  const io::MutexGuard guard(mutex_);
  for (auto& [key, blob] : blobs_) {
    if (format::account_of(format::table_id_of(key)) == account) blob.row.wake_all();
  }
}

void BlobFollowers::end_waits() noexcept {
  const io::MutexGuard guard(mutex_);
  has_ended_ = true;
  for (auto& [key, blob] : blobs_) blob.row.end_waits();
}

}  // namespace varve
