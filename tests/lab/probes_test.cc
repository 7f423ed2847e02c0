// The probes of rare paths: the lab's list equals that of the source, and hits of forks are counted.
#include "tests/lab/probes/probes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/probe.h"

namespace varve::lab::probes_test {
namespace {

std::set<std::string> probes_in_source() {
  std::set<std::string> found;
  const std::regex call("probe\\(\"([^\"]+)\"\\)");
  for (const char* const layer : {"io", "format", "engine", "api"}) {
    const auto directory = std::filesystem::path(VARVE_SOURCE_DIR) / layer;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      if (entry.path().filename() == "probe.h") continue;
      if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator match(source.begin(), source.end(), call), end; match != end; ++match) {
        found.insert((*match)[1]);
      }
    }
  }
  return found;
}

TEST(LabProbes, TheListIsThatOfTheSource) {
  EXPECT_EQ(std::set<std::string>(all_probes().begin(), all_probes().end()), probes_in_source());
  EXPECT_LE(all_probes().size(), io::ProbeTable::kProbesMax);
}

TEST(LabProbes, WhatAForkHitIsCounted) {
  share_probes();
  io::probe("here");
  const pid_t child = ::fork();
  if (child == 0) {
    io::probe("in the fork");
    ::_exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  io::probe("here");
  const auto counts = probe_report();
  EXPECT_EQ(counts.at("probe: here"), 2U);
  EXPECT_EQ(counts.at("probe: in the fork"), 1U);
}

TEST(LabProbes, AreAddedOverSuitesAndThoseNeverHitAreNamed) {
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  const std::string known(all_probes().front());
  counts["crash"] = {{"recoveries", 5}, {"probe: " + known, 2}};
  counts["kill"] = {{"probe: " + known, 3}};
  const auto probes = take_probes(counts);
  EXPECT_EQ(probes.at(known), 5U);
  EXPECT_EQ(counts.at("crash").size(), 1U);
  const auto missed = never_hit(probes);
  EXPECT_EQ(missed.size(), all_probes().size() - 1);
  EXPECT_EQ(std::count(missed.begin(), missed.end(), known), 0);
}

}  // namespace
}  // namespace varve::lab::probes_test
