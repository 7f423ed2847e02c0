// Goal: input that ends early stores only whole rows, and reports this. A second import of the whole input gives the
// result of an import without interruption.
// Method: the cut is made after every byte of a row, by each signal and by a read error, in each format and mode. The
// program reads pipes, and its own parts read files in process.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/cut_input.h"
#include "tools/varve/rows/row_source.h"

namespace varve::interrupted_import_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Format {
  std::string name;
  /// The text before the first row.
  std::string header;
  /// The first row is complete, the second is cut, and the third has the key of the first.
  std::vector<std::string> rows;
};

const Format kCsv = {"csv",
                     "PartitionKey,RowKey,A,B\n",
                     {"p,1,one,\n", "p,2,\"two, \"\"quoted\"\"\nand more\",2\n", "p,1,,3\n", "q,4,four,4\n"}};
const Format kJsonLines = {"jsonl",
                           "",
                           {R"({"PartitionKey":"p","RowKey":"1","A":"one"})"
                            "\n",
                            R"({"PartitionKey":"p","RowKey":"2","A":"two \u0022 ä","B":2})"
                            "\n",
                            R"({"PartitionKey":"p","RowKey":"1","B":3})"
                            "\n",
                            R"({"PartitionKey":"q","RowKey":"4","A":"four","B":4})"
                            "\n"}};

std::string whole(const Format& format) {
  std::string text = format.header;
  for (const std::string& row : format.rows) text += row;
  return text;
}

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// -- Rows of a file or a pipe, in process -----------------------------------------------------------------------------

std::unique_ptr<tool::RowSource> source_of(const Format& format, tool::Lines& lines) {
  if (format.name == "jsonl") return tool::make_jsonl_source(lines, {});
  auto source = tool::make_csv_source(lines, {}, {});
  EXPECT_TRUE(source.ok()) << source.status().to_string();
  return *std::move(source);
}

/// Returns the row keys after the first row, which has been read when the signal comes.
std::vector<std::string> rows_behind_signal(const Format& format, const std::string& path, int signal) {
  tool::stop_reading_on_signals();
  Result<tool::Lines> lines = tool::Lines::open(path);
  EXPECT_TRUE(lines.ok()) << lines.status().to_string();
  const std::unique_ptr<tool::RowSource> source = source_of(format, *lines);
  const std::optional<tool::Row> first = source->next();
  EXPECT_TRUE(first && first->entity.ok());
  EXPECT_EQ(::raise(signal), 0);
  std::vector<std::string> found;
  while (const std::optional<tool::Row> row = source->next()) {
    EXPECT_TRUE(row->entity.ok()) << row->entity.status().to_string();
    if (row->entity.ok()) found.push_back(row->entity->row_key());
  }
  EXPECT_EQ(lines->end(), tool::InputEnd::kSignal);
  EXPECT_EQ(lines->stop_signal(), signal);
  EXPECT_FALSE(source->next().has_value());
  return found;
}

TEST(InterruptedRows, AreWholeWhereverASignalCutsAFile) {
  const test::ScratchDirectory scratch;
  for (const Format& format : {kCsv, kJsonLines}) {
    const std::string& row = format.rows[1];
    for (std::size_t cut = 0; cut <= row.size(); ++cut) {
      SCOPED_TRACE(format.name + " behind byte " + std::to_string(cut));
      // The first read ends after `cut` bytes of the row. A blank line has the length that this needs.
      std::string blank(tool::kReadBytes - format.header.size() - format.rows[0].size() - cut, ' ');
      blank.back() = '\n';
      const std::string path =
          scratch.file("rows", format.header + blank + format.rows[0] + row + format.rows[2] + format.rows[3]);
      const auto found = rows_behind_signal(format, path, kSignals[cut % kSignals.size()]);
      EXPECT_EQ(found, cut == row.size() ? std::vector<std::string>{"2"} : std::vector<std::string>());
    }
  }
}

