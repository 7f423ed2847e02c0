// Goal: if the power is cut or the process killed at any moment while a dropped table's space is freed, other tables
// are complete. An acknowledged drop is permanent, and the next open frees the space.
// Method: one table is kept, and one is dropped by itself or with its account. Its data is in the log, in table files
// and in value files. The store's threads run one at a time by seed. Images of the disk are taken at every step after
// the drop, and opened afterwards. Rerun one seed with VARVE_SEED=<number>.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::give_back_power_cut_test {
namespace {

using test::Change;
using test::Machine;

constexpr format::TableId kKept = format::make_table_id(3, 1);
constexpr format::TableId kDropped = format::make_table_id(7, 5);

struct Image {
  io::MemoryDisk disk;
  bool drop_acknowledged = false;
  std::string where;
};

class GiveBackPowerCut : public testing::TestWithParam<std::uint64_t> {
 protected:
  static std::uint64_t seed() {
    const char* const chosen = std::getenv("VARVE_SEED");
    return chosen == nullptr ? GetParam() : std::strtoull(chosen, nullptr, 10);
  }
  bool drops_the_account() const { return seed() % 2 == 1; }
  bool only_closes() const { return seed() / 2 % 2 == 1; }
  std::size_t value_bytes() const { return seed() / 4 % 2 == 1 ? 60'000 : 2'000; }
  bool flushes_a_part() const { return seed() / 8 % 2 == 1; }

  void write(Engine& engine, format::TableId table, int first, int commits) {
    for (int commit = first; commit < first + commits; ++commit) {
      Change change(table);
      for (std::size_t bytes = 0; bytes < 240'000; bytes += value_bytes()) {
        change.put("p", std::to_string(commit) + "/" + std::to_string(bytes), std::string(value_bytes(), 'v'));
      }
      ASSERT_TRUE(change.commit(engine).ok());
    }
  }
  void drop(Engine& engine) {
    CommitRequest request;
    format::BatchBuilder batch;
    if (drops_the_account()) {
      batch.retire_account(format::account_of(kDropped));
    } else {
      batch.retire_table(kDropped);
    }
    request.batch = batch.finish();
    request.frees_space = true;
    ASSERT_TRUE(engine.commit(std::move(request)).ok());
    drop_acknowledged_ = true;
  }
  void look(const io::Operation& operation, io::Moment moment) {
    if (moment == io::Moment::kBefore) return;
    const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name) +
                              " #" + std::to_string(operation.index);
    for (io::MemoryDisk& disk : machine_.files->power_cuts(picks_, 2)) {
      images_.push_back({std::move(disk), drop_acknowledged_, where + ", power cut"});
    }
    images_.push_back({machine_.files->process_death(picks_), drop_acknowledged_, where + ", kill"});
  }
  void check(Image& image) {
    Machine machine(seed() + 7, std::move(image.disk));
    auto engine = machine.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    for (int round = 0; round < 2; ++round) {
      std::size_t kept = 0;
      std::size_t dropped = 0;
      {
        Cursor cursor = (*engine)->view().cursor("", "");
        for (cursor.seek_to_first(); cursor.valid(); cursor.next()) {
          const format::TableId table = format::table_id_of(cursor.key());
          if ((*engine)->was_dropped(table)) continue;
          ++(table == kKept ? kept : dropped);
          ASSERT_EQ(cursor.value().size(), value_bytes());
        }
        ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
      }
      ASSERT_EQ(kept, kept_rows_);
      if (image.drop_acknowledged) {
        ASSERT_EQ(dropped, 0u);
      } else {
        ASSERT_TRUE(dropped == 0 || dropped == dropped_rows_) << dropped;
      }
      if (round == 0) {
        ASSERT_EQ((*engine)->compact().to_string(), "Ok");
      }
    }
    if (!image.drop_acknowledged) return;
    ASSERT_EQ((*engine)->statistics().retired_ids, 0u);
    ASSERT_EQ((*engine)->statistics().compaction_debt_bytes, 0u);
  }

  Machine machine_{seed(), test::OneThreadAtATime{}};
  io::SeededRandom picks_{seed() + 1};
  std::vector<Image> images_;
  std::size_t kept_rows_ = 0;
  std::size_t dropped_rows_ = 0;
  bool drop_acknowledged_ = false;
};

TEST_P(GiveBackPowerCut, LosesNothingThatIsLive) {
  SCOPED_TRACE("seed " + std::to_string(seed()));
  const std::size_t rows = (240'000 + value_bytes() - 1) / value_bytes();
  {
    auto engine = machine_.open();
    ASSERT_TRUE(engine.ok()) << engine.status().to_string();
    write(**engine, kKept, 0, 2);
    write(**engine, kDropped, 0, 4);
    if (flushes_a_part()) {
      ASSERT_TRUE((*engine)->flush().ok());
    }
    write(**engine, kKept, 2, 1);
    write(**engine, kDropped, 4, 3);
    kept_rows_ = 3 * rows;
    dropped_rows_ = 7 * rows;
    machine_.files->set_observer(
        [this](const io::Operation& operation, io::Moment moment) { look(operation, moment); });
    drop(**engine);
    if (!only_closes()) {
      ASSERT_EQ((*engine)->compact().to_string(), "Ok");
    }
    ASSERT_EQ((*engine)->close().to_string(), "Ok");
    machine_.files->set_observer({});
  }
  ASSERT_GT(images_.size(), 20u);
  for (std::size_t i = 0; i < images_.size(); i += test::kStride) {
    SCOPED_TRACE(images_[i].where);
    check(images_[i]);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, GiveBackPowerCut, testing::Range<std::uint64_t>(0, 16));

}  // namespace
}  // namespace varve::engine::give_back_power_cut_test
