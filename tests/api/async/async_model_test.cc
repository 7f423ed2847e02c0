// Goal: every asynchronous operation of a table has the meaning of the blocking operation of its name: the same
// answers, the same blamed operation, the same contents.
// Method: one seeded sequence of valid and invalid operations runs on two stores: by blocking operations on one, by
// asynchronous ones on the other. After each step the two answers are compared as text without ETags, and sometimes the
// whole content of the tables. Rerun one seed by its number.
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"

namespace varve::async_model_test {
namespace {

using namespace test;

using Kind = WriteOperation::Kind;

// -- The steps --------------------------------------------------------------------------------------------------------

/// ETags differ between the stores, so a step describes an ETag by its origin.
enum class Condition : std::uint8_t { kAny, kNone, kCurrent, kStale };

struct PlannedWrite {
  Kind kind = Kind::kInsert;
  Entity entity;
  Condition condition = Condition::kAny;
};

enum class What : std::uint8_t {
  kWrite,
  kExecute,
  kGet,
  kGetMany,
  kScan,
  kCount,
  kTakeSnapshot,
  kDrop,
  kCreate,
  kSettle
};

struct Step {
  What what = What::kWrite;
  std::vector<PlannedWrite> writes;
  std::vector<EntityKey> keys;
  Scan scan;
  std::vector<std::string> select;
  bool at_snapshot = false;
  std::optional<Access> access;
};

class Planner {
 public:
  explicit Planner(std::uint64_t seed) : random_(seed) {}

  Step next() {
    Step step;
    step.what = kind_of_step();
    const std::size_t count = step.what == What::kExecute ? below(7) : 1;
    for (std::size_t i = 0; i < count; ++i) step.writes.push_back(write());
    if (step.what == What::kExecute) shape_transaction(step.writes);
    for (std::size_t i = 0; i < (step.what == What::kGetMany ? below(9) : 1); ++i) step.keys.push_back(key());
    step.scan = scan();
    if (one_in(4)) step.select = {"V", "N1", "absent"};
    if (one_in(40)) step.select.assign(256, "V");
    step.at_snapshot = one_in(5);
    if (one_in(6)) step.access = access();
    return step;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }
  bool one_in(std::uint64_t n) { return io::one_in(random_, n); }
  template <typename T, std::size_t n>
  const T& one_of(const std::array<T, n>& choices) {
    return choices[below(n)];
  }

  What kind_of_step() {
    constexpr std::array<What, 20> kOften{What::kWrite,   What::kWrite,   What::kWrite, What::kWrite,   What::kWrite,
                                          What::kWrite,   What::kWrite,   What::kWrite, What::kExecute, What::kExecute,
                                          What::kExecute, What::kExecute, What::kGet,   What::kGet,     What::kGet,
                                          What::kGetMany, What::kGetMany, What::kScan,  What::kScan,    What::kCount};
    constexpr std::array<What, 5> kSeldom{What::kTakeSnapshot, What::kTakeSnapshot, What::kDrop, What::kCreate,
                                          What::kSettle};
    return one_in(12) ? one_of(kSeldom) : one_of(kOften);
  }

  std::string good_key() { return std::string(1, static_cast<char>('a' + below(4))); }
  std::string key_text() {
    static const std::array<std::string, 7> kBad{
        "a/b", "a\\b", "tab\there", "\xFF", std::string(1025, 'k'), "q#u?", std::string("\xC2\x80", 2)};
    static const std::array<std::string, 3> kRare{"", "\xC3\xA9", std::string(1024, 'k')};
    if (one_in(25)) return one_of(kBad);
    return one_in(25) ? one_of(kRare) : good_key();
  }
  EntityKey key() { return {key_text(), key_text()}; }

  Entity entity() {
    const EntityKey place = key();
    Entity made(place.partition_key, place.row_key);
    if (one_in(6)) return made;
    made.set("V", std::string(below(40), static_cast<char>('a' + below(26))));
    for (std::uint64_t i = below(4); i > 0; --i) made.set("N" + std::to_string(below(6)), static_cast<std::int64_t>(i));
    if (one_in(6)) spoil(made);
    return made;
  }

