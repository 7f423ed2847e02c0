// Goal: memory that memtables released is reused, and never exceeds its bound.
// Method: examples at the bound, and a seeded sequence of operations compared with a model.
#include "engine/memory/spare_blocks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/memory/arena.h"
#include "engine/memory/write_budget.h"
#include "io/env.h"

namespace varve::engine::spare_blocks_test {
namespace {

constexpr std::uint64_t kSeed = 20261123;
constexpr std::size_t kBlock = SpareBlocks::kBlockBytes;

io::PageMemory new_block() {
  return *io::PageMemory::map(kBlock);
}

std::shared_ptr<WriteBudget> budget_of(std::uint64_t blocks) {
  return std::make_shared<WriteBudget>(io::system_env().scheduler, blocks * kBlock);
}

TEST(SpareBlocks, GiveWhatTheyWereGivenAndThenNothing) {
  SpareBlocks spare(io::system_env().scheduler);
  EXPECT_TRUE(spare.take().bytes().empty());
  io::PageMemory block = new_block();
  const std::byte* const place = block.bytes().data();
  spare.keep(std::move(block), kBlock);
  EXPECT_EQ(spare.bytes(), kBlock);
  const io::PageMemory again = spare.take();
  EXPECT_EQ(again.bytes().data(), place);
  EXPECT_EQ(again.bytes().size(), kBlock);
  EXPECT_EQ(spare.bytes(), 0u);
  EXPECT_TRUE(spare.take().bytes().empty());
}

TEST(SpareBlocks, AreNoMoreThanTheirBound) {
  SpareBlocks spare(io::system_env().scheduler);
  spare.keep(new_block(), kBlock - 1);
  EXPECT_EQ(spare.bytes(), 0u);
  for (int i = 0; i < 5; ++i) spare.keep(new_block(), 3 * kBlock);
  EXPECT_EQ(spare.bytes(), 3 * kBlock);
  spare.trim(2 * kBlock);
  EXPECT_EQ(spare.bytes(), 2 * kBlock);
  spare.trim(2 * kBlock - 1);
  EXPECT_EQ(spare.bytes(), kBlock);
  spare.trim(0);
  EXPECT_EQ(spare.bytes(), 0u);
}

TEST(SpareBlocks, CanBeWrittenToAgain) {
  SpareBlocks spare(io::system_env().scheduler);
  spare.keep(new_block(), kBlock);
  const io::PageMemory block = spare.take();
  std::memset(block.bytes().data(), 7, block.bytes().size());
  EXPECT_EQ(block.bytes().back(), std::byte{7});
}

TEST(WriteBudget, KeepsAsSpareAQuarterAtMostAndNothingAboveThreeQuartersWithWhatIsUsed) {
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  constexpr std::uint64_t kBlocks = 16;
  const auto budget = budget_of(kBlocks);
  std::uint64_t used = 0;
  for (int step = 0; step < 2'000; ++step) {
    const std::uint64_t bytes = 1 + random() % (2 * kBlock);
    switch (random() % 4) {
      case 0:
        if (budget->take(bytes)) used += bytes;
        break;
      case 1: {
        const std::uint64_t given = std::min(used, bytes);
        budget->give_back(given);
        used -= given;
        break;
      }
      case 2: budget->keep_spare(new_block()); break;
      default: (void)budget->take_spare(); break;
    }
    ASSERT_EQ(budget->used_bytes(), used);
    ASSERT_LE(budget->spare_bytes(), kBlocks / 4 * kBlock) << step;
    ASSERT_LE(budget->spare_bytes(), std::max(used, kBlocks / 4 * 3 * kBlock) - used) << step;
  }
}

std::set<const char*> fill(Arena& arena, std::size_t piece_bytes, int pieces) {
  std::set<const char*> places;
  for (int i = 0; i < pieces; ++i) {
    char* const piece = arena.take(piece_bytes);
    EXPECT_NE(piece, nullptr);
    std::memset(piece, i, piece_bytes);
    places.insert(piece);
  }
  return places;
}

TEST(Arena, TakesTheBlocksThatAnotherHasGivenUp) {
  const auto budget = budget_of(64);
  constexpr std::size_t kPiece = 1'000'000;  // as large as entities may be; four make a block
  std::set<const char*> first;
  {
    Arena arena;
    arena.draw_on(budget);
    first = fill(arena, kPiece, 32);
    EXPECT_EQ(budget->spare_bytes(), 0u);
  }
  EXPECT_EQ(budget->spare_bytes(), 8 * kBlock);
  Arena next;
  next.draw_on(budget);
  EXPECT_EQ(fill(next, kPiece, 32), first);
  EXPECT_EQ(budget->spare_bytes(), 0u);
  EXPECT_EQ(next.allocated_bytes(), 8 * kBlock);
}

TEST(Arena, TakesSpareBlocksForSmallPiecesToo) {
  const auto budget = budget_of(64);
  budget->keep_spare(new_block());
  Arena arena;
  arena.draw_on(budget);
  ASSERT_NE(arena.take(16), nullptr);
  EXPECT_EQ(arena.allocated_bytes(), kBlock);
  EXPECT_EQ(budget->spare_bytes(), 0u);
}

TEST(Arena, GivesUpNoBlockOfAnotherSize) {
  const auto budget = budget_of(64);
  {
    Arena arena;
    arena.draw_on(budget);
    ASSERT_NE(arena.take(16), nullptr);
    ASSERT_NE(arena.take(3 * kBlock), nullptr);
  }
  EXPECT_EQ(budget->spare_bytes(), 0u);
}

TEST(Arena, WithoutABudgetGivesItsBlocksToTheSystem) {
  const auto budget = budget_of(64);
  {
    Arena arena;
    (void)fill(arena, 1'000'000, 8);
  }
  EXPECT_EQ(budget->spare_bytes(), 0u);
}

}  // namespace
}  // namespace varve::engine::spare_blocks_test
