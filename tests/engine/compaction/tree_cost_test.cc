// Goal: a change of the tree costs what it changes, in memory and in the manifest, however many files the store has.
// Method: trees of a few and of many files that nothing opens, each changed a number of times. Counted are the
// allocations of the changing thread, and the bytes that the manifest writes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/compaction/tree.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/store_image.h"

namespace varve::engine::tree_cost_test {
namespace {

constexpr std::uint64_t kFirstNumber = 100'000;
constexpr format::TableId kDeadTable = 1'000'000;

std::string key_of(std::uint64_t place) {
  return *format::encode_sort_key(1, "p" + std::to_string(1'000'000 + place), "r");
}

format::TableFileEntry table(std::uint64_t number, std::uint64_t place) {
  format::TableFileEntry entry;
  entry.level = kLastLevel;
  entry.number = number;
  entry.size_bytes = 1000;
  entry.smallest_key = entry.largest_key = key_of(place);
  entry.entry_count = 1;
  entry.smallest_version = entry.largest_version = 1;
  entry.first_table = entry.last_table = 1;
  return entry;
}

/// A store with `count` table files, each in a place of its own in the last level.
class ManyFiles : public test::StoreMachine {
 public:
  explicit ManyFiles(std::uint64_t count) : next_number_(kFirstNumber) {
    established = *make_store(env, *directory, {});
    format::ManifestEdit edit;
    edit.file_number_ceiling = kFirstNumber + 1'000'000;
    for (std::uint64_t place = 0; place < count; ++place) {
      edit.added_tables.push_back(table(next_number_, place));
      numbers_.push_back(next_number_++);
    }
    EXPECT_TRUE(established.manifest->append(edit).ok());
    cache_ = std::make_shared<BlockCache>(scheduler, 1 << 20);
    tables_ = std::make_unique<TableFiles>(env, *directory, cache_, OpenFiles::make_for_process(scheduler), [] {});
    states_ = std::make_unique<ReadStates>(
        scheduler,
        ReadState{std::make_shared<Memtable>(), {}, *Tree::arrange(established.manifest->files(), *tables_)});
    tree_ = std::make_unique<Tree>(
        env, *directory, *established.manifest, *states_, *tables_,
        [](const Status& failure) { ADD_FAILURE() << failure.to_string(); }, [] {});
  }
  ~ManyFiles() {
    tree_.reset();
    states_.reset();
  }

  /// Replaces the file of a place by another one, like a compaction. Returns the number of allocations.
  std::uint64_t replace(std::uint64_t place) {
    format::ManifestEdit edit;
    edit.removed_tables = {numbers_[place]};
    edit.added_tables = {table(next_number_, place)};
    numbers_[place] = next_number_++;
    return apply(std::move(edit));
  }
  std::uint64_t apply(format::ManifestEdit edit) {
    const std::uint64_t before = test::allocation_count();
    EXPECT_TRUE(tree_->apply(std::move(edit), [](ReadState&) {}).ok());
    return test::allocation_count() - before;
  }
  std::shared_ptr<const Levels> levels() const { return tree_->levels(); }
  Manifest& manifest() { return *established.manifest; }

