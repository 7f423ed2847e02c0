// Goal: `varve container` and `varve blob` do the same at the address of a blob service as in the directory of a store, and
// leave no torn file if the server dies.
// Method: server and program run as processes. What the address shows is compared with what the directory shows.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/security/security_bench.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve::blob_address_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using ::testing::Not;
using varve::test::content_of;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::RunningProgram;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

std::string numbered_content(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 2'654'435'761U) >> 13U);
  return text;
}

/// Inserts the store after the two words of the verb.
Words line_at(const std::string& store, Words words) {
  words.insert(words.begin() + 2, store);
  return words;
}

class BlobAddress : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    address_ = server_.address_of("blobs");
    ASSERT_NE(address_, "") << server_.err();
    ASSERT_EQ(there({"container", "create", "photos", "--metadata", "Owner=Ann"}).exit_code, 0);
  }

  ProgramResult there(const Words& words, const std::string& input = "") const {
    return run_program(line_at(address_, words), input);
  }
  ProgramResult here(const Words& words) const { return run_program(line_at(server_.data(), words)); }
  /// Puts a blob, and returns its ETag.
  std::string put(const std::string& blob, const std::string& content, const Words& more = {}) const {
    Words words{"blob", "put", "photos", blob, "-"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult done = there(words, content);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out.substr(0, done.out.find('\n'));
  }

  ServedProgram server_{ProgramOptions{{"--listen-queues", "127.0.0.1:0", "--listen-blobs", "127.0.0.1:0"}}};
  std::string address_;
  ScratchDirectory scratch_;
};

TEST_F(BlobAddress, AnswersTheVerbsOnContainers) {
  EXPECT_THAT(there({"container", "create", "photos"}).err, HasSubstr("ContainerAlreadyExists"));
  EXPECT_EQ(there({"container", "create", "archive", "--json"}).exit_code, 0);
  EXPECT_EQ(there({"container", "list"}).out, "archive\nphotos\n");
  EXPECT_EQ(there({"container", "list", "--prefix", "p"}).out, "photos\n");
  const json shown = json::parse(there({"container", "show", "photos", "--json"}).out, nullptr, false);
  const json same = json::parse(here({"container", "show", "photos", "--json"}).out, nullptr, false);
  ASSERT_TRUE(shown.is_object());
  for (const char* const field : {"name", "account", "etag", "public_access", "lease", "metadata"}) {
    EXPECT_EQ(shown[field], same[field]) << field;
  }
  const Words set{"container", "policies", "photos", "--set", "a&b", "--permissions", "rl"};
  Words set_public = set;
  set_public.insert(set_public.end(), {"--public", "blobs"});
  EXPECT_THAT(there(set_public).err, HasSubstr("PublicAccessNotPermitted")) << "the server was not told to allow it";
  EXPECT_THAT(there({"container", "create", "films", "--public", "container"}).err,
              HasSubstr("PublicAccessNotPermitted"));
  EXPECT_EQ(there({"container", "create", "films", "--public", "none"}).exit_code, 0);
  EXPECT_EQ(there({"container", "drop", "films", "--yes"}).exit_code, 0);
  EXPECT_EQ(there(set).exit_code, 0);
  EXPECT_EQ(there({"container", "policies", "photos"}).out, "a&b  rl  -  -\n");
  EXPECT_EQ(here({"container", "policies", "photos"}).out, "a&b  rl  -  -\n");
  EXPECT_EQ(there({"container", "policies", "photos", "--remove", "a&b"}).exit_code, 0);
  EXPECT_EQ(here({"container", "policies", "photos"}).out, "");
  EXPECT_THAT(there({"container", "show", "photo"}).err, HasSubstr("did you mean container `photos`?"));
  EXPECT_EQ(there({"container", "drop", "archive", "--yes"}).exit_code, 0);
  EXPECT_EQ(here({"container", "list"}).out, "photos\n");
}

