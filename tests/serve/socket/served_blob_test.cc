// Goal: `varve container` and `varve blob` do the same beside a server that has the store open as without one.
// Method: the same lines run on a served store and on a store of their own. Exit codes, outputs and errors are compared,
// with ETags and times as placeholders.
#include <array>
#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"
#include "tools/serve/local/blob_fields.h"

namespace varve::serve::served_blob_test {
namespace {

using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::content_of;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::RunningProgram;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

std::string content(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2'654'435'761U) >> 13U);
  return text;
}

/// Inserts the store after the two words of the verb.
Words words_on(const std::string& store, Words words) {
  words.insert(words.begin() + 2, store);
  return words;
}

/// Replaces what differs between two runs: times, ETags, and the path of the store.
std::string compared_blobs(std::string text, const std::string& store) {
  for (std::size_t at = text.find(store); at != std::string::npos; at = text.find(store)) {
    text.replace(at, store.size(), "STORE");
  }
  text = std::regex_replace(text, std::regex("datetime'[^']*'"), "TIME");
  return std::regex_replace(text, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z *"), "TIME");
}

class ServedBlobs : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    EXPECT_EQ(both({"container", "create", "photos", "--metadata", "Owner=Ann"}).exit_code, 0);
  }

  /// Runs the line on both stores. Returns the result of the served one.
  ProgramResult both(const Words& words, const std::string& input = "") {
    const ProgramResult served = run_program(words_on(server_.data(), words), input);
    const ProgramResult local = run_program(words_on(local_, words), input);
    const std::string line = words[0] + " " + words[1];
    EXPECT_EQ(served.exit_code, local.exit_code) << line << ": " << served.err << local.err;
    EXPECT_EQ(compared_blobs(served.out, server_.data()), compared_blobs(local.out, local_)) << line;
    EXPECT_EQ(compared_blobs(served.err, server_.data()), compared_blobs(local.err, local_)) << line;
    return served;
  }
  ProgramResult served(const Words& words, const std::string& input = "") const {
    return run_program(words_on(server_.data(), words), input);
  }

  const ServedProgram server_{ProgramOptions{}};
  ScratchDirectory scratch_;
  const std::string local_ = scratch_.path("store");
};

TEST_F(ServedBlobs, AreWrittenAndReadAsWithoutAServer) {
  EXPECT_EQ(both({"container", "create", "photos"}).exit_code, 1);
  EXPECT_EQ(both({"container", "create", "archive", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"container", "list"}).out, "archive\nphotos\n");
  EXPECT_EQ(both({"container", "create", "films", "--public", "blobs"}).exit_code, 0);
  EXPECT_THAT(both({"container", "show", "films"}).out, HasSubstr("blobs\n"));
  EXPECT_EQ(both({"container", "drop", "films", "--yes"}).exit_code, 0);
  EXPECT_EQ(both({"container", "list", "--json", "--prefix", "p"}).exit_code, 0);
  EXPECT_EQ(both({"container", "show", "photos"}).exit_code, 0);
  EXPECT_EQ(both({"container", "policies", "photos", "--set", "a&b", "--permissions", "rl", "--public", "container"})
                .exit_code,
            0);
  EXPECT_EQ(both({"container", "policies", "photos", "--json"}).out, "[{\"id\":\"a&b\",\"permissions\":\"rl\"}]\n");
  EXPECT_THAT(both({"container", "show", "photos"}).out, HasSubstr("container\n"));
  EXPECT_EQ(both({"container", "policies", "photos", "--remove", "a", "--json"}).exit_code, 1);
  EXPECT_EQ(both({"container", "policies", "photos", "--clear"}).exit_code, 0);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMebibyte, 3 * kMebibyte + 5}) {
    EXPECT_EQ(both({"blob", "put", "photos", "a", "-"}, content(bytes)).exit_code, 0) << bytes;
    EXPECT_EQ(both({"blob", "get", "photos", "a"}).out, content(bytes)) << bytes;
  }
  EXPECT_EQ(both({"blob", "get", "photos", "a", "--range", "1048570-2097160"}).out.size(), 1'048'591U);
  EXPECT_EQ(both({"blob", "get", "photos", "a", scratch_.path("out"), "--resume"}).exit_code, 0);
  EXPECT_EQ(content_of(scratch_.path("out")), content(3 * kMebibyte + 5));
  EXPECT_EQ(both({"blob", "put", "photos", "eu/\xC3\xA4 &", "-", "--type", "text/plain", "--language", "de",
                  "--metadata", "A=1", "--tag", "k=v", "--durability", "sync", "--json"},
                 "text")
                .exit_code,
            0);
  EXPECT_EQ(both({"blob", "show", "photos", "eu/\xC3\xA4 &"}).exit_code, 0);
  EXPECT_EQ(both({"blob", "copy", "photos", "eu/\xC3\xA4 &", "b", "--to", "archive", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"blob", "list", "photos", "--delimiter", "/"}).out, "a\neu/\n");
  EXPECT_EQ(both({"blob", "list", "photos", "--long"}).exit_code, 0);
  EXPECT_EQ(both({"blob", "list", "photos", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"blob", "delete", "photos", "a", "--if-match", "*", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"container", "drop", "photos", "--yes", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"container", "list"}).out, "archive\n");
}

