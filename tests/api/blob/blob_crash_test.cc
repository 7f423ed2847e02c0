// Goal: whatever crashes, an acknowledged blob is whole, one that was not acknowledged is whole or not there, and the
// space of lost contents comes back (BX-12, BX-40).
// Method: every verb that writes works on the in-memory disk. Images of the disk are taken at every step. Each image is
// opened, and compared with the verbs that were acknowledged before it. Then the keeper works, and all owners are counted again.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/blob/blob_recount.h"
#include "tests/support/effort.h"
#include "varve/blob.h"

namespace varve::test::blob_crash_test {
namespace {

/// What a name may be: contents, or "-" for no blob.
using Possible = std::map<std::string, std::set<std::string>>;

struct BlobLaw {
  Possible blobs;
  /// Names with staged blocks: the blocks that must be there.
  std::map<std::string, std::set<std::string>> staged;
  bool may_be_dropped = false;
};

struct BlobImage {
  io::MemoryDisk disk;
  BlobLaw law;
  std::string where;
};

class BlobWorkload {
 public:
  explicit BlobWorkload(QueueBench& bench)
      : bench_(bench), photos_(*bench.store->create_container(kAccount, "photos")) {}

  const BlobLaw& law() const { return law_; }

  void run() {
    put("small", std::string(300, 'a'));
    put("large", std::string(1'200'000, 'b'));
    stream("stream", std::string(1'100'000, 'c'));
    append_all();
    commit_list();
    copy("large", "copy");
    put("large", std::string(100'000, 'd'));
    EXPECT_EQ(said(bench_.store->compact()), kDone);
    remove("stream");
    abandon();
    drop();
  }

 private:
  /// Makes a change after which the name has this content.
  template <typename Change>
  void change(const std::string& name, const std::string& after, Change apply) {
    std::set<std::string>& possible = law_.blobs.try_emplace(name, std::set<std::string>{"-"}).first->second;
    possible.insert(after);
    EXPECT_EQ(said(apply()), kDone);
    law_.blobs[name] = {after};
  }
  void put(const std::string& name, const std::string& content) {
    change(name, content, [&] { return photos_.put(name, content).status(); });
  }
  void stream(const std::string& name, const std::string& content) {
    change(name, content, [&] {
      Result<BlobWriter> writer = photos_.write(name);
      EXPECT_EQ(said(writer), kDone);
      EXPECT_EQ(said(writer->append(content)), kDone);
      return writer->publish().status();
    });
  }
  void append_all() {
    change("log", "", [&] { return photos_.create_append_blob("log").status(); });
    std::string content;
    for (const char letter : std::string("xyz")) {
      content += std::string(40'000, letter);
      change("log", content, [&] { return photos_.append("log", std::string(40'000, letter)).status(); });
    }
  }
  void stage(const std::string& id, const std::string& content) {
    Result<BlobWriter> writer = photos_.stage_block("list", id);
    EXPECT_EQ(said(writer), kDone);
    EXPECT_EQ(said(writer->append(content)), kDone);
    EXPECT_EQ(said(writer->publish()), kDone);
    law_.staged["list"].insert(id);
  }
  void commit_list() {
    stage("1", std::string(30'000, '1'));
    stage("2", std::string(30'000, '2'));
    stage("3", std::string(30'000, '3'));
    law_.staged.clear();  // The commit may have taken them.
    change("list", std::string(30'000, '2') + std::string(30'000, '1'), [&] {
      return photos_.commit_blocks("list", std::vector<BlockChoice>{{"2"}, {"1"}}).status();
    });
  }
  void copy(const std::string& from, const std::string& name) {
    change(name, *law_.blobs[from].begin(), [&] { return photos_.copy(name, photos_, from).status(); });
  }
  void remove(const std::string& name) {
    change(name, "-", [&] { return photos_.remove(name); });
  }
  void abandon() {
    Result<BlobWriter> writer = photos_.write("abandoned");
    EXPECT_EQ(said(writer), kDone);
    EXPECT_EQ(said(writer->append(std::string(1'100'000, 'e'))), kDone);
  }
  void drop() {
    law_.may_be_dropped = true;
    EXPECT_EQ(said(bench_.store->drop_container(kAccount, "photos")), kDone);
    Result<Queue> queue = bench_.store->create_queue("waiter", "pausing");
    EXPECT_EQ(said(queue), kDone);
    (void)queue->get({.wait = std::chrono::seconds(61)});  // The keeper works.
  }

  QueueBench& bench_;
  Container photos_;
  BlobLaw law_;
};

std::string content_in(const Container& photos, const std::string& name) {
  const Result<BlobReader> reader = photos.read(name);
  if (!reader.ok()) {
    EXPECT_EQ(reader.status().service_error(), "BlobNotFound") << reader.status().to_string();
    return "-";
  }
  std::string content(reader->state().length, '?');
  const Result<std::size_t> got = reader->read(0, content);
  EXPECT_TRUE(got.ok()) << got.status().to_string();
  return content;
}

void judge_image(SettledStore& after, const BlobLaw& law) {
  const Result<Container> photos = after.store().open_container(kAccount, "photos");
  if (!photos.ok()) {
    EXPECT_EQ(photos.status().service_error(), "ContainerNotFound") << photos.status().to_string();
    EXPECT_TRUE(law.may_be_dropped);
    return;
  }
  for (const auto& [name, possible] : law.blobs) {
    EXPECT_TRUE(possible.contains(content_in(*photos, name))) << name << " is no state that it had";
  }
  for (const auto& [name, ids] : law.staged) {
    const Result<BlockLists> lists = photos->blocks(name);
    ASSERT_TRUE(lists.ok()) << lists.status().to_string();
    std::set<std::string> found;
    for (const BlockInfo& block : lists->staged) found.insert(block.id);
    for (const std::string& id : ids) EXPECT_TRUE(found.contains(id)) << "block " << id << " was lost";
  }
}

TEST(BlobCrash, BA02_BX12_BX40_AcknowledgedIsAcknowledgedAtEveryStep) {
  std::vector<BlobImage> images;
  {
    QueueBench bench(21, OneThreadAtATime{});
    EXPECT_EQ(said(bench.store->create_account("waiter")), kDone);
    BlobWorkload workload(bench);
    io::SeededRandom picks(22);
    std::size_t steps = 0;
    bench.machine.files->set_observer([&](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore || ++steps % kStride != 0) return;
      const std::string where = std::string(io::operation_name(operation.kind)) + " " + std::string(operation.name);
      for (io::MemoryDisk& disk : bench.machine.files->power_cuts(picks, 1)) {
        images.push_back({std::move(disk), workload.law(), where + ", power cut"});
      }
      images.push_back({bench.machine.files->process_death(picks), workload.law(), where + ", kill"});
    });
    workload.run();
    bench.machine.files->set_observer({});
  }
  EXPECT_GT(images.size() * kStride, 60U);
  for (BlobImage& image : images) {
    SCOPED_TRACE(image.where);
    SettledStore after(23, std::move(image.disk), std::chrono::hours(1));
    judge_image(after, image.law);
    after.settle();
    expect_settled(after.recount());
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::test::blob_crash_test