TEST_F(BlobAddress, CarriesContentsOfAnyLength) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMebibyte, 8 * kMebibyte, 17 * kMebibyte + 5}) {
    const std::string content = numbered_content(bytes);
    put("a", content);
    EXPECT_EQ(here({"blob", "get", "photos", "a"}).out, content) << bytes;
    EXPECT_EQ(there({"blob", "get", "photos", "a"}).out, content) << bytes;
  }
  const std::string content = numbered_content(17 * kMebibyte + 5);
  EXPECT_EQ(there({"blob", "get", "photos", "a", "--range", "1048570-2097160"}).out,
            content.substr(1'048'570, 1'048'591));
  EXPECT_EQ(there({"blob", "get", "photos", "a", "--range", "-3"}).out, content.substr(content.size() - 3));
  EXPECT_EQ(there({"blob", "get", "photos", "a", scratch_.path("file")}).exit_code, 0);
  EXPECT_EQ(content_of(scratch_.path("file")), content);
}

TEST_F(BlobAddress, ShowsListsCopiesAndDeletes) {
  const std::string name = "eu/\xC3\xA4 &?#%+ b";
  put(name, "text",
      {"--type", "text/plain", "--language", "de", "--disposition", "inline", "--cache-control", "no-store",
       "--metadata", "A=1", "--metadata", "B=", "--tag", "k=v +", "--tag", "year=2026"});
  put("a", "x");
  const json shown = json::parse(there({"blob", "show", "photos", name, "--json"}).out, nullptr, false);
  const json same = json::parse(here({"blob", "show", "photos", name, "--json"}).out, nullptr, false);
  ASSERT_TRUE(shown.is_object() && same.is_object());
  for (const char* const field :
       {"name", "kind", "length", "etag", "content_type", "content_language", "content_disposition", "cache_control",
        "content_md5", "tier", "lease", "metadata", "tags"}) {
    ASSERT_TRUE(same.contains(field)) << field;
    EXPECT_EQ(shown[field], same[field]) << field;
  }
  EXPECT_EQ(there({"blob", "list", "photos"}).out, here({"blob", "list", "photos"}).out);
  EXPECT_EQ(there({"blob", "list", "photos", "--delimiter", "/"}).out, "a\neu/\n");
  const ProgramResult first = there({"blob", "list", "photos", "--top", "1"});
  EXPECT_EQ(first.out, "a\n");
  const std::size_t token = first.err.find("--continuation '");
  ASSERT_NE(token, std::string::npos) << first.err;
  const std::string rest = first.err.substr(token + 16, first.err.find('\'', token + 16) - token - 16);
  EXPECT_EQ(there({"blob", "list", "photos", "--continuation", rest}).out, name + "\n");
  EXPECT_THAT(there({"blob", "list", "photos", "--json", "--prefix", "eu"}).out, HasSubstr("\"tags\":{\"k\":\"v +\""));

  EXPECT_EQ(there({"container", "create", "archive"}).exit_code, 0);
  EXPECT_EQ(there({"blob", "copy", "photos", name, "b", "--to", "archive"}).exit_code, 0);
  EXPECT_EQ(here({"blob", "get", "archive", "b"}).out, "text");
  EXPECT_THAT(here({"blob", "show", "archive", "b", "--json"}).out,
              HasSubstr("\"tags\":{\"k\":\"v +\",\"year\":\"2026\"}"));
  EXPECT_EQ(there({"blob", "copy", "photos", "a", "b", "--to", "archive", "--if-absent"}).exit_code, 1);
  EXPECT_THAT(there({"blob", "copy", "photos", "none", "c"}).err, HasSubstr("BlobNotFound"));
  EXPECT_EQ(there({"blob", "delete", "photos", "a", "--if-match", "*", "--json"}).exit_code, 0);
  const ProgramResult absent = there({"blob", "show", "photos", "a"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("container 'photos' has no blob 'a'"));
  EXPECT_THAT(there({"blob", "put", "photos", "n", "-", "--type", "a\r\nb"}, "x").err, HasSubstr("control character"));
}

TEST_F(BlobAddress, BC01_JudgesConditionsAndLeases) {
  const std::string first = put("a", "1");
  put("a", "2", {"--if-match", first});
  EXPECT_THAT(there({"blob", "put", "photos", "a", "-", "--if-match", first}, "3").err, HasSubstr("ConditionNotMet"));
  EXPECT_THAT(there({"blob", "put", "photos", "a", "-", "--if-absent"}, "3").err, HasSubstr("without --if-absent"));
  EXPECT_EQ(there({"blob", "delete", "photos", "a", "--if-match", first}).exit_code, 1);
  EXPECT_THAT(there({"blob", "put", "photos", "a", "-", "--compress"}, "3").err, HasSubstr("no way to say --compress"));
  const std::string mine = "00000000-0000-0000-0000-000000000001";
  const std::string other = "00000000-0000-0000-0000-000000000002";
  EXPECT_EQ(there({"blob", "lease", "photos", "a", "acquire", "--id", mine, "--duration", "60"}).out, mine + "\n");
  EXPECT_EQ(there({"blob", "lease", "photos", "a", "acquire", "--id", other}).exit_code, 1);
  EXPECT_EQ(there({"blob", "lease", "photos", "a", "renew", "--id", mine}).exit_code, 0);
  EXPECT_EQ(there({"blob", "lease", "photos", "a", "change", "--id", mine, "--new-id", other, "--json"}).exit_code, 0);
  EXPECT_THAT(there({"blob", "put", "photos", "a", "-"}, "3").err, HasSubstr("give its id by --lease"));
  EXPECT_EQ(there({"blob", "delete", "photos", "a"}).exit_code, 1);
  put("a", "3", {"--lease", other});
  EXPECT_EQ(there({"blob", "lease", "photos", "a", "release", "--id", other}).exit_code, 0);
  EXPECT_EQ(here({"blob", "get", "photos", "a"}).out, "3");
  EXPECT_EQ(there({"container", "lease", "photos", "acquire", "--id", mine}).out, mine + "\n");
  EXPECT_EQ(there({"container", "drop", "photos", "--yes"}).exit_code, 1);
  EXPECT_EQ(there({"container", "lease", "photos", "break"}).out, "0\n");
  EXPECT_EQ(there({"container", "drop", "photos", "--yes"}).exit_code, 0);
}

TEST_F(BlobAddress, AResumedPutSendsOnlyTheBlocksThatAreMissing) {
  const std::string content = numbered_content(17 * kMebibyte);
  const std::string file = scratch_.file("disk.img", content.substr(0, 16 * kMebibyte));
  EXPECT_EQ(there({"blob", "put", "photos", "disk", file, "--resume"}).exit_code, 0);
  scratch_.file("disk.img", content);
  const ProgramResult more = there({"blob", "put", "photos", "disk", file, "--resume"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("were in the store already"));
  EXPECT_EQ(here({"blob", "get", "photos", "disk"}).out, content);
}

/// Returns the bytes of the part that an interrupted `get --resume` keeps beside its file.
std::uintmax_t part_bytes_beside(const std::string& file) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(file).parent_path(), none)) {
    if (entry.path().extension() == ".varve-part") return fs::file_size(entry.path(), none);
  }
  return 0;
}

