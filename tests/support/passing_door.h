// Owns: a door that passes each operation to another one, for tests that change the fate of some.
// Must never: change an operation or an answer itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/rados/object_door.h"

namespace varve::test {

class PassingDoor : public io::ObjectDoor {
 public:
  explicit PassingDoor(std::unique_ptr<io::ObjectDoor> door) noexcept : door_(std::move(door)) {}

  std::string client() const override { return door_->client(); }
  io::ObjectAnswer change(const io::ObjectChange& change) override { return door_->change(change); }
  std::unique_ptr<io::SentChange> send(const io::ObjectChange& change) override { return door_->send(change); }
  io::ObjectAnswer look(std::string_view object, io::ObjectLook& found) override { return door_->look(object, found); }
  io::ObjectAnswer entries(std::string_view object, io::TextMap& found) override {
    return door_->entries(object, found);
  }
  io::ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override {
    return door_->read(object, offset, bytes, count, patience);
  }
  io::ObjectAnswer blocklist(std::string_view client) override { return door_->blocklist(client); }
  io::ObjectAnswer look_at_pool(std::string_view object, io::PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }

 private:
  const std::unique_ptr<io::ObjectDoor> door_;
};

}  // namespace varve::test
