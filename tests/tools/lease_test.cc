// Goal: `varve blob lease` and `varve container lease` do what the leases of blobs and containers do, and the verbs that
// write take the id of a lease (BE-01 to BE-03, BB-16).
// Method: the program works on a store as a user does. No test waits for a lease to end.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::lease_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class LeaseVerbs : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_EQ(run_program({"container", "create", store_, "photos"}).exit_code, 0); }

  static ProgramResult blob(Words words, const std::string& input = "") {
    words.insert(words.begin(), "blob");
    return run_program(words, input);
  }
  static ProgramResult container(Words words) {
    words.insert(words.begin(), "container");
    return run_program(words);
  }
  void put(const std::string& name, const std::string& text) const {
    EXPECT_EQ(blob({"put", store_, "photos", name, "-"}, text).exit_code, 0) << name;
  }
  std::string got(const std::string& name) const { return blob({"get", store_, "photos", name}).out; }
  std::string names() const { return blob({"list", store_, "photos"}).out; }
  static json parsed(const ProgramResult& result) { return json::parse(result.out, nullptr, false); }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(LeaseVerbs, BE01_BE02_LeasesAreAcquiredRenewedChangedReleasedAndBroken) {
  put("a", "x");
  const auto lease = [&](Words more) {
    Words words{"lease", store_, "photos", "a"};
    words.insert(words.end(), more.begin(), more.end());
    return blob(words);
  };
  const auto state = [&] { return parsed(blob({"show", store_, "photos", "a", "--json"}))["lease"]; };
  const std::string first = "00000000-0000-0000-0000-000000000001";
  const std::string second = "00000000-0000-0000-0000-000000000002";
  EXPECT_EQ(lease({"acquire", "--id", first, "--duration", "60"}).out, first + "\n");
  EXPECT_EQ(state(), "leased");
  const ProgramResult present = lease({"acquire"});
  EXPECT_EQ(present.exit_code, 1);
  EXPECT_THAT(present.err, AllOf(HasSubstr("LeaseAlreadyPresent"), HasSubstr("break")));
  EXPECT_EQ(lease({"renew", "--id", first}).out, first + "\n");
  EXPECT_EQ(parsed(lease({"change", "--id", first, "--new-id", second, "--json"}))["lease"], second);
  EXPECT_THAT(lease({"release", "--id", first}).err, HasSubstr("LeaseIdMismatchWithLeaseOperation"));
  const json broken = parsed(lease({"break", "--period", "0", "--json"}));
  EXPECT_EQ(broken["seconds_left"], 0);
  EXPECT_EQ(state(), "broken");
  EXPECT_EQ(parsed(lease({"release", "--id", second, "--json"}))["released"], true);
  EXPECT_EQ(state(), "available");
  EXPECT_EQ(lease({"acquire"}).out.size(), 37U) << "a new id";
  EXPECT_EQ(lease({"break"}).out, "0\n") << "one without an end is broken at once";
}

TEST_F(LeaseVerbs, BE03_AWriteNeedsTheIdOfTheLease) {
  put("a", "x");
  const std::string file = scratch_.file("in", "y");
  const std::string mine = "00000000-0000-0000-0000-000000000001";
  EXPECT_EQ(blob({"lease", store_, "photos", "a", "acquire", "--id", mine}).exit_code, 0);
  const std::vector<Words> writes = {{"put", store_, "photos", "a", file},
                                     {"put", store_, "photos", "a", file, "--resume"},
                                     {"copy", store_, "photos", "a", "a"},
                                     {"delete", store_, "photos", "a"}};
  for (Words words : writes) {
    const ProgramResult missing = blob(words);
    EXPECT_EQ(missing.exit_code, 1) << words.front();
    EXPECT_THAT(missing.err, AllOf(HasSubstr("LeaseIdMissing"), HasSubstr("--lease"))) << words.front();
    words.insert(words.end(), {"--lease", "00000000-0000-0000-0000-000000000002"});
    EXPECT_THAT(blob(words).err, HasSubstr("LeaseIdMismatchWithBlobOperation")) << words.front();
    EXPECT_EQ(got("a"), "x") << words.front();
  }
  for (Words words : writes) {
    words.insert(words.end(), {"--lease", mine});
    EXPECT_EQ(blob(words).exit_code, 0) << words.front();
  }
  EXPECT_EQ(names(), "");
}

TEST_F(LeaseVerbs, BB16_ALeaseOfAContainerGuardsItsDrop) {
  const ProgramResult taken = container({"lease", store_, "photos", "acquire", "--json"});
  const std::string mine = parsed(taken)["lease"];
  const ProgramResult missing = container({"drop", store_, "photos", "--yes"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("LeaseIdMissing"), HasSubstr("--lease")));
  put("a", "the blobs are free");
  EXPECT_EQ(parsed(container({"show", store_, "photos", "--json"}))["lease"], "leased");
  EXPECT_EQ(container({"drop", store_, "photos", "--yes", "--lease", mine}).exit_code, 0);
  EXPECT_EQ(container({"list", store_}).out, "");
}

TEST_F(LeaseVerbs, BE01_RefuseBadRequestsOfLeases) {
  put("a", "x");
  const auto refused = [&](Words more, int exit_code, const char* part) {
    Words words{"lease", store_, "photos", "a"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = blob(words);
    EXPECT_EQ(result.exit_code, exit_code) << more.front() << result.err;
    EXPECT_EQ(result.out, "") << more.front();
    EXPECT_THAT(result.err, HasSubstr(part)) << more.front();
  };
  const std::string id = "00000000-0000-0000-0000-000000000001";
  refused({"take"}, 2, "ACTION");
  refused({"acquire", "--id", "one"}, 1, "--id");
  refused({"acquire", "--duration", "14"}, 1, "InvalidHeaderValue");
  refused({"acquire", "--duration", "-1"}, 1, "--duration");
  refused({"acquire", "--new-id", id}, 2, "--new-id");
  refused({"acquire", "--period", "1"}, 2, "--period");
  refused({"renew"}, 2, "--id");
  refused({"change", "--id", id}, 2, "--new-id");
  refused({"release", "--id", id, "--duration", "15"}, 2, "--duration");
  refused({"break", "--id", id}, 2, "--id");
  refused({"break", "--period", "61"}, 1, "InvalidHeaderValue");
  refused({"renew", "--id", id}, 1, "LeaseIdMismatchWithLeaseOperation");
  refused({"acquire", "--if-match", "W/\"datetime'2020-01-01T00%3A00%3A00.0000000Z'\""}, 1, "ConditionNotMet");
  EXPECT_EQ(parsed(blob({"show", store_, "photos", "a", "--json"}))["lease"], "available");
  put("ann.jpg", "x");
  EXPECT_THAT(blob({"lease", store_, "photos", "an.jpg", "acquire"}).err, HasSubstr("did you mean blob `ann.jpg`?"));
  EXPECT_THAT(blob({"put", store_, "photos", "a", scratch_.file("in", "y"), "--lease", "x"}).err, HasSubstr("--lease"));
}

}  // namespace
}  // namespace varve::lease_test
