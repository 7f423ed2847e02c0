// Owns: what a writer that may be killed at any moment has begun and what it was promised, in memory that outlives it.
// Must never: be on the disk that the store is on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tests/lab/kill/operations.h"

namespace varve::lab {

/// Everything in it is written by a child and read by its parent, and stays as a killed child left it.
struct KillLedger {
  static constexpr std::size_t kTextBytes = 2000;

  struct Thread {
    /// Numbers of the last operation begun, and of the last one acknowledged.
    std::atomic<std::uint64_t> begun{0};
    std::atomic<std::uint64_t> acknowledged{0};
  };
  std::array<Thread, kKillThreads> threads;
  /// The writer has opened the store.
  std::atomic<std::uint64_t> opened{0};
  /// The highest version that a writer or a checker was told.
  std::atomic<std::uint64_t> version{0};
  /// Checkpoints begun and acknowledged; each has a directory by its number.
  std::atomic<std::uint64_t> checkpoints_begun{0};
  std::atomic<std::uint64_t> checkpoints{0};
  /// What a child found to be against the law: the first line it wrote. Zero: nothing.
  std::atomic<std::uint64_t> text_state{0};
  std::array<char, kTextBytes> text{};

  // What a checker found, for the next life of the store:
  std::array<std::atomic<std::uint64_t>, kKillThreads> recovered{};
  std::atomic<std::uint64_t> verified{0};

  void complain(const std::string& what) noexcept;
  std::string complaint() const;
  void raise_version(std::uint64_t to) noexcept;
};

/// A ledger that children share with their parent.
class SharedLedger {
 public:
  SharedLedger();
  ~SharedLedger();
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;
  KillLedger& operator*() noexcept { return *ledger_; }
  KillLedger* operator->() noexcept { return ledger_; }

 private:
  KillLedger* ledger_;
};

}  // namespace varve::lab
