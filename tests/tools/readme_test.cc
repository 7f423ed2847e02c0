// Goal: the examples in README.md are built and tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve {
namespace {

using ::testing::HasSubstr;

TEST(Readme, ShowsTheProgramThatIsBuiltAgainstTheInstalledLibrary) {
  const std::string source = test::content_of(VARVE_SOURCE_DIR "/tests/embedding/first_program.cc");
  const std::size_t begin = source.find("#include");
  ASSERT_NE(begin, std::string::npos);
  const std::string readme = test::content_of(VARVE_SOURCE_DIR "/README.md");
  EXPECT_THAT(readme, HasSubstr("```cpp\n" + source.substr(begin) + "```\n"));
}

}  // namespace
}  // namespace varve