  /// Breaks an entity in most possible ways. A wide or large entity may be accepted, and exceed the limit after a
  /// merge.
  void spoil(Entity& made) {
    switch (below(10)) {
      case 0: made.set("no-name", 1); break;
      case 1: made.set(std::string(256, 'n'), 1); break;
      case 2: made.add("V", Value(true)).add("V", Value(false)); break;
      case 3: made.set("PartitionKey", "x"); break;
      case 4: made.set("D", DateTime{1}); break;
      case 5: made.set("S", std::string(32'769, 's')); break;
      case 6: made.set("T", "bad \xFF text"); break;
      case 7: add_properties(made, one_in(4) ? 253 : 150, 1); break;
      case 8: add_properties(made, one_in(4) ? 17 : 10, 32'000); break;
      default: made.set("Timestamp", "ignored").set("B", Binary{"\x01\x02"}).set("F", 1.5).set("O", true);
    }
  }
  void add_properties(Entity& made, int count, std::size_t characters) {
    const std::string prefix = one_in(2) ? "P" : "Q";
    for (int i = 0; i < count; ++i) made.set(prefix + std::to_string(i), std::string(characters, 'w'));
  }

  PlannedWrite write() {
    constexpr std::array<Condition, 8> kConditions{Condition::kAny,     Condition::kAny,     Condition::kCurrent,
                                                   Condition::kCurrent, Condition::kCurrent, Condition::kStale,
                                                   Condition::kStale,   Condition::kNone};
    return {static_cast<Kind>(below(8)), entity(), one_of(kConditions)};
  }

  /// Usually uses one partition and different rows, as a transaction requires. Sometimes it breaks that, or uses too
  /// many.
  void shape_transaction(std::vector<PlannedWrite>& writes) {
    if (one_in(20)) {
      for (std::size_t i = writes.size(); i < 101; ++i) writes.push_back({Kind::kInsertOrReplace, {}, {}});
    }
    if (one_in(6)) return;
    const std::string partition = good_key();
    const bool forgets_the_row = one_in(10);
    for (std::size_t i = 0; i < writes.size(); ++i) {
      Entity moved(partition, forgets_the_row ? "a" : std::string(1, static_cast<char>('a' + i)));
      for (const Property& property : writes[i].entity.properties()) moved.add(property.name, property.value);
      writes[i].entity = std::move(moved);
      if (!one_in(4)) writes[i].kind = one_in(2) ? Kind::kInsertOrReplace : Kind::kInsertOrMerge;
    }
  }

  Scan scan() {
    static const std::array<std::string, 6> kFilters{
        "N1 gt 1", "PartitionKey eq 'b'", "V ge 'm' or N2 eq 1", "PartitionKey eq 'a' and RowKey eq 'b'",
        "V eq ",   "length(V) eq 1"};
    Scan made;
    if (one_in(3)) made.range = ScanRange::partition(good_key());
    if (one_in(4)) made.range = ScanRange::partitions(good_key(), good_key());
    if (one_in(2)) made.filter = one_of(kFilters);
    made.backward = one_in(4);
    if (one_in(2)) made.page_entities_max = static_cast<std::uint32_t>(below(4));
    if (one_in(20)) made.page_entities_max = 1001;
    if (one_in(6)) made.take = below(5);
    if (one_in(20)) made.continuation = "no token";
    return made;
  }

  Access access() {
    static const std::array<std::string, 5> kLetters{"r", "au", "rau", "raud", "d"};
    Access made;
    made.permissions = *Permissions::parse(one_of(kLetters));
    if (one_in(2)) made.interval.from = KeyBound{good_key(), std::nullopt};
    if (one_in(2)) made.interval.to = KeyBound{good_key(), good_key()};
    return made;
  }

  io::SeededRandom random_;
};

// -- The results as text ----------------------------------------------------------------------------------------------

std::string words_of(const Status& status) {
  std::string words = std::string(code_name(status.code())) + " (" + std::string(status.service_error()) + ")";
  if (status.operation_index()) words += " at " + std::to_string(*status.operation_index());
  return words;
}

std::string words_of(const Value& value) {
  const auto tell = [](const auto& typed) -> std::string {
    using T = std::decay_t<decltype(typed)>;
    if constexpr (std::is_same_v<T, std::string>) return typed;
    if constexpr (std::is_same_v<T, Binary>) return typed.bytes;
    if constexpr (std::is_arithmetic_v<T>) return std::to_string(typed);
    if constexpr (std::is_same_v<T, DateTime> || std::is_same_v<T, Guid>) return typed.to_string();
    if constexpr (std::is_same_v<T, LargeValue>) return std::to_string(typed.id());
  };
  return std::to_string(static_cast<int>(value.type())) + ":" + std::visit(tell, value.variant());
}

std::string words_of(const Entity& entity) {
  std::string words = entity.partition_key() + "|" + entity.row_key() + (entity.etag().is_none() ? "|no ETag" : "");
  for (const Property& property : entity.properties()) words += "," + property.name + "=" + words_of(property.value);
  return words + "\n";
}

std::string words_of(const std::optional<Entity>& entity) {
  return entity ? words_of(*entity) : "nothing\n";
}

std::string words_of(ETag etag) {
  return etag.is_none() ? "none\n" : "an ETag\n";
}

template <typename T>
std::string words_of(const std::vector<T>& many) {
  std::string words;
  for (const T& one : many) words += words_of(one);
  return words;
}

std::string words_of(const Page& page) {
  return words_of(page.entities) + "then " + page.continuation.value_or("no more");
}

std::string words_of(const Count& count) {
  return std::to_string(count.entities) + " then " + count.continuation.value_or("no more");
}

template <typename T>
std::string words_of(const Result<T>& result) {
  return result.ok() ? words_of(*result) : words_of(result.status());
}

// -- The two executors ------------------------------------------------------------------------------------------------

/// One of the two stores. The class below executes its steps.
class Side {
 public:
  explicit Side(std::uint64_t seed) : bench_(seed) {
    options_ = bench_.options();
    options_.short_pages = seed % 3 == 0;
    bench_.open(options_);
    EXPECT_TRUE(bench_.store->create_account(kAccount).ok());
    handle_.emplace(*bench_.store->create_table(kAccount, "Orders"));
  }
  virtual ~Side() = default;
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  std::string perform(const Step& step) {
    Table table = step.access ? *handle_->restricted_to(*step.access) : *handle_;
    const ReadOptions reading{step.select, step.at_snapshot ? snapshot_ : std::nullopt};
    switch (step.what) {
      case What::kWrite: return write(table, operation(step.writes.front()));
      case What::kExecute: return words_of(execute(table, transaction(step.writes)));
      case What::kGet: return words_of(get(table, step.keys.front(), reading));
      case What::kGetMany: return words_of(get_many(table, step.keys, reading));
      case What::kScan: return all_pages(table, step.scan, reading);
      case What::kCount: return count_all(table, step.scan, reading);
      case What::kTakeSnapshot: snapshot_ = *bench_.store->snapshot(); return "taken";
      case What::kDrop: return words_of(drop_table());
      case What::kCreate: return words_of(create_table());
      case What::kSettle: return settle();
    }
    return "?";
  }

  std::string contents() { return all_pages(*handle_, Scan{}, ReadOptions{}); }

  /// A handle and a snapshot of the previously open store must still answer.
  std::string reopen() {
    const Table before = *handle_;
    bench_.open(options_);
    std::string words = words_of(get(before, {"a", "a"}, {}));
    words += write(before, {Kind::kInsert, Entity("a", "closed"), ETag()});
    (void)create_table();
    handle_.emplace(*bench_.store->open_table(kAccount, "ORDERS"));
    stale_.clear();  // They belong to the same store, but this test need not remember them.
    return words;
  }

 protected:
  Store& store() { return *bench_.store; }

  virtual Result<ETag> put(Table table, WriteOperation operation) = 0;
  virtual Result<std::vector<ETag>> execute(Table table, EntityGroupTransaction transaction) = 0;
  virtual Result<std::optional<Entity>> get(Table table, EntityKey key, ReadOptions options) = 0;
  virtual Result<std::vector<std::optional<Entity>>> get_many(Table table, std::vector<EntityKey> keys,
                                                              ReadOptions options) = 0;
  virtual Result<Page> scan(Table table, Scan scan) = 0;
  virtual Result<Count> count(Table table, Scan scan) = 0;
  virtual Status create_table() = 0;
  virtual Status drop_table() = 0;
  virtual Status compact() = 0;

 private:
  std::string write(const Table& table, const WriteOperation& operation) {
    const Result<ETag> etag = put(table, operation);
    return operation.kind == Kind::kRemove ? words_of(etag.status()) : words_of(etag);
  }

  /// Returns the ETag for a write. The stale ETag of a key is the first one that was seen.
  ETag etag_for(const PlannedWrite& write) {
    if (write.condition == Condition::kAny) return ETag::any();
    if (write.condition == Condition::kNone) return ETag();
    const auto key = std::pair(write.entity.partition_key(), write.entity.row_key());
    const auto found = handle_->get(key.first, key.second);
    const ETag current = found.ok() && *found ? (**found).etag() : ETag::of_timestamp(DateTime{1});
    const ETag first = stale_.try_emplace(key, current).first->second;
    return write.condition == Condition::kStale ? first : current;
  }
  WriteOperation operation(const PlannedWrite& write) {
    WriteOperation made{write.kind, write.entity, etag_for(write)};
    if (write.kind != Kind::kPatch && write.kind != Kind::kInsertOrPatch) return made;
    // Some entities have these properties, so that the patch names them twice.
    made.increments = {{"Count", 1}, {"N5", std::int64_t{-1}}};
    made.removed = {"O"};
    if (write.kind == Kind::kPatch) made.condition = "not (Count ge 3)";
    return made;
  }
  EntityGroupTransaction transaction(const std::vector<PlannedWrite>& writes) {
    EntityGroupTransaction made;
    for (const PlannedWrite& write : writes) made.add(operation(write));
    return made;
  }

  std::string all_pages(const Table& table, Scan scanned, const ReadOptions& reading) {
    scanned.read = reading;
    std::string words;
    for (int pages = 0; pages < 200; ++pages) {
      const Result<Page> page = scan(table, scanned);
      words += words_of(page) + "\n";
      if (!page.ok() || !page->continuation) return words;
      scanned.continuation = *page->continuation;
    }
    return words + "without end";
  }
  std::string count_all(const Table& table, Scan scanned, const ReadOptions& reading) {
    scanned.read = reading;
    std::string words;
    for (int pages = 0; pages < 200; ++pages) {
      const Result<Count> counted = count(table, scanned);
      words += words_of(counted) + "\n";
      if (!counted.ok() || !counted->continuation) return words;
      scanned.continuation = *counted->continuation;
    }
    return words + "without end";
  }
  std::string settle() { return words_of(compact()) + contents(); }

  StoreBench bench_;
  StoreOptions options_;
  std::optional<Table> handle_;
  std::optional<Snapshot> snapshot_;
  std::map<std::pair<std::string, std::string>, ETag> stale_;
};

class WaitingSide final : public Side {
 public:
  using Side::Side;

 private:
  Result<ETag> put(Table table, WriteOperation operation) override { return table.write(operation); }
  Result<std::vector<ETag>> execute(Table table, EntityGroupTransaction transaction) override {
    return table.execute(transaction);
  }
  Result<std::optional<Entity>> get(Table table, EntityKey key, ReadOptions options) override {
    return table.get(key.partition_key, key.row_key, options);
  }
  Result<std::vector<std::optional<Entity>>> get_many(Table table, std::vector<EntityKey> keys,
                                                      ReadOptions options) override {
    return table.get_many(keys, options);
  }
  Result<Page> scan(Table table, Scan scan) override { return table.scan(scan); }
  Result<Count> count(Table table, Scan scan) override { return table.count(scan); }
  Status create_table() override { return store().create_table(kAccount, "Orders").status(); }
  Status drop_table() override { return store().drop_table(kAccount, "orders"); }
  Status compact() override { return store().compact(); }
};

class AsyncSide final : public Side {
 public:
  using Side::Side;

 private:
  Result<ETag> put(Table table, WriteOperation operation) override {
    return wait(AsyncTable(std::move(table)).write(std::move(operation)));
  }
  Result<std::vector<ETag>> execute(Table table, EntityGroupTransaction transaction) override {
    return wait(AsyncTable(std::move(table)).execute(std::move(transaction)));
  }
  Result<std::optional<Entity>> get(Table table, EntityKey key, ReadOptions options) override {
    return wait(AsyncTable(std::move(table)).get(key.partition_key, key.row_key, std::move(options)));
  }
  Result<std::vector<std::optional<Entity>>> get_many(Table table, std::vector<EntityKey> keys,
                                                      ReadOptions options) override {
    return wait(AsyncTable(std::move(table)).get_many(std::move(keys), std::move(options)));
  }
  Result<Page> scan(Table table, Scan scan) override {
    return wait(AsyncTable(std::move(table)).scan(std::move(scan)));
  }
  Result<Count> count(Table table, Scan scan) override {
    return wait(AsyncTable(std::move(table)).count(std::move(scan)));
  }
  Status create_table() override {
    return wait(AsyncStore(store()).create_table(std::string(kAccount), "Orders")).status();
  }
  Status drop_table() override { return wait(AsyncStore(store()).drop_table(std::string(kAccount), "orders")); }
  Status compact() override { return wait(AsyncStore(store()).compact()); }
};

/// Runs all steps of a seed. `answers` receives the first words of each answer.
void compare(std::uint64_t seed, std::set<std::string>& answers) {
  Planner planner(seed);
  WaitingSide waiting(seed);
  AsyncSide async(seed);
  for (int number = 0; number < test::effort(600); ++number) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(number));
    const Step step = planner.next();
    const std::string expected = waiting.perform(step);
    answers.insert(expected.substr(0, expected.find_first_of(")\n")));
    ASSERT_EQ(async.perform(step), expected) << "of kind " << static_cast<int>(step.what);
    if (number % 150 != 149) continue;
    ASSERT_EQ(async.contents(), waiting.contents());
    ASSERT_EQ(async.reopen(), waiting.reopen());
    ASSERT_EQ(async.contents(), waiting.contents());
  }
}

TEST(AsyncModel, AnswersAsTheVerbsThatWait) {
  std::set<std::string> answers;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    compare(seed, answers);
    if (HasFatalFailure()) return;
  }
  // Answers that the steps must have produced. Otherwise they prove nothing.
  for (const std::string met :
       {"Exists (EntityAlreadyExists", "NotFound (ResourceNotFound", "NotFound (TableNotFound",
        "PreconditionFailed (UpdateConditionNotSatisfied", "InvalidArgument (InvalidInput",
        "InvalidArgument (OutOfRangeInput", "InvalidArgument (PropertyNameInvalid",
        "InvalidArgument (CommandsInBatchActOnDifferentPartitions", "InvalidArgument (InvalidDuplicateRow",
        "TooLarge (TooManyProperties", "TooLarge (EntityTooLarge", "TooLarge (PropertyValueTooLarge",
        "Forbidden (AuthorizationFailure", "Forbidden (AuthorizationPermissionMismatch"}) {
    EXPECT_TRUE(answers.contains(met) || test::kEffortDivisor > 1) << met;
  }
}

}  // namespace
}  // namespace varve::async_model_test
