// Goal: a table whose bytes did not reach the disk is not trusted. It is read back before the manifest names it, and is
// rewritten while the memtable still has its content.
// Method: the n-th write to a table file is lost, although every call succeeds.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::read_back_test {
namespace {

using test::Change;
using test::Machine;

std::string value_of_row(int row) {
  return std::string(3'000, static_cast<char>('a' + row % 26)) + std::to_string(row);
}

TEST(ReadBack, ATableWhoseWriteWasLostIsWrittenAgain) {
  constexpr int kRows = 100;
  for (std::uint64_t nth = 0;; ++nth) {
    ASSERT_LT(nth, 100u);
    SCOPED_TRACE("write " + std::to_string(nth));
    Machine machine;
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int row = 0; row < kRows; ++row) {
      ASSERT_TRUE(Change().put("p", std::to_string(row), value_of_row(row)).buffered().commit(**engine).ok());
    }
    io::FaultRule lost;
    lost.kind = io::OperationKind::kAppend;
    lost.name_suffix = ".sst";
    lost.skip_count = nth;
    lost.effect = io::FaultEffect::kLostWrite;
    machine.files->faults().add(lost);
    (void)(*engine)->compact();  // It may report the rejected table.
    const bool happened = machine.files->faults().hit_count() > 0;
    machine.files->faults().clear();
    const Status compacted = (*engine)->compact();
    ASSERT_TRUE(compacted.ok()) << compacted.to_string();
    ASSERT_TRUE((*engine)->close().ok());

    auto again = machine.open();
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ((*again)->statistics().memtable_entries, 0u) << "nothing is in a table";
    for (int row = 0; row < kRows; ++row)
      EXPECT_EQ(test::value_of(**again, "p", std::to_string(row)), value_of_row(row));
    if (!happened) {
      EXPECT_GE(nth, 1u) << "no write was lost";
      break;
    }
    if (::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace varve::engine::read_back_test
