// Everything that a rewrite may drop, compared with a slow version of the rule: an entry stays if a version of the
// horizon, or a later version, shows it.
#include "engine/compaction/retention.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"
#include "io/clock.h"
#include "io/simulated/manual_clock.h"

namespace varve::engine::retention_test {
namespace {

constexpr format::TableId kTable = format::make_table_id(7, 1);

struct Version {
  CommitVersion version = 0;
  Kind kind = Kind::kPut;
};

std::string key(std::uint64_t number, format::TableId table = kTable) {
  return *format::encode_sort_key(table, "p", std::to_string(number));
}

/// Returns the kept versions of one key, newest first.
std::vector<CommitVersion> kept(std::vector<CommitVersion> horizon, const std::vector<Version>& versions,
                                bool nothing_below, const DeadRanges& dead = DeadRanges()) {
  Retention retention(std::move(horizon), dead, [&](std::string_view) { return nothing_below; });
  std::vector<CommitVersion> kept;
  const std::string name = key(1);
  for (const Version& version : versions) {
    if (retention.keeps({name, version.version, version.kind, {}})) kept.push_back(version.version);
  }
  EXPECT_EQ(retention.dropped_entries() + kept.size(), versions.size());
  return kept;
}

using Versions = std::vector<CommitVersion>;

TEST(Retention, OfAKeyTheNewestEntryThatIsVisibleStays) {
  EXPECT_EQ(kept({10}, {{9}, {7}, {3}}, false), (Versions{9}));
}

TEST(Retention, WhatIsNewerThanEverythingReadableStays) {
  EXPECT_EQ(kept({10}, {{12}, {11}, {9}, {7}}, false), (Versions{12, 11, 9}));
}

TEST(Retention, EachSnapshotKeepsWhatItShows) {
  EXPECT_EQ(kept({5, 8, 20}, {{18}, {9}, {8}, {6}, {5}, {2}}, false), (Versions{18, 8, 5}));
}

TEST(Retention, ADeleteStaysWhileItMayHideSomething) {
  EXPECT_EQ(kept({10}, {{9, Kind::kDelete}, {7}}, false), (Versions{9}));
  EXPECT_EQ(kept({10}, {{9, Kind::kDelete}, {7}}, true), (Versions{}));
}

TEST(Retention, ADeleteAboveASnapshotHidesWhatTheSnapshotKeeps) {
  EXPECT_EQ(kept({5, 10}, {{9, Kind::kDelete}, {4}}, true), (Versions{9, 4}));
}

TEST(Retention, ADeleteThatNobodyMayOverlookYetStays) {
  EXPECT_EQ(kept({5, 10}, {{11, Kind::kDelete}}, true), (Versions{11}));
}

TEST(Retention, NothingOfADeadTableStays) {
  const std::vector<format::DeadId> ids{{format::encode_table(kTable), 10, {}}};
  EXPECT_EQ(kept({10}, {{12}, {9}}, false, DeadRanges(ids, 10)), (Versions{}));
  EXPECT_EQ(kept({9}, {{9}}, false, DeadRanges(ids, 9)), (Versions{9}));  // a reader is older than the drop
}

TEST(Retention, TheSameEntryFromTwoPlacesStaysOnce) {
  EXPECT_EQ(kept({5}, {{8}, {8}, {4}, {4}}, false), (Versions{8, 4}));
}

/// Returns the version of a key that a reader at `at` sees, or zero for none.
CommitVersion seen(const std::vector<Version>& versions, CommitVersion at) {
  for (const Version& version : versions) {
    if (version.version <= at) return version.kind == Kind::kPut ? version.version : 0;
  }
  return 0;
}

TEST(Retention, ReadersAtTheHorizonAndAboveSeeWhatTheySaw) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    io::SeededRandom random(seed);
    std::vector<CommitVersion> horizon;
    for (CommitVersion version = 1; version <= 30; ++version) {
      if (io::one_in(random, 5)) horizon.push_back(version);
    }
    if (horizon.empty()) horizon.push_back(15);
    std::vector<Version> versions;
    for (CommitVersion version = 35; version >= 1; --version) {
      if (io::one_in(random, 3)) versions.push_back({version, io::one_in(random, 3) ? Kind::kDelete : Kind::kPut});
    }
    const bool nothing_below = io::one_in(random, 2);
    std::vector<Version> left;
    const DeadRanges none;
    Retention retention(horizon, none, [&](std::string_view) { return nothing_below; });
    const std::string name = key(1);
    for (const Version& version : versions) {
      if (retention.keeps({name, version.version, version.kind, {}})) left.push_back(version);
    }
    for (const CommitVersion at : horizon) EXPECT_EQ(seen(left, at), seen(versions, at)) << at;
    for (CommitVersion at = horizon.back(); at <= 36; ++at) EXPECT_EQ(seen(left, at), seen(versions, at)) << at;
    // There is at most one entry for each version of the horizon, besides the newer entries.
    std::size_t above = 0;
    for (const Version& version : left) {
      if (version.version > horizon.back()) ++above;
    }
    EXPECT_LE(left.size(), above + horizon.size());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::engine::retention_test
