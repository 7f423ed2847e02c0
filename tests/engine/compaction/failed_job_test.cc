// Goal: a job that fails, for any reason and in any file, delays no other job. All other files are compacted, compact()
// ends and names the failure, each attempt is logged once, and a transient failure is repaired.
// Method: a sweep over the failing file, the failure and the work of other tables. The file is a table file or a value
// file. The failure is damage, an error of the device, no space, or no memory reported by the system. The fault affects
// one file, chosen by its number. Figures and names show the state of the others.
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::failed_job_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kBroken = format::make_table_id(7, 1);
constexpr format::TableId kOther = format::make_table_id(9, 1);

class Log final : public EventSink {
 public:
  void on_health(Health, const Status&) noexcept override {}
  void on_log(std::string_view line) noexcept override {
    const std::lock_guard guard(mutex_);
    lines_.emplace_back(line);
  }
  int count(std::string_view words) const {
    const std::lock_guard guard(mutex_);
    int found = 0;
    for (const std::string& line : lines_) found += line.find(words) != std::string::npos ? 1 : 0;
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// The way in which a read of the file fails.
struct Way {
  const char* name;
  io::FaultEffect effect;
  Code code;
  int os_error;
};

constexpr Way kWays[] = {
    {"Damage", io::FaultEffect::kFlipBitPersistently, Code::kCorruption, 0},
    {"InputOutput", io::FaultEffect::kError, Code::kIoError, EIO},
    {"Stale", io::FaultEffect::kError, Code::kIoError, ESTALE},
    {"NoMemory", io::FaultEffect::kError, Code::kOutOfMemory, ENOMEM},
    {"NoSpace", io::FaultEffect::kError, Code::kNoSpace, ENOSPC},
    {"Missing", io::FaultEffect::kError, Code::kIoError, ENOENT},
};

enum class Where { kTable, kValueFile };

struct Case {
  Where where;
  Way way;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Where where : {Where::kTable, Where::kValueFile}) {
    for (const Way& way : kWays) cases.push_back({where, way});
  }
  return cases;
}

class FailedJob : public testing::TestWithParam<Case> {
 protected:
  FailedJob() {
    EngineOptions options = Machine::writable();
    options.events = &log_;
    engine_ = *machine_.open(options);
  }

  void put(format::TableId table, int row, std::size_t bytes) {
    std::string value(bytes, ' ');
    for (char& c : value) c = static_cast<char>(random_.next());
    const auto committed = Change(table).put("p", std::to_string(100'000 + row), value).commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  }
  void fill(format::TableId table, int first, int rows, std::size_t bytes) {
    for (int row = first; row < first + rows; ++row) put(table, row, bytes);
  }
  std::vector<std::string> names(std::string_view suffix) const {
    std::vector<std::string> found = machine_.files->snapshot().file_names(test::kStorePath);
    std::erase_if(found, [suffix](const std::string& name) { return !name.ends_with(suffix); });
    return found;
  }
  std::uint64_t level0() const { return engine_->statistics().levels[0].files; }

  /// Makes a table file, or a value file that is mostly garbage, which the next compaction reads.
  std::string make_victim(Where where) {
    if (where == Where::kTable) {
      fill(kBroken, 0, 300, 1000);
      EXPECT_EQ(engine_->compact().to_string(), "Ok");
      const std::string victim = names(".sst").front();
      fill(kBroken, 100, 20, 1000);  // overlaps it: both must be merged
      return victim;
    }
    fill(kBroken, 0, 20, 2 * kExternalValueBytesMin);
    EXPECT_EQ(engine_->flush().to_string(), "Ok");
    EXPECT_EQ(engine_->compact().to_string(), "Ok");
    EXPECT_GE(engine_->statistics().value_files, 1U);
    const std::string victim = names(".wal").front();
    return victim;
  }
  /// Makes most of a value file garbage, so that its rest is copied into tables.
  void waste_values() { fill(kBroken, 0, 15, 100); }

  void fail_reads(const std::string& name, const Way& way) {
    io::FaultRule rule;
    rule.name_suffix = name;
    rule.predicate = [](const io::Operation& operation) { return operation.kind == io::OperationKind::kRead; };
    rule.fail_count = way.effect == io::FaultEffect::kError ? io::FaultRule::kFromThenOn : 1;
    rule.effect = way.effect;
    rule.code = way.code;
    rule.os_error = way.os_error;
    machine_.files->faults().add(rule);
  }

  Log log_;
  io::SeededRandom random_{5};
  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(FailedJob, HoldsUpNoOtherFile) {
  const auto& [where, way] = GetParam();
  const std::string victim = make_victim(where);
  ASSERT_FALSE(victim.empty());
  fail_reads(victim, way);
  if (where == Where::kValueFile) waste_values();
  ASSERT_EQ(engine_->flush().to_string(), "Ok");

  const Status failed = engine_->compact();
  EXPECT_EQ(failed.code(), way.code) << failed.to_string();
  EXPECT_EQ(failed.place().kind, where == Where::kTable ? FileKind::kTable : FileKind::kLogSegment);
  EXPECT_EQ(failed.os_error(), way.os_error);
  EXPECT_NE(std::string(failed.message()).find(victim), std::string::npos) << "the file is named for people";
  EXPECT_GE(log_.count(victim), 1);
  EXPECT_LE(log_.count(victim), 2) << "once for one attempt: the store's own, and the one that was asked for";

  const std::uint64_t jobs = engine_->statistics().compactions;
  // Adds level after level of another table, each overlapping the one before, during the failure.
  for (int round = 0; round < 24; ++round) {
    fill(kOther, round % 7 * 10, 20, 500);
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }
  (void)engine_->compact();
  EXPECT_GT(engine_->statistics().compactions, jobs);
  EXPECT_LE(level0(), where == Where::kTable ? 1U : 0U) << "what lies over the failed table file may wait, no other";
  // The space of a dropped table is freed too.
  const std::size_t before = names(".sst").size();
  ASSERT_TRUE(Change(kOther).retire(kOther).commit(*engine_).ok());
  (void)engine_->compact();
  EXPECT_LT(names(".sst").size(), before);
  EXPECT_LE(log_.count(victim), 4) << "an attempt each time that somebody asked for one, and no other";

  if (way.effect != io::FaultEffect::kError) {
    EXPECT_EQ(engine_->compact().code(), way.code) << "a file that is left alone is told each time";
    return;
  }
  machine_.files->faults().clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok") << "what passed is made good";
  EXPECT_EQ(level0(), 0U);
}

INSTANTIATE_TEST_SUITE_P(FilesAndWays, FailedJob, testing::ValuesIn(all_cases()), [](const auto& test) {
  return std::string(test.param.where == Where::kTable ? "Table" : "Value") + test.param.way.name;
});

}  // namespace
}  // namespace varve::engine::failed_job_test