TEST(InterruptedRows, AreWholeWhereverASignalCutsAPipe) {
  const test::ScratchDirectory scratch;
  const std::string pipe = scratch.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const Format& format : {kCsv, kJsonLines}) {
    const std::string& row = format.rows[1];
    for (std::size_t cut = 0; cut <= row.size(); ++cut) {
      SCOPED_TRACE(format.name + " behind byte " + std::to_string(cut));
      const int both_ends = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
      const std::string text = format.header + format.rows[0] + row.substr(0, cut);
      ASSERT_EQ(::write(both_ends, text.data(), text.size()), static_cast<ssize_t>(text.size()));
      const auto found = rows_behind_signal(format, pipe, kSignals[cut % kSignals.size()]);
      EXPECT_EQ(found, cut == row.size() ? std::vector<std::string>{"2"} : std::vector<std::string>());
      ::close(both_ends);
    }
  }
}

TEST(InterruptedRows, ASignalBehindTheEndOfTheFileEndsNothing) {
  const test::ScratchDirectory scratch;
  for (const Format& format : {kCsv, kJsonLines}) {
    tool::stop_reading_on_signals();
    std::string text = whole(format);
    text.pop_back();  // The last row lacks its line feed.
    Result<tool::Lines> lines = tool::Lines::open(scratch.file("rows", text));
    ASSERT_TRUE(lines.ok());
    const std::unique_ptr<tool::RowSource> source = source_of(format, *lines);
    std::size_t rows = 0;
    while (source->next()) ++rows;
    EXPECT_EQ(::raise(SIGTERM), 0);
    EXPECT_EQ(rows, format.rows.size());
    EXPECT_EQ(lines->end(), tool::InputEnd::kEndOfFile);
    EXPECT_EQ(lines->stop_signal(), 0);
  }
}

// -- The program ------------------------------------------------------------------------------------------------------

class InterruptedImport : public ::testing::Test {
 protected:
  Words import_words(const Format& format, const std::string& input, const std::string& mode) const {
    Words words{"import", store_, "Rows", input, "--format", format.name, "--json"};
    if (mode == "load") {
      words.emplace_back("--load");
    } else {
      words.insert(words.end(), {"--mode", mode});
    }
    return words;
  }
  std::string exported() const { return run_program({"export", store_, "Rows"}).out; }
  void clear() { std::filesystem::remove_all(store_); }

  /// Returns the result of an import without interruption.
  std::string result_of(const Format& format, const std::string& mode) {
    clear();
    run_program(import_words(format, scratch_.file("whole", whole(format)), mode));
    return exported();
  }

