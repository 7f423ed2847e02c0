// Goal: the help explains every verb, fits the terminal, and each example in it works. Every verb that
// prints a result prints it as JSON too.
// Method: the verbs come from the printed lists, so a new verb is tested without a change here. Each example runs in a
// shell, in a fresh copy of a directory with a store and files.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"

namespace varve::help_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string help_of(const std::string& verb) {
  Words words{"help"};
  std::istringstream in(verb);
  for (std::string word; in >> word;) words.push_back(word);
  const ProgramResult result = run_program(words);
  EXPECT_EQ(result.exit_code, 0) << verb << result.err;
  return result.out;
}

bool has_verbs(const std::string& help) {
  return help.find(" VERB [WORDS]") != std::string::npos;
}

/// Returns the names in the lists of verbs: indented lines before the footer, which has none of these groups.
std::vector<std::string> verbs_listed_in(const std::string& help) {
  const std::set<std::string> others{"Options", "Examples", "Exit codes", "Words"};
  std::vector<std::string> verbs;
  bool in_list = false;
  for (const std::string& line : lines_in(help)) {
    if (line.empty() || line[0] != ' ')
      in_list = !line.empty() && others.count(line) == 0 && !line.starts_with("Usage");
    if (in_list && line.size() > 2 && line[0] == ' ' && line[2] != ' ')
      verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return verbs;
}

/// Returns every verb, such as "query" and "table copy".
std::vector<std::string> all_verbs() {
  std::vector<std::string> verbs;
  for (const std::string& verb : verbs_listed_in(help_of(""))) {
    const std::string help = help_of(verb);
    if (!has_verbs(help)) {
      verbs.push_back(verb);
      continue;
    }
    for (const std::string& second : verbs_listed_in(help)) verbs.push_back(verb + " " + second);
  }
  return verbs;
}

std::vector<std::string> examples_in(const std::string& help) {
  std::vector<std::string> examples;
  bool in_examples = false;
  bool goes_on = false;
  for (const std::string& line : lines_in(help)) {
    if (goes_on) {
      examples.back() += "\n" + line;
    } else if (in_examples && line.starts_with("  ")) {
      examples.push_back(line.substr(2));
    } else {
      in_examples = line == "Examples";
    }
    goes_on = in_examples && line.ends_with("\\");
  }
  return examples;
}

TEST(Help, ListsEveryVerbAndExplainsItWithExamples) {
  const std::vector<std::string> verbs = all_verbs();
  EXPECT_GE(verbs.size(), 30U);
  for (const std::string& verb : verbs) {
    const std::string help = help_of(verb);
    EXPECT_THAT(help, HasSubstr("Usage: varve " + verb)) << verb;
    EXPECT_GE(examples_in(help).size(), 2U) << verb;
    for (const std::string& line : lines_in(help)) {
      if (!line.starts_with("  ")) {
        EXPECT_LE(line.size(), 80U) << verb << ": " << line;
      }
    }
  }
}

TEST(Help, IsTheSameByTheVerbAndByTheOption) {
  EXPECT_EQ(run_program({"help"}).out, run_program({"--help"}).out);
  EXPECT_EQ(run_program({"help", "query"}).out, run_program({"query", "--help"}).out);
  EXPECT_EQ(run_program({"help", "table", "copy"}).out, run_program({"table", "copy", "--help"}).out);
  EXPECT_EQ(run_program({"help", "table"}).out, run_program({"table", "--help"}).out);
}

TEST(Help, ShowsTheFormOfAValueThatHasAColon) {
  const std::string help = help_of("serve");
  EXPECT_THAT(help, HasSubstr("--account NAME:@FILE"));
  EXPECT_THAT(help, HasSubstr("--listen ADDRESS:PORT"));
  EXPECT_THAT(help, HasSubstr("--extensions WHETHER")) << "and not the values behind it";
}

TEST(Help, FitsTheTerminal) {
  for (const unsigned short columns : std::array<unsigned short, 3>{60, 72, 90}) {
    const std::string shown = test::run_on_terminal({"query", "--help", "--no-pager"}, columns).shown;
    for (std::string line : lines_in(shown)) {
      line.erase(line.find_last_not_of("\r") + 1);
      if (!line.starts_with("  varve")) {
        EXPECT_LE(line.size(), columns) << line;
      }
    }
  }
}

// -- Examples ---------------------------------------------------------------------------------------------------------

constexpr const char* kMakeTemplate = R"sh(set -e
mkdir bin template && ln -s "$VARVE" bin/varve && cd template
printf 'region,id,Customer,Lines,Total\neu,0001,Ann,3,10.5\nus,0007,Bob,4,200.5\n' > orders.csv
printf 'country,admin1,name\nde,by,Munich\n' | gzip > cities.csv.gz
printf '{"3166-1":[{"alpha_2":"DE","name":"Germany"}]}' > iso_3166-1.json
printf '{"3166-2":[{"code":"DE-BY","name":"Bavaria"}]}' > iso_3166-2.json
printf '#codes\tcoordinates\tTZ\tcomments\nDE\t+5230+01322\tEurope/Berlin\nFR\t+4852+00220\tEurope/Paris\tmost\n' > zone1970.tab
printf '{"features":[{"type":"Feature","properties":{"a b":1}}]}' > places.geojson
printf '{"host":"h1","What":"up"}\n' | gzip > events-1.jsonl.gz
printf 'data = "./shop"\nlisten = "127.0.0.1:0"\n' > serve.toml
varve import ./shop Orders orders.csv --partition-key region --row-key id
varve put ./shop Visits eu 2026-03-03T10 Seconds=5
varve put ./shop Customers eu 0001 Mail=ann@example.com
varve index create ./shop Orders ByCustomer --on Customer,Total:desc
varve account create ./shop old
varve account create ./shop archive
varve queue create ./shop orders
varve queue put ./shop orders '{"order":"0001"}'
varve table policies ./shop Orders --set readers --permissions r
varve queue policies ./shop orders --set workers --permissions p
printf 'PartitionKey,RowKey,Photo\nsales,0008,ann.jpg\n' > people.csv
mkdir films photos && echo ann > ann.jpg && cp ann.jpg photos && cp ann.jpg films && cp ann.jpg disk.img
for container in photos backups archive; do varve container create ./shop $container; done
varve blob put ./shop photos eu/ann.jpg ann.jpg
varve blob put ./shop backups disk.img disk.img
tar c photos | varve blob put ./shop backups photos.tar -
cp -r shop away
varve put ./staff People sales 0007 Name=Ann --content Photo=ann.jpg
varve backup ./shop ./backups
)sh";

