// Owns: the promises of property lists, their memory shared or their own (varve/types.h, api/model/property_room.h).
#include "api/model/property_room.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace varve::property_room_test {
namespace {

Property numbered(std::size_t number) {
  return Property{"property number " + std::to_string(number), std::string(40, 'x') + std::to_string(number)};
}

void fill(PropertyList& list, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    list.add([i] { return numbered(i); });
  }
}

void expect_filled(const PropertyList& list, std::size_t count) {
  ASSERT_EQ(list.all().size(), count);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(list.all()[i], numbered(i));
}

TEST(PropertyRoom, ListsStayWholeWhateverBecomesOfTheirNeighbours) {
  auto room = std::make_unique<PropertyRoom>();
  std::vector<PropertyList> lists;
  constexpr std::size_t kLists = 200;
  for (std::size_t i = 0; i < kLists; ++i) {
    lists.push_back(room->take(i % 7));
    fill(lists.back(), i % 7);
  }
  room.reset();
  for (std::size_t i = 0; i < kLists; i += 2) lists[i] = PropertyList();
  for (std::size_t i = 1; i < kLists; i += 2) expect_filled(lists[i], i % 7);
}

TEST(PropertyRoom, NeighboursStandBesideEachOther) {
  PropertyRoom room;
  PropertyList first = room.take(2);
  PropertyList second = room.take(1);
  fill(first, 2);
  fill(second, 1);
  EXPECT_EQ(first.all().data() + 2, second.all().data());
}

TEST(PropertyRoom, AListThatOutgrowsItsPartLeavesTheNeighboursAlone) {
  PropertyRoom room;
  PropertyList first = room.take(2);
  PropertyList second = room.take(2);
  fill(second, 2);
  fill(first, 9);
  expect_filled(first, 9);
  expect_filled(second, 2);
}

TEST(PropertyRoom, MoreThanAPieceHoldsIsTheLists) {
  PropertyRoom room;
  PropertyList list = room.take(500);
  fill(list, 500);
  expect_filled(list, 500);
  EXPECT_TRUE(room.take(0).all().empty());
}

TEST(PropertyRoom, CopiesAreOnTheirOwn) {
  PropertyRoom room;
  PropertyList list = room.take(3);
  fill(list, 3);
  PropertyList copy = list;
  EXPECT_EQ(copy, list);
  copy.remove(1);
  ASSERT_EQ(copy.all().size(), 2U);
  EXPECT_EQ(copy.all()[1], numbered(2));
  EXPECT_NE(copy, list);
  expect_filled(list, 3);
  list = std::move(copy);
  EXPECT_EQ(list.all().size(), 2U);
  list = PropertyList(list);
  EXPECT_EQ(list.all()[0], numbered(0));
}

TEST(PropertyRoom, EntitiesOfARoomCanBeChanged) {
  Entity entity("partition", "row");
  for (std::size_t i = 0; i < 3; ++i) entity.set("Name" + std::to_string(i), static_cast<std::int32_t>(i));
  Entity copy = entity;
  EXPECT_TRUE(copy.remove("Name1"));
  EXPECT_FALSE(copy.remove("Name1"));
  copy.set("Name2", "changed").set("Name3", true);
  EXPECT_EQ(*entity.get<std::int32_t>("Name2"), 2);
  EXPECT_EQ(*copy.get<std::string>("Name2"), "changed");
  EXPECT_EQ(copy.properties().size(), 3U);
  const Entity moved = std::move(copy);
  EXPECT_TRUE(*moved.get<bool>("Name3"));
}

}  // namespace
}  // namespace varve::property_room_test
