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
  const std::lock_guard lock(shared_->mutex);
  if (shared_->is_ending) return false;
  const auto found = shared_->of_address.find(address);
  const std::size_t of_address = found == shared_->of_address.end() ? 0 : found->second;
  if (shared_->open.size() >= shared_->limits.connections_max ||
      of_address >= shared_->limits.connections_per_address_max) {
    ++shared_->refused;
    return false;
  }
  const auto opened = shared_->open.insert(&connection).first;
  try {
    ++shared_->of_address[address];
  } catch (const std::bad_alloc&) {  // The connection was not added.
    shared_->open.erase(opened);
    throw;
  }
  ++shared_->accepted;
  return true;
}

void ConnectionHost::remove(OpenConnection& connection, const std::string& address) {
  const std::lock_guard lock(shared_->mutex);
  shared_->open.erase(&connection);
  const auto of_address = shared_->of_address.find(address);
  if (--of_address->second == 0) shared_->of_address.erase(of_address);
  if (shared_->open.empty()) shared_->none_left.notify_all();
}

void ConnectionHost::put_in_place(OpenConnection& connection, OpenConnection& by) noexcept {
  auto place = shared_->open.extract(&connection);
  place.value() = &by;
  shared_->open.insert(std::move(place));  // Allocates nothing.
}

void ConnectionHost::end_all_soon() {
  const std::lock_guard lock(shared_->mutex);
  shared_->is_ending = true;
  for (OpenConnection* const connection : shared_->open) connection->end_soon();
}

void ConnectionHost::end_all_unread() {
  const std::lock_guard lock(shared_->mutex);
  for (OpenConnection* const connection : shared_->open) connection->end_unread();
}

bool ConnectionHost::wait_for_all(std::chrono::milliseconds time_max) {
  std::unique_lock lock(shared_->mutex);
  return shared_->none_left.wait_for(lock, time_max, [this] { return shared_->open.empty(); });
}

void ConnectionHost::end_all_now() {
  const std::lock_guard lock(shared_->mutex);
  for (OpenConnection* const connection : shared_->open) connection->end_now();
}

ConnectionFigures ConnectionHost::figures() const {
  const std::lock_guard lock(shared_->mutex);
  return {shared_->open.size(), shared_->accepted, shared_->refused};
}

}  // namespace varve::serve
