// Goal: in the released program, an overwritten stack, a buffer overflow and a corrupted pointer end the process. It keeps
// freed memory for a short time.
// Method: the output of readelf for it, and the settings that its allocator reports.
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

std::string output_of(const std::string& command) {
  FILE* const output = ::popen(command.c_str(), "r");  // NOLINT(cert-env33-c): the command is ours
  std::string text;
  std::array<char, 4096> buffer;
  while (output != nullptr && std::fgets(buffer.data(), buffer.size(), output) != nullptr) text += buffer.data();
  EXPECT_TRUE(output != nullptr && ::pclose(output) == 0) << text;
  return text;
}
std::string readelf(const std::string& options, const std::filesystem::path& program) {
  return output_of("readelf -W " + options + " '" + program.string() + "' 2>&1");
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

TEST(Hardening, TheProgramGivesFreedMemoryBackWithinASecond) {
  if (readelf("-d", VARVE_PROGRAM).find("libjemalloc") == std::string::npos) {
    GTEST_SKIP() << "this build does not use jemalloc";
  }
  EXPECT_THAT(output_of("MALLOC_CONF=stats_print:true '" VARVE_PROGRAM "' --version 2>&1"),
              HasSubstr("opt.dirty_decay_ms: 1000 "));
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
