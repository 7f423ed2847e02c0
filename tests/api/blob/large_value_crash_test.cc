// Goal: whatever crashes, an acknowledged entity has its whole content, one that was not acknowledged has it or is as it
// was before, and the space of lost contents comes back (BX-12, BX-40).
// Method: every verb that changes owners works on the in-memory disk. Images of the disk are taken at every step. Each image
// is opened, and compared with the verbs that were acknowledged before it. Then the keeper works, and all owners are counted
// again.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_recount.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/support/effort.h"

namespace varve::test::large_value_crash_test {
namespace {

/// What the property Photo of each entity may be: contents, or "-" for none.
struct ValueLaw {
  std::map<std::string, std::set<std::string>> photos;
  /// Two entities, exactly one of which has the content that a transaction moves.
  std::optional<std::pair<std::string, std::string>> moving{};
  bool may_be_dropped = false;
  bool is_dropped = false;  // also acknowledged
};

struct ValueImage {
  io::MemoryDisk disk;
  ValueLaw law;
  std::string where;
};

class ValueVerbs {
 public:
  explicit ValueVerbs(QueueBench& bench) : bench_(bench), people_(value_table(*bench.store)) {}

  const ValueLaw& law() const { return law_; }

  void run() {
    put("small", std::string(300, 'a'));
    put("large", std::string(1'200'000, 'b'));
    put("small", std::string(1'100'000, 'c'));
    share("large", "shared");
    EXPECT_EQ(said(bench_.store->compact()), kDone);
    move("large", "moved");
    clear("small");
    (void)written(people_, std::string(1'100'000, 'e'));  // no entity names it
    remove("shared");
    drop();
  }

 private:
  /// Makes a change after which the entity has this content.
  template <typename Change>
  void change(const std::string& row_key, const std::string& after, Change apply) {
    law_.photos.try_emplace(row_key, std::set<std::string>{"-"}).first->second.insert(after);
    EXPECT_EQ(said(apply()), kDone);
    law_.photos[row_key] = {after};
  }
  LargeValue value_of(const std::string& row_key) { return *read(people_, "p", row_key)->get<LargeValue>("Photo"); }
  void put(const std::string& row_key, const std::string& content) {
    change(row_key, content, [&] {
      const Unnamed photo = written(people_, content);
      return people_.insert_or_replace(with_photo(row_key, photo.value)).status();
    });
  }
  void share(const std::string& from, const std::string& row_key) {
    change(row_key, *law_.photos[from].begin(),
           [&] { return people_.insert(with_photo(row_key, value_of(from))).status(); });
  }
  void move(const std::string& from, const std::string& row_key) {
    const std::string content = *law_.photos[from].begin();
    law_.photos[from].insert("-");
    law_.moving = {from, row_key};
    change(row_key, content, [&] {
      Result<StoreTransaction> transaction = bench_.store->begin_transaction();
      EXPECT_EQ(said(transaction), kDone);
      transaction->insert(people_, with_photo(row_key, value_of(from))).remove(people_, "p", from, ETag::any());
      return transaction->commit().status();
    });
    law_.photos[from] = {"-"};
    law_.moving.reset();
  }
  void clear(const std::string& row_key) {
    change(row_key, "-", [&] { return people_.replace(Entity("p", row_key), ETag::any()).status(); });
  }
  void remove(const std::string& row_key) {
    change(row_key, "-", [&] { return people_.remove("p", row_key, ETag::any()); });
  }
  void drop() {
    law_.may_be_dropped = true;
    EXPECT_EQ(said(bench_.store->drop_table(kAccount, "People")), kDone);
    law_.is_dropped = true;
    Result<Queue> queue = bench_.store->create_queue("waiter", "pausing");
    EXPECT_EQ(said(queue), kDone);
    (void)queue->get({.wait = std::chrono::seconds(61)});  // The keeper works.
  }

  QueueBench& bench_;
  Table people_;
  ValueLaw law_;
};

void judge_image(SettledStore& after, const ValueLaw& law) {
  const Result<Table> people = after.store().open_table(kAccount, "People");
  if (!people.ok()) {
    EXPECT_EQ(people.status().service_error(), "TableNotFound") << people.status().to_string();
    EXPECT_TRUE(law.may_be_dropped);
    return;
  }
  EXPECT_FALSE(law.is_dropped);
  if (law.moving) {
    const bool is_there = photo_in(*people, law.moving->first) != "-";
    EXPECT_NE(is_there, photo_in(*people, law.moving->second) != "-") << "a transaction did a part of its work";
  }
  for (const auto& [row_key, possible] : law.photos) {
    EXPECT_TRUE(possible.contains(photo_in(*people, row_key))) << row_key << " is no state that it had";
  }
}

TEST(LargeValueCrash, BX12_BX40_AcknowledgedIsAcknowledgedAtEveryStep) {
  std::vector<ValueImage> images;
  {
    QueueBench bench(21, OneThreadAtATime{});
    EXPECT_EQ(said(bench.store->create_account("waiter")), kDone);
    ValueVerbs verbs(bench);
    io::SeededRandom picks(22);
    std::size_t steps = 0;
    bench.machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore || ++steps % kStride != 0) return;
      const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 1)) {
        images.push_back({std::move(disk), verbs.law(), where + ", power cut"});
      }
      images.push_back({bench.machine.files->process_death(picks), verbs.law(), where + ", kill"});
    });
    verbs.run();
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size() * kStride, 60U);
  for (ValueImage& image : images) {
    SCOPED_TRACE(image.where);
    SettledStore after(23, std::move(image.disk), std::chrono::hours(1));
    judge_image(after, image.law);
    after.settle();
    expect_settled(after.recount());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::large_value_crash_test
