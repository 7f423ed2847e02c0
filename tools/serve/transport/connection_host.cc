#include "tools/serve/transport/connection_host.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <arpa/inet.h>

namespace varve::serve {

std::string address_key(const std::string& client_ip) {
  constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  constexpr std::size_t kNetworkBytes = 8;
  std::array<unsigned char, 16> address{};
  const std::string plain = client_ip.substr(0, client_ip.find('%'));  // without the interface
  if (::inet_pton(AF_INET6, plain.c_str(), address.data()) != 1) return client_ip;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (std::equal(kMapped.begin(), kMapped.end(), address.begin())) {
    ::inet_ntop(AF_INET, address.data() + kMapped.size(), text.data(), text.size());
  } else {
    std::fill(address.begin() + kNetworkBytes, address.end(), static_cast<unsigned char>(0));
    ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  }
  return text.data();
}

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
  } catch (const std::bad_alloc&) {  // The connection was not added.
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

void ConnectionHost::put_in_place(OpenConnection& connection, OpenConnection& by) noexcept {
  auto place = open_.extract(&connection);
  place.value() = &by;
  open_.insert(std::move(place));  // Allocates nothing.
}

void ConnectionHost::end_all_soon() {
  const std::lock_guard lock(mutex_);
  is_ending_ = true;
  for (OpenConnection* const connection : open_) connection->end_soon();
}

void ConnectionHost::end_all_unread() {
  const std::lock_guard lock(mutex_);
  for (OpenConnection* const connection : open_) connection->end_unread();
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
