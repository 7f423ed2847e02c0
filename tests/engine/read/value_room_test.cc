// Goal: a value in a room is the value that a read without a room returns, and stays as long as the room,
// also if memory ends.
// Method: values of all sizes around those of the room's memory; reads of single and of many keys, from tables.
#include "engine/read/value_room.h"

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/allocation_counter.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::value_room_test {
namespace {

using test::Change;
using test::Machine;

std::string value_of(std::size_t bytes) {
  std::string value(bytes, 'v');
  for (std::size_t i = 0; i < bytes; ++i) value[i] = static_cast<char>('a' + (i + bytes) % 26);
  return value;
}

TEST(ValueRoom, EveryCopyStaysWhenMoreAreMade) {
  ValueRoom room;
  std::vector<std::size_t> sizes = {0, 1, 1023, 1, 1024, 4096, 4097, 300'000, 0, 16'384, 12'000, 4096};
  for (std::size_t bytes = 0; bytes < 700; bytes += 7) sizes.push_back(bytes);
  std::vector<std::string_view> copies;
  for (const std::size_t bytes : sizes) copies.push_back(room.copy(value_of(bytes)));
  for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(copies[i], value_of(sizes[i])) << sizes[i];
}

// A leak checker notices memory that no one owns.
TEST(ValueRoom, WithoutMemoryKeepsWhatItHasAndLeaksNothing) {
  const std::string value = value_of(9000);
  bool has_failed = true;
  for (std::uint64_t nth = 1; has_failed; ++nth) {
    ValueRoom room;
    const std::string_view kept = room.copy(std::string_view(value).substr(0, 1000));
    {
      const test::AllocationFailure failure(nth);
      try {
        for (int i = 0; i < 5; ++i) (void)room.copy(value);
      } catch (const std::bad_alloc&) {
      }
      has_failed = failure.happened();
    }
    EXPECT_EQ(kept, value.substr(0, 1000));
    EXPECT_EQ(room.copy("ab"), "ab") << "the room goes on";
  }
}

TEST(ValueRoom, ReadsIntoARoomReturnWhatOtherReadsReturn) {
  Machine machine(1);
  const auto engine = *machine.open();
  Change change;
  std::vector<std::string> keys;
  for (std::size_t row = 1000; row < 1100; ++row) {
    change.put("p", std::to_string(row), value_of(row % 7 * 150));
    keys.push_back(test::key_of("p", std::to_string(row)));
  }
  ASSERT_TRUE(change.commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  const ReadView view = engine->view();
  ValueRoom room;
  const auto together = view.get_many(std::vector<std::string_view>(keys.begin(), keys.end()), room);
  ASSERT_TRUE(together.ok());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto alone = view.get(keys[i]);
    const auto in_room = view.get(keys[i], room);
    ASSERT_TRUE(alone.ok() && *alone && in_room.ok() && *in_room && (*together)[i]) << i;
    EXPECT_EQ((*in_room)->value, (*alone)->value) << i;
    EXPECT_EQ((*together)[i]->value, (*alone)->value) << i;
    EXPECT_EQ((*together)[i]->version, (*alone)->version) << i;
  }
}

}  // namespace
}  // namespace varve::engine::value_room_test
