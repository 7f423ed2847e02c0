// Goal: a page's memory is reused by the next page within a bound, by any thread and until the end of each thread.
// Method: several threads take and return pieces in random order. Scans are checked by the number of remaining pieces.
#include "api/model/spare_pieces.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::spare_pieces_test {
namespace {

using spare_pieces::give_back;
using spare_pieces::kept_bytes;
using spare_pieces::kKeptBytesMax;
using spare_pieces::kPieceBytes;
using spare_pieces::take;

/// Runs `body` in a thread whose list is empty at first.
void in_new_thread(const std::function<void()>& body) {
  std::thread(body).join();
}

TEST(SparePieces, AreTheSameMemoryAgain) {
  in_new_thread([] {
    std::vector<void*> pieces(100);
    for (void*& piece : pieces) std::memset(piece = take(), 1, kPieceBytes);
    for (void* const piece : pieces) give_back(piece);
    EXPECT_EQ(kept_bytes(), 100 * kPieceBytes);
    std::vector<void*> again(100);
    for (void*& piece : again) std::memset(piece = take(), 2, kPieceBytes);
    EXPECT_EQ(kept_bytes(), 0U);
    std::sort(pieces.begin(), pieces.end());
    std::vector<void*> sorted = again;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(pieces, sorted);
    for (void* const piece : again) give_back(piece);
  });
}

TEST(SparePieces, AreNeverMoreThanTheBound) {
  in_new_thread([] {
    std::vector<void*> pieces(2 * kKeptBytesMax / kPieceBytes);
    for (void*& piece : pieces) piece = take();
    for (void* const piece : pieces) {
      give_back(piece);
      ASSERT_LE(kept_bytes(), kKeptBytesMax);
    }
    EXPECT_GT(kept_bytes(), kKeptBytesMax - kPieceBytes);
  });
}

TEST(SparePieces, OfBothSizesShareOneBound) {
  in_new_thread([] {
    std::vector<void*> large(2 * kKeptBytesMax / spare_pieces::kLargeBytes);
    for (void*& piece : large) std::memset(piece = spare_pieces::take_large(), 3, spare_pieces::kLargeBytes);
    void* const small = take();
    give_back(small);
    for (void* const piece : large) {
      spare_pieces::give_back_large(piece);
      ASSERT_LE(kept_bytes(), kKeptBytesMax);
    }
    EXPECT_GT(kept_bytes(), kKeptBytesMax - spare_pieces::kLargeBytes);
    const std::size_t kept = kept_bytes();
    void* const again = take();
    EXPECT_EQ(again, small) << "a small piece is never a part of a large one";
    EXPECT_EQ(kept_bytes(), kept - kPieceBytes);
    give_back(again);
  });
}

TEST(SparePieces, GoFromThreadToThread) {
  constexpr int kRounds = 2'000;
  std::vector<void*> pieces(64);
  for (std::size_t i = 0; i < pieces.size(); ++i) pieces[i] = take();
  for (unsigned seed = 0; seed < 4; ++seed) {
    in_new_thread([&] {
      std::mt19937 random(seed);
      for (int round = 0; round < kRounds; ++round) {
        void*& piece = pieces[random() % pieces.size()];
        std::memset(piece, round, kPieceBytes);
        give_back(piece);
        if (random() % 2 == 0) give_back(take());
        piece = take();
      }
    });
  }
  for (void* const piece : pieces) give_back(piece);
}

struct AtTheEndOfAThread {
  void* piece = nullptr;
  ~AtTheEndOfAThread() {
    give_back(piece);
    EXPECT_EQ(kept_bytes(), 0U) << "nobody would free it";
  }
};

TEST(SparePieces, AreGivenBackByAThreadThatEnds) {
  in_new_thread([] {
    static thread_local AtTheEndOfAThread holder;  // created first, and thus destroyed after the list
    holder.piece = take();
    give_back(take());
    EXPECT_EQ(kept_bytes(), kPieceBytes);
  });
}

TEST(SparePieces, TheNextPageTakesThoseOfThePageBefore) {
  in_new_thread([] {
    test::StoreBench bench;
    Table table = bench.table("Rows");
    for (int i = 0; i < 500; ++i) {
      Entity entity("p", std::to_string(1'000 + i));
      for (int name = 0; name < 8; ++name) entity.add("Name" + std::to_string(name), std::string(100, 'v'));
      ASSERT_TRUE(table.insert(entity).ok());
    }
    std::size_t kept = 0;
    for (int page = 0; page < 3; ++page) {
      Result<Page> read = table.scan(Scan{});
      ASSERT_TRUE(read.ok()) << read.status().to_string();
      ASSERT_EQ(read->entities.size(), 500U);
      EXPECT_LT(kept_bytes(), 4 * kPieceBytes) << "page " << page << " uses what was kept";
      read->entities.clear();
      kept = kept_bytes();
    }
    EXPECT_GT(kept, 100 * kPieceBytes);
  });
}

}  // namespace
}  // namespace varve::spare_pieces_test
