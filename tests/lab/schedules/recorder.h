// Owns: the record of the clients' results in a schedule, by its own logical time, and checking it.
// Must never: be used by two threads at once: the scheduler runs one at a time.
//
// An object is a partition. Cell 0 is whether its table exists. The other cells are its rows: the unique value that was
// written last, or zero if there is none. Objects 0 to kFixedObjects - 1 are partitions of one table that is never
// dropped, and all of its commits have known versions. The object after them belongs to a table that is created and dropped.
// Two more objects are of a third table. The rows of kNamesObject are names: the number of the entity that has the name in a
// unique index. The first row of kCounterObject is a number that patches increment.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/lab/schedules/history.h"
#include "tests/lab/suite.h"

namespace varve::lab {

inline constexpr std::size_t kFixedObjects = 3;
inline constexpr std::size_t kObjects = kFixedObjects + 1;
inline constexpr std::size_t kVolatileObject = kFixedObjects;
inline constexpr std::size_t kNamesObject = kObjects;
inline constexpr std::size_t kCounterObject = kObjects + 1;
inline constexpr std::size_t kHistories = kObjects + 2;
inline constexpr std::size_t kRows = 4;
inline constexpr std::size_t kCells = kRows + 1;

/// One row of one object.
struct Place {
  std::size_t object = 0;
  std::size_t cell = 1;
  auto operator<=>(const Place&) const = default;
};

/// The rows of the fixed objects.
using FixedContent = std::array<std::array<std::int64_t, kCells>, kFixedObjects>;

/// An acknowledged commit.
struct CommitRecord {
  std::uint64_t version = 0;
  std::uint64_t invoked = 0;
  std::uint64_t returned = 0;
  std::map<Place, std::int64_t> sets;
  /// The values that a transaction read, and the version of its reads.
  std::map<Place, std::int64_t> reads{};
  std::uint64_t read_version = 0;
};

/// The values that a client saw of several objects together.
struct ViewRecord {
  std::uint64_t invoked = 0;
  std::uint64_t returned = 0;
  std::optional<std::uint64_t> version;  // of the snapshot; without one: any version between the two moments
  FixedContent content{};
  std::string text;
};

class Recorder {
 public:
  std::uint64_t tick() { return ++now_; }
  std::int64_t new_value() { return ++last_value_; }

  void add(std::size_t object, HistoryOperation operation) { histories_[object].push_back(std::move(operation)); }
  void add(CommitRecord commit) { commits_.push_back(std::move(commit)); }
  void add(ViewRecord view) { views_.push_back(std::move(view)); }
  /// Records an entity's ETag that a client saw with its value.
  void saw(std::int64_t value, std::uint64_t version) { seen_.emplace_back(value, version); }
  void count(const char* name) { ++counts_[name]; }
  /// Reports an answer that is wrong in every order.
  void broken(const std::string& what) {
    if (what_.empty()) what_ = what;
  }

  /// Returns counts and findings. Called once, when all clients have ended.
  Report judge(std::uint64_t seed);
  /// Returns a hash of all records in their order.
  std::uint64_t hash() const;

 private:
  void judge_histories(Report& report, std::uint64_t seed) const;
  void judge_versions();
  void judge_view(const ViewRecord& view);
  void judge_reads(const CommitRecord& commit);
  void judge_seen();
  /// Returns the number of commits with at most this version.
  std::size_t commits_up_to(std::uint64_t version) const;
  /// Returns the highest version that was acknowledged before the moment.
  std::uint64_t acknowledged_before(std::uint64_t moment) const;

  std::uint64_t now_ = 0;
  std::int64_t last_value_ = 0;
  std::array<std::vector<HistoryOperation>, kHistories> histories_;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<CommitRecord> commits_;
  std::vector<FixedContent> contents_;  // by the number of commits
  std::vector<ViewRecord> views_;
  std::vector<std::pair<std::int64_t, std::uint64_t>> seen_;
  std::string what_;
};

}  // namespace varve::lab
