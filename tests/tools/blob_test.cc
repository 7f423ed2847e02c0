// Goal: `varve container` and `varve blob` do what the verbs of containers and blobs do, move contents of any length
// whole, go on after an interruption, and refuse bad input by name.
// Method: the program works on a store as a user does. Pipes hold it at a known place, where signals end it.
#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "tests/tools/run_program.h"
#include "tools/varve/base/owned_descriptor.h"
#include "varve/store.h"

namespace varve::blob_test {
namespace {

using nlohmann::json;
using test::content_of;
using test::ProgramResult;
using test::run_program;
using test::RunningProgram;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

/// Returns bytes that look like no others at another place.
std::string content(std::size_t bytes, std::uint32_t seed = 1) {
  std::string text(bytes, '\0');
  std::uint32_t state = seed;
  for (char& byte : text) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<char>(state >> 24U);
  }
  return text;
}

class BlobVerbs : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_EQ(run_program({"container", "create", store_, "photos"}).exit_code, 0); }

  static ProgramResult blob(Words words, const std::string& input = "", const test::ProgramLimits& limits = {}) {
    words.insert(words.begin(), "blob");
    return run_program(words, input, limits);
  }
  static ProgramResult container(Words words) {
    words.insert(words.begin(), "container");
    return run_program(words);
  }
  void put(const std::string& name, const std::string& text) const {
    const ProgramResult done = blob({"put", store_, "photos", name, "-"}, text);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, ::testing::StartsWith("W/\""));
  }
  std::string got(const std::string& name) const { return blob({"get", store_, "photos", name}).out; }
  std::string names(const Words& more = {}) const {
    Words words{"list", store_, "photos"};
    words.insert(words.end(), more.begin(), more.end());
    return blob(words).out;
  }
  static json parsed(const ProgramResult& result) { return json::parse(result.out, nullptr, false); }
  /// Returns the names in a directory that begin with a text.
  std::vector<std::string> files(const std::string& beginning) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(store_).parent_path())) {
      if (entry.path().filename().string().starts_with(beginning)) found.push_back(entry.path().filename().string());
    }
    return found;
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

/// A put whose standard input is a pipe of the test.
class PipedPut {
 public:
  PipedPut(const std::string& store, const Words& more) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    tool::OwnedDescriptor read(ends[0]);
    write_ = tool::OwnedDescriptor(ends[1]);
    Words words{"blob", "put", store, "photos", "big", "-"};
    words.insert(words.end(), more.begin(), more.end());
    program_.emplace(words, "", test::ProgramLimits{.input_descriptor = read.number()});
  }
  /// Returns when the program has read all but the last 64 KiB.
  void write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(write_.number(), bytes.data(), bytes.size());
      ASSERT_GT(written, 0);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ProgramResult end_by(int signal) {
    EXPECT_EQ(::kill(program_->process(), signal), 0);
    return program_->finish();
  }

 private:
  tool::OwnedDescriptor write_;
  std::optional<RunningProgram> program_;
};

// -- Containers -------------------------------------------------------------------------------------------------------

