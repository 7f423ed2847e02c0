// Goal: a cursor that needs keys alone reads no value from a value file, in either direction.
// Method: large values in value files of a store that was opened again, so that its cache is empty.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/read/cursor.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::key_cursor_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::size_t kLarge = std::size_t{1} << 20;

class KeyCursors : public testing::Test {
 protected:
  void SetUp() override {
    reopen();
    for (const char* row : {"a", "c"}) ASSERT_TRUE(Change().put("p", row, "small").commit(*engine_).ok());
    for (const char* row : {"b", "d"}) {
      ASSERT_TRUE(Change().put("p", row, std::string(kLarge, *row)).commit(*engine_).ok());
    }
    ASSERT_TRUE(engine_->flush().ok());
    reopen();
    ASSERT_GE(engine_->statistics().value_files, 1U);
  }
  void reopen() {
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  std::uint64_t bytes_read() const { return engine_->statistics().block_read_bytes; }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(KeyCursors, LeaveLargeValuesWhereTheyAre) {
  const ReadView view = engine_->view();
  Cursor cursor = view.cursor({}, {});
  cursor.leave_values();
  std::string forward;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    forward += cursor.has_value() ? "value " : "key ";
    EXPECT_EQ(cursor.value(), cursor.has_value() ? "small" : "");
  }
  EXPECT_EQ(forward, "value key value key ");
  std::string backward;
  for (cursor.seek_to_last(); cursor.valid(); cursor.previous()) backward += cursor.has_value() ? "value " : "key ";
  EXPECT_EQ(backward, "key value key value ");
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  EXPECT_LT(bytes_read(), kLarge);
}

TEST_F(KeyCursors, ADeleteBesideLargeValuesDoesNotReadThem) {
  ASSERT_TRUE(Change().remove("p", "c").commit(*engine_).ok());
  ASSERT_TRUE(Change().remove("p", "a").commit(*engine_).ok());
  EXPECT_LT(bytes_read(), kLarge);
}

TEST_F(KeyCursors, OtherCursorsBringEachValue) {
  const ReadView view = engine_->view();
  Cursor cursor = view.cursor({}, {});
  std::size_t bytes = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    EXPECT_TRUE(cursor.has_value());
    bytes += cursor.value().size();
  }
  EXPECT_EQ(bytes, 2 * kLarge + 10);
}

}  // namespace
}  // namespace varve::engine::key_cursor_test
