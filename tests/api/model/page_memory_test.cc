// Goal: memory of a page is given out once, stays where it is, and returns to the spare pieces with the page.
// Method: random requests are filled with their own patterns, and all patterns are read at the end.
#include "api/model/page_memory.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/spare_pieces.h"

namespace varve::page_memory_test {
namespace {

TEST(PageMemory, GivesRoomsThatNeverOverlapOrMove) {
  struct Room {
    char* at;
    std::size_t bytes;
    char pattern;
  };
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    PageMemory memory;
    std::vector<Room> rooms;
    std::size_t given = 0;
    for (int i = 0; i < 400; ++i) {
      const std::size_t largest = random() % 20 == 0 ? 3 * spare_pieces::kLargeBytes : std::size_t{300};
      const std::size_t bytes = random() % (largest + 1);
      const std::size_t alignment = std::size_t{1} << random() % 5;
      char* const at = memory.take(bytes, alignment);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(at) % alignment, 0U);
      const auto pattern = static_cast<char>(random());
      if (bytes > 0) std::memset(at, pattern, bytes);
      rooms.push_back({at, bytes, pattern});
      given += bytes;
    }
    EXPECT_GE(memory.bytes(), given);
    for (const Room& room : rooms) {
      ASSERT_EQ(std::string_view(room.at, room.bytes), std::string(room.bytes, room.pattern));
    }
  }
}

TEST(PageMemory, CopiesTextsWithAZeroAfterThem) {
  PageMemory memory;
  const std::string_view zeros("a\0b", 3);
  for (const std::string_view text : {std::string_view(), std::string_view("text"), zeros}) {
    const std::string_view copied = memory.copy(text);
    EXPECT_EQ(copied, text);
    EXPECT_NE(copied.data(), text.data());
    EXPECT_EQ(copied.data()[copied.size()], '\0');
  }
}

TEST(PageMemory, ALonePageOfFewTextsTakesOneSmallPiece) {
  PageMemory memory;
  for (int i = 0; i < 20; ++i) (void)memory.copy(std::string(100, 't'));
  EXPECT_EQ(memory.bytes(), spare_pieces::kPieceBytes);
}

TEST(PageMemory, ReturnsItsPiecesToTheNextPage) {
  std::thread([] {
    std::optional<PageMemory> page(std::in_place);
    for (int i = 0; i < 1'000; ++i) (void)page->copy(std::string(300, 't'));
    (void)page->copy(std::string(spare_pieces::kLargeBytes, 'l'));  // a piece of its own, which is not kept
    const std::size_t bytes = page->bytes() - spare_pieces::kLargeBytes - 1;
    page.reset();
    EXPECT_EQ(spare_pieces::kept_bytes(), bytes);
    page.emplace();
    for (int i = 0; i < 1'000; ++i) (void)page->copy(std::string(300, 't'));
    EXPECT_EQ(spare_pieces::kept_bytes(), 0U);
  }).join();
}

}  // namespace
}  // namespace varve::page_memory_test
