// Owns: what was asked of a store and what it answered, outside of any file system that fails; and which contents the
// law allows after a crash.
// Must never: ask the store; it is the witness.
//
// The law: after a crash the content is that after some prefix of the commit order; the prefix contains every commit
// acknowledged as `sync`, and after the death of the process alone every `buffered` one too. A commit that ended in
// kUnknown may or may not be there; one that was refused with any other error is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/lab/scenario/content.h"

namespace varve::lab {

/// What a commit does to the content; given its version, zero where that is not known.
using Effect = std::function<void(Content& content, std::uint64_t version)>;

/// Of a commit: somewhere between the two, both included.
struct VersionRange {
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
};

class Ledger {
 public:
  void acknowledged(std::string what, VersionRange version, bool durable, Effect effect);
  void unknown(std::string what, Effect effect);
  /// Everything acknowledged so far has become durable: after a sync() or a close().
  void all_durable();
  /// The machine has failed: what was not durable is promised no longer.
  void power_failed();
  /// The store was opened for writing, at `version` with `found` in it, which judge() has found right: from now on this
  /// is what there is, and it is durable.
  void opened(std::uint64_t version, const Content& found);

  /// How far the ledger has come; images of the disk keep it.
  struct Mark {
    std::uint64_t durable_version = 0;
    std::uint64_t acknowledged_version = 0;
    std::uint64_t highest_version = 0;  // that anybody has seen
    std::uint32_t openings = 0;

    /// Any state that there was is right.
    Mark without_promises() const noexcept { return {0, 0, highest_version, openings}; }
  };
  const Mark& mark() const noexcept { return mark_; }
  /// Forgets what became durable since, where the run went on only to end in order.
  void rewind(const Mark& mark) noexcept { mark_ = mark; }

  /// What stands against the law in a store that was found at `version` with `found` in it; empty if nothing does. All
  /// that was acknowledged at all, later than the mark as well, must be in the ledger by now.
  std::string judge(const Mark& mark, bool killed, std::uint64_t version, const Content& found) const;

  /// The content after all commits up to `version` that are known, as of `mark` or of now.
  std::shared_ptr<const Content> content_at(std::uint64_t version, const Mark& mark) const;
  std::shared_ptr<const Content> content_at(std::uint64_t version) const { return content_at(version, mark_); }

  std::uint64_t commits() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string what;
    std::uint64_t version = 0;  // at most; zero: unknown
    std::uint64_t lowest = 0;   // at least
    std::uint64_t order = 0;    // its version; of one in doubt, behind all until an opening decided it
    Effect effect;
    std::uint32_t decided_at = 0;  // the opening that showed whether it is there; zero: none had to
    bool is_there = false;         // from then on
  };
  /// Of those in doubt, in their order, bit i of `chosen` says whether i happened.
  Content replay(std::uint64_t version, const Mark& mark, std::uint32_t chosen) const;
  /// The choice of unknown commits that makes `found`, if there is one.
  std::optional<std::uint32_t> choice_for(std::uint64_t version, const Mark& mark, const Content& found) const;
  /// Whether a store at `version` may or may not have it.
  static bool is_unknown(const Entry& entry, std::uint64_t version, const Mark& mark);

  std::vector<Entry> entries_;  // by order
  Mark mark_;
  // By version and openings, made when asked for.
  mutable std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const Content>> contents_;
};

}  // namespace varve::lab
