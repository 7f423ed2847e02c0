// Goal: the C interface of the shared library is the one that the header declares and the recorded list promises.
// Method: the names that libvarve.so exports are compared with the header and with the list, in which names only grow.
// The header is compiled as C99 and as C++.
#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::c_library_test {
namespace {

using Names = std::set<std::string>;

Names lines_of(const std::string& text) {
  Names lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && !line.starts_with('#')) lines.insert(line);
  }
  return lines;
}

class CLibrary : public ::testing::Test {
 protected:
  /// Runs a shell command and returns its output.
  std::string output_of(const std::string& command) {
    const std::string line = "( " + command + " ) >'" + scratch_.path("output") + "' 2>&1";
    EXPECT_EQ(std::system(line.c_str()), 0) << test::content_of(scratch_.path("output"));  // NOLINT(cert-env33-c)
    return test::content_of(scratch_.path("output"));
  }
  Names exported() {
    return lines_of(
        output_of("nm -D --defined-only " VARVE_BUILD_DIR "/libvarve.so | sed -nE 's/^.* (varve_[a-z0-9_]+)$/\\1/p'"));
  }
  static Names promised() { return lines_of(test::content_of(VARVE_SOURCE_DIR "/tests/c/symbols.txt")); }

  test::ScratchDirectory scratch_;
};

TEST_F(CLibrary, ExportsTheFunctionsOfTheListAndNoOthers) {
  const Names library = exported();
  EXPECT_GE(library.size(), 80U);
  for (const std::string& name : promised()) {
    EXPECT_TRUE(library.contains(name)) << name
                                        << " is promised, and libvarve.so lacks it; functions are never removed";
  }
  for (const std::string& name : library) {
    EXPECT_TRUE(promised().contains(name)) << name << " is new; add it to tests/c/symbols.txt";
  }
}

TEST_F(CLibrary, ExportsWhatTheHeaderDeclares) {
  const Names declared =
      lines_of(output_of("grep -oE '\\bvarve_[a-z0-9_]+\\(' " VARVE_SOURCE_DIR "/api/include/varve/c.h | tr -d '('"));
  EXPECT_THAT(exported(), ::testing::ContainerEq(declared));
}

TEST_F(CLibrary, HeaderCompilesAsC99AndAsCpp) {
  scratch_.file("all.c", "#include \"varve/c.h\"\nint main(void) { return varve_version() == 0; }\n");
  const std::string include = " -Wall -Wextra -pedantic -Werror -fsyntax-only -I" VARVE_SOURCE_DIR "/api/include ";
  for (const std::string standard : {"-x c -std=c99", "-x c -std=c11", "-x c++ -std=c++98 -Wno-long-long",
                                     "-x c++ -std=c++11", "-x c++ -std=c++20"}) {
    EXPECT_EQ(output_of(VARVE_CXX " " + standard + include + scratch_.path("all.c")), "") << standard;
  }
}

TEST_F(CLibrary, TheProgramsOfThePageAboutCRun) {
  const std::string page = test::content_of(VARVE_SOURCE_DIR "/docs/c.md");
  const std::vector<std::string> printed{"0001 12.50\n", "eu/0001, delivery 1\n", "world of 12 bytes\n",
                                         "content of 14 bytes\n"};
  std::size_t programs = 0;
  for (std::size_t mark = page.find("```c\n"); mark != std::string::npos; mark = page.find("```c\n", mark + 5)) {
    ASSERT_LT(programs, printed.size());
    scratch_.file("page.c", page.substr(mark + 5, page.find("```", mark + 5) - mark - 5));
    EXPECT_EQ(output_of("cd " + scratch_.path("") +
                        " && " VARVE_CXX " -x c -std=c99 -Wall -Wextra -pedantic -Werror -I" VARVE_SOURCE_DIR
                        "/api/include page.c -o page_in_c -L" VARVE_BUILD_DIR " -lvarve -Wl,-rpath," VARVE_BUILD_DIR
                        " && ./page_in_c"),
              printed[programs]);
    ++programs;
  }
  EXPECT_EQ(programs, printed.size());
}

}  // namespace
}  // namespace varve::c_library_test
