// Goal: `varve inspect` shows the complete content of each kind of file, and of a damaged file the content before the
// damage.
#include <algorithm>
#include <cerrno>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/io/child_process.h"
#include "tests/io/posix/refused_system_calls.h"
#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::inspect_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override {
    put("1", "Name=Ada");
    put("2", "Name=Grace");
    ASSERT_EQ(run_program({"delete", store_, "Rows", "p", "2"}).exit_code, 0);
  }
  void put(const std::string& row, const std::string& property) const {
    ASSERT_EQ(run_program({"put", store_, "Rows", "p", row, property}).exit_code, 0);
  }
  void put_many() const {
    std::string lines;
    for (int row = 0; row < 2000; ++row) {
      lines +=
          json{{"PartitionKey", "q"}, {"RowKey", std::to_string(10'000 + row)}, {"V", std::string(50, 'v')}}.dump() +
          "\n";
    }
    ASSERT_EQ(run_program({"import", store_, "Rows", "-", "--format", "jsonl"}, lines).exit_code, 0);
  }
  /// Returns the newest file whose name contains this.
  std::string newest(const std::string& part) const {
    std::string found;
    for (const std::string& path : all(part)) found = std::max(found, path);
    EXPECT_NE(found, "") << part;
    return found;
  }
  /// Returns the files of this kind.
  std::vector<std::string> all(const std::string& part) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(store_)) {
      if (entry.path().filename().string().find(part) != std::string::npos) found.push_back(entry.path().string());
    }
    return found;
  }
  /// Returns the file of this kind that contains these bytes.
  std::string with_bytes(const std::string& part, const std::string& bytes) const {
    for (const auto& entry : std::filesystem::directory_iterator(store_)) {
      if (entry.path().filename().string().find(part) == std::string::npos) continue;
      if (test::content_of(entry.path()).find(bytes) != std::string::npos) return entry.path().string();
    }
    ADD_FAILURE() << "no file " << part << " holds " << bytes;
    return "";
  }
  static ProgramResult inspect(const std::string& file, const Words& more = {}) {
    Words arguments{"inspect", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  /// Returns a copy under the same name with these bytes replaced.
  std::string changed(const std::string& file, const std::string& from, const std::string& to) const {
    std::string bytes = test::content_of(file);
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    bytes.replace(at, to.size(), to);
    return copy(file, bytes);
  }
  std::string copy(const std::string& file, const std::string& bytes) const {
    std::filesystem::create_directory(scratch_.path("copy"));
    return scratch_.file("copy/" + std::filesystem::path(file).filename().string(), bytes);
  }
  /// Tries cuts and flips all over the file.
  void expect_no_harm_passes(const std::string& file) const;
  static std::vector<json> lines_of(const ProgramResult& result) {
    std::istringstream text(result.out);
    std::vector<json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(json::parse(line));
    return lines;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

TEST_F(Inspect, EveryFileOfAStoreIsShownWhole) {
  put_many();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  put("3", "Name=Late");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(store_)) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    ++files;
    const ProgramResult text = inspect(entry.path().string());
    EXPECT_EQ(text.exit_code, 0) << text.out << text.err;
    EXPECT_EQ(text.err, "");
    const std::vector<json> lines = lines_of(inspect(entry.path().string(), {"--json"}));
    ASSERT_FALSE(lines.empty());
    if (name != "LOCK" && name != "BALLAST") {
      EXPECT_EQ(lines.front()["item"], "header");
    }
    EXPECT_EQ(lines.back()["item"], "end");
  }
  EXPECT_GE(files, 5);
}

TEST_F(Inspect, AStoreInUseShowsAnUnsealedSegmentAndTheLogBuffer) {
  Result<std::unique_ptr<Store>> store = Store::open(store_);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  Result<Table> table = (*store)->open_table("devstoreaccount1", "Rows");
  ASSERT_TRUE(table.ok());
  WriteOptions buffered;
  buffered.durability = Durability::kBuffered;
  for (int row = 0; row < 3; ++row) {
    ASSERT_TRUE(table->insert_or_replace(Entity("b", std::to_string(row)).set("V", "buffered"), buffered).ok());
  }
  ASSERT_TRUE((*store)->sync().ok());
  const ProgramResult segment = inspect(with_bytes(".wal", "buffered"));
  EXPECT_EQ(segment.exit_code, 0) << segment.out;
  EXPECT_THAT(segment.out, HasSubstr("end: state not sealed, why nothing was written here, torn bytes 0"));
  const ProgramResult buffer = inspect(newest(".buf"));
  EXPECT_EQ(buffer.exit_code, 0) << buffer.out;
  EXPECT_THAT(buffer.out, HasSubstr("slot: segment "));
  EXPECT_THAT(buffer.out, HasSubstr(R"(put: table 1.1, partition key "b", row key ")"));
  ASSERT_TRUE((*store)->close().ok());
}

TEST_F(Inspect, ALogSegmentShowsEachOperationWithItsKey) {
  const ProgramResult first = inspect(with_bytes(".wal", "Grace"));
  EXPECT_THAT(first.out, HasSubstr("4096      group: bytes "));
  EXPECT_THAT(first.out, HasSubstr("commit: version 20"));
  EXPECT_THAT(first.out, HasSubstr(R"(partition key "p", row key "2", value bytes )"));
  EXPECT_THAT(first.out, HasSubstr(R"(properties Name="Grace")"));
  EXPECT_THAT(first.out, HasSubstr("footer: bytes "));
  EXPECT_THAT(first.out, HasSubstr("end: state sealed"));
  bool deleted = false;
  for (const auto& entry : std::filesystem::directory_iterator(store_)) {
    if (entry.path().extension() != ".wal") continue;
    for (const json& line : lines_of(inspect(entry.path().string(), {"--json"})))
      deleted = deleted || (line["item"] == "delete" && line["partition_key"] == "p" && line["row_key"] == "2");
  }
  EXPECT_TRUE(deleted);
}

TEST_F(Inspect, CurrentAndManifestShowWhatTheyName) {
  const std::vector<json> root = lines_of(inspect(store_ + "/CURRENT", {"--json"}));
  ASSERT_GE(root.size(), 3U);
  EXPECT_EQ(root[1]["item"], "root");
  const std::uint64_t manifest = root[1]["manifest"];
  EXPECT_THAT(newest("MANIFEST-"), HasSubstr(std::to_string(manifest)));
  EXPECT_THAT(inspect(store_ + "/CURRENT").out, HasSubstr("state clean: closed"));
  const ProgramResult edits = inspect(newest("MANIFEST-"));
  EXPECT_THAT(edits.out, HasSubstr("64        edit: bytes "));
  EXPECT_THAT(edits.out, HasSubstr("store: id " + root[1]["store_id"].get<std::string>()));
  EXPECT_THAT(edits.out, HasSubstr("segment announced: number "));
  EXPECT_THAT(edits.out, HasSubstr("end: state whole"));
}

TEST_F(Inspect, ATableFileShowsBlocksAndEntriesWhenAsked) {
  put_many();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  const std::string file = newest(".sst");
  const ProgramResult plain = inspect(file);
  EXPECT_THAT(plain.out, HasSubstr("run: bytes "));
  EXPECT_THAT(plain.out, HasSubstr("filter partition "));
  EXPECT_THAT(plain.out, HasSubstr("table: id 1."));
  EXPECT_THAT(plain.out, Not(HasSubstr("block: type")));
  EXPECT_THAT(inspect(file, {"--blocks"}).out, HasSubstr("block: type data block, bytes "));
  std::size_t entries = 0;
  for (const json& line : lines_of(inspect(file, {"--entries", "--json"})))
    entries += line["item"] == "put" && line.value("partition_key", "") == "q" ? 1U : 0U;
  EXPECT_EQ(entries, 2000U);
}

TEST_F(Inspect, AnEntryOfAnIndexShowsItsComponentsAndItsEntity) {
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByName", "--on", "Name:desc"}).exit_code, 0);
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  std::size_t entries = 0;
  for (const std::string& file : all(".sst")) {  // The build loads the entries into a file of their own.
    bool has_entries = false;
    for (const json& line : lines_of(inspect(file, {"--entries", "--json"}))) {
      EXPECT_FALSE(line.contains("key_bytes_in_hexadecimal")) << line.dump();
      if (!line.contains("index")) continue;
      has_entries = true;
      entries += line["item"] == "put" ? 1U : 0U;  // The largest key of the file is shown, too.
      EXPECT_EQ(line.value("row_key", ""), "1");
      EXPECT_EQ(line["components"][0].value("value", ""), "Ada");
      EXPECT_TRUE(line["components"][0].value("descending", false));
    }
    if (!has_entries) continue;
    EXPECT_THAT(inspect(file, {"--entries"}).out, HasSubstr("\"Ada\":desc"));
  }
  EXPECT_EQ(entries, 1U);
}

TEST_F(Inspect, WhatStandsBeforeDamageIsShown) {
  put_many();
  const std::string segment = with_bytes(".wal", std::string(50, 'v'));
  const std::string log = changed(segment, "vvvv", "wvvv");
  const ProgramResult log_shown = inspect(log);
  EXPECT_EQ(log_shown.exit_code, 3);
  EXPECT_THAT(log_shown.out, HasSubstr("header: type log segment"));
  EXPECT_THAT(log_shown.out, HasSubstr("damaged at offset 4096: Corruption"));

  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  const std::string table = newest(".sst");
  std::string bytes = test::content_of(table);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  const ProgramResult shown = inspect(copy(table, bytes));
  EXPECT_EQ(shown.exit_code, 3);
  EXPECT_THAT(shown.out, HasSubstr("footer: top index"));
  EXPECT_THAT(shown.out, HasSubstr("properties: entries"));
  EXPECT_THAT(shown.out, HasSubstr("damaged: Corruption"));
  EXPECT_THAT(shown.out, HasSubstr("block at 64"));
}

void Inspect::expect_no_harm_passes(const std::string& file) const {
  const std::string bytes = test::content_of(file);
  const std::size_t step = std::max<std::size_t>(1, bytes.size() / 12);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    SCOPED_TRACE(file + " at " + std::to_string(at));
    const ProgramResult cut = inspect(copy(file, bytes.substr(0, at)));
    EXPECT_TRUE(cut.exit_code == 3 || (cut.exit_code == 0 && cut.out.find("end: state") != std::string::npos))
        << cut.exit_code << cut.out;
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    const ProgramResult flip = inspect(copy(file, flipped));
    EXPECT_TRUE(flip.exit_code == 3 || flip.exit_code == 1 || flip.out.find("torn") != std::string::npos)
        << flip.exit_code << flip.out;
  }
}

TEST_F(Inspect, TruncatedAndFlippedFilesEndInDamageOrAnEndThatSaysWhy) {
  expect_no_harm_passes(store_ + "/CURRENT");
  expect_no_harm_passes(newest("MANIFEST-"));
  expect_no_harm_passes(with_bytes(".wal", "Grace"));
  put_many();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  expect_no_harm_passes(newest(".sst"));
}

TEST_F(Inspect, AFileUnderAnotherNameIsNoticed) {
  const std::string bytes = test::content_of(newest("MANIFEST-"));
  const ProgramResult renamed = inspect(scratch_.file("MANIFEST-999999", bytes));
  EXPECT_EQ(renamed.exit_code, 3);
  EXPECT_THAT(renamed.out, HasSubstr("is called MANIFEST-999999, but was written as MANIFEST-"));
}

TEST_F(Inspect, StrangersFilesAreNamedAndAbsentOnesToo) {
  const ProgramResult text = inspect(scratch_.file("notes.txt", "hello"));
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.out, HasSubstr("damaged at offset 0"));
  EXPECT_EQ(inspect(scratch_.path("absent")).exit_code, 4);
  EXPECT_EQ(inspect(store_).exit_code, 1);
}

/// Returns output and exit code of the program if the device cannot read the sectors at these offsets.
std::string inspect_around(const std::string& file, const std::vector<std::uint64_t>& bad) {
  return io::in_child([&] {
    constexpr std::uint32_t kLargeRead = 1U << 20;
    std::vector<io::RefusedCall> refused = {{SYS_pread64, EIO, {{2, kLargeRead}}}};
    for (const std::uint64_t at : bad) refused.push_back({SYS_pread64, EIO, {{3, static_cast<std::uint32_t>(at)}}});
    io::refuse_system_calls(refused);
    const ProgramResult shown = run_program({"inspect", file});
    return std::to_string(shown.exit_code) + "\n" + shown.err + shown.out;
  });
}

TEST_F(Inspect, ReadsOnAroundSectorsThatTheDeviceDoesNotGive) {
  constexpr std::uint64_t kSector = 4096;
  put_many();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  for (const std::string& file : {newest("MANIFEST-"), newest(".sst"), newest("CURRENT")}) {
    SCOPED_TRACE(file);
    const std::string whole = inspect_around(file, {});
    EXPECT_TRUE(whole.starts_with("0\n")) << whole;
    const std::uint64_t size = std::filesystem::file_size(file);
    for (std::uint64_t at = 0; at < size; at += kSector) {
      const std::string shown = inspect_around(file, {at});
      EXPECT_TRUE(shown.starts_with("4\n")) << shown;
      EXPECT_THAT(shown, HasSubstr("cannot be read at offset " + std::to_string(at) + ": Input/output error"));
      if (at > 0) {
        EXPECT_THAT(shown, HasSubstr("header"));
      }
    }
    std::vector<std::uint64_t> all;
    for (std::uint64_t at = 0; at < std::min<std::uint64_t>(size, 20 * kSector); at += kSector) all.push_back(at);
    EXPECT_TRUE(inspect_around(file, all).starts_with("4\n"));
  }
}

TEST_F(Inspect, TakesRegularFilesAlone) {
  const std::string pipe = scratch_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string name = scratch_.path("socket");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::vector<std::pair<std::string, std::string>> kinds = {{pipe, "a pipe"},
                                                                  {name, "a socket"},
                                                                  {"/dev/zero", "a device"},
                                                                  {"/dev/null", "a device"},
                                                                  {store_, "a directory"}};
  for (const auto& [path, kind] : kinds) {
    const ProgramResult shown = inspect(path);
    EXPECT_EQ(shown.exit_code, 1) << path;
    EXPECT_THAT(shown.err, HasSubstr(path + " is " + kind));
  }
  ::close(socket);
  std::filesystem::create_symlink("/dev/zero", scratch_.path("000001.sst"));
  EXPECT_EQ(inspect(scratch_.path("000001.sst")).exit_code, 1);
  const std::string sparse = scratch_.file("000002.sst", "");
  std::filesystem::resize_file(sparse, (std::uint64_t{1} << 36) + 1);
  EXPECT_EQ(inspect(sparse).exit_code, 1) << "a sparse file that is larger than any of a store";
}

TEST_F(Inspect, StatsDrawsLevelsAndCountsTables) {
  put_many();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  const ProgramResult text = run_program({"stats", store_});
  EXPECT_THAT(text.out, HasSubstr("1 account, 1 table"));
  EXPECT_THAT(text.out, HasSubstr("████"));
  EXPECT_THAT(text.out, HasSubstr("1.00 times the lowest level"));
  const json figures = json::parse(run_program({"stats", store_, "--json"}).out);
  EXPECT_EQ(figures["tables"], 1);
  EXPECT_EQ(figures["table_files"], 1);
  EXPECT_EQ(figures["space_amplification"], 1.0);
  EXPECT_THAT(text.out, HasSubstr("ballast     16.8 MB of disk while it is open for writing"));
  EXPECT_EQ(figures["ballast_bytes_while_open"], 16 << 20);
  EXPECT_EQ(figures["clock_ahead"], 0);
  EXPECT_EQ(figures["dead_log_bytes"], 0);
}

}  // namespace
}  // namespace varve::inspect_test
