// Goal: an object that the cluster has lost costs what it had, and a repair saves everything else.
// Method: a store on a model of RADOS, of which a raw client removes the objects of a table file, or of the log.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/rados_names.h"
#include "tests/api/store_bench.h"
#include "tests/support/rados_machine.h"
#include "varve/store.h"

namespace varve::lost_object_test {
namespace {

class LostObject : public testing::Test {
 protected:
  /// Returns the first objects of the files whose key and entry in the root are wanted.
  template <typename Wants>
  std::vector<std::string> objects_of(const Wants& wants) {
    io::ObjectLook root;
    io::TextMap entries;
    EXPECT_EQ(raw_->look(io::root_object(test::kStoreName), root), 0);
    EXPECT_EQ(raw_->entries(io::root_object(test::kStoreName), entries), 0);
    std::vector<std::string> objects;
    for (const auto& [key, text] : entries) {
      if (!key.starts_with(io::kFilePrefix)) continue;
      const io::FileEntry entry = *io::parse_entry(text);
      if (wants(key, entry)) objects.push_back(io::stripe_object(root.attributes["id"], entry.id(), 0));
    }
    return objects;
  }
  std::vector<std::string> table_objects() {
    return objects_of([](const std::string& key, const io::FileEntry&) { return key.ends_with(".sst"); });
  }
  std::vector<std::string> log_objects() {
    return objects_of([](const std::string&, const io::FileEntry& entry) { return entry.is_segment(); });
  }
  void lose(const std::string& object) {
    io::ObjectChange removal;
    removal.object = object;
    removal.epoch = 1000;
    removal.removes = true;
    EXPECT_EQ(raw_->change(removal), 0) << object;
  }

  test::RadosMachine machine_{1};
  const std::unique_ptr<io::ObjectDoor> raw_ = machine_.cluster.make_door();
};

TEST_F(LostObject, OfATableFileLeavesARepairTheRest) {
  test::RadosProgram& program = machine_.start();
  const io::Env env = machine_.env_of(program);
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &env;
  std::vector<std::string> lost;
  {
    const Result<std::unique_ptr<Store>> store = Store::open(test::kRadosPath, options);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE((*store)->create_account(test::kAccount).ok());
    Result<Table> first = (*store)->create_table(test::kAccount, "First");
    ASSERT_TRUE(first.ok());
    ASSERT_TRUE(first->insert(test::with_value("p", "a", "1")).ok());
    ASSERT_TRUE((*store)->compact().ok());
    lost = table_objects();
    Result<Table> later = (*store)->create_table(test::kAccount, "Later");
    ASSERT_TRUE(later.ok());
    ASSERT_TRUE(later->insert(test::with_value("p", "b", "2")).ok());
    ASSERT_TRUE((*store)->close().ok());
  }
  const std::vector<std::string> left = table_objects();
  std::erase_if(lost, [&](const std::string& object) { return std::count(left.begin(), left.end(), object) == 0; });
  ASSERT_FALSE(lost.empty());
  for (const std::string& object : lost) lose(object);

  const Result<RepairReport> report = Store::repair(test::kRadosPath, "rados:pool/repaired", options);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->table_files.damaged, lost.size());
  EXPECT_GE(report->entities, 1U);
  bool is_named = false;
  for (const std::string& finding : report->findings) {
    is_named = is_named || finding.find("the cluster has lost the object " + lost.front()) != std::string::npos;
  }
  EXPECT_TRUE(is_named);
}

// The owner died, so the next one takes over.
TEST_F(LostObject, OfTheLogIsNamedByTheNextOpenAndLeavesARepairTheRest) {
  test::RadosProgram& program = machine_.start();
  const io::Env env = machine_.env_of(program);
  StoreOptions options;
  options.create_if_absent = true;
  options.env = &env;
  {
    const Result<std::unique_ptr<Store>> store = Store::open(test::kRadosPath, options);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    ASSERT_TRUE((*store)->create_account(test::kAccount).ok());
    Result<Table> table = (*store)->create_table(test::kAccount, "First");
    ASSERT_TRUE(table.ok());
    ASSERT_TRUE(table->insert(test::with_value("p", "a", "1")).ok());
    ASSERT_TRUE((*store)->compact().ok());
    ASSERT_TRUE(table->insert(test::with_value("p", "b", "2")).ok());
    machine_.cluster.cut_off(program.door->client(), 0, 0);
  }
  const std::vector<std::string> lost = log_objects();
  ASSERT_FALSE(lost.empty());
  for (const std::string& object : lost) lose(object);

  const io::Env next = machine_.env_of(machine_.start());
  options.env = &next;
  const Status opened = Store::open(test::kRadosPath, options).status();
  EXPECT_EQ(opened.code(), Code::kCorruption);
  EXPECT_NE(opened.to_string().find("the cluster has lost the object "), std::string::npos) << opened.to_string();
  const Result<RepairReport> report = Store::repair(test::kRadosPath, "rados:pool/repaired", options);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_GE(report->log_segments.damaged, 1U);
  EXPECT_EQ(report->entities, 1U) << "that of the table file";
  const auto is_named = [](const std::string& finding) {
    return finding.find("the cluster has lost the object ") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(report->findings.begin(), report->findings.end(), is_named));
}

}  // namespace
}  // namespace varve::lost_object_test
