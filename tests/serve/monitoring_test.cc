// Goal: dashboards and alert rules ask only for metrics that the server exports.
// Method: every name in the files, against the text of /metrics after one request of each kind of figure.
#include <filesystem>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "tests/serve/watch_bench.h"
#include "tests/tools/run_program.h"
#include "varve/version.h"

namespace varve::serve::monitoring_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

std::string text_of(const char* name) {
  const std::filesystem::path path = std::filesystem::path(VARVE_SOURCE_DIR) / "tools" / "serve" / "monitoring" / name;
  std::string text = varve::test::content_of(path);
  EXPECT_FALSE(text.empty()) << path;
  return text;
}

/// Returns all words of the text that are names of metrics.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex kName("\\b(?:varve|process)_[a-z0-9_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), kName), std::sregex_token_iterator()};
}

/// Returns the names of all series that the server exports.
std::set<std::string> exported() {
  WatchBench bench;
  ReloadFigures reloads;
  bench.observed.reloads = &reloads;
  bench.observed.cluster = [] {
    RadosFigures cluster;
    cluster.lease_age = std::chrono::seconds(1);
    cluster.pool = RadosPool();
    return cluster;
  };
  EXPECT_EQ(bench.insert("1"), "201");
  const std::string text = bench.watch("/metrics").body;
  std::set<std::string> names;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text[at] != '#') names.insert(text.substr(at, text.find_first_of(" {", at) - at));
  }
  return names;
}

TEST(Monitoring, AsksOnlyForMetricsThatTheServerExports) {
  const std::set<std::string> known = exported();
  for (const char* const file : {"dashboard.json", "alerts.yml"}) {
    const std::set<std::string> asked = metrics_in(text_of(file));
    EXPECT_GT(asked.size(), 5U) << file;
    for (const std::string& name : asked) EXPECT_TRUE(known.contains(name)) << file << ": " << name;
  }
}

TEST(Monitoring, TheProcessHasTheFiguresThatAllExportersShare) {
  const std::set<std::string> known = exported();
  for (const char* const name :
       {"process_cpu_seconds_total", "process_start_time_seconds", "process_resident_memory_bytes",
        "process_virtual_memory_bytes", "process_open_fds", "process_max_fds", "process_threads"}) {
    EXPECT_TRUE(known.contains(name)) << name;
  }
  WatchBench bench;
  EXPECT_THAT(bench.watch("/metrics").body, HasSubstr("varve_build_info{version=\"" VARVE_VERSION "\"} 1\n"));
}

TEST(Monitoring, TheDashboardIsJsonWithAnExpressionInEachPanel) {
  const std::string text = text_of("dashboard.json");
  rapidjson::Document dashboard;
  dashboard.Parse(text.c_str(), text.size());
  ASSERT_FALSE(dashboard.HasParseError());
  std::set<int> ids;
  for (const auto& panel : dashboard["panels"].GetArray()) {
    EXPECT_TRUE(ids.insert(panel["id"].GetInt()).second);
    EXPECT_GT(panel["targets"].Size(), 0U);
    for (const auto& target : panel["targets"].GetArray()) {
      EXPECT_FALSE(metrics_in(target["expr"].GetString()).empty()) << target["expr"].GetString();
    }
  }
  EXPECT_GT(ids.size(), 10U);
}

}  // namespace
}  // namespace varve::serve::monitoring_test
