// Goal: a cursor over a table passes all versions of a key, however they lie in blocks, and comes to the next key.
// Method: one file whose keys have one to many versions, in blocks of a few entries. Each key is passed from each of its
// versions, and compared with the list of keys.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/tables/block_reader.h"
#include "engine/tables/table_cursor.h"
#include "engine/tables/table_file.h"
#include "format/table/table_builder.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::pass_key_test {
namespace {

TEST(TableCursorPassKey, ComesToTheNextKeyFromEachVersion) {
  constexpr CommitVersion kNewest = 1000;
  format::TableOptions options;
  options.compression_level = 0;
  const auto builder = *format::TableBuilder::make(7, 1, options);
  std::vector<std::string> keys;
  std::vector<CommitVersion> versions;  // of each key
  for (int row = 100; row < 160; ++row) {
    constexpr std::array<CommitVersion, 6> kVersions = {1, 2, 7, 9, 30, 100};
    keys.push_back(test::key_of("p", std::to_string(row)));
    versions.push_back(kVersions[static_cast<std::size_t>(row) % kVersions.size()]);
    for (CommitVersion old = 0; old < versions.back(); ++old) {
      ASSERT_TRUE(builder->add({keys.back(), kNewest - old, Kind::kPut, std::string(200, 'v')}).ok());
    }
  }
  const format::TableFileEntry entry = *builder->finish();
  io::MemoryDisk disk;
  disk.write_file(std::string(test::kStorePath) + "/" + format::file_name(format::FileType::kTable, 7),
                  format::as_bytes(builder->pending()));
  test::Machine machine(1, std::move(disk));
  const io::Env env = machine.env();
  const auto directory = *env.files.open_directory(test::kStorePath);
  io::Scheduler scheduler;
  const auto cache = std::make_shared<BlockCache>(scheduler, 4 << 20);
  TableFiles files(env, *directory, cache, test::few_open_files(env.scheduler), [] {});
  const std::shared_ptr<TableFile> table = files.add(entry);
  BlockReader reader(scheduler, *cache);
  TableCursor cursor(*table, reader, nullptr);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (CommitVersion old = 0; old < versions[i]; ++old) {
      cursor.seek(keys[i], kNewest - old);
      ASSERT_TRUE(cursor.valid());
      ASSERT_EQ(cursor.entry().version, kNewest - old);
      cursor.pass_key(keys[i]);
      ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
      ASSERT_EQ(cursor.valid(), i + 1 < keys.size());
      if (!cursor.valid()) continue;
      ASSERT_EQ(cursor.entry().sort_key, keys[i + 1]);
      ASSERT_EQ(cursor.entry().version, kNewest);
    }
  }
}

}  // namespace
}  // namespace varve::engine::pass_key_test