TEST_F(BlobVerbs, ContainersAreCreatedListedShownAndDropped) {
  EXPECT_EQ(container({"create", store_, "mail", "--metadata", "Owner=Ann"}).exit_code, 0);
  const ProgramResult again = container({"create", store_, "mail"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("exists"));
  EXPECT_EQ(container({"list", store_}).out, "mail\nphotos\n");
  EXPECT_EQ(container({"list", store_, "--prefix", "p"}).out, "photos\n");
  EXPECT_THAT(container({"list", store_, "--long"}).out, HasSubstr("photos  20"));
  EXPECT_EQ(parsed(container({"list", store_, "--prefix", "mail", "--json"}))["metadata"], (json{{"Owner", "Ann"}}));
  EXPECT_THAT(container({"show", store_, "mail"}).out,
              AllOf(HasSubstr("container     mail\n"), HasSubstr("metadata      Owner=Ann\n")));
  EXPECT_EQ(parsed(container({"show", store_, "mail", "--json"}))["public_access"], "none");
  EXPECT_EQ(parsed(container({"drop", store_, "mail", "--yes", "--json"}))["dropped"], true);
  EXPECT_EQ(container({"list", store_}).out, "photos\n");
  EXPECT_EQ(container({"create", store_, "photos", "--account", "other"}).exit_code, 0);
  EXPECT_EQ(container({"list", store_, "--account", "other"}).out, "photos\n");
}

TEST_F(BlobVerbs, ContainersHaveAccessPoliciesAndPublicAccess) {
  EXPECT_EQ(container({"policies", store_, "photos", "--set", "readers", "--permissions", "rl", "--public", "blobs"})
                .exit_code,
            0);
  EXPECT_EQ(container({"policies", store_, "photos", "--set", "writers", "--permissions", "wc"}).exit_code, 0);
  EXPECT_EQ(container({"policies", store_, "photos"}).out, "readers  rl  -  -\nwriters  cw  -  -\n");
  EXPECT_EQ(parsed(container({"show", store_, "photos", "--json"}))["public_access"], "blobs") << "it stays";
  EXPECT_EQ(container({"policies", store_, "photos", "--public", "none", "--json"}).exit_code, 0);
  EXPECT_EQ(parsed(container({"policies", store_, "photos", "--json"})).size(), 2U) << "the policies stay";
  EXPECT_EQ(parsed(container({"show", store_, "photos", "--json"}))["public_access"], "none");
  EXPECT_EQ(container({"policies", store_, "photos", "--public", "all"}).exit_code, 2);
  EXPECT_EQ(container({"create", store_, "films", "--public", "container"}).exit_code, 0);
  EXPECT_EQ(parsed(container({"show", store_, "films", "--json"}))["public_access"], "container");
  EXPECT_EQ(container({"create", store_, "mail", "--public", "all"}).exit_code, 2);
  EXPECT_EQ(container({"policies", store_, "photos", "--set", "a", "--permissions", "rr"}).exit_code, 1);
  EXPECT_EQ(container({"policies", store_, "photos", "--clear"}).exit_code, 0);
  EXPECT_EQ(container({"policies", store_, "photos"}).out, "");
}

// -- put and get ------------------------------------------------------------------------------------------------------

TEST_F(BlobVerbs, BringContentsOfEveryLengthBackWhole) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65'536}, 3 * kMebibyte + 7}) {
    const std::string file = scratch_.file("in", content(bytes));
    EXPECT_EQ(blob({"put", store_, "photos", "a/b", file}).exit_code, 0) << bytes;
    EXPECT_EQ(got("a/b"), content(bytes)) << bytes;
    EXPECT_EQ(blob({"get", store_, "photos", "a/b", scratch_.path("out")}).exit_code, 0) << bytes;
    EXPECT_EQ(content_of(scratch_.path("out")), content(bytes)) << bytes;
    EXPECT_EQ(blob({"get", store_, "photos", "a/b", scratch_.path("resumed"), "--resume"}).exit_code, 0) << bytes;
    EXPECT_EQ(content_of(scratch_.path("resumed")), content(bytes)) << bytes;
    EXPECT_EQ(blob({"put", store_, "photos", "blocks", file, "--resume"}).exit_code, 0) << bytes;
    EXPECT_EQ(got("blocks"), content(bytes)) << bytes;
  }
  EXPECT_EQ(files("out").size() + files("resumed").size(), 2U) << "no part of a file stays";
}