TEST_F(BlobAddress, AnInterruptedGetGoesOnAfterItsPart) {
  const std::string content = numbered_content(4 * kMebibyte + 5);
  put("disk", content);
  const std::string kept = scratch_.path("kept");
  const Words line{"blob", "get", "photos", "disk", kept, "--resume"};
  const ProgramResult full = run_program(line_at(address_, line), "", {.file_bytes_max = 3 * kMebibyte});
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_FALSE(fs::exists(kept));
  EXPECT_EQ(part_bytes_beside(kept), 3 * kMebibyte);
  const ProgramResult again = there(line);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("goes on after"));
  EXPECT_EQ(content_of(kept), content);
  EXPECT_EQ(part_bytes_beside(kept), 0U);
}

TEST_F(BlobAddress, ThatDiesInADownloadLeavesNoTornFileAndTheNextLineGoesOn) {
  constexpr int kPieces = 64;
  std::string content;
  for (int piece = 0; piece < kPieces; ++piece)
    content += numbered_content(kMebibyte / 16) + std::string(kMebibyte * 15 / 16, 'x');
  put("disk", content);
  const std::string kept = scratch_.path("kept");
  const std::string plain = scratch_.path("plain");
  RunningProgram resumed(line_at(address_, {"blob", "get", "photos", "disk", kept, "--resume"}));
  RunningProgram simple(line_at(address_, {"blob", "get", "photos", "disk", plain}));
  while (part_bytes_beside(kept) < kMebibyte && !fs::exists(kept)) {
  }
  server_.signal(SIGKILL);
  const ProgramResult died = resumed.finish();
  const ProgramResult also = simple.finish();
  server_.finish();
  EXPECT_EQ(died.exit_code, 4) << died.err;
  EXPECT_THAT(died.err, HasSubstr("no answer from http://"));
  EXPECT_THAT(died.err, HasSubstr("the same line goes on after it"));
  EXPECT_FALSE(fs::exists(kept));
  EXPECT_EQ(also.exit_code, 4) << also.err;
  EXPECT_FALSE(fs::exists(plain));
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(kept).parent_path()), fs::directory_iterator()), 1)
      << "the part alone";
  const ProgramResult again = here({"blob", "get", "photos", "disk", kept, "--resume"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("goes on after"));
  EXPECT_EQ(content_of(kept), content);
}

