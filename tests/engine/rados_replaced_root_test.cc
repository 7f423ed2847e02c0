// Goal: an open beside an owner that replaces CURRENT finds the store in use, and no damage.
// Method: two processes share a model of RADOS. A door answers the first reads of the second one as if CURRENT had been
// replaced since it was looked for.
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/io/io_test_support.h"
#include "tests/support/engine_bench.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_replaced_root_test {
namespace {

/// Answers a number of reads with ENOENT.
class ReplacingDoor final : public io::ObjectDoor {
 public:
  ReplacingDoor(std::unique_ptr<io::ObjectDoor> door, int replaced) noexcept
      : door_(std::move(door)), replaced_(replaced) {}

  std::string client() const override { return door_->client(); }
  io::ObjectAnswer change(const io::ObjectChange& change) override { return door_->change(change); }
  std::unique_ptr<io::SentChange> send(const io::ObjectChange& change) override { return door_->send(change); }
  io::ObjectAnswer look(std::string_view object, io::ObjectLook& found) override { return door_->look(object, found); }
  io::ObjectAnswer entries(std::string_view object, io::TextMap& found) override {
    return door_->entries(object, found);
  }
  io::ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override {
    return replaced_-- > 0 ? ENOENT : door_->read(object, offset, bytes, count, patience);
  }
  io::ObjectAnswer blocklist(std::string_view client) override { return door_->blocklist(client); }
  io::ObjectAnswer look_at_pool(std::string_view object, io::PoolLook& found) override {
    return door_->look_at_pool(object, found);
  }

 private:
  const std::unique_ptr<io::ObjectDoor> door_;
  int replaced_;
};

Status open_beside_owner(int replaced) {
  test::RadosMachine machine(1);
  test::RadosProgram& first = machine.start();
  const auto owner = Engine::open(machine.env_of(first), test::kRadosPath, test::Machine::writable());
  EXPECT_TRUE(io::is_ok(owner));
  test::RadosProgram& second =
      machine.start({}, std::make_unique<ReplacingDoor>(machine.cluster.make_door(), replaced));
  return Engine::open(machine.env_of(second), test::kRadosPath, test::Machine::writable()).status();
}

TEST(RadosReplacedRoot, IsReadAgainWhereTheStoreIsLookedFor) {
  for (const int replaced : {0, 1, 2, 4}) EXPECT_TRUE(io::fails_with(open_beside_owner(replaced), Code::kLocked));
}

TEST(RadosReplacedRoot, ThatIsNeverThereIsMissing) {
  EXPECT_TRUE(io::fails_with(open_beside_owner(1000), Code::kCorruption, "CURRENT is missing"));
}

}  // namespace
}  // namespace varve::engine::rados_replaced_root_test
