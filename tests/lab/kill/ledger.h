// Owns: the begun and acknowledged operations of a writer that may be killed at any time, in memory that outlives it.
// Must never: be on the disk of the store.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "tests/lab/kill/operations.h"

namespace varve::lab {

/// A child writes all of it, and its parent reads it. After a kill it stays as the child left it.
struct KillLedger {
  static constexpr std::size_t kTextBytes = 2000;

  struct Thread {
    /// The numbers of the last begun operation, and of the last acknowledged one.
    std::atomic<std::uint64_t> begun{0};
    std::atomic<std::uint64_t> acknowledged{0};
  };
  std::array<Thread, kKillThreads> threads;
  /// Whether the writer has opened the store.
  std::atomic<std::uint64_t> opened{0};
  /// The highest version that the store returned to a writer or a checker.
  std::atomic<std::uint64_t> version{0};
  /// Checkpoints begun and acknowledged. The directory of each is named by its number.
  std::atomic<std::uint64_t> checkpoints_begun{0};
  std::atomic<std::uint64_t> checkpoints{0};
  /// The state of `text`, which contains the first violation of the law that a child found. Zero: none.
  std::atomic<std::uint64_t> text_state{0};
  std::array<char, kTextBytes> text{};

  // The findings of a checker, for the next life of the store:
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
