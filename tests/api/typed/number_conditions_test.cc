// Goal: a condition on a mapped member accepts a number of any type, and never cuts one off.
// Method: each pair of types, at the edges of both.
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "varve/condition.h"
#include "varve/query_builder.h"

namespace varve::number_conditions_test {
namespace {

struct Figures {
  std::string partition;
  std::string row;
  std::int32_t narrow = 0;
  std::optional<std::int64_t> wide;
  std::uint64_t natural = 0;
  std::uint8_t octet = 0;
  double real = 0;
  float small = 0;
};

}  // namespace
}  // namespace varve::number_conditions_test

namespace varve {

template <>
inline constexpr auto mapping<number_conditions_test::Figures> =
    mapped::members(mapped::partition_key(&number_conditions_test::Figures::partition),
                    mapped::row_key(&number_conditions_test::Figures::row),
                    mapped::property("Narrow", &number_conditions_test::Figures::narrow),
                    mapped::property("Wide", &number_conditions_test::Figures::wide),
                    mapped::property("Natural", &number_conditions_test::Figures::natural),
                    mapped::property("Octet", &number_conditions_test::Figures::octet),
                    mapped::property("Real", &number_conditions_test::Figures::real),
                    mapped::property("Small", &number_conditions_test::Figures::small));

}  // namespace varve

namespace varve::number_conditions_test {
namespace {

constexpr auto kMost32 = std::numeric_limits<std::int32_t>::max();
constexpr auto kMost64 = std::numeric_limits<std::int64_t>::max();

TEST(NumberConditions, ANumberThatFitsIsComparedAsTheMember) {
  EXPECT_EQ((field<&Figures::narrow>() == 5LL).text(), "Narrow eq 5");
  EXPECT_EQ((field<&Figures::narrow>() == 5U).text(), (field<&Figures::narrow>() == 5).text());
  EXPECT_EQ((field<&Figures::narrow>() < 5.0).text(), "Narrow lt 5");
  EXPECT_EQ((field<&Figures::wide>() >= kMost32).text(), (field<&Figures::wide>() >= std::int64_t{kMost32}).text());
  EXPECT_EQ((field<&Figures::natural>() != 7).text(), "Natural ne 7");
  EXPECT_EQ((field<&Figures::octet>() <= 255).text(), "Octet le 255");
  EXPECT_EQ((field<&Figures::real>() > 5).text(), (field<&Figures::real>() > 5.0).text());
  EXPECT_EQ((field<&Figures::small>() > 0.1).text(), (field<&Figures::small>() > 0.1F).text());
}

TEST(NumberConditions, ANumberThatDoesNotFitIsRefused) {
  const auto code = [](const Condition& condition) { return condition.status().code(); };
  EXPECT_EQ(code(field<&Figures::narrow>() == std::int64_t{kMost32} + 1), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::narrow>() == 5'000'000'000), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::narrow>() == 2.5), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::narrow>() == 1e300), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::narrow>() == std::numeric_limits<double>::quiet_NaN()), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::wide>() == 9.3e18), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::wide>() == static_cast<std::uint64_t>(kMost64) + 1), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::natural>() == -1), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::octet>() == 256), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::octet>() == -1), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::real>() == kMost64), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::small>() == 16'777'217), Code::kInvalidArgument);
  EXPECT_EQ(code(field<&Figures::small>() == 1e300), Code::kInvalidArgument);
}

}  // namespace
}  // namespace varve::number_conditions_test
