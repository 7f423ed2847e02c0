// Goal: the races of whole stores, of blobs and of messages stay runnable.
// Method: every workload runs once with tiny sizes, by every contender in the build. No figure is checked.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::test::bench_test {
namespace {

struct BenchRun {
  int status = -1;
  std::string out;
  std::string err;
  std::string json;
};

/// `directory_option` precedes the directory in which stores are made.
BenchRun run_program_of_bench(const std::string& name, const std::string& arguments,
                              const std::string& directory_option) {
  const ScratchDirectory scratch;
  const std::string program = std::filesystem::path(VARVE_PROGRAM).parent_path() / name;
  const std::string command = program + " " + arguments + " " + directory_option + " " + scratch.path("") + " --json " +
                              scratch.path("json") + " > " + scratch.path("out") + " 2> " + scratch.path("err");
  BenchRun run;
  run.status = std::system(command.c_str());  // NOLINT(cert-env33-c): the command is ours
  run.out = content_of(scratch.path("out"));
  run.err = content_of(scratch.path("err"));
  run.json = content_of(scratch.path("json"));
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path(""))) {
    EXPECT_FALSE(entry.is_directory()) << entry.path() << " was left behind";
  }
  return run;
}

BenchRun run_bench(const std::string& arguments) {
  return run_program_of_bench("varve-bench", arguments, "--directory");
}

BenchRun run_blobs_bench(const std::string& arguments) {
  return run_program_of_bench("varve-blobs-bench", arguments, "");
}

TEST(Bench, EveryWorkloadRunsOnce) {
  const BenchRun run = run_bench("--quick");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* row : {"durable put, 64 threads",
                          "durable insert of 100, checked",
                          "one hot partition, 16 threads",
                          "bulk load, batches of 100, buffered",
                          "random put, buffered, 1 thread",
                          "cached get, 2 threads",
                          "get of an absent key",
                          "scan of a partition of 100",
                          "warm full scan",
                          "cold get, 16 threads",
                          "drop of a table",
                          "first entity after deletes",
                          "create tables, 16 threads",
                          "open with these tables",
                          "open after a kill, 50 MB in the log",
                          "durable put, 1024 in flight, 1 thread",
                          "cold get, batches of 64",
                          "cold full scan",
                          "scan of a partition of 100, in place",
                          "warm full scan, in place",
                          "cold full scan, in place",
                          "drop and create again, p99 of 200 times",
                          "YCSB A: half reads, half updates",
                          "YCSB E: 95 % scans of up to 100, 5 % inserts",
                          "mixed tables, buffered, 4 clients",
                          "mixed tables, durable, 16 clients",
                          "durable 64 KiB, 4 threads",
                          "insert of an absent key, cold",
                          "disk space",
                          "filter of 0.1 %, correlated with the keys",
                          "get under a memory limit, 16 threads",
                          "cached get, 1 thread (opponents copy)",
                          "cold full scan, in place (opponents copy)",
                          "YCSB C, in memory: reads (opponents copy)",
                          "gets right after a merge of everything",
                          "an entity in a page of 1,000, beside pages of 100",
                          "scan of entities of 200 properties",
                          "buffered puts by 2 threads, beside one",
                          "transfers by 2 threads, beside one",
                          "sectors of a durable commit",
                          "directory at rest after everything settled",
                          "disk space of entities of ten properties",
                          "bulk load, batches of 100, 128 MB for writes"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row;
    EXPECT_NE(run.json.find(row), std::string::npos) << row;
  }
}

TEST(Bench, WorkloadsThatTakeLongRunWhenTheyAreNamed) {
  const BenchRun run = run_bench("--quick --workloads curve,endurance,smooth");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* row : {"load, batches of 100, buffered", "compact to the end", "drop of a thousand",
                          "random puts for long", "p99.99 of random puts at a fixed load", "worst ms"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row;
  }
}