/// Runs $EXAMPLE in a copy of the template. A server's address gets a server; an example that serves is ended.
constexpr const char* kRunExample = R"sh(set -e
rm -rf run && cp -r template run && cd run
until_serving() { until grep -q serving "$1"; do kill -0 "$2"; done; }
case "$EXAMPLE" in
  *varve\ serve*--print-config) eval "$EXAMPLE" ;;
  *varve\ serve*)
    $(printf '%s' "$EXAMPLE" | sed 's/:10002/:0/') > served & server=$!
    until_serving served $server; kill $server; wait $server ;;
  *127.0.0.1:10002*)
    varve serve --data ./away --listen 127.0.0.1:0 > served & server=$!
    until_serving served $server
    port=$(sed -n 's/.*serving.*:\([0-9]*\).*/\1/p' served | head -1)
    ended=0
    eval "$(printf '%s' "$EXAMPLE" | sed "s/:10002/:$port/")" || ended=$?
    kill $server; wait $server; exit $ended ;;
  *) eval "$EXAMPLE" ;;
esac
)sh";

int run_shell(const test::ScratchDirectory& scratch, const std::string& script) {
  ::setenv("VARVE", VARVE_PROGRAM, 1);
  const std::string command = "cd '" + scratch.path(".") + "' && PATH=\"$PWD/bin:$PATH\" sh '" +
                              scratch.file("script", script) + "' > out 2> err < /dev/null";
  return std::system(command.c_str());
}