TEST_F(ServedBlobs, BE01_BE03_AreLeasedAsWithoutAServer) {
  const std::string mine = "00000000-0000-0000-0000-000000000001";
  const std::string other = "00000000-0000-0000-0000-000000000002";
  EXPECT_EQ(both({"blob", "put", "photos", "a", "-"}, "x").exit_code, 0);
  EXPECT_EQ(both({"blob", "lease", "photos", "a", "acquire", "--id", mine, "--duration", "60"}).out, mine + "\n");
  EXPECT_EQ(both({"blob", "lease", "photos", "a", "acquire", "--duration", "61"}).exit_code, 1);
  EXPECT_EQ(both({"blob", "lease", "photos", "a", "renew", "--id", other}).exit_code, 1);
  EXPECT_EQ(both({"blob", "lease", "photos", "a", "change", "--id", mine, "--new-id", other, "--json"}).exit_code, 0);
  for (const Words& more : {Words{}, Words{"--lease", mine}}) {
    Words put{"blob", "put", "photos", "a", "-"};
    put.insert(put.end(), more.begin(), more.end());
    EXPECT_EQ(both(put, "y").exit_code, 1);
    Words copy{"blob", "copy", "photos", "a", "a"};
    copy.insert(copy.end(), more.begin(), more.end());
    EXPECT_EQ(both(copy).exit_code, 1);
    Words remove{"blob", "delete", "photos", "a"};
    remove.insert(remove.end(), more.begin(), more.end());
    EXPECT_EQ(both(remove).exit_code, 1);
  }
  EXPECT_EQ(both({"blob", "put", "photos", "a", "-", "--lease", other}, "y").exit_code, 0);
  EXPECT_EQ(both({"blob", "delete", "photos", "a", "--lease", other}).exit_code, 0);
  EXPECT_EQ(both({"blob", "lease", "photos", "a", "acquire"}).exit_code, 1);
  EXPECT_EQ(both({"container", "lease", "photos", "acquire", "--id", mine, "--json"}).exit_code, 0);
  EXPECT_EQ(both({"container", "drop", "photos", "--yes"}).exit_code, 1);
  EXPECT_EQ(both({"container", "drop", "photos", "--yes", "--lease", other}).exit_code, 1);
  EXPECT_EQ(both({"container", "lease", "photos", "break"}).out, "0\n");
  EXPECT_EQ(both({"container", "lease", "photos", "acquire", "--id", mine}).exit_code, 0);
  EXPECT_EQ(both({"container", "drop", "photos", "--yes", "--lease", mine}).exit_code, 0);
}

TEST_F(ServedBlobs, GoOnAfterStagedBlocks) {
  const std::string file = scratch_.file("big", content(17 * kMebibyte));
  EXPECT_EQ(both({"blob", "put", "photos", "big", file, "--resume"}).exit_code, 0);
  EXPECT_THAT(both({"blob", "put", "photos", "big", file, "--resume"}).err, HasSubstr("17.8 MB of 17.8 MB"));
  EXPECT_EQ(served({"blob", "get", "photos", "big"}).out, content(17 * kMebibyte));
}

TEST_F(ServedBlobs, APutOfAProgramThatIsKilledLeavesNothing) {
  EXPECT_EQ(served({"blob", "put", "photos", "big", "-"}, "old").exit_code, 0);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const test::Descriptor read(ends[0]);
  const test::Descriptor write(ends[1]);
  RunningProgram put(words_on(server_.data(), {"blob", "put", "photos", "big", "-"}), "",
                     {.input_descriptor = read.number()});
  const std::string bytes = content(3 * kMebibyte);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t written = ::write(write.number(), bytes.data() + done, bytes.size() - done);
    ASSERT_GT(written, 0);
    done += static_cast<std::size_t>(written);
  }
  ASSERT_EQ(::kill(put.process(), SIGKILL), 0);
  EXPECT_EQ(put.finish().exit_code, 128 + SIGKILL);
  EXPECT_EQ(served({"blob", "get", "photos", "big"}).out, "old");
  EXPECT_EQ(served({"blob", "list", "photos", "--uncommitted"}).out, "big\n");
}

