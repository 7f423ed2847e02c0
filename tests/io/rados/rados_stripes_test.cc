// The objects of a file before its first sync: several are on their way at once, and arrive in any order, late or never.
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/rados/rados_file_system.h"
#include "io/rados/rados_names.h"
#include "io/simulated/manual_clock.h"
#include "io/simulated/object_cluster.h"
#include "tests/io/io_test_support.h"
#include "tests/support/passing_door.h"
#include "tests/support/rados_machine.h"

namespace varve::io::rados_stripes_test {
namespace {

constexpr SyncPoint kPoint{"test"};
constexpr std::string_view kName = "1.sst";

template <typename T>
T take(Result<T> result) {
  EXPECT_TRUE(is_ok(result));
  return *std::move(result);
}

RadosOptions without_wait() {
  RadosOptions options;
  options.takeover_wait = false;
  options.renewal_time = std::chrono::hours(1);
  return options;
}

/// Counts the objects that were made with a hint of compressed bytes.
class HintedDoor final : public test::PassingDoor {
 public:
  using PassingDoor::PassingDoor;

  ObjectAnswer change(const ObjectChange& change) override {
    note(change);
    return PassingDoor::change(change);
  }
  std::unique_ptr<SentChange> send(const ObjectChange& change) override {
    note(change);
    return PassingDoor::send(change);
  }
  int hinted() const noexcept { return hinted_; }

 private:
  void note(const ObjectChange& change) noexcept {
    if (change.compressed_bytes_max > 0) ++hinted_;
  }

  int hinted_ = 0;
};

/// One owner of the store, with its own connection.
struct Owner {
  explicit Owner(std::unique_ptr<ObjectDoor> its_door, Scheduler& scheduler, ManualClock& clock, RandomSource& random)
      : door(std::move(its_door)), files("pool", *door, clock, random, scheduler, without_wait()) {
    EXPECT_TRUE(is_ok(files.create_directory(test::kRadosPath, kPoint)));
    directory = take(files.open_directory(test::kRadosPath));
    lock = take(directory->lock("LOCK", LockMode::kExclusive, std::chrono::milliseconds(0)));
  }

  const std::unique_ptr<ObjectDoor> door;
  RadosFileSystem files;
  std::unique_ptr<Directory> directory;
  std::unique_ptr<DirectoryLock> lock;
};

class RadosStripes : public testing::Test {
 protected:
  std::unique_ptr<Owner> owner() { return owner(cluster_.make_door()); }
  std::unique_ptr<Owner> owner(std::unique_ptr<ObjectDoor> door) {
    return std::make_unique<Owner>(std::move(door), scheduler_, clock_, random_);
  }

  /// Appends objects whose bytes are their numbers. Returns the first failure.
  Status append(WritableFile& file, std::size_t count) {
    for (; count > 0; --count, ++appended_) {
      content_.assign(kStripeBytes, static_cast<std::byte>(appended_ + 1));
      if (Status appended = file.append(content_); !appended.ok()) return appended;
    }
    return Status();
  }

  /// Returns the numbers of the file's objects. It is the only file.
  std::string stripes() {
    std::string numbers;
    for (const std::string& object : cluster_.names()) {
      const bool is_stripe = object.find("root") == std::string::npos && object.find("lease") == std::string::npos;
      if (is_stripe) numbers += object.substr(object.rfind('.') + 1);
    }
    return numbers;
  }

  /// Expects that no object and no key is left of files that were removed.
  void expect_nothing_left() {
    EXPECT_EQ(stripes(), "");
    EXPECT_EQ(test::strays_in(cluster_), std::vector<std::string>());
    TextMap entries;
    ASSERT_EQ(cluster_.make_door()->entries(root_object(test::kStoreName), entries), 0);
    EXPECT_TRUE(entries.empty()) << entries.begin()->first;
  }