TEST(Help, PrintsExamplesThatWork) {
  const test::ScratchDirectory scratch;
  ASSERT_EQ(run_shell(scratch, kMakeTemplate), 0) << test::content_of(scratch.path("err"));
  std::size_t tried = 0;
  Words verbs = all_verbs();
  verbs.emplace_back("");
  for (const std::string& verb : verbs) {
    for (const std::string& example : examples_in(help_of(verb))) {
      ::setenv("EXAMPLE", example.c_str(), 1);
      EXPECT_EQ(run_shell(scratch, kRunExample), 0)
          << example << "\n"
          << test::content_of(scratch.path("out")) << test::content_of(scratch.path("err"));
      ++tried;
    }
  }
  ::unsetenv("EXAMPLE");
  EXPECT_GE(tried, 60U);
}

// -- JSON -------------------------------------------------------------------------------------------------------------

/// Verbs without --json, and why.
const std::map<std::string, std::string> kWithoutJson = {
    {"shell", "its commands print, not the verb"},     {"serve", "it prints a log, which has a form of its own"},
    {"export", "its formats are JSON and CSV"},        {"help", "it is for people"},
    {"blob get", "it prints the content of the blob"},
};

TEST(Json, IsPrintedByEveryVerbThatHasAResult) {
  const test::ScratchDirectory scratch;
  ASSERT_EQ(run_shell(scratch, kMakeTemplate), 0) << test::content_of(scratch.path("err"));
  for (const std::string& verb : all_verbs()) {
    const std::string help = help_of(verb);
    if (kWithoutJson.count(verb) != 0) continue;
    EXPECT_THAT(help, HasSubstr("--json")) << verb;
    const std::vector<std::string> examples = examples_in(help);
    ASSERT_FALSE(examples.empty()) << verb;
    std::string example = examples.front();
    if (example.find("--json") == std::string::npos) example += " --json";
    ::setenv("EXAMPLE", example.c_str(), 1);
    EXPECT_EQ(run_shell(scratch, kRunExample), 0) << example << test::content_of(scratch.path("err"));
    const std::string out = test::content_of(scratch.path("out"));
    EXPECT_FALSE(out.empty()) << example;
    for (const std::string& line : lines_in(out))
      EXPECT_FALSE(nlohmann::json::parse(line, nullptr, false).is_discarded()) << example << "\n" << line;
  }
  ::unsetenv("EXAMPLE");
}

TEST(Json, IsTheFormOfErrorsToo) {
  const test::ScratchDirectory scratch;
  const std::string store = scratch.path("store");
  ASSERT_EQ(run_program({"put", store, "Rows", "p", "1", "V=1"}).exit_code, 0);
  const std::vector<std::pair<Words, std::string>> wrong = {
      {{"get", store, "Rows", "p", "2", "--json"}, "Refused"},
      {{"query", store, "Row", "--json"}, "NotFound"},
      {{"query", store, "--json"}, "Usage"},
      {{"qurey", store, "--json"}, "Usage"},
      {{"query", store, "Rows", "--json", "--tpo", "1"}, "Usage"},
      {{"count", scratch.path("absent"), "Rows", "--json"}, "NotFound"},
      {{"query", store, "Rows", "--filter", "V > 1", "--json"}, "InvalidArgument"},
  };
  for (const auto& [words, code] : wrong) {
    const ProgramResult result = run_program(words);
    const auto error = nlohmann::json::parse(result.err, nullptr, false);
    ASSERT_FALSE(error.is_discarded()) << result.err;
    EXPECT_EQ(error["code"], code) << result.err;
    EXPECT_EQ(error["exit"], result.exit_code);
    EXPECT_FALSE(error["message"].get<std::string>().empty());
    EXPECT_TRUE(error.contains("hint"));
  }
}

}  // namespace
}  // namespace varve::help_test
