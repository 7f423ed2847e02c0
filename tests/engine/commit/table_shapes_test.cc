// Goal: a batch that was made for another shape of its table than the present one is refused, and no other batch is.
#include "engine/commit/table_shapes.h"

#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::table_shapes_test {
namespace {

using test::Change;
using test::kTable;
using test::Machine;

constexpr TableId kOther = kTable + 1;

class Shapes : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }

  void expect_refused(Change& change) {
    const Status refused = change.commit(*engine_).status();
    EXPECT_EQ(refused.code(), Code::kConflict);
    EXPECT_EQ(refused.service_error(), kTableReshaped.text());
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(Shapes, ABatchMadeForAnEarlierShapeIsRefused) {
  EXPECT_TRUE(Change().put("p", "a", "v").commit(*engine_).ok());
  EXPECT_TRUE(Change().put("p", "b", "v").reshape(1).commit(*engine_).ok());
  expect_refused(Change().put("p", "c", "v"));
  EXPECT_TRUE(Change().put("p", "c", "v").made_for(1).commit(*engine_).ok());
  EXPECT_TRUE(Change().put("p", "d", "v").made_for(1).reshape(2).commit(*engine_).ok());
  expect_refused(Change().put("p", "e", "v").made_for(1));
  EXPECT_TRUE(Change().put("p", "e", "v").made_for(2).commit(*engine_).ok());
}

TEST_F(Shapes, ABatchForAnyShapeAndOneOfAnotherTableAreNotRefused) {
  ASSERT_TRUE(Change().put("p", "a", "v").reshape(1).commit(*engine_).ok());
  EXPECT_TRUE(Change().put("p", "b", "v").made_for(kAnyShape).commit(*engine_).ok());
  EXPECT_TRUE(Change(kOther).put("p", "b", "v").commit(*engine_).ok());
  EXPECT_TRUE(Change(kTable - 1).put("p", "b", "v").commit(*engine_).ok());
}

TEST_F(Shapes, WhatChangesAShapeIsItselfRefusedAfterAnotherChange) {
  ASSERT_TRUE(Change().put("p", "a", "v").reshape(1).commit(*engine_).ok());
  expect_refused(Change().put("p", "b", "v").reshape(2));
  EXPECT_TRUE(Change().put("p", "b", "v").made_for(1).commit(*engine_).ok());
}

TEST_F(Shapes, OnlyChangesSinceTheOpenCount) {
  ASSERT_TRUE(Change().put("p", "a", "v").reshape(1).commit(*engine_).ok());
  ASSERT_TRUE(engine_->close().ok());
  engine_.reset();
  auto again = machine_.open();
  ASSERT_TRUE(again.ok()) << again.status().to_string();
  EXPECT_TRUE(Change().put("p", "b", "v").made_for(1).commit(**again).ok());
}

TEST(TableShapes, EachTableHasItsOwn) {
  TableShapes shapes;
  EXPECT_TRUE(shapes.empty());
  for (const TableId table : {5u, 1u, 9u, 3u}) {
    shapes.reserve(1);
    shapes.set({table, table + 100u});
  }
  shapes.set({3, 7});
  for (const TableId table : {5u, 1u, 9u}) {
    const TableShape made{table, table + 100u};
    EXPECT_TRUE(shapes.allow({&table, 1}, {&made, 1})) << table;
    EXPECT_FALSE(shapes.allow({&table, 1}, {})) << table;
  }
  const TableId third = 3;
  const TableShape made{third, 7};
  EXPECT_TRUE(shapes.allow({&third, 1}, {&made, 1}));
  const TableId unknown = 4;
  EXPECT_TRUE(shapes.allow({&unknown, 1}, {}));
}

TEST(TheIndexFeature, StaysOverACloseAndIsNotAllowedReadOnly) {
  Machine machine;
  {
    auto engine = *machine.open();
    EXPECT_FALSE(engine->has_indexes());
    ASSERT_EQ(engine->allow_indexes().to_string(), "Ok");
    EXPECT_TRUE(engine->has_indexes());
    EXPECT_FALSE(engine->has_ends());
    ASSERT_EQ(engine->allow_ends().to_string(), "Ok");
  }
  {
    auto engine = *machine.open();
    EXPECT_TRUE(engine->has_indexes());
    EXPECT_TRUE(engine->has_ends());
  }
  Machine other;
  ASSERT_TRUE(other.open().ok());
  auto reader = other.open(Machine::reading());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->allow_indexes().code(), Code::kReadOnly);
}

}  // namespace
}  // namespace varve::engine::table_shapes_test