  void check_interrupted(const ProgramResult& result, const Format& format, const std::string& mode, std::size_t cut) {
    const json report = json::parse(result.out, nullptr, false);
    ASSERT_TRUE(report.is_object()) << result.out << result.err;
    const std::size_t rows = mode == "load" ? 0 : cut == format.rows[1].size() ? 2 : 1;
    EXPECT_EQ(report["imported"], rows);
    EXPECT_EQ(report["refused"], 0) << result.err;
    const std::string table = exported();
    EXPECT_EQ(static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n')), rows) << table;
    const std::string first = format.header + format.rows[0] + (cut == format.rows[1].size() ? format.rows[1] : "");
    const auto line = std::count(first.begin(), first.end(), '\n');
    EXPECT_THAT(result.err, HasSubstr("after line " + std::to_string(line) + " of "));
    EXPECT_THAT(result.err, HasSubstr("run"));  // how to continue
  }

  /// Imports the whole input again, from a file.
  void check_rerun(const Format& format, const std::string& mode, const std::string& expected) {
    const ProgramResult again = run_program(import_words(format, scratch_.file("whole", whole(format)), mode));
    EXPECT_EQ(again.exit_code, mode == "insert" ? 1 : 0) << again.err;
    EXPECT_EQ(exported(), expected);
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
  const std::string pipe_ = scratch_.path("pipe");
};

/// Modes whose input has no repeated key would test less.
Format without_repeated_key(Format format) {
  format.rows.erase(format.rows.begin() + 2);
  return format;
}

TEST_F(InterruptedImport, StoresWholeRowsAloneBehindEveryByte) {
  const Words modes = {"replace", "merge", "insert"};
  std::size_t turn = 0;
  for (const Format& format : {kCsv, kJsonLines}) {
    for (std::size_t cut = 0; cut <= format.rows[1].size(); ++cut, ++turn) {
      const std::string& mode = modes[turn / kSignals.size() % modes.size()];
      const int signal = kSignals[turn % kSignals.size()];
      SCOPED_TRACE(format.name + ", " + mode + ", signal " + std::to_string(signal) + ", byte " + std::to_string(cut));
      clear();
      const std::string input = format.header + format.rows[0] + format.rows[1].substr(0, cut);
      const ProgramResult result = test::run_with_signal(import_words(format, pipe_, mode), pipe_, input, signal);
      EXPECT_EQ(result.exit_code, 128 + signal) << result.err;
      check_interrupted(result, format, mode, cut);
    }
  }
}

TEST_F(InterruptedImport, ReportsAReadErrorBehindEveryByte) {
  for (const Format& format : {kCsv, kJsonLines}) {
    for (std::size_t cut = 0; cut <= format.rows[1].size(); cut += 3) {
      SCOPED_TRACE(format.name + ", byte " + std::to_string(cut));
      clear();
      const ProgramResult result = test::run_with_read_error(
          import_words(format, "-", "replace"), format.header + format.rows[0] + format.rows[1].substr(0, cut));
      EXPECT_EQ(result.exit_code, 4) << result.err;
      EXPECT_THAT(result.err, HasSubstr("reading failed"));
      check_interrupted(result, format, "replace", cut);
    }
  }
}

TEST_F(InterruptedImport, RunAgainEndsAsOneThatWasNotInterruptedInEveryMode) {
  for (const Format& all : {kCsv, kJsonLines}) {
    for (const std::string mode : {"replace", "merge", "insert", "load"}) {
      const Format format = mode == "load" ? without_repeated_key(all) : all;
      const std::string expected = result_of(format, mode);
      for (const std::size_t cut : {format.rows[1].size() / 2, format.rows[1].size()}) {
        SCOPED_TRACE(format.name + ", " + mode + ", byte " + std::to_string(cut));
        clear();
        const std::string input = format.header + format.rows[0] + format.rows[1].substr(0, cut);
        const ProgramResult stopped = test::run_with_signal(import_words(format, pipe_, mode), pipe_, input, SIGINT);
        EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.err;
        check_interrupted(stopped, format, mode, cut);
        check_rerun(format, mode, expected);
        clear();
        const ProgramResult failed = test::run_with_read_error(import_words(format, "-", mode), input);
        EXPECT_EQ(failed.exit_code, 4) << failed.err;
        check_interrupted(failed, format, mode, cut);
        check_rerun(format, mode, expected);
      }
    }
  }
}

TEST_F(InterruptedImport, WithinTheHeaderNothingIsMade) {
  for (std::size_t cut = 0; cut < kCsv.header.size(); cut += 5) {
    const std::string input = kCsv.header.substr(0, cut);
    const ProgramResult stopped = test::run_with_signal(import_words(kCsv, pipe_, "replace"), pipe_, input, SIGTERM);
    EXPECT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("nothing was imported"));
    const ProgramResult failed = test::run_with_read_error(import_words(kCsv, "-", "replace"), input);
    EXPECT_EQ(failed.exit_code, 4) << failed.err;
    EXPECT_FALSE(std::filesystem::exists(store_));
  }
}

TEST_F(InterruptedImport, AShellWhoseInputFailsSaysSo) {
  ASSERT_EQ(run_program({"table", "create", store_, "Rows"}).exit_code, 0);
  const ProgramResult failed = test::run_with_read_error({"shell", store_, "Rows"}, "insert p 1 A=1\ninsert p 2 A=");
  EXPECT_EQ(failed.exit_code, 4) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("reading failed"));
  const std::string table = exported();
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 1) << "the cut line is no command";
}

TEST_F(InterruptedImport, AShellCarriesOutNoLineThatIsTooLongToKeep) {
  ASSERT_EQ(run_program({"table", "create", store_, "Rows"}).exit_code, 0);
  const std::string endless(std::size_t{17} << 20, ' ');
  const ProgramResult refused = run_program({"shell", store_, "Rows"}, "insert p 1 A=1" + endless + "B=2\n");
  EXPECT_EQ(refused.exit_code, 1) << refused.err;
  EXPECT_EQ(exported(), "");
}

}  // namespace
}  // namespace varve::interrupted_import_test