TEST_F(BlobVerbs, KeepPropertiesMetadataAndTags) {
  const ProgramResult done = blob({"put",        store_,
                                   "photos",     "a",
                                   "-",          "--type",
                                   "image/jpeg", "--encoding",
                                   "gzip",       "--language",
                                   "en",         "--disposition",
                                   "inline",     "--cache-control",
                                   "no-store",   "--metadata",
                                   "Owner=Ann",  "--metadata",
                                   "Note=a=b",   "--tag",
                                   "year=2026",  "--json"},
                                  "x");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const json shown = parsed(blob({"show", store_, "photos", "a", "--json"}));
  EXPECT_EQ(parsed(done), shown);
  EXPECT_EQ(shown["length"], 1);
  EXPECT_EQ(shown["kind"], "block");
  EXPECT_EQ(shown["content_type"], "image/jpeg");
  EXPECT_EQ(shown["content_encoding"], "gzip");
  EXPECT_EQ(shown["metadata"], (json{{"Owner", "Ann"}, {"Note", "a=b"}}));
  EXPECT_EQ(shown["tags"], (json{{"year", "2026"}}));
  EXPECT_THAT(blob({"show", store_, "photos", "a"}).out,
              AllOf(HasSubstr("length        1 bytes"), HasSubstr("language      en\n"),
                    HasSubstr("metadata      Note=a=b\n"), HasSubstr("tag           year=2026\n")));
  put("plain", "y");
  EXPECT_EQ(parsed(blob({"show", store_, "photos", "plain", "--json"}))["content_type"], "application/octet-stream");
}

TEST_F(BlobVerbs, PrintRanges) {
  put("a", "0123456789");
  const auto range = [&](const std::string& words) { return blob({"get", store_, "photos", "a", "--range", words}); };
  EXPECT_EQ(range("0-3").out, "0123");
  EXPECT_EQ(range("7-").out, "789");
  EXPECT_EQ(range("8-99").out, "89");
  EXPECT_EQ(range("-4").out, "6789");
  EXPECT_EQ(range("-400").out, "0123456789");
  const ProgramResult behind = range("10-");
  EXPECT_EQ(behind.exit_code, 1);
  EXPECT_THAT(behind.err, HasSubstr("the blob has 10 bytes"));
  EXPECT_EQ(blob({"get", store_, "photos", "a", scratch_.path("part"), "--range", "2-4"}).exit_code, 0);
  EXPECT_EQ(content_of(scratch_.path("part")), "234");
}

TEST_F(BlobVerbs, RefuseRangesOfAnotherForm) {
  put("a", "0123456789");
  put("empty", "");
  for (const char* text : {"-", "5", "a-b", "1-2-3", "3-2", "1-x", "18446744073709551616-", "+1-2", " 1-2"}) {
    const ProgramResult refused = blob({"get", store_, "photos", "a", std::string("--range=") + text});
    EXPECT_EQ(refused.exit_code, 2) << text;
    EXPECT_THAT(refused.err, HasSubstr("FIRST-LAST")) << text;
  }
  EXPECT_EQ(blob({"get", store_, "photos", "a", "--range", "0-18446744073709551615"}).out, "0123456789");
  EXPECT_EQ(blob({"get", store_, "photos", "empty", "--range", "0-"}).exit_code, 1);
  EXPECT_EQ(blob({"get", store_, "photos", "empty", "--range", "-5"}).exit_code, 0);
}

// -- list, delete, copy -----------------------------------------------------------------------------------------------

TEST_F(BlobVerbs, AreListedByPrefixDelimiterAndPage) {
  for (const char* name : {"eu/ann", "eu/bob", "eu/old/cem", "us/dan", "zoe"}) put(name, "12");
  EXPECT_EQ(names(), "eu/ann\neu/bob\neu/old/cem\nus/dan\nzoe\n");
  EXPECT_EQ(names({"--delimiter", "/"}), "eu/\nus/\nzoe\n");
  EXPECT_EQ(names({"--prefix", "eu/", "--delimiter", "/"}), "eu/ann\neu/bob\neu/old/\n");
  EXPECT_THAT(names({"--prefix", "zoe", "--long"}), AllOf(HasSubstr("             2  20"), HasSubstr("  zoe\n")));
  EXPECT_EQ(names({"--prefix", "us/", "--delimiter", "/", "--json"}).substr(0, 16), "{\"name\":\"us/dan\"");
  EXPECT_EQ(names({"--prefix", "e", "--delimiter", "/", "--json"}), "{\"prefix\":\"eu/\"}\n");
  const ProgramResult page = blob({"list", store_, "photos", "--top", "2"});
  EXPECT_EQ(page.out, "eu/ann\neu/bob\n");
  const std::size_t quote = page.err.find('\'');
  ASSERT_NE(quote, std::string::npos) << page.err;
  const std::string token = page.err.substr(quote + 1, page.err.rfind('\'') - quote - 1);
  EXPECT_EQ(names({"--continuation", token}), "eu/old/cem\nus/dan\nzoe\n");
  EXPECT_EQ(names({"--continuation", "nonsense"}), "");
}

