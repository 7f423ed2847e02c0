// Goal: the texts of a page are reused by the next page within a bound, by any thread and until the end of each thread.
// Method: texts of all sizes are copied and given back, in random order, by several threads.
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/spare_pieces.h"
#include "tests/api/store_bench.h"

namespace varve::spare_texts_test {
namespace {

using spare_texts::copy;
using spare_texts::give_back;
using spare_texts::kept_bytes;
using spare_texts::kInsideMax;
using spare_texts::kKeptBytesMax;
using spare_texts::kTextBytesMax;

/// Runs `body` in a thread whose lists are empty at first.
void in_new_thread(const std::function<void()>& body) {
  std::thread(body).join();
}

std::string text_of(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>('a' + (i + bytes) % 26));
  return text;
}

TEST(SpareTexts, AreTheSameMemoryForATextOfTheSameSize) {
  in_new_thread([] {
    for (std::size_t bytes = kInsideMax + 1; bytes <= kTextBytesMax; ++bytes) {
      std::string first = copy(text_of(bytes));
      ASSERT_EQ(first, text_of(bytes));
      const char* const memory = first.data();
      give_back(first);
      EXPECT_TRUE(first.empty()) << bytes;
      EXPECT_GT(kept_bytes(), bytes);
      std::string second = copy(text_of(bytes));
      ASSERT_EQ(second, text_of(bytes));
      EXPECT_EQ(second.data(), memory) << bytes;
      EXPECT_EQ(kept_bytes(), 0U);
    }
  });
}

TEST(SpareTexts, AreNotKeptIfTheyAreShortOrLong) {
  in_new_thread([] {
    for (const std::size_t bytes : {std::size_t{0}, kInsideMax, 2 * kTextBytesMax, std::size_t{1} << 20}) {
      std::string text = copy(text_of(bytes));
      EXPECT_EQ(text, text_of(bytes));
      give_back(text);
      EXPECT_EQ(kept_bytes(), 0U) << bytes;
    }
  });
}

TEST(SpareTexts, OfAnyCapacityHoldTheTextsThatTheyAreTakenFor) {
  in_new_thread([] {
    std::mt19937 random(7);
    std::vector<std::string> texts;
    for (int round = 0; round < 20'000; ++round) {
      if (random() % 2 == 0 || texts.empty()) {
        const std::size_t bytes = random() % (kTextBytesMax + 20);
        texts.push_back(copy(text_of(bytes)));
        ASSERT_EQ(texts.back(), text_of(bytes));
        if (random() % 4 == 0) texts.back().append(random() % 300, 'x');  // and so any capacity
      } else {
        give_back(texts.back());
        texts.pop_back();
      }
    }
  });
}

TEST(SpareTexts, AreNeverMoreThanTheBound) {
  in_new_thread([] {
    std::vector<std::string> texts(2 * kKeptBytesMax / 500);
    for (std::string& text : texts) text = copy(text_of(500));
    for (std::string& text : texts) {
      give_back(text);
      ASSERT_LE(kept_bytes(), kKeptBytesMax);
    }
    EXPECT_GT(kept_bytes(), kKeptBytesMax - 600);
    EXPECT_EQ(texts.back(), text_of(500)) << "a text that is not kept stays as it is";
  });
}

struct AtTheEndOfAThread {
  std::string text;
  ~AtTheEndOfAThread() {
    give_back(text);
    EXPECT_EQ(kept_bytes(), 0U) << "nobody would free it";
  }
};

TEST(SpareTexts, AreFreedByAThreadThatEnds) {
  in_new_thread([] {
    static thread_local AtTheEndOfAThread holder;  // created first, and thus destroyed after the lists
    holder.text = copy(text_of(100));
    std::string other = copy(text_of(100));
    give_back(other);
    EXPECT_GT(kept_bytes(), 100U);
  });
}

TEST(SpareTexts, TheNextPageTakesThoseOfThePageBefore) {
  in_new_thread([] {
    test::StoreBench bench;
    Table table = bench.table("Rows");
    const std::string partition = text_of(40);
    for (int i = 0; i < 300; ++i) {
      Entity entity(partition, "a row with a long key " + std::to_string(1'000 + i));
      entity.add("Text", text_of(200)).add("Bytes", Binary{text_of(100)}).add("ANameThatIsALongOne", 7);
      ASSERT_TRUE(table.insert(entity).ok());
    }
    for (int page = 0; page < 3; ++page) {
      Result<Page> read = table.scan(Scan{});
      ASSERT_TRUE(read.ok()) << read.status().to_string();
      ASSERT_EQ(read->entities.size(), 300U);
      for (const Entity& entity : read->entities) {
        ASSERT_EQ(entity.partition_key(), partition);
        ASSERT_EQ(*entity.find("Text"), Value(text_of(200)));
        ASSERT_EQ(*entity.find("Bytes"), Value(Binary{text_of(100)}));
      }
      const std::size_t in_use = kept_bytes();
      read->entities.clear();
      EXPECT_GT(kept_bytes(), 300U * 340) << "page " << page;
      EXPECT_LT(in_use, kept_bytes() / 2) << "page " << page << " uses what was kept";
    }
  });
}

TEST(SpareTexts, AreThoseOfAnyEntityThatEnds) {
  in_new_thread([] {
    std::vector<Entity> page;
    for (int i = 0; i < 300; ++i)
      page.emplace_back(copy(text_of(40)), copy(text_of(30))).add("Text", copy(text_of(200)));
    EXPECT_EQ(kept_bytes(), 0U);
    page.clear();
    EXPECT_GT(kept_bytes(), 300U * 270);
    const std::size_t kept = kept_bytes();
    for (int i = 0; i < 300; ++i) page.emplace_back(text_of(41), text_of(31)).add("Text", text_of(201));
    page.clear();
    EXPECT_EQ(kept_bytes(), kept) << "texts that a writer made serve no reader";
  });
}

}  // namespace
}  // namespace varve::spare_texts_test
