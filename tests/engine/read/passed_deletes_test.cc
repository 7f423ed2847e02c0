// Goal: a backward scan that passes a block of deletes shows a key whose newer entries are in the block before.
// Method: the older entry of a key, a delete, fills the last block of a table alone. No older table has the key, and the
// keys below it are a known stretch of dead keys.
#include <string>

#include <gtest/gtest.h>

#include "engine/memory/dead_stretches.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::passed_deletes_test {
namespace {

using test::Change;
using test::Machine;

TEST(PassedDeletes, HideNoNewerEntryOfAKeyThatAnEarlierBlockHas) {
  Machine machine;
  const auto engine = *machine.open();
  const auto name_of = [](int row) { return std::to_string(1000 + row); };
  // The last delete begins a search for dead keys around it.
  constexpr int kLast = 5 * static_cast<int>(DeadStretches::kDeletesBetweenLooks) - 1;
  Change puts;
  for (int row = 0; row < kLast; ++row) puts.put("p", name_of(row), "old");
  puts.put("p", "9", "end");
  ASSERT_TRUE(puts.commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  ASSERT_TRUE(engine->compact().ok());  // The deletes stay, since they hide these.
  for (int row = 0; row <= kLast; ++row) ASSERT_TRUE(Change().remove("p", name_of(row)).commit(*engine).ok());
  const HeldVersion held = engine->snapshot();
  const auto row_before_the_end = [&] {
    Cursor cursor = engine->view().cursor("", "");
    cursor.seek_before(test::key_of("p", "9"));
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    return cursor.valid() ? std::string(cursor.value()) : "none";
  };
  EXPECT_EQ(row_before_the_end(), "none");
  std::string large(15'000, ' ');
  for (char& byte : large) byte = static_cast<char>(machine.random.next());  // It ends its block.
  ASSERT_TRUE(Change().put("p", name_of(kLast), large).commit(*engine).ok());
  EXPECT_EQ(row_before_the_end(), large);
  ASSERT_TRUE(engine->flush().ok());
  EXPECT_EQ(row_before_the_end(), large);
}

TEST(PassedDeletes, ThatARecoveryBringsAreRememberedByTheFirstScan) {
  constexpr int kRows = 1'000;
  Machine machine;
  io::MemoryDisk disk;
  {
    const auto engine = *machine.open();
    Change puts;
    Change removes;
    for (int row = 0; row < kRows; ++row) {
      std::string value(500, ' ');
      for (char& byte : value) byte = static_cast<char>(machine.random.next());
      puts.put("p", std::to_string(kRows + row), value);
      removes.remove("p", std::to_string(kRows + row));
    }
    puts.put("p", "9", "end");
    ASSERT_TRUE(puts.commit(*engine).ok());
    ASSERT_TRUE(engine->compact().ok());  // The deletes do not take the rows away, and all their blocks are passed.
    ASSERT_TRUE(removes.commit(*engine).ok());
    disk = machine.files->process_death(machine.random);
  }
  Machine after(2, std::move(disk));
  const auto engine = *after.open();
  const auto blocks_of_scan = [&] {
    ReadCost cost;
    const std::string table = format::encode_table(test::kTable);
    Cursor cursor = engine->view().cursor(table, format::end_of_prefix(table), &cost);
    cursor.seek_to_first();
    EXPECT_TRUE(cursor.valid() && cursor.value() == "end");
    return cost.blocks_read + cost.blocks_from_cache;
  };
  EXPECT_GE(blocks_of_scan(), 20U);
  EXPECT_LE(blocks_of_scan(), 6U);
}

}  // namespace
}  // namespace varve::engine::passed_deletes_test
