// Goal: what a table holds is the same after an export and an import, in each format that keeps types, also if its texts
// are commands of terminals, HTML or quotes of the format.
// Method: random entities with properties of all eight types are imported, exported and imported into another store. The
// exports of both stores must be equal.
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"
#include "tools/varve/text/entity_json.h"

namespace varve::export_round_trip_test {
namespace {

using test::ProgramResult;
using test::run_program;
using Words = std::vector<std::string>;

using namespace std::string_view_literals;
constexpr std::array kPieces = {"<script>alert(1)</script>"sv,
                                "\x1B[2J"sv,
                                "\"\""sv,
                                ","sv,
                                ";"sv,
                                "\r"sv,
                                "\n"sv,
                                "\r\n"sv,
                                "\t"sv,
                                " "sv,
                                "\\N"sv,
                                "\\\""sv,
                                "'"sv,
                                "#"sv,
                                "0"sv,
                                "-1"sv,
                                "1e5"sv,
                                "true"sv,
                                "NaN"sv,
                                "2020-01-01T00:00:00Z"sv,
                                "\x7F"sv,
                                "\x01"sv,
                                "é"sv,
                                "\u202E"sv,
                                "😀"sv,
                                "\u0085"sv,
                                "="sv,
                                "{}"sv,
                                "\0"sv};
constexpr std::array kKeyPieces = {"<b>"sv, "\""sv, ","sv, " "sv, "'"sv, "ä"sv, "😀"sv, "\u202E"sv, "0"sv, "="sv, "x"sv};
constexpr std::array kNames = {"A"sv, "b"sv, "_c"sv, "Größe"sv, "value"sv, "type"sv, "名前"sv, "X1"sv};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  Entity entity(int number) {
    Entity made(text(kKeyPieces, 2), text(kKeyPieces, 3) + std::to_string(number));
    for (const std::string_view name : kNames) {
      if (below(3) != 0) made.add(std::string(name), value());
    }
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  template <std::size_t Count>
  std::string text(const std::array<std::string_view, Count>& pieces, std::uint64_t pieces_max) {
    std::string made;
    for (std::uint64_t i = below(pieces_max + 1); i > 0; --i) made += pieces[below(Count)];
    return made;
  }

  Value value() {
    switch (below(8)) {
      case 0: return Value(text(kPieces, 4));
      case 1: return Value(below(2) == 0);
      case 2: return Value(static_cast<std::int32_t>(random_()));
      case 3: return Value(below(2) == 0 ? static_cast<std::int64_t>(random_()) : std::int64_t{5});
      case 4: return Value(below(4) == 0 ? 2.0 : static_cast<double>(random_()) / 1e7);
      case 5: return Value(DateTime{504'911'232'000'000'000 + below(2'000'000'000'000'000'000)});
      case 6: return Value(Guid::random());
      default: return Value(Binary{std::string(below(6), static_cast<char>(random_()))});
    }
  }

  std::mt19937_64 random_;
};

TEST(ExportRoundTrip, GivesTheSameEntitiesInEachFormatThatKeepsTypes) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Maker maker(seed);
  std::string rows;
  for (int i = 0; i < 500; ++i) rows += tool::entity_to_row(maker.entity(i)) + "\n";
  const test::ScratchDirectory scratch;
  const std::string from = scratch.path("from");
  const ProgramResult imported = run_program({"import", from, "Rows", scratch.file("rows.jsonl", rows)});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  const std::string expected = run_program({"export", from, "Rows"}).out;
  ASSERT_EQ(test::count_of(expected, "\n"), 500U);
  for (const Words& format :
       {Words{"--format", "jsonl"}, Words{"--format", "json"}, Words{"--format", "csv", "--typed"}}) {
    SCOPED_TRACE(format[1]);
    const std::string file = scratch.path("rows." + format[1]);
    const std::string to = scratch.path("to-" + format[1]);
    Words words{"export", from, "Rows", "--output", file};
    words.insert(words.end(), format.begin(), format.end());
    ASSERT_EQ(run_program(words).exit_code, 0);
    const ProgramResult again = run_program({"import", to, "Rows", file});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    const ProgramResult compared = run_program({"pull", from, to, "--table", "Rows", "--dry-run"});
    EXPECT_THAT(compared.out, ::testing::HasSubstr("500 entities, 0 would be written")) << compared.err;
  }
}

}  // namespace
}  // namespace varve::export_round_trip_test
