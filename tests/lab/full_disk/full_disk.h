// Owns: the suite "full-disk": a store whose disk is full again and again, and what it must still do then.
// Must never: reopen the store to make it write again.
//
// The law. When there is no room a write answers kNoSpace and changes nothing; reads and drops go on; within a second
// of room appearing writes succeed; nothing is lost or damaged by any of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/lab/suite.h"
#include "varve/store.h"

namespace varve::lab {

/// The disk and the time of a store that is to run out of room.
struct FullDiskWorld {
  /// Leaves the store `bytes` of room, or as much as it wants.
  std::function<void(std::uint64_t bytes)> leave_room;
  std::function<void()> give_room;
  /// Lets a twentieth of a second pass.
  std::function<void()> pass_time;
  /// After so many of them writes must succeed: a second of simulated time; more where time is real, for there it is
  /// other programs' too.
  int resume_steps = 20;
  std::function<Result<std::unique_ptr<Store>>()> open;
  std::string path;
  const io::Env* env = nullptr;
};

/// Cycles of one store. What is against the law ends them.
class FullDiskRun {
 public:
  FullDiskRun(std::uint64_t seed, FullDiskWorld world);
  /// Empty, or what was broken.
  std::string run(std::uint64_t cycles);
  const Report& report() const noexcept { return report_; }

 private:
  using Rows = std::map<std::string, std::string>;

  std::uint64_t random();
  std::uint64_t below(std::uint64_t bound) { return random() % bound; }
  Status open();
  void cycle(std::uint64_t number);
  void fill_up();
  void look_while_full();
  void drop_while_full(std::uint64_t number);
  void resume();
  Status write(std::string_view name, const std::string& row, const std::string& value);
  Status write_one();
  std::string random_value();
  /// Repeats it while there is no room, for so long as it may take.
  Status with_patience(const std::function<Status()>& write);
  Status make_spare(std::uint64_t number);
  void compare();
  void reopen();
  void broken(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }
  void broken(const std::string& what, const Status& status) { broken(what + ": " + status.to_string()); }

  std::uint64_t state_;
  FullDiskWorld world_;
  std::unique_ptr<Store> store_;
  Rows rows_;
  std::string spare_;  // a table to be dropped, empty where there is none
  std::string broken_;
  Report report_;
};

Report run_full_disk(const Share& share);
/// A round has so many cycles.
Report run_full_disk(const Share& share, std::uint64_t cycles);

}  // namespace varve::lab
