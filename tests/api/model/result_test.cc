// Goal: a program that reads the value of a failed Result learns why before it ends. What a program takes from a
// temporary Result lives as long as the program uses it (tests/mistakes has the uses that do not compile).
#include "varve/result.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace varve::result_test {
namespace {

TEST(ResultDeathTest, NamesTheStatusWhoseValueIsMissing) {
  const Result<std::string> failed = Status(Code::kNotFound, "no such thing");
  EXPECT_DEATH((void)*failed, "the value of a failed Result was read: NotFound: no such thing");
  EXPECT_DEATH((void)failed->size(), "no such thing");
}

/// A value that counts the living values of its kind.
struct Counted {
  explicit Counted(int* count) : living(count), items{1, 2, 3} { ++*living; }
  Counted(Counted&& other) noexcept : living(other.living), items(std::move(other.items)) { ++*living; }
  Counted(const Counted&) = delete;
  Counted& operator=(Counted&&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*living; }

  int* living;
  std::vector<int> items;
};

Result<Counted> counted(int* living) {
  return Counted(living);
}

TEST(Results, AValueOfATemporaryLivesAsLongAsTheLoopOverItsMember) {
  int living = 0;
  int sum = 0;
  for (const int item : (*counted(&living)).items) {
    EXPECT_EQ(living, 1);
    sum += item;
  }
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(living, 0);
}

TEST(Results, ATemporaryGivesItsPartsByValue) {
  int living = 0;
  {
    const Counted& value = *counted(&living);
    EXPECT_EQ(living, 1);
    EXPECT_EQ(value.items.size(), 3u);
  }
  EXPECT_EQ(living, 0);
  static_assert(std::is_same_v<decltype(*counted(&living)), Counted>);
  static_assert(std::is_same_v<decltype(counted(&living).status()), Status>);
  static_assert(std::is_same_v<decltype(counted(&living).status().message()), std::string>);
  const auto failing = [] { return Result<std::string>(Status(Code::kNotFound, std::string(100, 'm'))); };
  const Status& status = failing().status();
  EXPECT_EQ(status.message(), std::string(100, 'm'));
  std::string spelled;
  for (const char letter : failing().status().message()) spelled += letter;
  EXPECT_EQ(spelled, status.message());
}

TEST(Results, AVariableGivesReferences) {
  int living = 0;
  Result<Counted> held = counted(&living);
  EXPECT_EQ(&*held, held.operator->());
  held->items.push_back(4);
  const Result<Counted>& constant = held;
  EXPECT_EQ(constant->items.size(), 4u);
  EXPECT_EQ(&constant.status(), &held.status());
  const Counted moved = *std::move(held);
  EXPECT_EQ(moved.items.size(), 4u);
}

}  // namespace
}  // namespace varve::result_test