TEST_F(BlobAddress, NamesTheServiceThatAnswersInsteadAndExplainsAWrongKey) {
  const std::string tables = "http://127.0.0.1:" + std::to_string(server_.port()) + "/devstoreaccount1";
  for (const std::string& wrong : {tables, server_.address_of("queues")}) {
    for (const Words& words : {Words{"container", "list"}, Words{"blob", "show", "photos", "a"},
                               Words{"blob", "put", "photos", "a", "/dev/null"}}) {
      const ProgramResult refused = run_program(line_at(wrong, words));
      EXPECT_EQ(refused.exit_code, 1) << wrong;
      EXPECT_THAT(refused.err, HasSubstr(" service answers at this address; the verb needs a blob service")) << wrong;
    }
  }
  const std::string key = scratch_.file("key", "d3Jvbmc=\n");
  ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
  for (const Words& words :
       {Words{"container", "list", "--key-file", key}, Words{"blob", "get", "photos", "a", "--key-file", key},
        Words{"blob", "put", "photos", "a", "/dev/null", "--key-file", key}}) {
    const ProgramResult refused = there(words);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("AuthenticationFailed"));
    EXPECT_THAT(refused.err, HasSubstr("hint: the key or the signature is not one of account devstoreaccount1"));
  }
  EXPECT_THAT(run_program({"blob", "list", address_ + "/photos", "photos"}).err,
              HasSubstr("no key for account photos"));
}

