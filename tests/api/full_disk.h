// Owns: a disk without room, for tests of a store in memory.
// Must never: check a result of a tested verb.
#pragma once

#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::test {

/// A disk that becomes full with fill(), until give_room() or the end of the object. What fills it are rows of an account
/// of their own.
class FullDisk {
 public:
  explicit FullDisk(StoreBench& bench) : files_(*bench.machine.files) {
    EXPECT_EQ(said(bench.store->create_account("fillers")), kFine);
    Result<Table> filler = bench.store->create_table("fillers", "Filler");
    EXPECT_TRUE(filler.ok()) << filler.status().to_string();
    if (!filler.ok()) std::abort();
    filler_.emplace(*std::move(filler));
  }
  ~FullDisk() { give_room(); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  /// The store can use what it has reserved for its log, and gets nothing more.
  void take_room() { files_.set_capacity_bytes(files_.used_bytes()); }
  /// Takes the room and uses up the reserved space, so that no commit of a few bytes has room.
  void fill() {
    take_room();
    for (const std::size_t bytes : {std::size_t{30'000}, std::size_t{1'000}, std::size_t{10}}) {
      Status written;
      for (int row = 0; row < 10'000 && written.ok(); ++row) {
        const Entity entity = with_value("p", std::to_string(row % 50), std::string(bytes, 'x'));
        written = filler_->insert_or_replace(entity).status();
      }
      EXPECT_EQ(written.code(), Code::kNoSpace) << written.to_string();
    }
  }
  void give_room() { files_.set_capacity_bytes(io::MemoryFileSystem::kUnlimited); }

 private:
  io::MemoryFileSystem& files_;
  std::optional<Table> filler_;
};

/// Repeats a verb until the store has noticed that there is room again.
template <typename Verb>
Said said_with_patience(const Verb& verb) {
  for (int i = 0; i < 1'000'000; ++i) {
    const auto done = verb();
    if (done.code() != Code::kNoSpace) return said(done);
    std::this_thread::yield();
  }
  return said(verb());
}

/// Whether a small change that may still find room was made or refused.
inline bool is_done_or_refused(const Status& status) {
  return status.ok() || status.code() == Code::kNoSpace;
}

}  // namespace varve::test