  Scheduler scheduler_;
  ManualClock clock_;
  SeededRandom random_{1};
  ObjectCluster cluster_{scheduler_, 1};
  std::size_t appended_ = 0;
  Bytes content_;
};

TEST_F(RadosStripes, FourAreOnTheirWayAndASyncWaitsForAll) {
  const std::unique_ptr<Owner> one = owner();
  const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
  cluster_.delay_sent(100);
  ASSERT_TRUE(is_ok(append(*file, kStripesInFlight)));
  EXPECT_EQ(stripes(), "");
  ASSERT_TRUE(is_ok(append(*file, 1)));
  EXPECT_EQ(stripes(), "0") << "the oldest one makes room";
  ASSERT_TRUE(is_ok(file->append(bytes_of("end"))));
  ASSERT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(stripes(), "012345");
  const std::unique_ptr<ReadableFile> read = take(one->directory->open(kName, ReadMode::kCached));
  ASSERT_EQ(read->size_bytes(), 5 * kStripeBytes + 3);
  for (std::size_t stripe = 0; stripe < 5; ++stripe) {
    Bytes bytes(2);
    ASSERT_TRUE(is_ok(read->read_exactly(stripe * kStripeBytes, std::span(bytes).first(1))));
    ASSERT_TRUE(is_ok(read->read_exactly((stripe + 1) * kStripeBytes - 1, std::span(bytes).last(1))));
    EXPECT_EQ(bytes, Bytes(2, static_cast<std::byte>(stripe + 1)));
  }
}

TEST_F(RadosStripes, NameTheirBytesAsCompressedAndTheLogDoesNot) {
  auto door = std::make_unique<HintedDoor>(cluster_.make_door());
  const HintedDoor& counted = *door;
  const std::unique_ptr<Owner> one = owner(std::move(door));
  EXPECT_EQ(counted.hinted(), 0);
  const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
  ASSERT_TRUE(is_ok(append(*file, 1)));
  ASSERT_TRUE(is_ok(file->append(bytes_of("end"))));
  ASSERT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(counted.hinted(), 2);
  ASSERT_TRUE(is_ok(file->append(bytes_of("more"))));
  ASSERT_TRUE(is_ok(file->sync(kPoint)));
  const std::unique_ptr<LogSegment> segment = take(one->directory->create_log_segment("2.wal", 2 * kSectorBytes));
  EXPECT_EQ(counted.hinted(), 2) << "one hint an object, and none of the log";
}

TEST_F(RadosStripes, TheFilesOfAProcessHaveABoundTogether) {
  const std::unique_ptr<Owner> one = owner();
  BytesInFlight& in_flight = one->files.process().stripes_in_flight();
  cluster_.delay_sent(100);
  std::vector<std::unique_ptr<WritableFile>> files;
  for (std::uint64_t file = 0; file < kStripeBytesOfProcess / kStripeBytes / kStripesInFlight; ++file) {
    files.push_back(take(one->directory->create(std::to_string(file))));
    ASSERT_TRUE(is_ok(append(*files.back(), kStripesInFlight)));
  }
  EXPECT_EQ(stripes(), "");
  EXPECT_EQ(in_flight.bytes(), kStripeBytesOfProcess);
  files.push_back(take(one->directory->create("last")));
  ASSERT_TRUE(is_ok(append(*files.back(), 2)));
  EXPECT_EQ(stripes(), "01") << "two of the first file were answered, which has other things to do";
  EXPECT_EQ(in_flight.bytes(), kStripeBytesOfProcess);
  for (const std::unique_ptr<WritableFile>& file : files) ASSERT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(in_flight.bytes(), 0U);
}

TEST_F(RadosStripes, BytesAreGivenBackOnEveryWayOut) {
  const std::unique_ptr<Owner> one = owner();
  BytesInFlight& in_flight = one->files.process().stripes_in_flight();
  cluster_.delay_sent(100);
  {
    const std::unique_ptr<WritableFile> file = take(one->directory->create("refused"));
    ASSERT_TRUE(is_ok(append(*file, 3)));
    EXPECT_EQ(in_flight.bytes(), 3 * kStripeBytes);
    cluster_.set_full(true);
    EXPECT_EQ(file->sync(kPoint).code(), Code::kNoSpace);
    EXPECT_EQ(in_flight.bytes(), 2 * kStripeBytes) << "the others were not awaited";
  }
  EXPECT_EQ(in_flight.bytes(), 0U);
  cluster_.set_full(false);
  ASSERT_TRUE(is_ok(append(*take(one->directory->create("left")), 2)));
  EXPECT_EQ(in_flight.bytes(), 0U) << "a file that was not finished";
  const std::unique_ptr<WritableFile> fenced = take(one->directory->create("fenced"));
  ASSERT_TRUE(is_ok(append(*fenced, 1)));
  cluster_.hold_blocklists();
  const std::unique_ptr<Owner> two = owner();
  EXPECT_EQ(fenced->sync(kPoint).code(), Code::kFenced);
  EXPECT_EQ(in_flight.bytes(), 0U);
}

TEST_F(RadosStripes, OneThatIsRefusedFailsTheSyncAndAllThatFollows) {
  const std::unique_ptr<Owner> one = owner();
  {
    const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
    cluster_.delay_sent(100);
    ASSERT_TRUE(is_ok(append(*file, 2)));
    cluster_.set_full(true);
    EXPECT_EQ(file->sync(kPoint).code(), Code::kNoSpace);
    cluster_.set_full(false);
    EXPECT_EQ(append(*file, 1).code(), Code::kNoSpace);
    EXPECT_EQ(file->sync(kPoint).code(), Code::kNoSpace);
  }
  EXPECT_EQ(stripes(), "1");
  ASSERT_TRUE(is_ok(one->directory->remove(kName)));
  expect_nothing_left();
}

TEST_F(RadosStripes, WithAGivenUpBallastEachMayUseIt) {
  const std::unique_ptr<Owner> one = owner();
  const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
  ASSERT_TRUE(is_ok(one->directory->set_ballast("ballast", 2 * kStripeBytes)));
  ASSERT_TRUE(is_ok(one->directory->set_ballast("ballast", 0)));
  cluster_.set_full(true);
  ASSERT_TRUE(is_ok(append(*file, 2)));
  EXPECT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(stripes(), "01");
}

TEST_F(RadosStripes, OfAPartlyGivenUpBallastEachMayUseThePart) {
  const std::unique_ptr<Owner> one = owner();
  const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
  const std::unique_ptr<WritableFile> other = take(one->directory->create("000009.sst"));
  ASSERT_TRUE(is_ok(one->directory->set_ballast("ballast", 3 * kStripeBytes)));
  ASSERT_TRUE(is_ok(one->directory->set_ballast("ballast", 2 * kStripeBytes)));
  cluster_.set_full(true);
  ASSERT_TRUE(is_ok(append(*file, 1)));
  EXPECT_TRUE(is_ok(file->sync(kPoint)));
  EXPECT_EQ(stripes(), "0");
  const Status more = append(*other, 1);
  EXPECT_EQ((more.ok() ? other->sync(kPoint) : more).code(), Code::kNoSpace);
}

TEST_F(RadosStripes, ATakeoverKeepsTheFileFromItsEnd) {
  cluster_.hold_blocklists();
  const std::unique_ptr<Owner> one = owner();
  const std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
  cluster_.delay_sent(100);
  ASSERT_TRUE(is_ok(append(*file, 3)));
  const std::unique_ptr<Owner> two = owner();
  EXPECT_EQ(file->sync(kPoint).code(), Code::kFenced);
  EXPECT_EQ(file->sync(kPoint).code(), Code::kFenced);
  EXPECT_EQ(take(two->directory->open(kName, ReadMode::kCached))->size_bytes(), 0U);
}

TEST_F(RadosStripes, ANewOwnerRemovesThoseThatLiePastMissingOnes) {
  {
    const std::unique_ptr<Owner> one = owner();
    std::unique_ptr<WritableFile> file = take(one->directory->create(kName));
    cluster_.delay_sent(100);
    ASSERT_TRUE(is_ok(append(*file, kStripesInFlight)));
    const std::string client = one->door->client();
    cluster_.cut_off(client, 0, kStripesInFlight);
    file.reset();
    for (int pair = 0; pair < 2; ++pair) {
      cluster_.drop_late(client);
      ASSERT_EQ(cluster_.deliver(client, 1), 1U);
    }
    EXPECT_EQ(stripes(), "13");
  }
  const std::unique_ptr<Owner> two = owner();
  EXPECT_EQ(take(two->directory->open(kName, ReadMode::kCached))->size_bytes(), 0U);
  ASSERT_TRUE(is_ok(two->directory->remove(kName)));
  expect_nothing_left();
}

TEST_F(RadosStripes, ARemovalThatWasCutShortIsFinishedByTheNextOwner) {
  cluster_.delay_sent(0);
  for (std::uint64_t changes = 1; changes <= 5; ++changes) {
    SCOPED_TRACE(changes);
    {
      const std::unique_ptr<Owner> one = owner();
      ASSERT_TRUE(is_ok(append(*take(one->directory->create(kName)), 3)));
      cluster_.cut_off(one->door->client(), changes, 0);
      (void)one->directory->remove(kName);
    }
    const std::unique_ptr<Owner> two = owner();
    expect_nothing_left();
  }
}

}  // namespace
}  // namespace varve::io::rados_stripes_test