 private:
  std::uint64_t next_number_;
  std::vector<std::uint64_t> numbers_;  // by place
  std::shared_ptr<BlockCache> cache_;
  std::unique_ptr<TableFiles> tables_;
  std::unique_ptr<ReadStates> states_;
  std::unique_ptr<Tree> tree_;
};

class TreeCost : public testing::Test {
 protected:
  TreeCost() { test::exempt_allocations(&io::inside_memory_file_system); }
};

/// Returns the most allocations of one of some changes.
std::uint64_t most_allocations(ManyFiles& files, std::uint64_t count) {
  std::uint64_t most = 0;
  for (std::uint64_t change = 0; change < 20; ++change) most = std::max(most, files.replace(change * count / 20));
  return most;
}

TEST_F(TreeCost, AChangeAllocatesAsMuchInAStoreOfManyFiles) {
  ManyFiles few(200);
  ManyFiles many(12'000);
  const std::uint64_t in_few = most_allocations(few, 200);
  const std::uint64_t in_many = most_allocations(many, 12'000);
  EXPECT_GT(in_few, 0u);
  EXPECT_LE(in_many, 2 * in_few);
  EXPECT_EQ(many.levels()->file_count(), 12'000u);
}

TEST_F(TreeCost, AChangeKeepsTheObjectsOfAllOtherFiles) {
  ManyFiles files(1'000);
  const std::shared_ptr<const Levels> before = files.levels();
  (void)files.replace(500);
  const std::shared_ptr<const Levels> after = files.levels();
  std::size_t made = 0;
  for (std::size_t place = 0; place < 1'000; ++place) {
    if (before->level(kLastLevel)[place] != after->level(kLastLevel)[place]) ++made;
  }
  EXPECT_EQ(made, 1u);
}

TEST_F(TreeCost, TheManifestWritesItsSetAgainOnlyAfterAsManyBytesOfEdits) {
  constexpr std::uint64_t kFiles = 6'000;
  ManyFiles files(kFiles);
  std::uint64_t written = 0;
  std::uint64_t manifests = 0;
  files.files.set_observer([&](const io::Operation& operation, io::Moment moment) {
    if (moment != io::Moment::kAfter || !operation.name.starts_with("MANIFEST")) return;
    if (operation.kind == io::OperationKind::kAppend) written += operation.size_bytes;
    if (operation.kind == io::OperationKind::kCreate) ++manifests;
  });
  const std::uint64_t began = files.manifest().size_bytes();
  std::uint64_t edits = 0;
  for (std::uint64_t change = 0; change < 10'000; ++change) {
    const std::uint64_t before = files.manifest().size_bytes();
    (void)files.replace(change * 7 % kFiles);
    const std::uint64_t after = files.manifest().size_bytes();
    if (after > before) edits += after - before;
  }
  files.files.set_observer(nullptr);
  EXPECT_GT(manifests, 0u);
  EXPECT_LE(written, 3 * edits + began);
}

TEST_F(TreeCost, ADeadIdIsForgottenWithItsLastFileAndNotBefore) {
  ManyFiles files(300);
  format::ManifestEdit edit;
  format::TableFileEntry dead = table(kFirstNumber + 900'000, 0);
  dead.smallest_key = dead.largest_key = *format::encode_sort_key(kDeadTable, "p", "r");
  dead.first_table = dead.last_table = kDeadTable;
  edit.added_tables = {dead};
  edit.added_dead_ids = {{format::encode_table(kDeadTable), 5, {}}, {format::encode_table(kDeadTable + 1), 5, {}}};
  (void)files.apply(edit);
  ASSERT_EQ(files.manifest().files().dead_ids.size(), 1u) << "the other id has no entries";
  (void)files.replace(7);
  ASSERT_EQ(files.manifest().files().dead_ids.size(), 1u);
  format::ManifestEdit removal;
  removal.removed_tables = {dead.number};
  (void)files.apply(removal);
  EXPECT_TRUE(files.manifest().files().dead_ids.empty());
}

TEST_F(TreeCost, AValueFileIsForgottenWithItsLastPointerAndNotBefore) {
  ManyFiles files(300);
  constexpr std::uint64_t kValues = kFirstNumber + 800'000;
  format::ManifestEdit edit;
  format::ValueFileEntry values;
  values.number = kValues;
  edit.added_value_files = {values};
  for (const std::uint64_t number : {kValues + 1, kValues + 2}) {
    format::TableFileEntry pointing = table(number, number);
    pointing.value_files = {{kValues, 10}};
    edit.added_tables.push_back(pointing);
  }
  (void)files.apply(edit);
  ASSERT_NE(files.levels()->value_file(kValues), nullptr);
  EXPECT_EQ(files.manifest().files().tables.value_sums().at(kValues), (ValueFileSum{2, 20}));
  for (const std::uint64_t number : {kValues + 1, kValues + 2}) {
    ASSERT_TRUE(files.manifest().files().value_files.contains(kValues));
    format::ManifestEdit removal;
    removal.removed_tables = {number};
    (void)files.apply(removal);
  }
  EXPECT_TRUE(files.manifest().files().value_files.empty());
  EXPECT_EQ(files.levels()->value_file(kValues), nullptr);
}

}  // namespace
}  // namespace varve::engine::tree_cost_test