TEST_F(BlobVerbs, AreDeletedAndCopied) {
  put("a", "old");
  const std::string etag = parsed(blob({"show", store_, "photos", "a", "--json"}))["etag"];
  EXPECT_EQ(blob({"put", store_, "photos", "a", "-", "--tag", "k=v", "--metadata", "m=1"}, "new").exit_code, 0);
  const ProgramResult stale = blob({"delete", store_, "photos", "a", "--if-match", etag});
  EXPECT_EQ(stale.exit_code, 1);
  EXPECT_THAT(stale.err, HasSubstr("ConditionNotMet"));
  EXPECT_EQ(container({"create", store_, "archive"}).exit_code, 0);
  EXPECT_EQ(blob({"copy", store_, "photos", "a", "b"}).exit_code, 0);
  const json copied = parsed(blob({"copy", store_, "photos", "a", "a", "--to", "archive", "--json"}));
  EXPECT_EQ(copied["tags"], (json{{"k", "v"}}));
  EXPECT_EQ(copied["metadata"], (json{{"m", "1"}}));
  EXPECT_EQ(blob({"get", store_, "archive", "a"}).out, "new");
  const ProgramResult there = blob({"copy", store_, "photos", "a", "b", "--if-absent"});
  EXPECT_EQ(there.exit_code, 1);
  EXPECT_THAT(there.err, AllOf(HasSubstr("BlobAlreadyExists"), HasSubstr("without --if-absent")));
  EXPECT_EQ(parsed(blob({"delete", store_, "photos", "a", "--json"}))["deleted"], true);
  EXPECT_EQ(names(), "b\n");
  EXPECT_EQ(got("b"), "new") << "a copy outlives the blob";
}

// -- Interruptions ------------------------------------------------------------------------------------------------------

