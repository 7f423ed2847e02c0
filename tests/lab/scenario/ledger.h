// Owns: the record of requests to a store and of its answers, outside of any file system that fails. It also computes
// the contents that the law allows after a crash.
// Must never: read the store. The ledger is independent evidence.
//
// The law: after a crash the content is that after a prefix of the commit order. The prefix contains every commit
// acknowledged as `sync`. If only the process died, it also contains every acknowledged `buffered` commit. A commit
// that ended in kUnknown may or may not be in the content. A commit that was refused with any other error is not.
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

/// The change of a commit to the content. `version` is zero if it is not known.
using Effect = std::function<void(Content& content, std::uint64_t version)>;

/// The possible versions of a commit, including both ends.
struct VersionRange {
  std::uint64_t lowest = 0;
  std::uint64_t highest = 0;
};

class Ledger {
 public:
  void acknowledged(std::string what, VersionRange version, bool durable, Effect effect);
  void unknown(std::string what, Effect effect);
  /// Marks everything acknowledged so far as durable: after a sync() or a close().
  void all_durable();
  /// Records a failure of the machine: data that was not durable is no longer promised.
  void power_failed();
  /// Records that the store was opened for writing at `version` with content `found`, which judge() accepted. From now
  /// on this content is the state, and it is durable.
  void opened(std::uint64_t version, const Content& found);

  /// A position in the ledger. Images of the disk store it.
  struct Mark {
    std::uint64_t durable_version = 0;
    std::uint64_t acknowledged_version = 0;
    std::uint64_t highest_version = 0;  // the highest version that any reader has seen
    std::uint32_t openings = 0;

    /// Returns a mark for which every earlier state is correct.
    Mark without_promises() const noexcept { return {0, 0, highest_version, openings}; }
  };
  const Mark& mark() const noexcept { return mark_; }
  /// Forgets the durability since `mark`. Used if a run continued only to end properly.
  void rewind(const Mark& mark) noexcept { mark_ = mark; }

  /// Returns the violation of the law by a store that was found at `version` with content `found`, or an empty text.
  /// The ledger must already contain all acknowledged commits, including those after the mark.
  std::string judge(const Mark& mark, bool killed, std::uint64_t version, const Content& found) const;

  /// Returns the content after all known commits up to `version`, as of `mark` or of now.
  std::shared_ptr<const Content> content_at(std::uint64_t version, const Mark& mark) const;
  std::shared_ptr<const Content> content_at(std::uint64_t version) const { return content_at(version, mark_); }

  std::uint64_t commits() const noexcept { return entries_.size(); }
  /// Returns the known versions of commits below this one, the newest first.
  std::vector<std::uint64_t> versions_below(std::uint64_t version) const;

 private:
  struct Entry {
    std::string what;
    std::uint64_t version = 0;  // the highest possible; zero: unknown
    std::uint64_t lowest = 0;   // the lowest possible
    std::uint64_t order = 0;    // its version; a commit in doubt comes after all others until an opening decides it
    Effect effect;
    std::uint32_t decided_at = 0;  // the opening that showed whether it happened; zero: not needed
    bool is_there = false;         // valid after that opening
  };
  /// Returns the content for a choice of the commits in doubt. Bit i of `chosen` means that the i-th of them happened.
  Content replay(std::uint64_t version, const Mark& mark, std::uint32_t chosen) const;
  /// Returns the choice of unknown commits that gives `found`, if there is one.
  std::optional<std::uint32_t> choice_for(std::uint64_t version, const Mark& mark, const Content& found) const;
  /// Returns whether the commit may or may not be in a store at `version`.
  static bool is_unknown(const Entry& entry, std::uint64_t version, const Mark& mark);

  std::vector<Entry> entries_;  // by order
  Mark mark_;
  // Computed contents by version and openings, created on demand.
  mutable std::map<std::pair<std::uint64_t, std::uint32_t>, std::shared_ptr<const Content>> contents_;
};

}  // namespace varve::lab
