// Owns: the promises of the arena (engine/memory/arena.h).

#include "engine/memory/arena.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"

namespace varve::engine::arena_test {
namespace {

constexpr std::uint64_t kSeed = 20260101;

TEST(Arena, HoldsNothingAtFirst) {
  const Arena arena;
  EXPECT_EQ(arena.used_bytes(), 0u);
  EXPECT_EQ(arena.allocated_bytes(), 0u);
}

TEST(Arena, PiecesAreAlignedAndKeepWhatIsWrittenToThem) {
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  struct Piece {
    char* at;
    std::size_t bytes;
    char fill;
  };
  std::vector<Piece> pieces;
  Arena arena;
  std::uint64_t rounded_sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    // Mostly sizes of entries, and sometimes more than a block.
    const std::size_t bytes = random() % 1'000 == 0 ? 1 + random() % (3 << 20) : 1 + random() % 400;
    char* at = arena.take(bytes);
    ASSERT_NE(at, nullptr);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % Arena::kAlignment, 0u);
    pieces.push_back({at, bytes, static_cast<char>(random())});
    std::memset(at, pieces.back().fill, bytes);
    rounded_sum += (bytes + 7) / 8 * 8;
    ASSERT_EQ(arena.used_bytes(), rounded_sum);
    ASSERT_GE(arena.allocated_bytes(), arena.used_bytes());
  }
  for (const Piece& piece : pieces) {
    const std::vector<char> expected(piece.bytes, piece.fill);
    ASSERT_EQ(std::memcmp(piece.at, expected.data(), piece.bytes), 0);
  }
}

TEST(Arena, LeavesLittleUnused) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{200'000}, std::size_t{262'144}, std::size_t{600'000}}) {
    SCOPED_TRACE(bytes);
    Arena arena;
    for (int i = 0; i < 1'000; ++i) ASSERT_NE(arena.take(bytes), nullptr);
    EXPECT_LT(arena.allocated_bytes(), arena.used_bytes() + arena.used_bytes() / 3 + (1 << 20));
  }
}

TEST(Arena, PartsOfAContentLeaveHardlyAnythingUnused) {
  Arena arena;
  for (int i = 0; i < 64; ++i) ASSERT_NE(arena.take((1 << 20) + 1'024), nullptr);
  EXPECT_LT(arena.allocated_bytes(), arena.used_bytes() + arena.used_bytes() / 32);
}

TEST(Arena, ALargePieceDoesNotEndTheBlockThatSmallOnesComeFrom) {
  Arena arena;
  char* const first = arena.take(16);
  const std::uint64_t block_bytes = arena.allocated_bytes();
  ASSERT_NE(arena.take(10 << 20), nullptr);
  EXPECT_EQ(arena.allocated_bytes(), block_bytes + (10 << 20));
  EXPECT_EQ(arena.take(16), first + 16);
  EXPECT_EQ(arena.allocated_bytes(), block_bytes + (10 << 20));
}

TEST(Arena, AnAllocationThatFailsChangesNothing) {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{5} << 20}) {
    SCOPED_TRACE(bytes);
    std::uint64_t failures = 0;
    for (std::uint64_t nth = 1;; ++nth) {
      Arena arena;
      char* piece = nullptr;
      bool happened = false;
      {
        const test::AllocationFailure failure(nth);
        piece = arena.take(bytes);
        happened = failure.happened();
      }
      if (!happened) {
        EXPECT_NE(piece, nullptr);
        break;
      }
      ++failures;
      EXPECT_EQ(piece, nullptr);
      EXPECT_EQ(arena.used_bytes(), 0u);
      EXPECT_EQ(arena.allocated_bytes(), 0u);
      EXPECT_NE(arena.take(bytes), nullptr);
      EXPECT_GE(arena.used_bytes(), bytes);
    }
    EXPECT_GE(failures, 2u);  // the list of blocks, and the block
  }
}

TEST(Arena, APieceLargerThanMemoryIsRefused) {
  Arena arena;
  EXPECT_EQ(arena.take(std::numeric_limits<std::size_t>::max()), nullptr);
  EXPECT_EQ(arena.used_bytes(), 0u);
  EXPECT_EQ(arena.allocated_bytes(), 0u);
}

}  // namespace
}  // namespace varve::engine::arena_test