TEST_F(ServedBlobs, AReadThatLosesItsServerDoubtsNoChange) {
  EXPECT_EQ(served({"blob", "put", "photos", "big", "-"}, content(20 * kMebibyte)).exit_code, 0);
  const std::string pipe = scratch_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  RunningProgram get(words_on(server_.data(), {"blob", "get", "photos", "big", pipe}), "");
  const test::Descriptor read(::open(pipe.c_str(), O_RDONLY | O_CLOEXEC));
  std::string room(kMebibyte, '\0');
  ASSERT_EQ(::read(read.number(), room.data(), 1), 1);  // The program has begun, and waits for its reader.
  server_.signal(SIGKILL);
  while (::read(read.number(), room.data(), room.size()) > 0) {
  }
  const ProgramResult ended = get.finish();
  EXPECT_EQ(ended.exit_code, 4) << ended.err;
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("whether the change")));
}

TEST_F(ServedBlobs, RefuseAsWithoutAServer) {
  EXPECT_EQ(both({"blob", "put", "photos", "ann", "-"}, "x").exit_code, 0);
  for (const Words& words : std::vector<Words>{{"container", "create", "Photos"},
                                               {"container", "show", "photo"},
                                               {"container", "drop", "none", "--yes"},
                                               {"blob", "put", "photo", "b", "-"},
                                               {"blob", "put", "photos", "ann", "-", "--if-absent"},
                                               {"blob", "put", "photos", "ann", "-", "--if-absent", "--resume"},
                                               {"blob", "put", "photos", "b", "-", "--if-match", "*"},
                                               {"blob", "get", "photos", "an"},
                                               {"blob", "get", "photos", "ann", "--range", "1-"},
                                               {"blob", "show", "photos", "an"},
                                               {"blob", "list", "none"},
                                               {"blob", "list", "photos", "--continuation", "nonsense"},
                                               {"blob", "delete", "photos", "an"},
                                               {"blob", "copy", "photos", "an", "b"},
                                               {"blob", "copy", "photos", "ann", "ann", "--if-absent"},
                                               {"blob", "copy", "photos", "ann", "b", "--to", "none"}}) {
    EXPECT_NE(both(words).exit_code, 0) << words[0] << " " << words[1];
  }
  EXPECT_EQ(both({"blob", "list", "photos", "--uncommitted"}).out, "ann\n");
}

// -- The fields on the way ----------------------------------------------------------------------------------------------

TEST(BlobFields, CarryABlobWithAnyBytes) {
  BlobState blob;
  blob.name = "eu/\xC3\xA4";
  blob.kind = BlobKind::kAppend;
  blob.etag = ETag::of_timestamp(DateTime{638'000'000'000'000'000});
  blob.modified = blob.etag.timestamp();
  blob.length = 5;
  blob.crc64 = 0xAE8B14860A799888U;
  blob.properties.content_type = std::string("a\0b:\xFF", 5);
  blob.properties.content_md5.emplace().fill(0xFE);
  blob.metadata = {{"Owner", "1:2"}, {"Empty", ""}};
  blob.tags = {{"year", "2026"}};
  blob.tier = BlobTier::kCold;
  blob.tier_changed = DateTime{7};
  blob.lease = {LeaseState::kLeased, true};
  blob.append_count = 3;
  blob.copy_source = "http://127.0.0.1/a";
  blob.copy_id = Guid{};
  blob.copied = DateTime{8};
  Fields fields;
  add_fields(fields, blob);
  const Result<Fields> parsed = parse_fields(fields_text(fields));
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, fields);
  const Result<BlobState> read = blob_of(*parsed);
  ASSERT_TRUE(read.ok());
  Fields again;
  add_fields(again, *read);
  EXPECT_EQ(again, fields);
}

TEST(BlobFields, CarryTheOptionsOfAWrite) {
  BlobWriteOptions options;
  for (const bool compresses : {false, true}) {
    options.compresses = compresses;
    Fields fields;
    add_fields(fields, options);
    const Result<BlobWriteOptions> read = write_options_of(fields);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->compresses, compresses);
  }
  EXPECT_FALSE(write_options_of({{"compresses", "yes"}}).ok());
}

TEST(BlobFields, RefuseTextsOfAnotherForm) {
  for (const char* text : {"x", "1", "1:", "1:a", "1:a2:b", "-1:a1:b", "9999999999999999999999:a", "1:a1:bc"}) {
    EXPECT_FALSE(parse_fields(text).ok()) << text;
  }
  EXPECT_TRUE(parse_fields("1:a1:b0:0:", 2).ok());
  EXPECT_FALSE(parse_fields("1:a1:b0:0:", 1).ok());
  for (const Fields& fields : {Fields{{"length", "x"}}, Fields{{"kind", "2"}}, Fields{{"etag", "x"}},
                               Fields{{"md5", "short"}}, Fields{{"lease", "9"}}, Fields{{"copy-id", "x"}}}) {
    EXPECT_FALSE(blob_of(fields).ok()) << fields.front().first;
  }
  EXPECT_FALSE(blob_page_of({{"length", "1"}}).ok()) << "of no blob";
  EXPECT_FALSE(block_lists_of({{"staged", "id"}}).ok());
}

}  // namespace
}  // namespace varve::serve::served_blob_test
