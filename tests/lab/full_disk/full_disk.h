// Owns: the suite "full-disk": a store whose disk is full repeatedly, and the operations that must still work.
// Must never: reopen the store to make writes work again.
//
// The law: without room a write returns kNoSpace and changes nothing, be it of entities, messages or blobs. Reads and drops
// still work, and so do takeovers. Within a second after room appears, writes succeed. No data is lost or damaged.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/lab/full_disk/full_disk_objects.h"
#include "tests/lab/suite.h"
#include "varve/store.h"

namespace varve::lab {

/// The disk and the clock of a store that will run out of room.
struct FullDiskWorld {
  /// Leaves the store `bytes` of room, or an unlimited amount.
  std::function<void(std::uint64_t bytes)> leave_room;
  std::function<void()> give_room;
  /// Advances the time by a twentieth of a second.
  std::function<void()> pass_time;
  /// The number of time steps after which writes must succeed: a second of simulated time. It is larger for real time,
  /// which other programs use too.
  int resume_steps = 20;
  std::function<Result<std::unique_ptr<Store>>()> open;
  /// Lets another process take the store over from its owner, which is frozen and ends then. Null: no other one can.
  std::function<Result<std::unique_ptr<Store>>(std::unique_ptr<Store> former)> take_over;
  std::string path;
  /// Returns that of the present process.
  std::function<const io::Env&()> env;
};

/// Cycles of one store. A violation of the law ends them.
class FullDiskRun {
 public:
  FullDiskRun(std::uint64_t seed, FullDiskWorld world);
  /// Returns an empty text, or the violation.
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
  void take_over_while_full();
  void resume();
  Status write(std::string_view name, const std::string& row, const std::string& value);
  Status write_one();
  std::string random_value();
  /// Repeats a write while there is no room, up to the allowed time.
  Status with_patience(const std::function<Status()>& write);
  Status make_spare(std::uint64_t number);
  void compare();
  void reopen();
  void broken(const std::string& what) {
    if (broken_.empty()) broken_ = what;
  }
  /// An empty text is no violation.
  void judge(const std::string& what) {
    if (!what.empty()) broken(what);
  }
  void broken(const std::string& what, const Status& status) { broken(what + ": " + status.to_string()); }

  std::uint64_t state_;
  FullDiskWorld world_;
  FullDiskObjects objects_;
  std::unique_ptr<Store> store_;
  Rows rows_;
  std::string spare_;  // a table that will be dropped; empty if there is none
  std::string broken_;
  Report report_;
};

Report run_full_disk(const Share& share);
/// A round has `cycles` cycles.
Report run_full_disk(const Share& share, std::uint64_t cycles);

}  // namespace varve::lab
