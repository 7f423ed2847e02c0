// Goal: entities of many properties are overwritten by the next ones, which then hold their own content alone, within a bound
// and until the end of each thread.
// Method: entities are encoded and decoded in threads of their own, and compared with the encoded ones.
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/entity_codec.h"
#include "api/model/property_room.h"

namespace varve::wide_lists_test {
namespace {

/// Runs `body` in a thread that keeps nothing at first, and expects that nothing is left of it.
void in_new_thread(const std::function<void()>& body) {
  const std::size_t before = PropertyRoom::wide_bytes_kept();
  std::thread(body).join();
  EXPECT_EQ(PropertyRoom::wide_bytes_kept(), before) << "a thread that ended keeps lists";
}

std::string encoded(const Entity& entity) {
  format::EntityBuilder builder;
  std::string bytes;
  encode_properties(entity, builder, bytes);
  return bytes;
}

Entity wide(std::size_t count, char letter, std::size_t text_bytes = 40) {
  Entity entity("p", "r");
  for (std::size_t i = 0; i < count; ++i) entity.add("Name" + std::to_string(i), std::string(text_bytes, letter));
  return entity;
}

Entity decoded(const std::string& bytes, PropertyRoom& room) {
  Entity entity("p", "r");
  const Status status = decode_properties(1, bytes, {}, room, entity);
  EXPECT_TRUE(status.ok()) << status.to_string();
  return entity;
}

void expect_same_properties(const Entity& read, const Entity& written) {
  ASSERT_EQ(read.properties().size(), written.properties().size());
  for (std::size_t i = 0; i < written.properties().size(); ++i) {
    ASSERT_EQ(read.properties()[i], written.properties()[i]) << i;
  }
}

const char* text_at(const Entity& entity, std::size_t place) {
  return entity.properties()[place].value.get_if<std::string>()->data();
}

TEST(WideLists, TheNextEntityHasTheMemoryOfTheOneThatEnded) {
  in_new_thread([] {
    const Entity first = wide(100, 'a');
    const Entity second = wide(100, 'b');
    const std::string bytes = encoded(second);
    PropertyRoom room;
    auto ended = std::make_unique<Entity>(decoded(encoded(first), room));
    const Property* const properties = ended->properties().data();
    const char* const text = text_at(*ended, 99);
    const std::size_t before = PropertyRoom::wide_bytes_kept();
    ended.reset();
    EXPECT_GT(PropertyRoom::wide_bytes_kept(), before + 100 * (sizeof(Property) + 40));
    const Entity next = decoded(bytes, room);
    EXPECT_EQ(PropertyRoom::wide_bytes_kept(), before);
    EXPECT_EQ(next.properties().data(), properties);
    EXPECT_EQ(text_at(next, 99), text);
    expect_same_properties(next, second);
  });
}

TEST(WideLists, AGetHasTheMemoryOfAnEntityOfAScan) {
  in_new_thread([] {
    PropertyRoom room;
    auto ended = std::make_unique<Entity>(decoded(encoded(wide(50, 'a')), room));
    const Property* const properties = ended->properties().data();
    ended.reset();
    Entity got("p", "r");
    ASSERT_TRUE(decode_properties(got, 1, encoded(wide(49, 'b')), {}).ok());
    EXPECT_EQ(got.properties().data(), properties);
    expect_same_properties(got, wide(49, 'b'));
  });
}

Value some_value(std::mt19937& random) {
  switch (random() % 7) {
    case 0: return static_cast<std::int32_t>(random());
    case 1: return static_cast<std::int64_t>(random());
    case 2: return random() % 2 == 0;
    case 3: return 0.5 * static_cast<double>(random() % 100);
    case 4: return Binary{std::string(random() % 300, static_cast<char>(random()))};
    default: return std::string(random() % (random() % 10 == 0 ? 2000 : 60), static_cast<char>('a' + random() % 26));
  }
}

TEST(WideLists, AnEntityNeverHasAnythingOfTheOneBefore) {
  in_new_thread([] {
    std::mt19937 random(5);
    PropertyRoom room;
    std::vector<Entity> alive;
    for (int round = 0; round < 3'000; ++round) {
      Entity written("p", "r");
      const std::size_t count = random() % 280;
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t name = random() % 20 == 0 ? i + 1'000'000'000'000 : i;
        written.add("Name" + std::to_string(name), some_value(random));
      }
      Entity read = decoded(encoded(written), room);
      expect_same_properties(read, written);
      if (HasFatalFailure()) return;
      if (random() % 4 == 0) read.set("Added", std::string(random() % 300, 'x'));
      if (random() % 4 == 0) read.remove("Name0");
      if (random() % 4 == 0) alive.push_back(std::move(read));
      if (alive.size() > 20) alive.clear();
    }
  });
}

TEST(WideLists, SelectedPropertiesOverwriteTheFirstOnes) {
  in_new_thread([] {
    std::vector<std::string> select;
    for (std::size_t i = 90; i-- > 50;) select.push_back("Name" + std::to_string(i));
    select.emplace_back("NoSuchName");
    const std::string bytes = encoded(wide(100, 's'));
    for (int round = 0; round < 3; ++round) {
      PropertyRoom room;
      Entity entity("p", "r");
      ASSERT_TRUE(decode_properties(1, bytes, select, room, entity).ok());
      ASSERT_EQ(entity.properties().size(), 40U);
      EXPECT_EQ(entity.properties()[0].name, "Name89");
      EXPECT_EQ(entity.properties()[39].name, "Name50");
      entity = decoded(encoded(wide(45, 't')), room);
    }
  });
}

TEST(WideLists, AnEntityThatCannotBeReadMidwayFailsAndHarmsNoOther) {
  in_new_thread([] {
    const Entity whole = wide(100, 'a');
    std::string unreadable = encoded(whole);
    constexpr std::size_t kHead = 4;
    constexpr std::size_t kSlot = 8;
    unreadable[kHead + 60 * kSlot + 2] |= 15;  // no known type has this number
    PropertyRoom room;
    for (int round = 0; round < 3; ++round) {
      expect_same_properties(decoded(encoded(whole), room), whole);
      Entity entity("p", "r");
      EXPECT_EQ(decode_properties(1, unreadable, {}, room, entity).code(), Code::kUnsupported);
    }
  });
}

TEST(WideLists, AreNeverMoreThanTheBoundOfAllThreads) {
  in_new_thread([] {
    const std::string bytes = encoded(wide(250, 'x', 100));
    PropertyRoom room;
    std::vector<Entity> page;
    for (std::size_t made = 0; made < PropertyRoom::wide_kept_max() + (std::size_t{4} << 20); made += 250 * 170) {
      page.push_back(decoded(bytes, room));
    }
    while (!page.empty()) {
      page.pop_back();
      ASSERT_LE(PropertyRoom::wide_bytes_kept(), PropertyRoom::wide_kept_max());
    }
    EXPECT_GT(PropertyRoom::wide_bytes_kept(), PropertyRoom::wide_kept_max() - (std::size_t{64} << 10));
  });
}

TEST(WideLists, OfLongTextsAreNotKept) {
  in_new_thread([] {
    PropertyRoom room;
    const std::size_t before = PropertyRoom::wide_bytes_kept();
    { const Entity entity = decoded(encoded(wide(100, 'l', 1'000)), room); }
    EXPECT_EQ(PropertyRoom::wide_bytes_kept(), before);
    {
      Entity entity = decoded(encoded(wide(100, 's')), room);
      entity.set("Name7", std::string(std::size_t{1} << 20, 'x'));
    }
    EXPECT_EQ(PropertyRoom::wide_bytes_kept(), before);
  });
}

TEST(WideLists, AShortTextDoesNotHoldTheMemoryOfALongOne) {
  in_new_thread([] {
    PropertyRoom room;
    { const Entity entity = decoded(encoded(wide(100, 'l', 500)), room); }
    const Entity entity = decoded(encoded(wide(100, 's', 20)), room);
    EXPECT_LT(entity.properties()[5].value.get_if<std::string>()->capacity(), 100U);
  });
}

TEST(WideLists, OfOneThreadMayEndInAnother) {
  const std::string bytes = encoded(wide(200, 'm'));
  std::vector<Entity> page;
  in_new_thread([&] {
    PropertyRoom room;
    for (int i = 0; i < 50; ++i) page.push_back(decoded(bytes, room));
  });
  in_new_thread([&] {
    page.clear();
    PropertyRoom room;
    expect_same_properties(decoded(bytes, room), wide(200, 'm'));
  });
}

struct EndsLate {
  std::vector<Entity> entities;
};

TEST(WideLists, AnEntityMayEndAfterItsThreadsLists) {
  in_new_thread([] {
    static thread_local EndsLate late;  // created first, and thus destroyed after the lists
    PropertyRoom room;
    late.entities.push_back(decoded(encoded(wide(60, 'e')), room));
    { const Entity entity = decoded(encoded(wide(60, 'f')), room); }
  });
}

}  // namespace
}  // namespace varve::wide_lists_test
