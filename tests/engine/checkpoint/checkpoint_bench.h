// Owns: short functions for checkpoints: their place, the content of a store, the content of its CURRENT.
// Must never: check results. The tests check them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/log/root.h"
#include "tests/support/engine_bench.h"

namespace varve::engine {

inline constexpr std::string_view kCopyPath = "/copy";
inline constexpr format::TableId kOtherTable = format::make_table_id(7, 2);

inline Result<std::unique_ptr<Engine>> open_at(test::Machine& machine, std::string_view path,
                                               const EngineOptions& options = EngineOptions()) {
  return Engine::open(machine.env(), path, options);
}

/// Maps "partition/row" to its version and the beginning of its value, in the table that fill() does not drop.
using Rows = std::map<std::string, std::string>;
inline Rows rows_of(const Engine& engine) {
  Rows rows;
  Cursor cursor = engine.view().cursor("", "");
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
    const auto key = format::decode_sort_key(cursor.key());
    EXPECT_TRUE(key.ok());
    if (key->table != test::kTable) continue;
    const std::string value(cursor.value());
    rows[key->partition_key + "/" + key->row_key] =
        std::to_string(cursor.version()) + " " + value.substr(0, 8) + " " + std::to_string(value.size());
  }
  EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
  return rows;
}

inline CommitVersion version_of(const Engine& engine) {
  return engine.statistics().visible_version.ticks;
}

/// Returns Ok if every byte of every table file verifies.
inline Status tables_of(const Engine& engine) {
  Status first;
  engine.check_tables([&](std::uint64_t, const Status& found) {
    if (first.ok()) first = found;
  });
  return first;
}

inline format::Root root_of(const test::Machine& machine, std::string_view path) {
  const auto bytes = machine.files->snapshot().read_file(std::string(path) + "/CURRENT");
  EXPECT_TRUE(bytes.ok());
  const Result<format::Root> root = format::decode_root(format::as_text(*bytes));
  EXPECT_TRUE(root.ok());
  return *root;
}

/// Refuses all links from now on.
inline void forbid_links(test::Machine& machine) {
  io::FaultRule rule;
  rule.kind = io::OperationKind::kLink;
  rule.fail_count = io::FaultRule::kFromThenOn;
  rule.code = Code::kUnsupported;
  machine.files->faults().add(rule);
}

/// Fills a store with rows in a table file and in the log, a tag, and buffered commits. With a drop, it also has a
/// dropped table, for which the compactor runs. Without one the store does not change: it has one table file and one
/// segment.
inline void fill(Engine& engine, bool with_drop = true) {
  using test::Change;
  if (with_drop) {
    ASSERT_TRUE(Change(kOtherTable).put("p", "dropped", "d").commit(engine).ok());
  }
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(Change().put("p", "in table " + std::to_string(i), std::string(300, 't')).commit(engine).ok());
  }
  ASSERT_TRUE(engine.flush().ok());
  ASSERT_TRUE(Change().put("p", "in table 3", "newer").remove("p", "in table 4").tag("tag").commit(engine).ok());
  if (with_drop) {
    ASSERT_TRUE(Change(kOtherTable).retire(kOtherTable).commit(engine).ok());
  }
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Change().put("q", "in log " + std::to_string(i), "l").buffered().commit(engine).ok());
  }
}

}  // namespace varve::engine
