#include "tools/serve/connection_host.h"

#include <new>

namespace varve::serve {

bool ConnectionHost::add(OpenConnection& connection, const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (is_ending_) return false;
  const auto found = of_address_.find(address);
  const std::size_t of_address = found == of_address_.end() ? 0 : found->second;
  if (open_.size() >= limits_.connections_max || of_address >= limits_.connections_per_address_max) {
    ++refused_;
    return false;
  }
  const auto opened = open_.insert(&connection).first;
  try {
    ++of_address_[address];
  } catch (const std::bad_alloc&) {  // It is not there, then.
    open_.erase(opened);
    throw;
  }
  ++accepted_;
  return true;
}

void ConnectionHost::remove(OpenConnection& connection, const std::string& address) {
  const std::lock_guard lock(mutex_);
  open_.erase(&connection);
  const auto of_address = of_address_.find(address);
  if (--of_address->second == 0) of_address_.erase(of_address);
  if (open_.empty()) none_left_.notify_all();
}

void ConnectionHost::end_all_soon() {
  const std::lock_guard lock(mutex_);
  is_ending_ = true;
  for (OpenConnection* const connection : open_) connection->end_soon();
}

bool ConnectionHost::wait_for_all(std::chrono::milliseconds time_max) {
  std::unique_lock lock(mutex_);
  return none_left_.wait_for(lock, time_max, [this] { return open_.empty(); });
}

void ConnectionHost::end_all_now() {
  const std::lock_guard lock(mutex_);
  for (OpenConnection* const connection : open_) connection->end_now();
}

ConnectionFigures ConnectionHost::figures() const {
  const std::lock_guard lock(mutex_);
  return {open_.size(), accepted_, refused_};
}

}  // namespace varve::serve
