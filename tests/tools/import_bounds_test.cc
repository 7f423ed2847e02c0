// Goal: a packed file that expands without end is stopped by Ctrl-C, and takes little memory until then. An archive in
// an archive is named.
// Method: the test writes packed blocks into a pipe until the program has ended, and sends SIGINT after a gigabyte of
// text. The peak of the program's memory is read from /proc before the signal.
#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/run_program.h"

namespace varve::import_bounds_test {
namespace {

using test::ProgramResult;
using ::testing::HasSubstr;

using Choose = int (*)(archive*);

/// Returns an archive of one member.
std::string packed(Choose format, Choose filter, const std::string& name, const std::string& content) {
  std::string bytes(content.size() + 65'536, '\0');
  std::size_t used = 0;
  archive* writer = ::archive_write_new();
  EXPECT_EQ(format(writer), ARCHIVE_OK);
  EXPECT_EQ(filter(writer), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_set_bytes_in_last_block(writer, 1), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_open_memory(writer, bytes.data(), bytes.size(), &used), ARCHIVE_OK);
  archive_entry* entry = ::archive_entry_new();
  ::archive_entry_set_pathname(entry, name.c_str());
  ::archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
  ::archive_entry_set_filetype(entry, AE_IFREG);
  EXPECT_EQ(::archive_write_header(writer, entry), ARCHIVE_OK);
  EXPECT_EQ(::archive_write_data(writer, content.data(), content.size()), static_cast<la_ssize_t>(content.size()));
  ::archive_entry_free(entry);
  EXPECT_EQ(::archive_write_close(writer), ARCHIVE_OK);
  ::archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

std::uint64_t peak_kib(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  }
  return 0;
}

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kBlocks = 256;
constexpr std::uint64_t kPeakKibMax = std::uint64_t{128} << 10;

bool write_all(int writer, const std::string& bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t written = ::write(writer, bytes.data() + at, bytes.size() - at);
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

TEST(ImportBounds, AnEndlessPackedTextTakesLittleMemoryAndEndsBySigint) {
  std::signal(SIGPIPE, SIG_IGN);
  struct Case {
    Choose filter;
    std::string format;
    std::string first;
    std::string text;
  };
  const std::string endless(kBlockBytes, 'a');
  const std::array cases = {
      Case{&::archive_write_add_filter_gzip, "csv", "PartitionKey,RowKey\n", endless},
      Case{&::archive_write_add_filter_gzip, "jsonl", "", endless},
      Case{&::archive_write_add_filter_gzip, "json", "[\"", endless},
      Case{&::archive_write_add_filter_xz, "csv", "PartitionKey,RowKey\n", endless},
      Case{&::archive_write_add_filter_zstd, "csv", "PartitionKey,RowKey\n", endless},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.format);
    const test::ScratchDirectory scratch;
    const std::string pipe = scratch.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const std::string block = packed(&::archive_write_set_format_raw, one.filter, "text", one.text);
    test::RunningProgram program({"import", scratch.path("store"), "Rows", pipe, "--format", one.format});
    const int writer = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
    ASSERT_GE(writer, 0);
    std::uint64_t peak = 0;
    bool is_read =
        one.first.empty() || write_all(writer, packed(&::archive_write_set_format_raw, one.filter, "text", one.first));
    for (int i = 0; is_read; ++i) {
      is_read = write_all(writer, block);
      if (i != kBlocks) continue;
      peak = peak_kib(program.process());
      ::kill(program.process(), SIGINT);
    }
    ::close(writer);
    const ProgramResult result = program.finish();
    EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.err;
    EXPECT_THAT(result.err, HasSubstr("nothing was imported; run it again"));
    EXPECT_GT(peak, 0U);
    EXPECT_LT(peak, kPeakKibMax);
    RecordProperty("peak_kib", static_cast<int>(peak));
    EXPECT_FALSE(std::filesystem::exists(scratch.path("store"))) << "no store, no table";
  }
}

TEST(ImportBounds, PackedZerosAreNoEmptyTable) {
  const test::ScratchDirectory scratch;
  const std::string zeros = packed(&::archive_write_set_format_raw, &::archive_write_add_filter_gzip, "text",
                                   std::string(std::size_t{1} << 20, '\0'));
  for (const std::string format : {"csv", "jsonl", "json"}) {
    const ProgramResult result = test::run_program(
        {"import", scratch.path("store"), "Rows", scratch.file("zeros.gz", zeros), "--format", format});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("its bytes are only zeros"));
    EXPECT_FALSE(std::filesystem::exists(scratch.path("store"))) << "no store, no table";
  }
}

TEST(ImportBounds, AnArchiveInAnArchiveIsNamed) {
  const test::ScratchDirectory scratch;
  const std::string inner =
      packed(&::archive_write_set_format_zip, &::archive_write_add_filter_none, "a.csv", "PartitionKey,RowKey\np,1\n");
  for (const std::string name : {"inner.zip", "inner.csv"}) {
    const std::string outer = packed(&::archive_write_set_format_zip, &::archive_write_add_filter_none, name, inner);
    const ProgramResult result =
        test::run_program({"import", scratch.path("store"), "Rows", scratch.file("outer.zip", outer)});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(name + " was left out, because it is packed in its turn"));
    EXPECT_FALSE(std::filesystem::exists(scratch.path("store")));
  }
}

}  // namespace
}  // namespace varve::import_bounds_test
