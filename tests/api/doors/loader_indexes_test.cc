// Goal: a load whose indexes are not built has succeeded, and its caller learns which they are and why.
// Method: a build is stopped, or meets a full disk or a drop. The shown indexes are those in the state building.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/loader.h"
#include "varve/table_index.h"

namespace varve::loader_indexes_test {
namespace {

using namespace test;

const IndexDefinition kByValue{"ByValue", {{"V"}}};
const IndexDefinition kByRow{"ByRow", {{"RowKey", true}}};

class Lines final : public Logger {
 public:
  void log(std::string_view, std::string_view line) noexcept override { all.emplace_back(line); }
  std::vector<std::string> all;
};

class LoaderIndexes : public ::testing::Test {
 protected:
  LoaderIndexes() {
    ResourceOptions resources;
    resources.logger = lines_;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
  }
  Store& store() { return *bench_.store; }
  Loader load_indexed(const std::string& name = "Orders") {
    bench_.table(name);
    for (const IndexDefinition& index : {kByValue, kByRow}) {
      EXPECT_EQ(said(store().create_index(kAccount, name, index)), kFine);
    }
    Result<Loader> loader = store().load_table(kAccount, name);
    EXPECT_EQ(said(loader), kFine);
    for (const char* const row : {"1", "2"}) EXPECT_EQ(said(loader->add(with_value("p", row, "v"))), kFine);
    return *std::move(loader);
  }
  std::vector<std::string> building(std::string_view name = "Orders") {
    std::vector<std::string> found;
    const Result<std::vector<IndexInfo>> indexes = store().indexes(kAccount, name);
    EXPECT_EQ(said(indexes), kFine);
    for (const IndexInfo& index : *indexes) {
      if (index.state == IndexState::kBuilding) found.push_back(index.definition.name);
    }
    return found;
  }
  static std::vector<std::string> unbuilt(const Loader& loader) {
    std::vector<std::string> names;
    for (const UnbuiltIndex& index : loader.unbuilt_indexes()) {
      EXPECT_FALSE(index.reason.ok());
      names.push_back(index.name);
    }
    return names;
  }

  const std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
  StoreBench bench_;
};

TEST_F(LoaderIndexes, AStoppedBuildIsShownAndTheLoadStays) {
  Loader loader = load_indexed();
  EXPECT_TRUE(loader.unbuilt_indexes().empty());
  int parts = 0;
  ASSERT_TRUE(loader.finish([&](const IndexBuildProgress&) { return ++parts > 1; }).ok());  // the second build goes on
  ASSERT_EQ(unbuilt(loader), (std::vector<std::string>{"ByValue"}));
  EXPECT_EQ(loader.unbuilt_indexes().front().reason.code(), Code::kCancelled);
  EXPECT_EQ(building(), unbuilt(loader));
  EXPECT_TRUE(lines_->all.empty()) << "the caller's own stop is no failure: " << lines_->all.front();
  EXPECT_EQ(value_in(*store().open_table(kAccount, "Orders"), "p", "2"), "v");
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
  EXPECT_TRUE(building().empty());
}

TEST_F(LoaderIndexes, ABuildOnAFullDiskIsShownAndTheLoadStays) {
  Loader loader = load_indexed();
  ASSERT_TRUE(loader
                  .finish([&](const IndexBuildProgress&) {
                    bench_.machine.files->set_capacity_bytes(bench_.machine.files->used_bytes());
                    return true;
                  })
                  .ok());
  ASSERT_EQ(unbuilt(loader), (std::vector<std::string>{"ByValue", "ByRow"}));
  EXPECT_EQ(loader.unbuilt_indexes().front().reason.code(), Code::kNoSpace);
  EXPECT_EQ(building(), unbuilt(loader));
  EXPECT_EQ(std::count_if(lines_->all.begin(), lines_->all.end(),
                          [](const std::string& line) {
                            return line.starts_with("an index of a loaded table is not built: By");
                          }),
            2);
  EXPECT_EQ(value_in(*store().open_table(kAccount, "Orders"), "p", "2"), "v");
  bench_.machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  EXPECT_EQ(said(store().create_index(kAccount, "Orders", kByValue)), kFine);
}

TEST_F(LoaderIndexes, AnIndexThatIsDroppedMeanwhileIsNotShown) {
  Loader loader = load_indexed();
  ASSERT_TRUE(loader
                  .finish([&](const IndexBuildProgress&) {
                    (void)store().drop_index(kAccount, "Orders", "ByValue");
                    return true;
                  })
                  .ok());
  EXPECT_TRUE(unbuilt(loader).empty());
  EXPECT_TRUE(building().empty());
}

}  // namespace
}  // namespace varve::loader_indexes_test
