// Goal: entities and the contents that they name are of one state, whatever writes happen, and owners are counted (BX-20,
// BX-21).
// Method: random writes by all verbs over a few entities of two tables, and a map of byte strings that says what they must
// leave. At the end of each run the store is opened again, the keeper works, and all owners are counted again. Then writers
// and drops beside each other, in many orders of a seeded scheduler.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_recount.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/api/seeded_threads.h"
#include "tests/support/effort.h"
#include "varve/store_transaction.h"

namespace varve::test::large_value_model_test {
namespace {

/// The contents of entities: by the number of the table and the RowKey, then by the property.
using ModelEntity = std::map<std::string, std::string>;
using ModelState = std::map<std::string, ModelEntity>;

constexpr std::array<const char*, 2> kProperties{"A", "B"};
constexpr std::array<const char*, 2> kTables{"First", "Second"};

std::string key_of(std::size_t table, const std::string& row_key) {
  return std::to_string(table) + row_key;
}

class ValueWorkload {
 public:
  ValueWorkload(QueueBench& bench, std::uint64_t seed)
      : store_(*bench.store),
        random_(seed),
        tables_{value_table(store_, kTables[0]), value_table(store_, kTables[1])} {}

  void run(int commits) {
    for (int i = 0; i < commits; ++i) {
      SCOPED_TRACE("commit " + std::to_string(i));
      run_one();
      expect_state();
      if (below(9) == 0) {
        EXPECT_EQ(said(store_.compact()), kFine);
      }
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  struct Choice {
    std::size_t table = 0;
    WriteOperation operation = WriteOperation::insert(Entity());
  };

  std::size_t below(std::size_t end) { return static_cast<std::size_t>(random_.next() % end); }

  /// Returns a value, and notes its content: a new one, or that of another entity.
  Value any_value(std::string& content) {
    if (below(3) == 0) {
      for (const auto& [key, properties] : state_) {
        if (below(3) != 0 || properties.empty()) continue;
        const auto& [name, bytes] = *properties.begin();
        const std::optional<Entity> entity = read(tables_[key[0] == '1' ? 1 : 0], "p", key.substr(1));
        EXPECT_TRUE(entity);
        const Result<LargeValue> shared = entity->get<LargeValue>(name);
        if (!shared.ok()) continue;  // It is a String.
        content = bytes;
        return *shared;
      }
    }
    constexpr std::array<std::size_t, 5> kSizes{0, 300, 20'000, 300'000, 1'100'000};
    content = std::string(kSizes[below(kSizes.size())], static_cast<char>('a' + below(26)));
    if (below(5) == 0) {
      content = "text";
      return Value("text");
    }
    writers_.push_back(written(tables_[below(2)], content));
    return writers_.back().value;
  }

  /// Chooses a write, and does it to the model. Returns nothing if it must be refused.
  std::optional<ModelState> choose(ModelState after, Choice& choice) {
    choice.table = below(2);
    const std::string row_key = "e" + std::to_string(below(3));
    const std::string key = key_of(choice.table, row_key);
    const bool exists = after.contains(key);
    Entity entity("p", row_key);
    ModelEntity given;
    for (const char* const name : kProperties) {
      if (below(2) == 0) entity.set(name, any_value(given[name]));
    }
    switch (below(6)) {
      case 0:
        choice.operation = WriteOperation::insert(std::move(entity));
        if (exists) return std::nullopt;
        break;
      case 1:
        choice.operation = WriteOperation::replace(std::move(entity), ETag::any());
        if (!exists) return std::nullopt;
        break;
      case 2: choice.operation = WriteOperation::insert_or_replace(std::move(entity)); break;
      case 3:
      case 4: {
        const bool inserts = below(2) == 0;
        choice.operation = inserts ? WriteOperation::insert_or_merge(std::move(entity))
                                   : WriteOperation::merge(std::move(entity), ETag::any());
        if (!exists && !inserts) return std::nullopt;
        if (exists) given.insert(after[key].begin(), after[key].end());
        break;
      }
      default:
        choice.operation = WriteOperation::remove("p", row_key, ETag::any());
        after.erase(key);
        return exists ? std::optional(after) : std::nullopt;
    }
    after[key] = std::move(given);
    return after;
  }

  void run_one() {
    writers_.clear();
    if (below(2) == 0) {
      Choice choice;
      const std::optional<ModelState> after = choose(state_, choice);
      const Status done = tables_[choice.table].execute({&choice.operation, 1}).status();
      EXPECT_EQ(done.ok(), after.has_value()) << done.to_string();
      if (after) state_ = *after;
      return;
    }
    Result<StoreTransaction> transaction = store_.begin_transaction();
    ASSERT_EQ(said(transaction), kFine);
    ModelState next = state_;
    bool is_refused = false;
    std::map<std::string, bool> used;
    for (std::size_t i = 0; i <= below(3); ++i) {
      Choice choice;
      // The writes name different entities, and each is judged by the state before the transaction.
      const std::optional<ModelState> after = choose(next, choice);
      if (!used.emplace(key_of(choice.table, choice.operation.entity.row_key()), true).second) continue;
      transaction->add(tables_[choice.table], choice.operation);
      is_refused = is_refused || !after;
      if (after) next = *after;
    }
    if (below(8) == 0) return;  // Nobody commits it.
    const Result<std::vector<ETag>> done = transaction->commit();
    EXPECT_EQ(done.ok(), !is_refused) << done.status().to_string();
    if (done.ok()) state_ = next;
  }

  void expect_state() {
    for (std::size_t table = 0; table < 2; ++table) {
      for (int i = 0; i < 3; ++i) {
        const std::string row_key = "e" + std::to_string(i);
        const std::vector<std::string> names(kProperties.begin(), kProperties.end());
        const Result<std::optional<OpenedEntity>> found = tables_[table].get_opened("p", row_key, names);
        ASSERT_TRUE(found.ok()) << found.status().to_string();
        const auto expected = state_.find(key_of(table, row_key));
        ASSERT_EQ(found->has_value(), expected != state_.end()) << row_key;
        if (!*found) continue;
        EXPECT_EQ((*found)->entity.properties().size(), expected->second.size());
        for (std::size_t place = 0; place < names.size(); ++place) {
          const auto content = expected->second.find(names[place]);
          const std::optional<LargeValueReader>& reader = (*found)->values[place];
          if (reader) {
            ASSERT_NE(content, expected->second.end());
            EXPECT_TRUE(all_of(*reader) == content->second) << row_key << " " << names[place];
          } else if (content != expected->second.end()) {
            EXPECT_EQ(content->second, "text");
          }
        }
      }
    }
  }

  Store& store_;
  io::SeededRandom random_;
  std::array<Table, 2> tables_;
  std::vector<Unnamed> writers_;
  ModelState state_;
};

TEST(LargeValueModel, BX20_BX21_RandomWritesDoWhatAMapDoesAndCountTheirOwners) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{20}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      {
        ValueWorkload workload(bench, seed);
        workload.run(50);
      }
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    expect_settled(settled.recount());
    if (testing::Test::HasFailure()) return;
  }
}

/// Returns whether an error may come to a writer beside others and beside a drop. A verb of a table never reports that its
/// plan was overtaken.
bool is_expected(const Status& status) {
  const std::string_view error = status.service_error();
  return status.ok() || error == "TableNotFound" || error == "LargeValueNotFound" || error == "ResourceNotFound" ||
         error == "EntityAlreadyExists";
}
/// As is_expected(), for a transaction, of which another writer may have changed what it read.
bool is_expected_of_transaction(const Status& status) {
  return is_expected(status) || status.code() == Code::kConflict;
}

/// Writers that share contents, beside each other and beside a drop of one of their tables.
TEST(LargeValueModel, BX21_BX32_WritersBesideEachOtherCountTheirOwners) {
  for (std::uint64_t seed = 1; seed <= effort(std::uint64_t{40}); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::MemoryDisk disk;
    {
      QueueBench bench(seed, OneThreadAtATime{});
      Table first = value_table(*bench.store, "First");
      Table second = value_table(*bench.store, "Second");
      {
        const Unnamed photo = written(first, std::string(30'000, 'a'));
        EXPECT_EQ(said(first.insert(with_photo("a", photo.value))), kFine);
        EXPECT_EQ(said(second.insert(with_photo("b", photo.value))), kFine);
      }
      const std::function<void()> replacer = [first]() mutable {
        for (int i = 0; i < 3; ++i) {
          Result<LargeValueWriter> writer = first.write_large_value();
          EXPECT_TRUE(is_expected(writer.status())) << writer.status().to_string();
          if (!writer.ok()) continue;  // The table was dropped.
          EXPECT_EQ(said(writer->append(std::string(40'000, static_cast<char>('b' + i)))), kFine);
          const Status done = first.insert_or_replace(with_photo("a", *writer->finish())).status();
          EXPECT_TRUE(is_expected(done)) << done.to_string();
        }
      };
      const std::function<void()> sharer = [first, second]() mutable {
        for (int i = 0; i < 4; ++i) {
          const Result<std::optional<Entity>> found = first.get("p", "a");
          if (!found.ok() || !*found) continue;
          const Result<LargeValue> photo = (*found)->get<LargeValue>("Photo");
          if (!photo.ok()) continue;
          const Status done = second.insert_or_merge(with_photo("b", *photo)).status();
          EXPECT_TRUE(is_expected(done)) << done.to_string();
        }
      };
      const std::function<void()> mover = [&bench, first, second] {
        for (int i = 0; i < 3; ++i) {
          const Result<std::vector<ETag>> done = bench.store->transact([&](StoreTransaction& transaction) -> Status {
            const Result<std::optional<Entity>> found = transaction.get(second, "p", "b");
            if (!found.ok()) return found.status();
            if (!*found) return Status();
            const Result<LargeValue> photo = (*found)->get<LargeValue>("Photo");
            if (!photo.ok()) return photo.status();
            transaction.insert_or_replace(first, with_photo("c", *photo)).remove(second, "p", "b", ETag::any());
            return Status();
          });
          EXPECT_TRUE(is_expected_of_transaction(done.status())) << done.status().to_string();
        }
      };
      const std::function<void()> dropper = [&bench] {
        EXPECT_EQ(said(bench.store->drop_table(kAccount, "First")), kFine);
      };
      std::vector<std::function<void()>> bodies{replacer, replacer, sharer, mover};  // Two write one entity.
      if (seed % 2 == 0) bodies.push_back(dropper);
      run_together(bench, bodies);
      bench.store.reset();
      disk = bench.machine.files->snapshot();
    }
    SettledStore settled(seed, std::move(disk), std::chrono::hours(1));
    settled.settle();
    const BlobRecount recount = settled.recount();
    expect_settled(recount);
    if (seed % 2 == 0) {
      EXPECT_LE(recount.entities(), 1U) << "a row was written after the drop";
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::large_value_model_test
