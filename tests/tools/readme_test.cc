// Goal: the examples in README.md and docs/library.md are built and tested.
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::readme_test {
namespace {

using ::testing::HasSubstr;

TEST(Readme, ShowsTheProgramThatIsBuiltAgainstTheInstalledLibrary) {
  const std::string source = test::content_of(VARVE_SOURCE_DIR "/tests/embedding/first_program.cc");
  const std::size_t begin = source.find("#include");
  ASSERT_NE(begin, std::string::npos);
  const std::string readme = test::content_of(VARVE_SOURCE_DIR "/README.md");
  EXPECT_THAT(readme, HasSubstr("```cpp\n" + source.substr(begin) + "```\n"));
}

/// Returns the text without the indentation of its first line.
std::string without_indentation(const std::string& text) {
  const std::string indentation = text.substr(0, text.find_first_not_of(' '));
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line.starts_with(indentation) ? line.substr(indentation.size()) : line;
    out += '\n';
  }
  return out;
}

/// InstallLong compiles and links ceph_program.cc.
TEST(CephPage, ShowsTheProgramThatIsBuiltAgainstTheInstalledLibrary) {
  const std::string source = test::content_of(VARVE_SOURCE_DIR "/tests/embedding/ceph_program.cc");
  const std::size_t begin = source.find("#include <memory>");
  const std::size_t end = source.find("\n}\n", begin);
  ASSERT_NE(end, std::string::npos);
  const std::string page = test::content_of(VARVE_SOURCE_DIR "/docs/ceph.md");
  EXPECT_THAT(page, HasSubstr("```cpp\n" + source.substr(begin, end + 3 - begin) + "```\n"));
}

std::size_t occurrences_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// InstallLong compiles library_examples.cc. Each example in it is between the lines "// [name]" and "// [/name]".
TEST(LibraryPage, ShowsOnlyExamplesThatAreCompiled) {
  const std::string source = test::content_of(VARVE_SOURCE_DIR "/tests/embedding/library_examples.cc");
  const std::string page = test::content_of(VARVE_SOURCE_DIR "/docs/library.md");
  std::size_t examples = 0;
  for (std::size_t mark = source.find("// ["); mark != std::string::npos; mark = source.find("// [", mark)) {
    const std::string name = source.substr(mark + 4, source.find(']', mark) - mark - 4);
    const std::size_t begin = source.find('\n', mark) + 1;
    const std::size_t end = source.find("// [/" + name + "]", begin);
    ASSERT_NE(end, std::string::npos) << name;
    const std::string example = source.substr(begin, source.rfind('\n', end) + 1 - begin);
    EXPECT_THAT(page, HasSubstr("```cpp\n" + without_indentation(example) + "```\n")) << name;
    ++examples;
    mark = end + 1;
  }
  EXPECT_EQ(occurrences_in(page, "```cpp\n"), examples);
  EXPECT_GE(examples, 1U);
}

}  // namespace
}  // namespace varve::readme_test
