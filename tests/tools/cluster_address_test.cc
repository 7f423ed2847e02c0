// Goal: an address on Ceph that cannot be right is refused before a cluster is looked for, by every kind of verb.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::test::cluster_address_test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr int kRefused = 1;

TEST(ClusterAddress, EveryKindOfVerbRefusesAMalformedOne) {
  for (const Words& words :
       {Words{"query", "rados:pool", "Orders"}, Words{"put", "rados:pool", "Orders", "eu", "1", "Lines=2"},
        Words{"verify", "rados:pool"}, Words{"repair", "rados:pool", "rados:pool/mended"}, Words{"stats", "rados:pool"},
        Words{"checkpoint", "rados:pool", "rados:pool/monday"}, Words{"serve", "--data", "rados:pool"},
        Words{"queue", "list", "rados:pool"}, Words{"blob", "list", "rados:pool", "photos"}}) {
    SCOPED_TRACE(words.front());
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, kRefused) << result.err;
    EXPECT_THAT(result.err, HasSubstr("expected rados:POOL/NAME"));
  }
}

TEST(ClusterAddress, ANameHasOneTo64OfItsCharacters) {
  const std::string longest(64, 'x');
  for (const std::string& name :
       {std::string(), longest + "x", std::string("a/b"), std::string("a b"), std::string("ä")}) {
    const ProgramResult result = run_program({"query", "rados:pool/" + name, "Orders"});
    EXPECT_EQ(result.exit_code, kRefused) << name;
    EXPECT_THAT(result.err, HasSubstr("1 to 64 letters, digits, '-', '_' or '.'")) << name;
  }
}

TEST(ClusterAddress, ABackupNeedsADirectory) {
  const ProgramResult result = run_program({"backup", "rados:pool/shop", "./backups"});
  EXPECT_EQ(result.exit_code, kRefused);
  EXPECT_THAT(result.err, HasSubstr("needs a directory"));
  EXPECT_THAT(result.err, HasSubstr("varve export"));
}

TEST(ClusterAddress, FilesAreCopiedToAStoreOfTheSameKindAlone) {
  for (const std::string& verb : {std::string("checkpoint"), std::string("repair")}) {
    for (const Words& places : {Words{"./absent", "rados:pool/copy"}, Words{"rados:pool/shop", "./absent"},
                                Words{"rados:pool/shop", "rados:other/copy"}}) {
      const ProgramResult result = run_program({verb, places[0], places[1]});
      EXPECT_EQ(result.exit_code, kRefused) << verb << " " << places[1];
      EXPECT_THAT(result.err, HasSubstr("alone, not to " + places[1])) << verb;
      EXPECT_THAT(result.err, HasSubstr("varve push")) << verb;
    }
  }
}

}  // namespace
}  // namespace varve::test::cluster_address_test