TEST(Bench, RowsAreChosenAndAddedToAFileOfLines) {
  const BenchRun run = run_bench(
      "--quick --workloads load,read --rows '^(cached get, 1 thread|bulk load, table files)$'"
      " --rounds 2 --first-round 4");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(std::count(run.json.begin(), run.json.end(), '\n'), 4) << run.json;
  EXPECT_NE(run.json.find("\"round\":5"), std::string::npos) << run.json;
  EXPECT_EQ(run.out.find("warm full scan"), std::string::npos);
}

TEST(Bench, RowsThatBuildOnOneAnotherRunTogether) {
  const BenchRun run = run_bench("--quick --workloads tables --rows 'open with'");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("create tables, 16 threads"), std::string::npos);
}

TEST(Bench, WhatIsNotKnownIsRefused) {
  EXPECT_NE(run_bench("--quick --workloads nothing").status, 0);
  EXPECT_NE(run_bench("--quick --contenders nobody").status, 0);
  EXPECT_NE(run_bench("--quick --rounds none").status, 0);
  EXPECT_NE(run_bench("--quick --rows nothing").status, 0);
  EXPECT_NE(run_bench("--quick --rows '('").status, 0);
}

TEST(BlobsBench, EveryGoalHasItsRows) {
  const BenchRun run = run_blobs_bench("--quick");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* row :
       {"durable write of one stream", "durable write of 16 streams", "cold sequential read",
        "cached sequential read, one thread", "cold random range of 64 KiB, median", "durable put of 100 KiB, 1 client",
        "durable put of 100 KiB, 16 clients", "durable put of 64 KiB, 4 clients",
        "durable append of 200 bytes, 64 clients, a blob each", "durable append of 200 bytes, 64 clients, one blob",
        "first page of a listing with a delimiter", "delete of a container", "durable copy of a long blob",
        "durable insert of an entity with a large value of 1 MiB",
        "checksums of a written stream over HTTP, without MD5", "durable insert during a collection, median"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row;
    EXPECT_NE(run.json.find(row), std::string::npos) << row;
  }
  for (const char* goal : {"BO-01", "BO-02", "BO-03", "BO-04", "BO-05", "OBJECTS", "BO-06", "BO-08", "BO-09", "BO-10",
                           "BO-11", "BO-12", "BX-33"}) {
    EXPECT_NE(run.out.find("| " + std::string(goal) + " |"), std::string::npos) << goal;
  }
}

TEST(BlobsBench, GoalsAreChosen) {
  const BenchRun run = run_blobs_bench("--quick --goal BO-12 --goal BO-10");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("| BO-10 |"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("| BO-12 |"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("| BO-01 |"), std::string::npos) << run.out;
}

TEST(BlobsBench, WhatIsNotKnownIsRefused) {
  EXPECT_NE(run_blobs_bench("--quick --goal BO-99").status, 0);
  EXPECT_NE(run_blobs_bench("--quick --rows one").status, 0);
}

TEST(MessagesBench, GoalsAreChosen) {
  const ScratchDirectory scratch;
  const std::string program = std::filesystem::path(VARVE_PROGRAM).parent_path() / "varve-messages-bench";
  const std::string begin = program + " " + scratch.path("") + " --quick --goal ";
  const std::string end = " > " + scratch.path("out") + " 2> " + scratch.path("err");
  ASSERT_EQ(std::system((begin + "QX-18" + end).c_str()), 0)  // NOLINT(cert-env33-c): the command is ours
      << content_of(scratch.path("err"));
  const std::string rows = content_of(scratch.path("out"));
  EXPECT_NE(rows.find("message from the begin of a put to a thread that waits for it"), std::string::npos) << rows;
  EXPECT_NE(rows.find("to a coroutine us"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("durable put of a message"), std::string::npos) << rows;
  EXPECT_NE(std::system((begin + "QG-99" + end).c_str()), 0);  // NOLINT(cert-env33-c)
}

}  // namespace
}  // namespace varve::test::bench_test
