// Goal: in the released program, an overwritten stack, a buffer overflow and a corrupted pointer end the process.
// Method: the output of readelf for it.
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace varve::hardening_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string readelf(const std::string& options, const std::filesystem::path& program) {
  const std::string command = "readelf -W " + options + " '" + program.string() + "' 2>&1";
  FILE* const output = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): the command is ours
  std::string text;
  std::array<char, 4096> buffer;
  while (output != nullptr && std::fgets(buffer.data(), buffer.size(), output) != nullptr) text += buffer.data();
  EXPECT_TRUE(output != nullptr && ::pclose(output) == 0) << text;
  return text;
}

TEST(Hardening, TheProgramsLieAnywhereBindTheirLibrariesAtOnceAndRunNoCodeOnTheStack) {
  for (const char* const name : {"varve", "varve-tour"}) {
    const std::filesystem::path program = std::filesystem::path(VARVE_PROGRAM).parent_path() / name;
    SCOPED_TRACE(program.string());
    EXPECT_THAT(readelf("-h", program), ContainsRegex("Type: +DYN"));
    const std::string segments = readelf("-l", program);
    EXPECT_THAT(segments, HasSubstr("GNU_RELRO"));
    EXPECT_THAT(segments, ContainsRegex("GNU_STACK +[^\\n]* RW "));
    EXPECT_THAT(segments, Not(ContainsRegex("GNU_STACK +[^\\n]* RWE ")));
    EXPECT_THAT(readelf("-d", program), ContainsRegex("BIND_NOW|FLAGS_1[^\\n]*NOW"));
  }
}

#if VARVE_HARDENED
TEST(Hardening, TheProgramGuardsItsStackAndItsBuffers) {
  const std::string symbols = readelf("--dyn-syms", VARVE_PROGRAM);
  EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail"));
  EXPECT_THAT(symbols, ContainsRegex("__(mem|str|v?s?n?printf|v?f?printf|read|poll)[a-z]*_chk"));
}
#endif

}  // namespace
}  // namespace varve::hardening_test