TEST_F(BlobVerbs, ACompressedPutTakesLessSpace) {
  const std::string text(3 * kMebibyte, 'x');
  const auto stored = [this] {
    return parsed(run_program({"stats", store_, "--json"})).value("value_file_live_bytes", std::uint64_t{0});
  };
  for (const Words& more : {Words{"--compress"}, Words{"--compress", "--resume"}}) {
    const std::string name = "packed" + more.back();
    Words words{"put", store_, "photos", name, "-"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult done = blob(words, text);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(got(name), text);
    EXPECT_LT(stored(), kMebibyte) << name;
  }
  EXPECT_EQ(blob({"put", store_, "photos", "gz", "-", "--compress", "--resume", "--encoding", "gzip"}, text).exit_code,
            0);
  EXPECT_GE(stored(), text.size()) << "an encoded content is stored as it is";
}

TEST_F(BlobVerbs, APutThatASignalEndsStoresNothing) {
  put("big", "old");
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    PipedPut put(store_, {});
    put.write(content(3 * kMebibyte));
    const ProgramResult ended = put.end_by(signal);
    EXPECT_EQ(ended.exit_code, 128 + signal);
    EXPECT_EQ(ended.out, "");
    EXPECT_EQ(got("big"), "old") << signal;
    EXPECT_EQ(names({"--uncommitted"}), "big\n") << signal;
  }
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(BlobVerbs, APutGoesOnAfterTheBlocksThatWereStaged) {
  const std::string all = content(20 * kMebibyte);
  const std::string file = scratch_.file("big", all);
  for (const int signal : {SIGTERM, SIGKILL}) {
    PipedPut put(store_, {"--resume"});
    put.write(all);  // two blocks of 8 MiB are staged, and the rest waits for the end of the file
    EXPECT_EQ(put.end_by(signal).exit_code, 128 + signal);
    EXPECT_EQ(names(), "");
    EXPECT_EQ(names({"--uncommitted"}), "big\n");
    EXPECT_EQ(blob({"get", store_, "photos", "big"}).exit_code, 1);
  }
  const ProgramResult resumed = blob({"put", store_, "photos", "big", file, "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("16.8 MB of 21.0 MB were in the store already"));
  EXPECT_EQ(got("big"), all);

  std::string changed = all;
  changed[9 * kMebibyte] ^= 1;
  const ProgramResult again = blob({"put", store_, "photos", "big", scratch_.file("big", changed), "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("12.6 MB of 21.0 MB")) << "the block that differs was written anew";
  EXPECT_EQ(got("big"), changed);
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_F(BlobVerbs, AGetGoesOnAfterThePartThatWasWritten) {
  const std::string all = content(3 * kMebibyte);
  put("big", all);
  const std::string file = scratch_.file("out", "earlier");
  const ProgramResult full =
      blob({"get", store_, "photos", "big", file, "--resume"}, "", {.file_bytes_max = kMebibyte});
  EXPECT_EQ(full.exit_code, 4);
  EXPECT_THAT(full.err, AllOf(HasSubstr(file), HasSubstr("the same line goes on")));
  EXPECT_EQ(content_of(file), "earlier");
  ASSERT_EQ(files("out.").size(), 1U);
  const ProgramResult rest = blob({"get", store_, "photos", "big", file, "--resume"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("goes on after 1.0 MB"));
  EXPECT_EQ(content_of(file), all);
  EXPECT_EQ(files("out."), Words());
}

TEST_F(BlobVerbs, AGetThatGoesOnRemovesNoFileThatIsNotItsOwn) {
  put("film", content(1000));
  const std::string file = scratch_.path("film");
  const std::string old = "film.000000000000000001.varve-part";
  const Words kept = {"film.001.part",
                      "film.12345.part",
                      "film.000000000000000001.part",
                      "film.1.varve-part",
                      "film.x00000000000000001.varve-part",
                      "film.000000000000000002.varve-part"};
  for (const std::string& name : kept) scratch_.file(name, "mine");
  scratch_.file(old, "earlier");
  const tool::OwnedDescriptor writer(::open(scratch_.path(kept.back()).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.number(), LOCK_EX), 0);  // as another program that writes this part does
  const ProgramResult got = blob({"get", store_, "photos", "film", file, "--resume"});
  EXPECT_EQ(got.exit_code, 0) << got.err;
  for (const std::string& name : kept) EXPECT_EQ(content_of(scratch_.path(name)), "mine") << name;
  EXPECT_FALSE(std::filesystem::exists(scratch_.path(old))) << "nobody goes on with it";
}

TEST_F(BlobVerbs, AGetGoesOnWithTheSameStateAlone) {
  put("big", content(2 * kMebibyte, 1));
  const std::string file = scratch_.path("out");
  const Words get{"get", store_, "photos", "big", file, "--resume"};
  EXPECT_EQ(blob(get, "", {.file_bytes_max = kMebibyte}).exit_code, 4);
  const std::string part = scratch_.path(files("out.").at(0));
  put("big", content(2 * kMebibyte, 2));
  EXPECT_EQ(blob(get, "", {.file_bytes_max = kMebibyte}).exit_code, 4);
  EXPECT_FALSE(std::filesystem::exists(part)) << "the part of the earlier state is removed";
  ASSERT_EQ(files("out.").size(), 1U);
  scratch_.file(files("out.").at(0), std::string(kMebibyte, 'x'));  // as after a power cut
  const ProgramResult damaged = blob(get);
  EXPECT_NE(damaged.exit_code, 0);
  EXPECT_THAT(damaged.err, HasSubstr("give the same line again"));
  EXPECT_FALSE(std::filesystem::exists(file));
  const ProgramResult anew = blob(get);
  EXPECT_EQ(anew.exit_code, 0) << anew.err;
  EXPECT_EQ(content_of(file), content(2 * kMebibyte, 2));
}

TEST_F(BlobVerbs, AFullDeviceChangesNothing) {
  put("big", content(2 * kMebibyte));
  const std::string file = scratch_.file("out", "earlier");
  const ProgramResult full = blob({"get", store_, "photos", "big", file}, "", {.file_bytes_max = kMebibyte});
  EXPECT_EQ(full.exit_code, 4);
  EXPECT_THAT(full.err, HasSubstr(file));
  EXPECT_EQ(content_of(file), "earlier");
  EXPECT_EQ(files("out"), Words{"out"});
  EXPECT_EQ(blob({"get", store_, "photos", "big"}, "", {.full_output = true}).exit_code, 4);
  const ProgramResult unstored = blob({"put", store_, "photos", "big", scratch_.file("in", content(20 * kMebibyte))},
                                      "", {.file_bytes_max = kMebibyte});
  EXPECT_EQ(unstored.exit_code, 4) << unstored.err;
  EXPECT_EQ(unstored.out, "");
  EXPECT_EQ(got("big"), content(2 * kMebibyte));
  EXPECT_EQ(names({"--uncommitted"}), "big\n");
}

// -- Bad input ----------------------------------------------------------------------------------------------------------

TEST_F(BlobVerbs, TakeTheStoreOfTheEnvironment) {
  put("a", "x");
  ::setenv("VARVE_STORE", store_.c_str(), 1);
  EXPECT_EQ(container({"list"}).out, "photos\n");
  EXPECT_EQ(blob({"list", "photos"}).out, "a\n");
  EXPECT_EQ(blob({"get", "photos", "a"}).out, "x");
  // A first word with a slash is the store, although the other words also fit the container and what follows it.
  EXPECT_EQ(blob({"get", store_, "photos", "a"}).out, "x");
  EXPECT_EQ(blob({"put", "photos", "b", "-"}, "y").exit_code, 0);
  ::unsetenv("VARVE_STORE");
}

TEST_F(BlobVerbs, NameTheProgramThatHasTheStoreOpen) {
  put("a", "x");
  const Result<std::unique_ptr<Store>> holder = Store::open(store_);
  ASSERT_TRUE(holder.ok());
  for (const Words& words : {Words{"put", store_, "photos", "b", "-"}, Words{"get", store_, "photos", "a"},
                             Words{"list", store_, "photos"}}) {
    const ProgramResult refused = blob(words);
    EXPECT_EQ(refused.exit_code, 4) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(::getpid()))) << words.front();
  }
}

struct Refusal {
  Words words;
  int exit_code;
  const char* part;
};

TEST_F(BlobVerbs, RefuseBadInputByName) {
  put("ann.jpg", "x");
  const std::string file = scratch_.file("in", "y");
  const std::vector<Refusal> refusals = {
      {{"container", "create", store_, "ab"}, 1, "3"},
      {{"container", "create", store_, "Photos"}, 1, "'Photos'"},
      {{"container", "create", store_, "photos2", "--metadata", "Owner"}, 1, "NAME=VALUE"},
      {{"container", "show", store_, "photo"}, 1, "did you mean container `photos`?"},
      {{"container", "show", store_, "photos", "--account", "none"}, 1, "none"},
      {{"container", "list", scratch_.path("absent")}, 1, "absent"},
      {{"container", "drop", store_, "photos"}, 2, "--yes"},
      {{"container", "drop", store_, "photo", "--yes"}, 1, "did you mean container `photos`?"},
      {{"container", "dorp", store_, "photos"}, 2, "did you mean `varve container drop`?"},
      {{"blob", "list", "http://127.0.0.1:1", "photos"}, 4, "no answer from http://127.0.0.1:1"},
      {{"blob", "list", store_, "photos", "--top", "0"}, 2, "--top"},
      {{"blob", "put", store_, "photos", "b"}, 2, "FILE"},
      {{"blob", "put", store_, "photos", "b", scratch_.path("absent")}, 4, "absent"},
      {{"blob", "put", store_, "photos", "b", scratch_.path("")}, 4, "is a directory"},
      {{"blob", "put", store_, "photo", "b", file}, 1, "did you mean container `photos`?"},
      {{"blob", "put", store_, "photos", std::string(1025, 'n'), file}, 1, "1024"},
      {{"blob", "put", store_, "photos", "b", file, "--metadata", "1=x"}, 1, "1"},
      {{"blob", "put", store_, "photos", "b", file, "--metadata", "A=1", "--metadata", "a=2"}, 1, "a"},
      {{"blob", "put", store_, "photos", "b", file, "--tag", "=x"}, 1, "NAME=VALUE"},
      {{"blob", "put", store_, "photos", "b", file, "--tag", "a=?"}, 1, "InvalidTag"},
      {{"blob", "put", store_, "photos", "b", file, "--if-match", "x"}, 1, "--if-match"},
      {{"blob", "put", store_, "photos", "b", file, "--if-match", "*"}, 1, "ConditionNotMet"},
      {{"blob", "put", store_, "photos", "ann.jpg", file, "--if-absent"}, 1, "BlobAlreadyExists"},
      {{"blob", "put", store_, "photos", "ann.jpg", file, "--if-absent", "--resume"}, 1, "BlobAlreadyExists"},
      {{"blob", "put", store_, "photos", "b", file, "--if-absent", "--if-match", "*"}, 2, "--if-absent"},
      {{"blob", "get", store_, "photos", "an.jpg"}, 1, "did you mean blob `ann.jpg`?"},
      {{"blob", "get", store_, "photos", "ann.jpg", "--range", "4"}, 2, "--range"},
      {{"blob", "get", store_, "photos", "ann.jpg", "--resume"}, 2, "--resume needs FILE"},
      {{"blob", "get", store_, "photos", "ann.jpg", "/dev/null", "--resume"}, 2, "--resume needs FILE"},
      {{"blob", "get", store_, "photos", "ann.jpg", file, "--resume", "--range", "0-"}, 2, "--resume"},
      {{"blob", "get", store_, "photos", "ann.jpg", scratch_.path("no/file")}, 4, "no/file"},
      {{"blob", "show", store_, "photos", "zoe.jpg"}, 1, "blob"},
      {{"blob", "delete", store_, "photos", "an.jpg"}, 1, "did you mean blob `ann.jpg`?"},
      {{"blob", "copy", store_, "photos", "an.jpg", "b"}, 1, "did you mean blob `ann.jpg`?"},
      {{"blob", "copy", store_, "photos", "ann.jpg", "b", "--to", "photo"}, 1, "did you mean container `photos`?"},
      {{"blob", "copy", store_, "photos", "ann.jpg", std::string(1025, 'n')}, 1, "NEW_BLOB"},
  };
  for (const Refusal& refusal : refusals) {
    const ProgramResult result = run_program(refusal.words);
    std::string line;
    for (const std::string& word : refusal.words) line += word.substr(0, 60) + " ";
    EXPECT_EQ(result.exit_code, refusal.exit_code) << line << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, AllOf(HasSubstr("varve"), HasSubstr(refusal.part))) << line;
  }
  EXPECT_EQ(container({"list", store_}).out, "photos\n");
  EXPECT_EQ(names({"--uncommitted"}), "ann.jpg\n");
  EXPECT_EQ(got("ann.jpg"), "x");
  EXPECT_EQ(content_of(file), "y");
}

}  // namespace
}  // namespace varve::blob_test
