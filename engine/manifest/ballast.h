// Owns: the space that a store holds back for drops, its manifest and its end on a full device, and how it is given up.
// Must never: give up more than a step needs. Other programs may take free space at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "io/file_system.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

inline constexpr std::string_view kBallastName = "BALLAST";
inline constexpr std::uint64_t kBallastBytes = std::uint64_t{16} << 20;
/// The ballast is given up in parts of so many bytes. A part has room for a small log segment.
inline constexpr std::uint64_t kBallastPartBytes = std::uint64_t{2} << 20;

/// The ballast of an open store. Any thread may use it. It blocks on the disk. A caller may hold the mutex of the
/// manifest's edits.
class Ballast {
 public:
  /// Changes nothing, and takes the ballast for whole. If it is not, some steps of with_room() are tried in vain.
  /// `directory` must outlive the ballast.
  Ballast(io::Scheduler& scheduler, io::Directory& directory) noexcept : directory_(directory), mutex_(scheduler) {}

  /// Makes the ballast whole. Errors: kNoSpace (the held part stays held), others of io.
  Status restore();

  /// Gives up a part for a step that is tried again later, such as a flush of drops. Half of the ballast is kept for the
  /// log and the manifest.
  void lend() noexcept;
  /// Takes the given parts back, or as much of them as there is room for. It costs nothing if the ballast is whole.
  void take_back() noexcept;

  /// Does a step. While it returns kNoSpace, gives up a part of the ballast and tries again, until nothing is left. Then
  /// takes back what the step left over. `step` returns a Status or a Result, may be repeated, and must not use the
  /// ballast. Errors: those of the step, others of io.
  template <typename Step>
  std::invoke_result_t<const Step&> with_room(const Step& step) {
    auto done = step();
    if (done.code() != Code::kNoSpace) return done;
    const io::MutexGuard guard(mutex_);
    const std::uint64_t before = held_bytes_;
    for (bool is_last = false; done.code() == Code::kNoSpace && !is_last;) {
      if (Status given = give_part(); !given.ok()) return given;
      is_last = held_bytes_ == 0;
      done = step();
    }
    hold_again(before);
    return done;
  }

 private:
  Status give_part() VARVE_REQUIRES(mutex_);
  void hold_again(std::uint64_t bytes_max) noexcept VARVE_REQUIRES(mutex_);

  io::Directory& directory_;
  io::Mutex mutex_;  // Held across I/O: no other thread takes what a step is to have.
  std::uint64_t held_bytes_ VARVE_GUARDED_BY(mutex_) = kBallastBytes;  // at most: see the constructor
};

}  // namespace varve::engine
