#include "bench/blobs/goals_main.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "bench/varve_bench/child_process.h"

namespace varve::bench {

namespace {

using nlohmann::json;

struct Words {
  std::string directory;
  std::vector<std::string> goals;
  std::string json_file;
  bool quick = false;
  std::uint64_t entities = Sizes().entities;
};

int fail(const GoalProgram& program, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program.name.c_str(), message.c_str());
  return 1;
}

std::vector<std::string> ids_of(const std::vector<Goal>& goals) {
  std::vector<std::string> ids;
  for (const Goal& goal : goals) ids.emplace_back(goal.id);
  return ids;
}

void add_words(CLI::App& app, const GoalProgram& program, Words& words) {
  app.add_option("DIRECTORY", words.directory, "Directory in which stores are created and removed")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--goal", words.goals, "Goal to measure; may be repeated. Default: all")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::IsMember(ids_of(program.goals)));
  app.add_option("--json", words.json_file, "File that receives all rows as JSON");
  app.add_option("--entities", words.entities, "Entities of a large table")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--quick", words.quick, "Run everything once and tiny; the figures mean nothing");
}

bool is_chosen(const Words& words, const Goal& goal) {
  return words.goals.empty() || std::find(words.goals.begin(), words.goals.end(), goal.id) != words.goals.end();
}

Result<json> measure(const Goal& goal, const Bench& bench) {
  std::error_code error;
  std::filesystem::create_directories(bench.directory, error);
  if (error) return Status::io_error("cannot make " + bench.directory + ": " + error.message());
  const Result<std::string> rows =
      in_child_process([&]() -> Result<std::string> { return as_json(goal.measure(bench)).dump(); });
  std::filesystem::remove_all(bench.directory, error);
  if (!rows.ok()) return Status::io_error(std::string(goal.id) + ": " + rows.status().to_string());
  return json::parse(*rows);
}

/// Measures the chosen goals in a directory of its own.
Result<json> measure_all(const GoalProgram& program, const Words& words, const std::string& directory) {
  json all = json::array();
  for (const Goal& goal : program.goals) {
    if (!is_chosen(words, goal)) continue;
    std::fprintf(stderr, "    %s\n", std::string(goal.id).c_str());
    std::error_code error;
    const std::uint64_t free = std::filesystem::space(words.directory, error).available;
    if (error) return Status::io_error("cannot read the free space of " + words.directory + ": " + error.message());
    Sizes sizes = words.quick ? quick_sizes() : Sizes();
    sizes.entities = std::min(sizes.entities, words.entities);
    sizes = fitted(sizes, free);
    const Result<json> rows = measure(goal, {directory + "/" + std::string(goal.id), sizes});
    if (!rows.ok()) return rows.status();
    for (const json& row : *rows) all.push_back(row);
  }
  return all;
}

}  // namespace

int run_goals(int argc, char** argv, const GoalProgram& program) {
  CLI::App app(program.name + ": " + program.about, program.name);
  Words words;
  add_words(app, program, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const std::string directory = words.directory + "/" + program.name + "-" + std::to_string(::getpid());
  const Result<json> rows = measure_all(program, words, directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  if (!rows.ok()) return fail(program, rows.status().to_string());
  std::fputs(as_table(*rows).c_str(), stdout);
  if (words.json_file.empty()) return 0;
  std::ofstream file(words.json_file);
  file << rows->dump(1) << "\n";
  return file.flush() ? 0 : fail(program, "cannot write " + words.json_file);
}

}  // namespace varve::bench
