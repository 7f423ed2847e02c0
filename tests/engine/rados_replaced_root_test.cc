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
#include "tests/support/passing_door.h"
#include "tests/support/rados_machine.h"

namespace varve::engine::rados_replaced_root_test {
namespace {

/// Answers a number of reads with ENOENT.
class ReplacingDoor final : public test::PassingDoor {
 public:
  ReplacingDoor(std::unique_ptr<io::ObjectDoor> door, int replaced) noexcept
      : PassingDoor(std::move(door)), replaced_(replaced) {}

  io::ObjectAnswer read(std::string_view object, std::uint64_t offset, std::span<std::byte> bytes, std::size_t& count,
                        std::chrono::milliseconds patience) override {
    return replaced_-- > 0 ? ENOENT : PassingDoor::read(object, offset, bytes, count, patience);
  }

 private:
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
