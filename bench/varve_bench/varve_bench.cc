// Owns: the command line of the race of whole stores.
// Must never: compare a durable write with a less durable one, or leave out a row that Varve lost.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include "bench/varve_bench/report.h"
#include "bench/varve_bench/runner.h"

namespace varve::bench {

namespace {

/// Sets sizes at which every row runs once and no figure has a meaning. The run tests the program, not the stores.
void make_quick(Choice& choice) {
  choice.entities = 5'000;
  choice.curve_entities = 5'000;
  choice.rounds = 1;
  choice.seconds = 0.1;
  choice.tables = 200;
  choice.endurance_seconds = 0.4;
  choice.slot_seconds = 0.1;
  choice.mixed_entities = 2'000;
  choice.mixed_tables = 100;
  choice.offered = 1'000;
}

std::string list_of_workloads() {
  std::string text = "\nWorkloads (those in parentheses only when they are named):\n";
  for (const Workload& workload : all_workloads()) {
    const std::string name = workload.only_when_named ? "(" + workload.name + ")" : workload.name;
    text += "  " + name + ": " + workload.about + "\n";
  }
  return text;
}

void add_words(CLI::App& app, Choice& choice, bool& quick, bool& lists) {
  app.add_option("--workloads,--workload", choice.workloads, "Workloads to run, separated by commas")->delimiter(',');
  app.add_option("--contenders", choice.contenders, "varve, rocksdb, leveldb, lmdb; default: all that are built in")
      ->delimiter(',');
  app.add_option("--entities", choice.entities, "Number of entities in a table, 288 bytes each")->capture_default_str();
  app.add_option("--rounds", choice.rounds, "Number of rounds, interleaved")->capture_default_str();
  app.add_option("--seconds", choice.seconds, "Seconds for each row that runs for a time")->capture_default_str();
  app.add_option("--tables", choice.tables, "Number of tables that the workload `tables` creates")
      ->capture_default_str();
  app.add_option("--endurance-seconds", choice.endurance_seconds, "Seconds of `endurance`")->capture_default_str();
  app.add_option("--slot-seconds", choice.slot_seconds, "Seconds of a slot in `endurance`")->capture_default_str();
  app.add_option("--curve-entities", choice.curve_entities, "Number of entities in `curve`")->capture_default_str();
  app.add_option("--mixed-entities", choice.mixed_entities, "Number of entities in `mixed`")->capture_default_str();
  app.add_option("--mixed-tables", choice.mixed_tables, "Number of tables in `mixed`, a multiple of 100")
      ->check(CLI::Range(100, 1'000'000))
      ->capture_default_str();
  app.add_option("--offered", choice.offered, "Operations a second that `smooth` offers")->capture_default_str();
  app.add_option("--directory", choice.directory, "Directory in which stores are created and removed")
      ->capture_default_str();
  app.add_option("--rows", choice.rows, "Run only rows whose names match this regular expression");
  app.add_option("--first-round", choice.first_round, "Number of the first round")->capture_default_str();
  app.add_option("--json", choice.json,
                 "File to which every figure is added, one line of JSON for each row of each round");
  app.add_flag("--list", lists, "List the workloads and their rows as lines of JSON, and run none");
  app.add_flag("--quick", quick, "Run everything once and tiny; the figures mean nothing");
}

int fail(const Status& status) {
  std::fprintf(stderr, "varve-bench: %s\n", status.to_string().c_str());
  return 1;
}

int run(int argc, char** argv) {
  CLI::App app("varve-bench: compares Varve with its peers and with the limits of the device.", "varve-bench");
  app.footer(list_of_workloads());
  Choice choice;
  bool quick = false;
  bool lists = false;
  add_words(app, choice, quick, lists);
  try {
    app.parse(argc, argv);
    if (quick) {
      make_quick(choice);  // options after this one count again
      app.clear();
      app.parse(argc, argv);
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (lists) {
    std::fputs(list_as_lines(all_workloads()).c_str(), stdout);
    return 0;
  }
  choice.directory += "/varve-bench-" + std::to_string(::getpid());
  std::error_code error;
  if (!std::filesystem::create_directories(choice.directory, error)) {
    return fail(Status::io_error("cannot make " + choice.directory + ": " + error.message()));
  }
  const Result<Record> record = run_race(choice);
  std::filesystem::remove_all(choice.directory, error);
  if (!record.ok()) return fail(record.status());
  std::fputs(as_tables(*record, choice).c_str(), stdout);
  if (choice.json.empty()) return 0;
  std::ofstream file(choice.json, std::ios::app);
  file << as_lines(*record, choice);
  return file.flush() ? 0 : fail(Status::io_error("cannot write " + choice.json));
}

}  // namespace
}  // namespace varve::bench

int main(int argc, char** argv) {
  return varve::bench::run(argc, argv);
}
