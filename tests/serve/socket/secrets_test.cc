// Goal: keys are read only from files that not every user can read, and only the owner can read files that the program
// writes.
// Method: the program, with files of every relevant mode.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/served_program.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::secrets_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kName(kAccount);
const std::string kKeyOnly(kKeyText);

/// Returns "200" if the account's own key is accepted.
std::string answer_to_key(const ServedProgram& program) {
  HttpClient client(program.port());
  if (!client.send(signed_bytes("GET", "Tables"))) return "closed";
  const std::optional<HttpResponse> response = client.read();
  return response ? outcome(*response) : "closed";
}

TEST(Secrets, AccountKeysComeFromFilesUnlessEverybodyMayReadThem) {
  const varve::test::ScratchDirectory scratch;
  const std::string path = scratch.file("key", kKeyOnly + ":" + std::string(kSecondKeyText) + "\n");
  for (const mode_t mode : {0400U, 0600U, 0440U, 0640U, 0660U, 0604U, 0644U, 0602U, 0666U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ServedProgram program({{"--account", kName + ":@" + path}});
    const bool is_open = (mode & 06) != 0;
    EXPECT_EQ(program.is_ready(), !is_open) << std::oct << mode;
    if (program.is_ready()) {
      EXPECT_EQ(answer_to_key(program), "200");
      program.signal(SIGTERM);
    }
    EXPECT_EQ(program.finish(), is_open ? 1 : 0) << std::oct << mode;
    EXPECT_THAT(program.err(), is_open ? HasSubstr("chmod o= '" + path + "'") : HasSubstr("")) << std::oct << mode;
    EXPECT_THAT(program.err(), Not(HasSubstr(kKeyOnly.substr(0, 10))));
  }
}

TEST(Secrets, KeyFilesThatHoldNoKeyAreRefused) {
  const varve::test::ScratchDirectory scratch;
  for (const std::string content : {"", "\n", "no key", ":", "@", "AAEC AwQF"}) {
    const std::string path = scratch.file("key", content);
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    ServedProgram program({{"--account", kName + ":@" + path}});
    EXPECT_FALSE(program.is_ready()) << content;
    EXPECT_EQ(program.finish(), 1) << content;
  }
  for (const std::string& path : {scratch.path("gone"), scratch.path(""), std::string()}) {
    ServedProgram program({{"--account", kName + ":@" + path}});
    EXPECT_FALSE(program.is_ready()) << path;
    EXPECT_EQ(program.finish(), 1);
    EXPECT_THAT(program.err(), HasSubstr("key file \"" + path + "\""));
  }
}

TEST(Secrets, AKeyInTheCommandLineIsServedWithAWarning) {
  ServedProgram program({{"--account", kName + ":" + kKeyOnly}});
  ASSERT_TRUE(program.is_ready()) << program.err();
  EXPECT_EQ(answer_to_key(program), "200");
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0);
  EXPECT_THAT(program.err(), HasSubstr("--account " + kName + ":@FILE"));
  EXPECT_THAT(program.err(), Not(HasSubstr(kKeyOnly.substr(0, 10))));
}

TEST(Secrets, PrivateKeysThatEverybodyMayReadAreRefusedAndWhatIsMissingIsNamed) {
  const Certificate certificate;
  const auto serve = [&](const std::string& chain, const std::string& key) {
    return ProgramOptions{{"--tls-cert", chain, "--tls-key", key}};
  };
  ASSERT_EQ(::chmod(certificate.key_path().c_str(), 0644), 0);
  ServedProgram open(serve(certificate.certificate_path(), certificate.key_path()));
  EXPECT_FALSE(open.is_ready());
  EXPECT_EQ(open.finish(), 1);
  EXPECT_THAT(open.err(), HasSubstr("chmod o= '" + certificate.key_path() + "'"));
  ASSERT_EQ(::chmod(certificate.key_path().c_str(), 0640), 0);
  ASSERT_EQ(::chmod(certificate.certificate_path().c_str(), 0644), 0);
  ServedProgram closed(serve(certificate.certificate_path(), certificate.key_path()));
  EXPECT_TRUE(closed.is_ready()) << closed.err();
  closed.signal(SIGTERM);
  EXPECT_EQ(closed.finish(), 0);
  ServedProgram missing(serve("/nowhere/chain.pem", certificate.key_path()));
  EXPECT_FALSE(missing.is_ready());
  EXPECT_EQ(missing.finish(), 1);
  EXPECT_THAT(missing.err(), HasSubstr("the certificate \"/nowhere/chain.pem\" does not exist"));
}

TEST(Secrets, WhatTheProgramWritesIsItsOwners) {
  const mode_t before = ::umask(022);
  ServedProgram program({});
  ::umask(before);
  ASSERT_TRUE(program.is_ready());
  HttpClient client(program.port());
  ASSERT_TRUE(
      client.send(signed_bytes("POST", "Tables", R"({"TableName":"Orders"})", {{"Content-Type", "application/json"}})));
  EXPECT_EQ(client.read()->status, 201);
  program.signal(SIGTERM);
  EXPECT_EQ(program.finish(), 0);
  int files = 0;
  const auto mode_of = [](const std::filesystem::path& path) {
    struct stat about {};
    EXPECT_EQ(::stat(path.c_str(), &about), 0);
    return about.st_mode & 0777;
  };
  EXPECT_EQ(mode_of(program.data()), 0700U);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(program.data())) {
    EXPECT_EQ(mode_of(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 3);
}

}  // namespace
}  // namespace varve::serve::secrets_test
