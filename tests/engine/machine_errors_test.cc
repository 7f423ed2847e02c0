// Goal: no operation returns an errno of the system under a code by which the table model answers. The errno reaches
// the caller's status or the store's health.
// Method: every call of the file system during every operation fails in turn, once or from then on. Each errno is used
// that resembles an answer of the model.
#include <cerrno>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::machine_errors_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kErrnos[] = {ENOENT, EEXIST, ENOTDIR, ENAMETOOLONG, EROFS, ELOOP, EISDIR, EINVAL, EACCES, ESTALE};

const std::set<Code> kAnswersOfTheModel = {Code::kNotFound, Code::kExists,   Code::kPreconditionFailed,
                                           Code::kReadOnly, Code::kTooLarge, Code::kInvalidArgument,
                                           Code::kConflict, Code::kForbidden};

struct Verb {
  const char* name;
  std::function<Status(Engine&)> call;
};

Status put(Engine& engine, std::size_t bytes, format::TableId table = test::kTable) {
  return Change(table).put("p", "new", std::string(bytes, 'x')).commit(engine).status();
}

const Verb kVerbs[] = {
    {"Put", [](Engine& engine) { return put(engine, 100); }},
    {"PutWhatRollsTheLog", [](Engine& engine) { return put(engine, std::size_t{3} << 20); }},
    {"Get", [](Engine& engine) { return engine.view().get(test::key_of("p", "5")).status(); }},
    {"Scan",
     [](Engine& engine) {
       const ReadView view = engine.view();
       Cursor cursor = view.cursor("", "");
       for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
       }
       return cursor.status();
     }},
    {"Drop", [](Engine& engine) { return Change().retire(test::kTable).commit(engine).status(); }},
    {"Flush", [](Engine& engine) { return engine.flush(); }},
    {"Compact", [](Engine& engine) { return engine.compact(); }},
    {"Checkpoint", [](Engine& engine) { return engine.checkpoint("/copy").status(); }},
    {"Sync", [](Engine& engine) { return engine.sync(); }},
};

class MachineErrors : public testing::TestWithParam<int> {};

/// Returns whether the call uses the caller's own checkpoint path. Its error codes are documented (checkpoint.h).
bool is_of_a_given_path(const io::Operation& operation) {
  return operation.kind == io::OperationKind::kCreateDirectory || operation.kind == io::OperationKind::kOpenDirectory;
}

TEST_P(MachineErrors, AtAnyCallOfAnyVerbAreNoAnswerOfTheModel) {
  const int error = GetParam();
  Machine made;
  {
    auto engine = made.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(Change().put("p", std::to_string(i), std::string(2000, 'v')).commit(**engine).ok());
    }
    ASSERT_EQ((*engine)->compact().to_string(), "Ok");
    ASSERT_TRUE(Change().put("p", "5", "again").commit(**engine).ok());
    ASSERT_EQ((*engine)->close().to_string(), "Ok");
  }
  const io::MemoryDisk disk = made.files->snapshot();
  int told = 0;
  for (const Verb& verb : kVerbs) {
    bool hit = true;
    for (std::uint64_t skipped = 0; hit && skipped < 60; skipped += test::kStride) {
      SCOPED_TRACE(std::string(verb.name) + ", call " + std::to_string(skipped));
      Machine machine(1, disk);
      auto engine = machine.open();
      ASSERT_TRUE(engine.ok()) << engine.status().to_string();
      io::FaultRule rule;
      rule.predicate = [](const io::Operation& operation) { return !is_of_a_given_path(operation); };
      rule.skip_count = skipped;
      rule.fail_count = io::FaultRule::kFromThenOn;
      rule.os_error = error;
      machine.files->faults().add(rule);
      const Status status = verb.call(**engine);
      hit = machine.files->faults().hit_count() > 0;
      EXPECT_FALSE(kAnswersOfTheModel.contains(status.code())) << status.to_string();
      if (!status.ok()) ++told;
      // Uses another table, because kNotFound is correct for a table that the operation may have dropped.
      const Status next = put(**engine, 10, test::kTable + 1);
      EXPECT_FALSE(kAnswersOfTheModel.contains(next.code())) << next.to_string();
      machine.files->faults().clear();
    }
  }
  EXPECT_GT(told, 4);
}

INSTANTIATE_TEST_SUITE_P(Errnos, MachineErrors, testing::ValuesIn(kErrnos));

}  // namespace
}  // namespace varve::engine::machine_errors_test
