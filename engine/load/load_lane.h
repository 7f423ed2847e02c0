// Owns: the entries that one caller of a load adds: in files while their keys ascend, and in a sorter from the first one
// out of order.
// Must never: be used by two threads at once, or know the other lanes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/load/load_options.h"
#include "engine/load/sorter.h"
#include "engine/load/write_behind.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

/// One thread at a time may use it, except for progress(). After an error, only destruction is allowed.
class LoadLane {
 public:
  /// All arguments outlive the lane. The version is known when the first entry is added.
  LoadLane(const TableSink& sink, TableFiles& tables, const LoadOptions& options, const CommitVersion& version)
      : sink_(sink), tables_(tables), options_(options), version_(version) {}
  LoadLane(const LoadLane&) = delete;
  LoadLane& operator=(const LoadLane&) = delete;

  /// Adds a put, as Load::add(). Errors: those of WriteBehind and Sorter.
  Status add(std::string_view sort_key, std::string_view value, Kind kind);
  /// Ends the lane after all entries were added. Returns the row of its files, in the order of keys, if the keys
  /// ascended. Otherwise the row is empty, and sorter() has the entries. Errors: those of WriteBehind::finish().
  Result<std::vector<format::TableFileEntry>> finish_row();
  /// Removes everything that is still the lane's, and returns the bytes that it has written. The figures stay.
  std::uint64_t end() noexcept;
  /// Returns the sorter, or null.
  Sorter* sorter() noexcept { return sorter_.get(); }

  /// Returns the figures so far. Any thread may call it.
  LoadProgress progress() const noexcept;

 private:
  Status begin_sorting();
  void see_written() noexcept;

  const TableSink sink_;
  TableFiles& tables_;
  const LoadOptions& options_;
  const CommitVersion& version_;
  std::unique_ptr<WriteBehind> files_;
  std::unique_ptr<Sorter> sorter_;
  std::uint64_t ended_bytes_ = 0;  // of files that were finished before
  // Written by the lane's thread.
  std::atomic<std::uint64_t> entities_{0};
  std::atomic<std::uint64_t> sorted_entities_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> written_bytes_{0};
};

}  // namespace varve::engine
