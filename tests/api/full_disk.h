// Owns: a disk without room, for tests of a store in memory.
// Must never: check a result of a tested verb.
#pragma once

#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::test {

/// A disk that is full from the beginning of the object until give_room() or its end. The filling rows are those of an
/// account of their own.
class FullDisk {
 public:
  explicit FullDisk(StoreBench& bench) : files_(*bench.machine.files) {
    EXPECT_EQ(said(bench.store->create_account("fillers")), kFine);
    Result<Table> filler = bench.store->create_table("fillers", "Filler");
    EXPECT_TRUE(filler.ok()) << filler.status().to_string();
    if (!filler.ok()) std::abort();
    files_.set_capacity_bytes(files_.used_bytes());
    for (const std::size_t bytes : {std::size_t{30'000}, std::size_t{1'000}, std::size_t{10}}) {
      Status written;
      for (int row = 0; row < 10'000 && written.ok(); ++row) {
        const Entity entity = with_value("p", std::to_string(row % 50), std::string(bytes, 'x'));
        written = filler->insert_or_replace(entity).status();
      }
      EXPECT_EQ(written.code(), Code::kNoSpace) << written.to_string();
    }
  }
  ~FullDisk() { give_room(); }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  void give_room() { files_.set_capacity_bytes(io::MemoryFileSystem::kUnlimited); }

 private:
  io::MemoryFileSystem& files_;
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