TEST_F(BlobAddress, TakesASignatureThatMayOnlyRead) {
  put("a", "x", {"--tag", "k=v"});
  security::AccountSasTerms terms;
  terms.services = "b";
  terms.resource_types = "sco";
  terms.permissions = "rl";
  terms.expiry = varve::test::at("2100-01-01T00:00:00Z");
  const auto token = security::sign_account_sas(terms, varve::test::credentials(varve::test::kKeyText, {}));
  ASSERT_TRUE(token.ok());
  const std::string reading = address_ + "?" + security::to_query(*token);
  EXPECT_EQ(run_program(line_at(reading, {"blob", "get", "photos", "a"})).out, "x");
  EXPECT_EQ(run_program(line_at(reading, {"blob", "list", "photos"})).out, "a\n");
  EXPECT_EQ(run_program(line_at(reading, {"blob", "show", "photos", "a"})).exit_code, 0);
  for (const Words& words :
       {Words{"blob", "delete", "photos", "a"}, Words{"blob", "put", "photos", "a", "/dev/null"}}) {
    const ProgramResult refused = run_program(line_at(reading, words));
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("AuthorizationPermissionMismatch"));
    EXPECT_THAT(refused.err, Not(HasSubstr("sig=")));
  }
}

/// Puts an entity with a content into the store of a server.
void put_photo(const ServedProgram& server, const std::string& content) {
  ASSERT_EQ(run_program({"table", "create", server.data(), "People", "--large-values"}).exit_code, 0);
  ASSERT_EQ(
      run_program({"put", server.data(), "People", "p", "a", "Name=Ann", "--content", "Photo=-"}, content).exit_code,
      0);
}

/// Runs `varve get --content` at the address of the table service.
ProgramResult get_photo(const ServedProgram& server, const Words& more) {
  Words words{"get", "http://127.0.0.1:" + std::to_string(server.port()), "People", "p"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

TEST_F(BlobAddress, BX01_ReadsTheContentThatAnEntityNames) {
  const std::string content = numbered_content(3 * kMebibyte + 5);
  put_photo(server_, content);
  EXPECT_EQ(get_photo(server_, {"a", "--content", "Photo"}).out, content);
  EXPECT_EQ(get_photo(server_, {"a", "--content", "Photo", "--range", "1048570-1048580"}).out,
            content.substr(1'048'570, 11));
  const std::string file = scratch_.path("photo");
  EXPECT_EQ(get_photo(server_, {"a", "--content", "Photo", "--output", file}).exit_code, 0);
  EXPECT_EQ(content_of(file), content);
  const ProgramResult other = get_photo(server_, {"a", "--content", "Name"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("the property \"Name\" is no LargeValue"));
  EXPECT_EQ(get_photo(server_, {"a", "--content", "None"}).exit_code, 1);
  EXPECT_THAT(get_photo(server_, {"none", "--content", "Photo"}).err, HasSubstr("has no entity"));
}

TEST(BlobAddressOfAContent, NeedsABlobService) {
  const ServedProgram server(ProgramOptions{});
  ASSERT_TRUE(server.is_ready()) << server.err();
  put_photo(server, "x");
  const ProgramResult refused = get_photo(server, {"a", "--content", "Photo"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the server has no blob service"));
  EXPECT_THAT(refused.err, HasSubstr("--listen-blobs"));
}

TEST(BlobAddressByHttps, TrustsTheAuthoritiesOfItsFile) {
  const test::Certificate certificate;
  const ServedProgram server(ProgramOptions{{"--listen-blobs", "127.0.0.1:0", "--tls-cert",
                                             certificate.certificate_path(), "--tls-key", certificate.key_path()}});
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string address = server.address_of("blobs");
  ASSERT_EQ(address.rfind("https://", 0), 0U) << address;
  const Words trust = {"--ca-file", certificate.certificate_path()};
  const auto run = [&](Words words, const std::string& input = "") {
    words = line_at(address, std::move(words));
    words.insert(words.end(), trust.begin(), trust.end());
    return run_program(words, input);
  };
  EXPECT_EQ(run({"container", "create", "photos"}).exit_code, 0);
  EXPECT_EQ(run({"blob", "put", "photos", "a", "-"}, "x").exit_code, 0);
  EXPECT_EQ(run({"blob", "get", "photos", "a"}).out, "x");
  EXPECT_EQ(run_program(line_at(address, {"blob", "get", "photos", "a"})).exit_code, 4);
}

}  // namespace
}  // namespace varve::serve::blob_address_test
